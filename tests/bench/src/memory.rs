//! Memory: references with reclaim running, columns of the published experiment, page replacement.

use crate::{Done, next_random, simulate};
use stallarium_sim::kernel::Policy;
use stallarium_sim::mm::{
    MemoryLayout, Replacement, StreamCosts, StreamExercise, replacement_exercise, stream_exercise,
};
use stallarium_sim::scenario::FileSystemKind;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Different pages of the Zipf stream.
const ZIPF_PAGES: u32 = 1 << 20;
/// Pages that fit in memory at a time.
const RESIDENT_PAGES: u32 = 1 << 17;

/// Pages referenced by a stream that reclaim runs beside: the mm tree of August 2010 with the memory of the published experiment.
///
/// # Errors
/// The exercise cannot be run.
pub fn references(pages: u64) -> Result<Done, String> {
    let policy =
        Policy::new("mmotm-2010-08", &[], FileSystemKind::Ext4).map_err(|error| error.to_string())?;
    let exercise = StreamExercise {
        layout: MemoryLayout::mapped_stream_2010(),
        policy: policy.mm,
        pages,
        hz: 250,
        costs: StreamCosts::default(),
        seed: 1,
    };
    let run = stream_exercise(&exercise).map_err(|problems| problems.join("; "))?;
    Ok(Done { count: pages, proof: run.elapsed_ns })
}

/// A column of congestion-wait-2010, `late` or `stream`, the whole machine with it: pages touched.
///
/// # Errors
/// There is no such column or case.
pub fn column(label: &str, case: &str) -> Result<Done, String> {
    let simulation = simulate("congestion-wait-2010", label, case)?;
    let world = simulation.world();
    let faults = world.memory().map_or(0, |memory| memory.vmstat.pgfault);
    Ok(Done { count: faults, proof: world.now_ns() })
}

/// A Zipf stream (exponent 1) of references to 2^20 pages.
#[must_use]
pub fn zipf(references: usize) -> Vec<u32> {
    let mut sums = Vec::with_capacity(ZIPF_PAGES as usize);
    let mut sum = 0.0_f64;
    for rank in 1..=ZIPF_PAGES {
        sum += 1.0 / f64::from(rank);
        sums.push(sum);
    }
    let mut state = 1;
    let draw = || {
        let number = next_random(&mut state) >> 32;
        let wanted = number as f64 / f64::from(u32::MAX) * sum;
        let rank = sums.partition_point(|&upto| upto < wanted) as u32;
        // Frequent pages are not neighbours. An odd factor permutes the numbers below a power of two.
        rank.min(ZIPF_PAGES - 1).wrapping_mul(0x9e37_79b1) % ZIPF_PAGES
    };
    std::iter::repeat_with(draw).take(references).collect()
}

/// References the pages of a stream in memory for 2^17 of them; the proof is how many were not there.
///
/// # Errors
/// There is no such replacement.
pub fn replace(name: &str, stream: &[u32]) -> Result<Done, String> {
    let replacement = match name {
        "lru" => Replacement::Lru,
        "clock" => Replacement::Clock,
        _ => return Err(format!("{name} is neither lru nor clock")),
    };
    let misses = replacement_exercise(replacement, RESIDENT_PAGES, ZIPF_PAGES, stream);
    Ok(Done { count: stream.len() as u64, proof: misses })
}

/// Writes a stream as libCacheSim reads it (its format `oracleGeneral`): time, object, size and next reference of each, 24 bytes.
///
/// # Errors
/// The file cannot be written.
pub fn write_trace(path: &Path, stream: &[u32]) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    for (time, &page) in stream.iter().enumerate() {
        file.write_all(&(time as u32).to_le_bytes())?;
        // Objects count from 1 there.
        file.write_all(&(u64::from(page) + 1).to_le_bytes())?;
        file.write_all(&1_u32.to_le_bytes())?;
        file.write_all(&(-1_i64).to_le_bytes())?;
    }
    file.flush()
}

/// [`references`] for wasm: the simulated time, in nanoseconds; negative on an error.
#[unsafe(no_mangle)]
pub extern "C" fn stream_references(pages: u32) -> f64 {
    references(u64::from(pages)).map_or(-1.0, |done| done.proof as f64)
}

/// `column` with the wait for wasm, the whole or its end: pages touched; negative on an error.
#[unsafe(no_mangle)]
pub extern "C" fn column_touched(whole: u32) -> f64 {
    let case = if whole == 0 { "late" } else { "stream" };
    column("with-congestion-wait", case).map_or(-1.0, |done| done.count as f64)
}
