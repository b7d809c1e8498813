//! Flushes that are not queued: the rule of ATA.
//!
//! *Models:* a flush begins when the commands before it are done, and commands behind it wait until it is
//! done. On a real machine libata keeps this order, since a command that is not queued and queued ones must
//! not be outstanding together; here the device does, so that a driver need not know.
//!
//! *Follows:* docs/model/block-layer.md, sections 1.7 and 1.8.

use std::collections::VecDeque;

use super::{Command, Operation};

/// Holds back what must wait for a flush, or a flush that must wait.
#[derive(Clone, Debug, Default)]
pub(super) struct FlushGate {
    held: VecDeque<Command>,
    inside: u32,
    flushing: bool,
}

impl FlushGate {
    /// A command arrives; true if it may go in, otherwise it is held back.
    pub(super) fn enter(&mut self, command: Command) -> bool {
        let goes_in = self.held.is_empty() && self.may_enter(&command);
        if goes_in {
            self.note_inside(&command);
        } else {
            self.held.push_back(command);
        }
        goes_in
    }

    /// A command inside is done.
    pub(super) fn leave(&mut self) {
        self.inside = self.inside.saturating_sub(1);
        if self.inside == 0 {
            self.flushing = false;
        }
    }

    /// The next command that was held back and may go in now.
    pub(super) fn release(&mut self) -> Option<Command> {
        let command = *self.held.front()?;
        if !self.may_enter(&command) {
            return None;
        }
        self.note_inside(&command);
        self.held.pop_front()
    }

    fn may_enter(&self, command: &Command) -> bool {
        if command.operation == Operation::Flush { self.inside == 0 } else { !self.flushing }
    }

    fn note_inside(&mut self, command: &Command) {
        self.inside += 1;
        self.flushing = command.operation == Operation::Flush;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(tag: u32, operation: Operation) -> Command {
        Command { tag, operation, sector: 0, sectors: 8, force_unit_access: false }
    }

    /// Read, flush, read: each waits for the one before.
    #[test]
    fn a_flush_is_alone() {
        let mut gate = FlushGate::default();
        assert!(gate.enter(command(0, Operation::Read)));
        assert!(!gate.enter(command(1, Operation::Flush)), "a read is inside");
        assert!(!gate.enter(command(2, Operation::Read)), "a flush waits before it");
        assert_eq!(gate.release(), None);
        gate.leave();
        assert_eq!(gate.release().map(|command| command.tag), Some(1));
        assert_eq!(gate.release(), None, "the flush is inside");
        gate.leave();
        assert_eq!(gate.release().map(|command| command.tag), Some(2));
        assert!(gate.enter(command(3, Operation::Write)), "no flush: nothing waits");
    }
}
