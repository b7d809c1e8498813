//! What a 7200 rpm disk must do: a behaviour, the value that physics gives, and a tolerance with its reason.

use super::super::tests::{MS, S, US, alone, assert_near, flush, keep_busy, mb_per_s, next_end, read, write};
use super::*;
use crate::engine::RandomStream;

/// Where the tests put a journal and, 50 GB from it, files: a tenth of the surface apart, so that a seek
/// between them takes 0.8 + 8.6 * sqrt(0.1) + 7.6 * 0.1 = 4.3 ms before settling.
const JOURNAL: u64 = 400_000_000;
const FILES: u64 = JOURNAL + 97_677_316;
const BETWEEN_NS: u64 = 4_280_000;

fn disk() -> SataDisk {
    disk_with(SataDiskOptions::default())
}

fn disk_with(options: SataDiskOptions) -> SataDisk {
    SataDisk::new(&options, 1).expect("valid")
}

fn random_reads_per_second(depth: u32) -> u64 {
    let mut places = RandomStream::new(3, "test places");
    let (mut device, count) = (disk(), 4_000);
    let capacity = device.capacity_sectors();
    let took_ns = keep_busy(&mut device, 0, depth, count, |tag| read(tag, places.below(capacity - 8), 8));
    u64::from(count) * S / took_ns
}

/// Section 7.2, check values: random 4 KiB reads, 70 to 80 a second one at a time, 150 to 200 with 31
/// waiting.
#[test]
fn random_reads_gain_from_ncq() {
    let (one, many) = (random_reads_per_second(1), random_reads_per_second(31));
    assert!((70..=80).contains(&one), "{one}");
    assert!((150..=200).contains(&many), "{many}");
}

/// Section 7.2, check values: sequential reads at the media rate of the place, 100 MB/s outside and 50
/// inside, however many are outstanding. 2 %: zones have one rate each.
#[test]
fn sequential_reads_run_at_media_rate() {
    for (first_sector, rate) in [(0, 100), (488_386_584, 75), (976_400_000, 50)] {
        for depth in [1, 2, 31] {
            let mut device = disk();
            let begin_ns = alone(&mut device, 0, read(0, first_sector, 256));
            let next = |tag| read(tag, first_sector + 256 * (u64::from(tag) + 1), 256);
            let took_ns = keep_busy(&mut device, begin_ns, depth, 1_000, next);
            let what = format!("MB/s at {first_sector} with {depth}");
            assert_near(&what, mb_per_s(1_000 * 131_072, took_ns), rate, 2);
        }
    }
}

/// Section 7.2: a read that follows the one before it within 1 ms needs no positioning, since the drive reads
/// on meanwhile. 0.6 ms between reads of 128 KiB: the medium needs 1.31 ms for each and is never late, so
/// the rate is still its own. 10 ms between them: the data are in the segment, and a read costs only its
/// overhead and the link. 3 %: the head catches up in whole turns at first.
#[test]
fn reading_ahead_hides_the_readers_pauses() {
    for (pause_ns, period_ns) in [(600 * US, 1_311 * US), (10 * MS, 10 * MS + 150 * US + 524 * US)] {
        let mut device = disk();
        let begin_ns = alone(&mut device, 0, read(0, 0, 256));
        let mut now_ns = begin_ns;
        for tag in 1..=300 {
            now_ns = alone(&mut device, now_ns + pause_ns, read(tag, 256 * u64::from(tag), 256));
        }
        assert_near("ns a read", (now_ns - begin_ns) / 300, period_ns, 3);
    }
}

/// Data that were just read, or are still waiting to be written, come from the cache: overhead and link
/// (section 7.2: 0.1 ms + size / 250 MB/s; the overhead is 0.15 ms here). Exact.
#[test]
fn the_caches_answer() {
    let mut device = disk();
    let first_ns = alone(&mut device, 0, read(0, 5_000_000, 8));
    let again_ns = alone(&mut device, first_ns + 20 * MS, read(1, 5_000_000, 8));
    assert_eq!(again_ns - first_ns - 20 * MS, 150_000 + 16_384);
    let written_ns = alone(&mut device, again_ns, write(2, 5_000_000, 128));
    assert_eq!(written_ns - again_ns, 150_000 + 262_144);
    let back_ns = alone(&mut device, written_ns, read(3, 5_000_000, 128));
    assert_eq!(back_ns - written_ns, 150_000 + 262_144);
}

