//! The pool of pdflush threads: who takes a job, when a thread is added, when one goes.
//!
//! *Models:* 2 to 8 threads, the one that went to sleep last is woken first; a thread more after a second in which none was
//! idle, one less when one has been idle for a second; jobs that find no idle thread are not done.
//! *Does not model:* what creating and ending a thread costs; devices other than one.
//! *Follows:* docs/model/reclaim.md, section 6.2; Linux 2.6.31, `mm/pdflush.c`.

use std::collections::VecDeque;

/// Never fewer threads.
pub const PDFLUSH_MIN: usize = 2;
/// Never more.
pub const PDFLUSH_MAX: usize = 8;

/// What a thread is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Write so many pages, and on until fewer than the background threshold are dirty (`background_writeout`).
    Background {
        /// Pages to be written in any case.
        least_pages: u64,
    },
    /// Write what is old (`wb_kupdate`).
    Kupdate,
}

/// The pool.
#[derive(Clone, Debug)]
pub struct Pdflush {
    /// Threads that exist.
    exists: [bool; PDFLUSH_MAX],
    jobs: [Option<Job>; PDFLUSH_MAX],
    /// Idle threads and since when, in ticks; the one that went to sleep last in front.
    idle: VecDeque<(usize, u64)>,
    /// When the last idle thread was taken, in ticks.
    last_empty_jiffies: u64,
    second_jiffies: u64,
    /// The thread that has taken the device, and so is the only one to write.
    owner: Option<usize>,
}

impl Pdflush {
    /// The least pool, all idle since `now_jiffies`, with `hz` ticks a second.
    #[must_use]
    pub fn new(now_jiffies: u64, hz: u64) -> Self {
        let mut exists = [false; PDFLUSH_MAX];
        exists[..PDFLUSH_MIN].fill(true);
        Self {
            exists,
            jobs: [None; PDFLUSH_MAX],
            idle: (0..PDFLUSH_MIN).map(|thread| (thread, now_jiffies)).collect(),
            last_empty_jiffies: now_jiffies,
            second_jiffies: hz,
            owner: None,
        }
    }

    /// Threads that exist.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.exists.iter().filter(|&&exists| exists).count()
    }

    /// Gives a job to an idle thread, which is to be woken; `None` if there is none: the job is lost.
    pub fn start(&mut self, job: Job, now_jiffies: u64) -> Option<usize> {
        let (thread, _) = self.idle.pop_front()?;
        if self.idle.is_empty() {
            self.last_empty_jiffies = now_jiffies;
        }
        self.jobs[thread] = Some(job);
        Some(thread)
    }

    /// The job a thread has been given, if any.
    #[must_use]
    pub fn job(&self, thread: usize) -> Option<Job> {
        self.jobs.get(thread).copied().flatten()
    }

    /// A thread has done its job: it becomes idle, or goes; perhaps another is made.
    pub fn finished(&mut self, thread: usize, now_jiffies: u64) {
        self.jobs[thread] = None;
        let is_short = self.idle.is_empty() && now_jiffies > self.last_empty_jiffies + self.second_jiffies;
        if is_short && let Some(new) = self.exists.iter().position(|exists| !exists) {
            self.last_empty_jiffies = now_jiffies;
            self.exists[new] = true;
            self.idle.push_front((new, now_jiffies));
        }
        let threads = self.threads();
        if let Some((_, since)) = self.idle.back_mut()
            && threads > PDFLUSH_MIN
            && now_jiffies > *since + self.second_jiffies
        {
            // So that they do not all go at once.
            *since = now_jiffies;
            self.exists[thread] = false;
            return;
        }
        self.idle.push_front((thread, now_jiffies));
    }

    /// A thread takes the device; false if another has it.
    pub fn acquire(&mut self, thread: usize) -> bool {
        *self.owner.get_or_insert(thread) == thread
    }

    /// Lets go of the device.
    pub fn release(&mut self) {
        self.owner = None;
    }

    /// Whether a thread has taken the device.
    #[must_use]
    pub fn has_device(&self) -> bool {
        self.owner.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: Job = Job::Background { least_pages: 0 };

    /// Section 6.2: two threads; a third job is lost.
    #[test]
    fn a_job_without_an_idle_thread_is_lost() {
        let mut pool = Pdflush::new(0, 100);
        let (first, second) = (pool.start(JOB, 1), pool.start(Job::Kupdate, 2));
        assert!(first.is_some() && second.is_some() && first != second);
        assert_eq!(pool.start(JOB, 3), None);
        pool.finished(1, 50);
        assert_eq!(pool.start(JOB, 60), Some(1));
    }

    /// Section 6.2: no idle thread for more than a second makes one more, up to eight; one idle for more than a second
    /// makes one go, down to two.
    #[test]
    fn the_pool_grows_and_shrinks() {
        let mut pool = Pdflush::new(0, 100);
        let mut now = 0;
        for threads in 2..=PDFLUSH_MAX {
            assert_eq!(pool.threads(), threads);
            let mut last = 0;
            while let Some(thread) = pool.start(JOB, now) {
                last = thread;
            }
            now += 101;
            pool.finished(last, now);
        }
        assert_eq!(pool.threads(), PDFLUSH_MAX, "never more");
        let busy: Vec<usize> = (0..PDFLUSH_MAX).filter(|&thread| pool.job(thread).is_some()).collect();
        for thread in busy {
            now += 101;
            pool.finished(thread, now);
        }
        for _ in 0..20 {
            now += 101;
            let thread = pool.start(JOB, now).expect("all are idle");
            pool.finished(thread, now);
        }
        assert_eq!(pool.threads(), PDFLUSH_MIN, "never fewer");
    }

    /// Only one thread writes to a device.
    #[test]
    fn a_device_has_one_writer() {
        let mut pool = Pdflush::new(0, 100);
        assert!(pool.acquire(1) && pool.acquire(1));
        assert!(!pool.acquire(0) && pool.has_device());
        pool.release();
        assert!(pool.acquire(0));
    }
}
