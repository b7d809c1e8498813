//! Turns a process's nested steps into a flat list of operations with jumps, so that where a process
//! stands is one number.

use super::program::{Branch, ProcessSpec, Step, Times};

/// One operation of a compiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Begins a loop whose matching [`Operation::Next`] is at `end`.
    Repeat {
        /// How often.
        times: Times,
        /// Index of the loop's end.
        end: u32,
    },
    /// Ends the loop that begins at `start`: goes round again or on.
    Next {
        /// Index of the loop's beginning.
        start: u32,
    },
    /// Goes to one of the targets, drawn by weight; falls through if all weights are 0.
    Choose {
        /// Weight and target of each branch.
        branches: Vec<(u32, u32)>,
    },
    /// Goes to a target.
    Jump(u32),
    /// Anything else.
    Do(Step),
}

/// A compiled program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    operations: Vec<Operation>,
}

impl Program {
    /// Compiles what a process does.
    #[must_use]
    pub fn new(process: &ProcessSpec) -> Self {
        let mut program = Self::default();
        program.add(&process.steps);
        program
    }

    /// The operation at `index`; `None` at the end.
    #[must_use]
    pub fn get(&self, index: u32) -> Option<&Operation> {
        self.operations.get(index as usize)
    }

    /// Whether the program meets others at this barrier.
    #[must_use]
    pub fn meets_at(&self, barrier: u32) -> bool {
        self.operations
            .iter()
            .any(|operation| matches!(operation, Operation::Do(Step::Meet(at)) if *at == barrier))
    }

    fn add(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Repeat { times, body } => self.add_loop(*times, body),
                Step::Choose(branches) => self.add_choice(branches),
                other => self.operations.push(Operation::Do(other.clone())),
            }
        }
    }

    fn add_loop(&mut self, times: Times, body: &[Step]) {
        let start = self.here();
        self.operations.push(Operation::Repeat { times, end: start });
        self.add(body);
        let here = self.here();
        self.operations.push(Operation::Next { start });
        self.operations[start as usize] = Operation::Repeat { times, end: here };
    }

    fn add_choice(&mut self, branches: &[Branch]) {
        let choice = self.here();
        self.operations.push(Operation::Choose { branches: Vec::new() });
        // If nothing can be drawn, go behind the branches.
        let fallback = self.here();
        self.operations.push(Operation::Jump(fallback));
        let (mut targets, mut exits) = (Vec::new(), vec![fallback]);
        for branch in branches {
            targets.push((branch.weight, self.here()));
            self.add(&branch.steps);
            exits.push(self.here());
            self.operations.push(Operation::Jump(0));
        }
        let behind = self.here();
        for exit in exits {
            self.operations[exit as usize] = Operation::Jump(behind);
        }
        self.operations[choice as usize] = Operation::Choose { branches: targets };
    }

    fn here(&self) -> u32 {
        self.operations.len() as u32
    }
}