/// What was read before is not used once it was overwritten and is no longer dirty.
#[test]
fn a_write_invalidates_what_was_read() {
    let mut device = disk();
    let mut now_ns = alone(&mut device, 0, read(0, 5_000_000, 8));
    now_ns = alone(&mut device, now_ns, write(1, 5_000_004, 8));
    now_ns = alone(&mut device, now_ns, flush(2));
    let begin_ns = now_ns;
    now_ns = alone(&mut device, now_ns, read(3, 5_000_000, 8));
    assert!(now_ns - begin_ns > MS, "{}", now_ns - begin_ns);
}

/// Sections 0.2 and 7.2: a flush costs what it takes to write the dirty data: a seek, settling, half a turn
/// on average, counted once, and the transfer. 64 KiB a tenth of the surface away, over 400 moments: 3 % is
/// three standard errors of the mean of a uniform wait. With nothing dirty it costs its overhead.
#[test]
fn a_flush_costs_a_seek_and_half_a_turn() {
    let (mut device, mut now_ns, mut total_ns) = (disk(), 0, 0);
    let mut moments = RandomStream::new(5, "test moments");
    for round in 0..400 {
        now_ns = alone(&mut device, now_ns, read(0, JOURNAL + 1_000 * round, 8));
        now_ns += 20 * MS + moments.below(8_333_333);
        now_ns = alone(&mut device, now_ns, write(1, FILES + 2_000 * round, 128));
        let begin_ns = now_ns;
        now_ns = alone(&mut device, now_ns, flush(2));
        total_ns += now_ns - begin_ns;
        let begin_ns = now_ns;
        now_ns = alone(&mut device, now_ns, flush(3));
        assert_eq!(now_ns - begin_ns, 150 * US);
    }
    let transfer_ns = 128 * 6_826;
    assert_near("ns a flush", total_ns / 400, 150 * US + BETWEEN_NS + 700 * US + 4_166_667 + transfer_ns, 3);
}

/// Section 0.2: after about 1 ms of quiet the drive writes its dirty data by itself, so that a flush later
/// finds nothing to do; a flush that comes sooner finds all of it.
#[test]
fn a_quiet_drive_destages() {
    for (pause_ns, clean) in [(900 * US, false), (40 * MS, true)] {
        let mut device = disk();
        let written_ns = alone(&mut device, 5 * MS, write(0, FILES, 128));
        let begin_ns = written_ns + pause_ns;
        let took_ns = alone(&mut device, begin_ns, flush(1)) - begin_ns;
        assert_eq!(took_ns == 150 * US, clean, "{took_ns}");
    }
}

/// Quiet begins when the last command ends, whenever it arrived: with dirty data and a read that takes
/// longer than the quiet time, the drive turns to the data exactly 1 ms after the read's end.
#[test]
fn quiet_begins_when_the_last_command_ends() {
    let mut device = disk();
    let written_ns = alone(&mut device, 5 * MS, write(0, FILES, 128));
    let read_ns = alone(&mut device, written_ns, read(1, 900_000_000, 8));
    assert!(read_ns - written_ns > 2 * MS);
    assert_eq!(device.next_event_ns(), Some(read_ns + MS));
    let mut done = Vec::new();
    device.advance(read_ns + MS, &mut done);
    assert_eq!(device.head_sector(), FILES + 128);
}

/// The write cache never holds more than it has room for, what is being transferred or written included.
#[test]
fn the_write_cache_is_never_overfull() {
    let cache_bytes = 1 << 20;
    let mut device =
        disk_with(SataDiskOptions { write_cache_bytes: cache_bytes, ..SataDiskOptions::default() });
    let mut places = RandomStream::new(3, "test places");
    let mut fullest = 0;
    let (mut now_ns, mut waiting) = (0, 0);
    for tag in 0..500 {
        device.start(now_ns, write(tag, 1_000 * places.below(900_000), 200));
        waiting += 1;
        while waiting == 31 {
            let (end_ns, done) = next_end(&mut device).expect("writes wait");
            now_ns = end_ns;
            waiting -= done.len();
            fullest = fullest.max(device.dirty_bytes());
        }
    }
    assert!(fullest <= cache_bytes && fullest > cache_bytes - 204_800, "{fullest}");
}

