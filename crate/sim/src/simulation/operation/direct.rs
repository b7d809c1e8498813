//! Direct I/O: around the page cache, all bios of a call submitted, then waited for.
//!
//! *Models:* bios of up to 512 KiB with the release's flags, the explicit unplug, allocation and time
//! stamps of writes.
//! *Does not model:* asynchronous I/O, pages of the range that are in the cache, unaligned calls.
//! *Follows:* model/block-layer.md, sections 1.3 and 1.6; Linux 2.6.35 `fs/direct-io.c`.

use super::{Outcome, Step};
use crate::block::{BioFlags, PAGE_SECTORS, SECTOR_BYTES};
use crate::fs::{FileId, PAGE_BYTES};
use crate::simulation::io::IoKind;
use crate::simulation::world::World;
use crate::task::{TaskId, WaitOn};

/// Sectors in a bio.
const BIO_SECTORS_MAX: u64 = 1024;

/// One direct read or write call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direct {
    file: FileId,
    /// In sectors of the file.
    next: u64,
    end: u64,
    bytes: u64,
    writes: bool,
    began_ns: Option<u64>,
    phase: DirectPhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DirectPhase {
    Enter,
    Prepare,
    Pay,
    Submit,
    Unplug,
    Wait,
}

impl Direct {
    pub(crate) fn new(file: FileId, start_bytes: u64, end_bytes: u64, writes: bool) -> Self {
        Self {
            file,
            next: start_bytes / SECTOR_BYTES,
            end: end_bytes.div_ceil(SECTOR_BYTES),
            bytes: end_bytes - start_bytes,
            writes,
            began_ns: None,
            phase: DirectPhase::Enter,
        }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        match self.phase {
            DirectPhase::Enter => {
                self.began_ns.get_or_insert(world.now_ns);
                if self.writes {
                    self.touch(world, me)?;
                }
                self.phase = if self.writes { DirectPhase::Prepare } else { DirectPhase::Pay };
                Ok(Outcome::Cpu(world.host.syscall_ns))
            }
            DirectPhase::Prepare => {
                self.allocate(world, me)?;
                self.phase = DirectPhase::Pay;
                Ok(Outcome::Continue)
            }
            DirectPhase::Pay if self.next >= self.end => {
                self.phase = DirectPhase::Unplug;
                Ok(Outcome::Continue)
            }
            DirectPhase::Pay => {
                self.phase = DirectPhase::Submit;
                Ok(Outcome::Cpu(world.host.submit_bio_ns))
            }
            DirectPhase::Submit => self.submit(world, me),
            DirectPhase::Unplug => {
                world.unplug(me);
                self.phase = DirectPhase::Wait;
                Ok(Outcome::Continue)
            }
            DirectPhase::Wait => {
                if world.tasks[me.index()].direct_in_flight != 0 {
                    return Err(Outcome::Wait(WaitOn::Direct));
                }
                self.finish(world, me);
                Ok(Outcome::Done)
            }
        }
    }

    /// A write changes the inode's times, at most once a tick.
    fn touch(&self, world: &mut World, me: TaskId) -> Result<(), Outcome> {
        let now_jiffies = world.clock.jiffies(world.now_ns);
        if world.files.get(self.file).access_jiffies != now_jiffies {
            world.change_inode(me, self.file, false)?;
            world.files.get_mut(self.file).access_jiffies = now_jiffies;
        }
        Ok(())
    }

    fn allocate(&self, world: &mut World, me: TaskId) -> Result<(), Outcome> {
        let mut page = (self.next / u64::from(PAGE_SECTORS)) as u32;
        let end = self.end.div_ceil(u64::from(PAGE_SECTORS)) as u32;
        while page < end {
            let file = world.files.get(self.file);
            if let Some((_, contiguous)) = file.locate(page) {
                page = page.saturating_add(contiguous);
                continue;
            }
            let run = file.unallocated_run(page, end - page).max(1);
            world.allocate(me, self.file, page, run)?;
            page += run;
        }
        let end_bytes = self.end * SECTOR_BYTES;
        if end_bytes > world.files.get(self.file).size_bytes {
            world.change_inode(me, self.file, true)?;
            world.files.get_mut(self.file).size_bytes = end_bytes;
        }
        Ok(())
    }

    fn submit(&mut self, world: &mut World, me: TaskId) -> Step {
        let page_sectors = u64::from(PAGE_SECTORS);
        let (page, into) = ((self.next / page_sectors) as u32, self.next % page_sectors);
        let flags = if self.writes { world.policy.write_flags.direct } else { BioFlags::default() };
        let left = (self.end - self.next).min(BIO_SECTORS_MAX);
        let length = match world.files.get(self.file).locate(page) {
            Some((sector, pages)) => {
                let length = left.min(u64::from(pages) * page_sectors - into);
                world.tasks[me.index()].direct_in_flight += 1;
                let kind = IoKind::Direct { task: me };
                if let Err(obstacle) = world.submit(me, sector + into, length as u32, flags, kind) {
                    world.tasks[me.index()].direct_in_flight -= 1;
                    return Err(obstacle);
                }
                length
            }
            // A hole reads as zeros.
            None => left.min(PAGE_BYTES / SECTOR_BYTES - into),
        };
        self.next += length;
        self.phase = DirectPhase::Pay;
        Ok(Outcome::Continue)
    }

    fn finish(&self, world: &mut World, me: TaskId) {
        let now_ns = world.now_ns;
        let Some(process) = world.process_mut(me) else { return };
        if self.writes {
            process.totals.written_bytes += self.bytes;
        } else {
            process.totals.read_bytes += self.bytes;
            process.totals.read_ns.record(now_ns - self.began_ns.unwrap_or(now_ns));
        }
        world.recorder.moved(now_ns, me.0, self.writes, self.bytes);
    }
}
