//! The steps of a process.

use crate::text::{Field, Place, Problems, Scale, Table, parse_quantity};
use crate::workload::check::{MAX_BYTES, MAX_CALL_BYTES, MAX_HOLE_BYTES, MAX_STEPS, MAX_TIME_NS};
use crate::workload::program::{
    Branch, FileSpec, HandleId, MarkId, Operand, Pattern, ProcessSpec, Step, Times,
};
use std::ops::RangeInclusive;

/// How much a read or write moves per system call unless it says so.
pub(super) const DEFAULT_CALL_BYTES: u64 = 4096;

/// Every verb; a step has exactly one.
const VERBS: [&str; 19] = [
    "repeat",
    "choose",
    "create",
    "open",
    "read",
    "write",
    "rewind",
    "fsync",
    "fdatasync",
    "close",
    "unlink",
    "truncate",
    "map-anonymous",
    "touch",
    "drop-cache",
    "compute",
    "sleep",
    "mark",
    "meet",
];

/// What is known while the steps of one process are read.
pub(super) struct StepReader<'a> {
    pub(super) files: &'a [FileSpec],
    pub(super) barriers: &'a mut Vec<String>,
    pub(super) process: &'a mut ProcessSpec,
    pub(super) places: &'a mut Vec<Place>,
    pub(super) problems: &'a mut Problems,
}