/// Nanoseconds a file: fs_mark's writes (section 4.3), with 0.39 ms of host time, a pause between data and
/// log, and a flush before and after the commit record, perhaps one after the data too.
fn file_ns(mut device: SataDisk, pause: impl Fn(u64) -> u64, flush_after_data: bool) -> u64 {
    let (mut now_ns, files) = (0, 500);
    for file in 0..files {
        let (data, log) = (FILES + 128 * file, JOURNAL + 64 * file);
        now_ns = alone(&mut device, now_ns + 390 * US, write(0, data, 128));
        if flush_after_data {
            now_ns = alone(&mut device, now_ns, flush(1));
        }
        now_ns = alone(&mut device, pause(now_ns), write(2, log, 56));
        now_ns = alone(&mut device, now_ns, flush(3));
        now_ns = alone(&mut device, now_ns, write(4, log + 56, 8));
        now_ns = alone(&mut device, now_ns, flush(5));
    }
    now_ns / files
}

/// Deadline sends the log as soon as the journal thread has run.
fn at_once(now_ns: u64) -> u64 {
    now_ns + 50 * US
}

/// CFQ idles until a tick 7 to 8 ms later (section 0.1).
fn after_idling(now_ns: u64) -> u64 {
    (now_ns / MS + 8) * MS
}

/// Section 7.2, check value: an fsync of 64 KiB with barriers takes 25 to 35 ms. With one barrier a file,
/// which is what ext4 does (0.2), and with a flush after the data too.
#[test]
fn an_fsync_with_barriers_takes_about_thirty_milliseconds() {
    for flush_after_data in [false, true] {
        let took_ns = file_ns(disk(), at_once, flush_after_data);
        assert!((25 * MS..=35 * MS).contains(&took_ns), "{flush_after_data}: {took_ns}");
    }
}

/// Sections 0.2 and 4.5: CFQ's idling between data and log costs nearly nothing, because the drive destages
/// the data meanwhile: 0.85 to 1.02 of the rate without it. A drive that never destages by itself loses
/// more.
#[test]
fn idling_is_hidden_by_destaging() {
    let percent = |options: &SataDiskOptions| {
        let deadline_ns = file_ns(disk_with(options.clone()), at_once, false);
        deadline_ns * 100 / file_ns(disk_with(options.clone()), after_idling, false)
    };
    let hidden = percent(&SataDiskOptions::default());
    assert!((85..=102).contains(&hidden), "{hidden} %");
    let lazy = percent(&SataDiskOptions { destage_quiet_ns: 10 * S, ..SataDiskOptions::default() });
    assert!(lazy < 85, "{lazy} %");
}

/// Keeps eight random reads waiting until `reads` have ended, and beside them sixteen writes of one destaging
/// step each, to scattered places, until `writes` have ended. Returns the device and the writes that ended.
fn reads_beside_writes(reads: u32, writes: u32) -> (SataDisk, u32) {
    let mut device = disk();
    let mut places = RandomStream::new(3, "test places");
    let (mut read_started, mut read_ended, mut write_started, mut write_ended) = (0, 0, 0, 0);
    let mut now_ns = 0;
    while read_ended < reads {
        while read_started - read_ended < 8 {
            device.start(now_ns, read(2 * read_started, places.below(900_000_000), 8));
            read_started += 1;
        }
        while write_started < writes && write_started - write_ended < 16 {
            let place = 900_000_000 - 10_000 * u64::from(write_started);
            device.start(now_ns, write(2 * write_started + 1, place, 256));
            write_started += 1;
        }
        let (end_ns, done) = next_end(&mut device).expect("reads are waiting");
        now_ns = end_ns;
        for tag in done {
            if tag % 2 == 0 { read_ended += 1 } else { write_ended += 1 }
        }
    }
    (device, write_ended)
}

