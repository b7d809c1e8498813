//! A workload as text, for the page's editor.

use super::steps::DEFAULT_CALL_BYTES;
use crate::block::IoClass;
use crate::text::{format_size, format_time};
use crate::workload::program::{
    Branch, FileSpec, HandleId, MarkId, Operand, Pattern, ProcessSpec, Step, Times, Workload,
};
use std::fmt::Write as _;

/// The text of a workload: reading it gives the same workload, but for names that nothing uses (they
/// are dropped) and the numbering of handles, marks and barriers (in the order of their first use).
#[must_use]
pub fn write(workload: &Workload) -> String {
    let mut text = String::new();
    for file in &workload.files {
        write_file(&mut text, file);
    }
    for process in &workload.processes {
        Writer { workload, process, text: &mut text }.process();
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// TOML's spelling of a string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

// Writing to a `String` cannot fail, so the results of `write!` are ignored throughout.

fn write_file(text: &mut String, file: &FileSpec) {
    let (percent, tenth) = (file.at_per_mille / 10, file.at_per_mille % 10);
    let decimal = if tenth == 0 { String::new() } else { format!(".{tenth}") };
    let _ = writeln!(text, "[[file]]\nname = {}", quoted(&file.name));
    let _ = writeln!(text, "size = \"{}\"\nat = \"{percent}{decimal} %\"\n", format_size(file.size_bytes));
}

struct Writer<'a> {
    workload: &'a Workload,
    process: &'a ProcessSpec,
    text: &'a mut String,
}

impl Writer<'_> {
    fn process(&mut self) {
        let process = self.process;
        let _ = writeln!(self.text, "[[process]]\nname = {}", quoted(&process.name));
        if process.count != 1 {
            let _ = writeln!(self.text, "count = {}", process.count);
        }
        let class = match process.io_class {
            IoClass::RealTime => "real-time",
            IoClass::BestEffort => "",
            IoClass::Idle => "idle",
        };
        if !class.is_empty() {
            let _ = writeln!(self.text, "io-class = \"{class}\"");
        }
        if process.io_priority != 4 {
            let _ = writeln!(self.text, "io-priority = {}", process.io_priority);
        }
        if process.shared_io_context {
            let _ = writeln!(self.text, "shared-io-context = true");
        }
        self.text.push_str("steps = ");
        self.steps(&process.steps, 0);
        self.text.push_str("\n\n");
    }

    fn steps(&mut self, steps: &[Step], indent: usize) {
        if steps.is_empty() {
            self.text.push_str("[]");
            return;
        }
        self.text.push_str("[\n");
        for step in steps {
            self.indent(indent + 1);
            self.text.push_str("{ ");
            self.step(step, indent + 1);
            self.text.push_str(" },\n");
        }
        self.indent(indent);
        self.text.push(']');
    }

    fn indent(&mut self, indent: usize) {
        (0..indent).for_each(|_| self.text.push_str("  "));
    }

    fn step(&mut self, step: &Step, indent: usize) {
        match step {
            Step::Repeat { times, body } => {
                let times = match times {
                    Times::Count(count) => count.to_string(),
                    Times::Forever => "\"forever\"".to_owned(),
                    Times::For(time_ns) => format!("\"{}\"", format_time(*time_ns)),
                };
                let _ = write!(self.text, "repeat = {times}, steps = ");
                self.steps(body, indent);
            }
            Step::Choose(branches) => self.choose(branches, indent),
            other => {
                let words = self.words(other);
                self.text.push_str(&words);
            }
        }
    }

    fn choose(&mut self, branches: &[Branch], indent: usize) {
        self.text.push_str("choose = [\n");
        for branch in branches {
            self.indent(indent + 1);
            let _ = write!(self.text, "{{ weight = {}, steps = ", branch.weight);
            self.steps(&branch.steps, indent + 1);
            self.text.push_str(" },\n");
        }
        self.indent(indent);
        self.text.push(']');
    }

    /// A step that contains no others.
    fn words(&self, step: &Step) -> String {
        let on = |verb: &str, handle: &HandleId| format!("{verb} = {}", self.handle(*handle));
        match step {
            Step::Create { handle, directories: 1 } => on("create", handle),
            Step::Create { handle, directories } => {
                format!("{}, directories = {directories}", on("create", handle))
            }
            Step::Open { handle, file } => {
                let file = usize::try_from(*file).ok().and_then(|file| self.workload.files.get(file));
                let (file, handle) =
                    (quoted(file.map_or("?", |file| file.name.as_str())), self.handle(*handle));
                if file == handle {
                    format!("open = {file}")
                } else {
                    format!("open = {file}, as = {handle}")
                }
            }
            Step::Read { handle, bytes, call_bytes, pattern, direct } => {
                on("read", handle) + &transfer(Some(*bytes), *call_bytes, *pattern, *direct)
            }
            Step::Write { handle, bytes, call_bytes, pattern, direct } => {
                on("write", handle) + &transfer(Some(*bytes), *call_bytes, *pattern, *direct)
            }
            Step::ReadToEnd { handle, call_bytes } => {
                on("read", handle)
                    + ", bytes = \"all\""
                    + &transfer(None, *call_bytes, Pattern::Sequential, false)
            }
            Step::Rewind(handle) => on("rewind", handle),
            Step::Fsync(handle) => on("fsync", handle),
            Step::Fdatasync(handle) => on("fdatasync", handle),
            Step::Close(handle) => on("close", handle),
            Step::Unlink(handle) => on("unlink", handle),
            Step::Truncate { handle, bytes } => {
                format!("{}, bytes = \"{}\"", on("truncate", handle), format_size(*bytes))
            }
            Step::MapAnonymous { handle, bytes } => {
                format!("{}, bytes = \"{}\"", on("map-anonymous", handle), format_size(*bytes))
            }
            Step::Touch { handle, bytes, pattern, writes_percent } => {
                let bytes = bytes.map(|bytes| format!(", bytes = {}", operand(bytes, format_size)));
                let writes = writes_percent.map(|percent| format!(", writes-percent = {percent}"));
                on("touch", handle)
                    + &bytes.unwrap_or_default()
                    + pattern_option(*pattern)
                    + &writes.unwrap_or_default()
            }
            Step::DropCache(handle) => on("drop-cache", handle),
            Step::Compute(time) => format!("compute = {}", operand(*time, format_time)),
            Step::Sleep(time) => format!("sleep = {}", operand(*time, format_time)),
            Step::Mark { mark, amount: 1 } => format!("mark = {}", self.mark(*mark)),
            Step::Mark { mark, amount } => format!("mark = {}, amount = {amount}", self.mark(*mark)),
            Step::Meet(barrier) => {
                let barrier =
                    usize::try_from(*barrier).ok().and_then(|index| self.workload.barriers.get(index));
                format!("meet = {}", quoted(barrier.map_or("?", String::as_str)))
            }
            Step::Repeat { .. } | Step::Choose(_) => String::new(),
        }
    }

    fn handle(&self, HandleId(index): HandleId) -> String {
        quoted(self.process.handles.get(usize::from(index)).map_or("?", String::as_str))
    }

    fn mark(&self, MarkId(index): MarkId) -> String {
        quoted(self.process.marks.get(usize::from(index)).map_or("?", String::as_str))
    }
}

fn operand(operand: Operand, format: fn(u64) -> String) -> String {
    match operand {
        Operand::Fixed(value) => format!("\"{}\"", format(value)),
        Operand::Between(low, high) => format!("\"{}..{}\"", format(low), format(high)),
    }
}

/// The pattern, if it differs from its default.
fn pattern_option(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Sequential => "",
        Pattern::Random => ", pattern = \"random\"",
    }
}

/// The options of a read or write that differ from their defaults.
fn transfer(bytes: Option<Operand>, call_bytes: u64, pattern: Pattern, direct: bool) -> String {
    let mut text = String::new();
    if let Some(bytes) = bytes.filter(|bytes| *bytes != Operand::Fixed(call_bytes)) {
        let _ = write!(text, ", bytes = {}", operand(bytes, format_size));
    }
    if call_bytes != DEFAULT_CALL_BYTES {
        let _ = write!(text, ", call = \"{}\"", format_size(call_bytes));
    }
    text.push_str(pattern_option(pattern));
    if direct {
        text.push_str(", direct = true");
    }
    text
}
