//! The hold model on NeXosim: `rival-nexosim PENDING EVENTS` prints `EVENTS SECONDS TIME_NS`.

use nexosim::model::{Context, Model, schedulable};
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The distances between an event and the one that it brings about; see tests/bench/src/main.rs.
static DISTANCES_NS: OnceLock<Vec<u64>> = OnceLock::new();

/// When the last event that counts was handled: the wall clock, and the simulated time in nanoseconds.
static END: OnceLock<(Instant, u64)> = OnceLock::new();

/// One model that keeps `pending` events in the queue until it has handled `events_left`.
#[derive(Serialize, Deserialize)]
struct Hold {
    pending: usize,
    events_left: u64,
    next_distance: usize,
}

impl Hold {
    fn schedule(&mut self, cx: &Context<Self>) {
        let distances = DISTANCES_NS.get().expect("main made the table");
        let distance = Duration::from_nanos(distances[self.next_distance % distances.len()]);
        self.next_distance += 1;
        cx.schedule_event(distance, schedulable!(Self::tick), ()).expect("every distance is positive");
    }
}

#[Model]
impl Hold {
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>) {
        for _ in 0..self.pending {
            self.schedule(cx);
        }
    }

    #[nexosim(schedulable)]
    fn tick(&mut self, _: (), cx: &Context<Self>) {
        if self.events_left == 0 {
            return;
        }
        self.events_left -= 1;
        if self.events_left == 0 {
            let time = cx.time().duration_since(MonotonicTime::EPOCH);
            let time_ns = u64::try_from(time.as_nanos()).expect("a run lasts less than centuries");
            END.set((Instant::now(), time_ns)).expect("the last event comes once");
        } else {
            self.schedule(cx);
        }
    }
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let (Some(pending), Some(events)) = (numbers.next(), numbers.next()) else { panic!("PENDING EVENTS") };
    let mut state = 1_u64;
    let distances = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 44) + 1
    });
    DISTANCES_NS.set(distances.take(1 << 16).collect()).expect("set once");
    let hold = Hold { pending: pending as usize, events_left: events, next_distance: 0 };
    let bench = SimInit::with_num_threads(1).add_model(hold, Mailbox::new(), "hold");
    let mut simulation = bench.init(MonotonicTime::EPOCH).expect("the bench is complete");
    let start = Instant::now();
    simulation.run().expect("the run ends when no event is left");
    let (end, time_ns) = END.get().expect("all events were handled");
    println!("{events} {} {time_ns}", (*end - start).as_secs_f64());
}