/// Section 0.3: reads that wait go first as long as the cache (16 MiB, 128 steps) is less than three
/// quarters full: nothing is destaged. Above that reads and steps of 128 KiB take turns, as long as it
/// lasts: 120 steps fall to 96, not further; without end of writes there is a step for each read, after the
/// 128 that the cache holds. Tolerance: the sixteen writes that may wait for room.
#[test]
fn waiting_reads_hold_destaging_back() {
    let (device, _) = reads_beside_writes(200, 64);
    assert_eq!(device.dirty_bytes(), 64 * 131_072);
    let (device, _) = reads_beside_writes(200, 120);
    assert_eq!(device.dirty_bytes(), 96 * 131_072);
    let (_, written) = reads_beside_writes(600, u32::MAX / 4);
    assert!((600 + 128 - 16..=600 + 128 + 16).contains(&written), "{written}");
}

/// A long sequential write fills the cache and then runs at media rate: 100 MB/s outside, and no more than
/// the cache is ahead. 3 %: the cache, 16 MiB of 1 GB.
#[test]
fn a_long_write_runs_at_media_rate() {
    let mut device = disk();
    let took_ns = keep_busy(&mut device, 0, 31, 2_000, |tag| write(tag, 1_024 * u64::from(tag), 1_024));
    assert_near("MB/s", mb_per_s(2_000 * 524_288, took_ns), 100, 3);
}

/// Section 7.2: with reads near the head without end, one that is far away waits no longer than the age
/// limit and what is begun then: one access.
#[test]
fn an_old_command_goes_first() {
    let mut device = disk();
    device.start(0, read(u32::MAX, 900_000_000, 8));
    let mut places = RandomStream::new(3, "test places");
    let (mut now_ns, mut tag) = (0, 0);
    loop {
        while tag < 30 {
            device.start(now_ns, read(tag, places.below(200_000), 8));
            tag += 1;
        }
        let (end_ns, done) = next_end(&mut device).expect("reads wait");
        now_ns = end_ns;
        if done.contains(&u32::MAX) {
            break;
        }
        tag -= 1;
        device.start(now_ns, read(done[0], places.below(200_000), 8));
        tag += 1;
    }
    assert!((500 * MS..=535 * MS).contains(&now_ns), "{now_ns}");
}

/// Without a write cache no volatile cache is reported, and a random write takes as long as a random read
/// and half a millisecond more for settling.
#[test]
fn without_cache_a_write_goes_to_the_medium() {
    let mut device = disk_with(SataDiskOptions { write_cache: false, ..SataDiskOptions::default() });
    assert!(!device.has_volatile_cache() && disk().has_volatile_cache());
    let mut places = RandomStream::new(3, "test places");
    let capacity = device.capacity_sectors();
    let took_ns = keep_busy(&mut device, 0, 1, 2_000, |tag| write(tag, places.below(capacity - 8), 8));
    let reads_ns = S / random_reads_per_second(1);
    assert_near("ns a write", took_ns / 2_000, reads_ns + 500 * US, 2);
}

/// A flush is not queued (section 1.7): it waits for the read before it, and the read behind it waits for
/// the flush.
#[test]
fn a_flush_is_not_queued() {
    let mut device = disk();
    let written_ns = alone(&mut device, 0, write(0, FILES, 8));
    device.start(written_ns, read(1, 900_000_000, 8));
    device.start(written_ns, flush(2));
    device.start(written_ns, read(3, 0, 8));
    let order: Vec<u32> = std::iter::from_fn(|| next_end(&mut device)).flat_map(|(_, done)| done).collect();
    assert_eq!(order, [1, 2, 3]);
}

/// Two seeds differ in how the platter stands, and so in when a read ends, by up to a turn.
#[test]
fn the_seed_turns_the_platter() {
    let ends: Vec<u64> = (0..8)
        .map(|seed| {
            let mut device = SataDisk::new(&SataDiskOptions::default(), seed).expect("valid");
            alone(&mut device, 0, read(0, JOURNAL, 8))
        })
        .collect();
    let (first, last) = (ends.iter().min().expect("eight"), ends.iter().max().expect("eight"));
    assert!(last - first > MS && last - first < 8_333_333, "{ends:?}");
}