impl StepReader<'_> {
    /// A list of steps; those with problems are left out.
    pub(super) fn steps(&mut self, field: &Field<'_>) -> Vec<Step> {
        let items = field.list(self.problems).unwrap_or_default();
        items.iter().filter_map(|item| self.step(item)).collect()
    }

    fn step(&mut self, field: &Field<'_>) -> Option<Step> {
        if self.places.len() >= MAX_STEPS {
            if self.places.len() == MAX_STEPS {
                self.places.push(field.place());
                self.problems.push(field.problem(format!("a process has at most {MAX_STEPS} steps")));
            }
            return None;
        }
        self.places.push(field.place());
        let mut table = field.table(self.problems)?;
        let verbs: Vec<&'static str> = VERBS.into_iter().filter(|verb| table.has(verb)).collect();
        let [verb] = *verbs.as_slice() else {
            self.wrong_verbs(&mut table, &verbs);
            return None;
        };
        let object = table.field(verb)?;
        let step = self.verb(verb, &object, &mut table);
        table.finish(self.problems);
        step
    }

    fn wrong_verbs(&mut self, table: &mut Table<'_>, verbs: &[&str]) {
        let problem = if verbs.is_empty() {
            let keys = table.all();
            let near = keys.iter().find_map(|(key, _)| crate::text::nearest_name(key, VERBS));
            let mut problem = table.problem("the step does nothing that is known");
            problem.nearest = near.map(str::to_owned);
            problem.allowed = Some(VERBS.join(", "));
            problem
        } else {
            table.problem(format!("a step does one thing, this one does {}", verbs.join(" and ")))
        };
        self.problems.push(problem);
    }

    fn verb(&mut self, verb: &str, object: &Field<'_>, table: &mut Table<'_>) -> Option<Step> {
        match verb {
            "repeat" => self.repeat(object, table),
            "choose" => self.choose(object),
            "create" => {
                let handle = self.handle(object);
                let directories = self.number(table, "directories", 1, &(1..=1_000_000));
                Some(Step::Create { handle: handle?, directories: directories? })
            }
            "open" => self.open(object, table),
            "read" | "write" => self.transfer(verb == "read", object, table),
            "rewind" => self.handle(object).map(Step::Rewind),
            "fsync" => self.handle(object).map(Step::Fsync),
            "fdatasync" => self.handle(object).map(Step::Fdatasync),
            "close" => self.handle(object).map(Step::Close),
            "unlink" => self.handle(object).map(Step::Unlink),
            "truncate" => {
                let handle = self.handle(object);
                let bytes = table.require("bytes", "its new length, such as \"8 GiB\"", self.problems);
                let bytes = bytes?.quantity(Scale::Size, &(1..=MAX_HOLE_BYTES), self.problems);
                Some(Step::Truncate { handle: handle?, bytes: bytes? })
            }
            "map-anonymous" => {
                let handle = self.handle(object);
                let bytes = table.require("bytes", "its size, such as \"64 MiB\"", self.problems);
                let bytes = bytes?.quantity(Scale::Size, &(1..=MAX_HOLE_BYTES), self.problems);
                Some(Step::MapAnonymous { handle: handle?, bytes: bytes? })
            }
            "touch" => self.touch(object, table),
            "drop-cache" => self.handle(object).map(Step::DropCache),
            "compute" => self.operand(object, Scale::Time, &(0..=MAX_TIME_NS)).map(Step::Compute),
            "sleep" => self.operand(object, Scale::Time, &(0..=MAX_TIME_NS)).map(Step::Sleep),
            "mark" => {
                let name = object.name(self.problems);
                let amount = self.number(table, "amount", 1, &(1..=1_000_000_000));
                let mark = intern(&mut self.process.marks, name?);
                Some(Step::Mark { mark: MarkId(self.narrow(object, mark)?), amount: amount? })
            }
            _ => {
                let name = object.name(self.problems)?;
                u32::try_from(intern(self.barriers, name)).ok().map(Step::Meet)
            }
        }
    }

    fn repeat(&mut self, object: &Field<'_>, table: &mut Table<'_>) -> Option<Step> {
        let times = self.times(object);
        let body = table.require("steps", "what is repeated", self.problems).map(|steps| self.steps(&steps));
        Some(Step::Repeat { times: times?, body: body? })
    }

    /// `10`, `"forever"`, or `"20 s"`.
    fn times(&mut self, field: &Field<'_>) -> Option<Times> {
        use crate::text::Kind;
        match &field.node.kind {
            Kind::Text(text) | Kind::Loose(text) if text == "forever" => Some(Times::Forever),
            Kind::Text(text) | Kind::Loose(text) if parse_quantity(text, Scale::Count).is_err() => {
                if parse_quantity(text, Scale::Time).is_err() {
                    let problem = field.problem("this is no number of rounds");
                    let allowed = "a count such as 10, a time such as \"20 s\", \"forever\"";
                    self.problems.push(problem.with_names(text, ["forever"]).with_allowed(allowed));
                    return None;
                }
                field.quantity(Scale::Time, &(1..=MAX_TIME_NS), self.problems).map(Times::For)
            }
            _ => {
                let bounds = 1..=u64::from(u32::MAX);
                field.quantity(Scale::Count, &bounds, self.problems).map(Times::Count)
            }
        }
    }

    fn choose(&mut self, object: &Field<'_>) -> Option<Step> {
        let branches = object.list(self.problems)?;
        let mut read = Vec::new();
        for branch in &branches {
            let Some(mut table) = branch.table(self.problems) else { continue };
            let weight = self.number(&mut table, "weight", 1, &(1..=1_000_000));
            let steps = table.require("steps", "what this branch does, may be []", self.problems);
            let steps = steps.map(|steps| self.steps(&steps));
            table.finish(self.problems);
            if let (Some(weight), Some(steps)) = (weight, steps) {
                read.push(Branch { weight, steps });
            }
        }
        Some(Step::Choose(read))
    }

    /// `{ open = "file" }`, or `{ open = "file", as = "handle" }`.
    fn open(&mut self, object: &Field<'_>, table: &mut Table<'_>) -> Option<Step> {
        let name = object.name(self.problems);
        let handle = match table.field("as") {
            Some(field) => self.handle(&field),
            None => self.handle(object),
        };
        let file = self.files.iter().position(|file| Some(file.name.as_str()) == name);
        if let (None, Some(name)) = (file, name) {
            let names = self.files.iter().map(|file| file.name.as_str());
            let problem = object.problem("the workload has no file of this name").with_names(name, names);
            self.problems
                .push(problem.with_hint("files that exist before the run are listed under [[file]]"));
        }
        Some(Step::Open { handle: handle?, file: u32::try_from(file?).ok()? })
    }

    fn transfer(&mut self, is_read: bool, object: &Field<'_>, table: &mut Table<'_>) -> Option<Step> {
        let handle = self.handle(object);
        let call = table.field("call").map_or(Some(DEFAULT_CALL_BYTES), |field| {
            field.quantity(Scale::Size, &(1..=MAX_CALL_BYTES), self.problems)
        });
        let pattern = table.field("pattern");
        let is_patterned = pattern.is_some();
        let pattern = self.pattern(pattern);
        let direct = table.field("direct").map_or(Some(false), |field| field.boolean(self.problems));
        let bytes = table.field("bytes");
        if is_read && bytes.as_ref().is_some_and(|bytes| bytes.node.written() == "\"all\"") {
            if is_patterned || direct == Some(true) {
                let message = "a read of all that is left is sequential and buffered";
                self.problems.push(table.problem(message).with_hint("give the number of bytes instead"));
            }
            return Some(Step::ReadToEnd { handle: handle?, call_bytes: call? });
        }
        let bytes = match bytes {
            Some(bytes) => self.operand(&bytes, Scale::Size, &(1..=MAX_BYTES)),
            None => call.map(Operand::Fixed),
        };
        let (handle, bytes, call_bytes) = (handle?, bytes?, call?);
        let (pattern, direct) = (pattern?, direct?);
        Some(if is_read {
            Step::Read { handle, bytes, call_bytes, pattern, direct }
        } else {
            Step::Write { handle, bytes, call_bytes, pattern, direct }
        })
    }

    /// `{ touch = "file" }`: every page of it, in order.
    fn touch(&mut self, object: &Field<'_>, table: &mut Table<'_>) -> Option<Step> {
        let handle = self.handle(object);
        let pattern = self.pattern(table.field("pattern"));
        let bytes = match table.field("bytes") {
            Some(bytes) => Some(self.operand(&bytes, Scale::Size, &(1..=MAX_HOLE_BYTES))?),
            None => None,
        };
        let writes_percent = match table.field("writes-percent") {
            Some(field) => Some(field.quantity(Scale::Count, &(0..=100), self.problems)? as u32),
            None => None,
        };
        Some(Step::Touch { handle: handle?, bytes, pattern: pattern?, writes_percent })
    }

    fn pattern(&mut self, field: Option<Field<'_>>) -> Option<Pattern> {
        let patterns = [("sequential", Pattern::Sequential), ("random", Pattern::Random)];
        field.map_or(Some(Pattern::Sequential), |field| field.one_of(&patterns, self.problems))
    }

    fn operand(&mut self, field: &Field<'_>, scale: Scale, bounds: &RangeInclusive<u64>) -> Option<Operand> {
        let (low, high) = field.range(scale, bounds, self.problems)?;
        Some(if low == high { Operand::Fixed(low) } else { Operand::Between(low, high) })
    }

    fn number(
        &mut self,
        table: &mut Table<'_>,
        key: &'static str,
        default: u32,
        bounds: &RangeInclusive<u64>,
    ) -> Option<u32> {
        match table.field(key) {
            Some(field) => field
                .quantity(Scale::Count, bounds, self.problems)
                .and_then(|value| u32::try_from(value).ok()),
            None => Some(default),
        }
    }

    fn handle(&mut self, field: &Field<'_>) -> Option<HandleId> {
        let name = field.name(self.problems)?;
        let index = intern(&mut self.process.handles, name);
        self.narrow(field, index).map(HandleId)
    }

    fn narrow(&mut self, field: &Field<'_>, index: usize) -> Option<u16> {
        let narrow = u16::try_from(index).ok();
        if narrow.is_none() {
            self.problems.push(field.problem("a process has at most 65536 names"));
        }
        narrow
    }
}

/// The index of `name` among `names`, where it is added if it is new.
fn intern(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}
