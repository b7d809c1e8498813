//! Runs the command line program and looks at what it says.

use std::process::{Command, Output};

/// The program, with these arguments.
pub(crate) fn stallarium(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stallarium"));
    command.args(arguments).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command
}

/// What a run of the program gave.
pub(crate) struct Said {
    /// Exit status; -1 if a signal ended it.
    pub(crate) status: i32,
    /// What it wrote to stdout.
    pub(crate) out: String,
    /// What it wrote to stderr.
    pub(crate) err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Runs the program to its end.
pub(crate) fn say(arguments: &[&str]) -> Said {
    stallarium(arguments).output().expect("the program starts").into()
}

/// Runs the program, which must succeed, and gives its output.
pub(crate) fn out(arguments: &[&str]) -> String {
    let said = say(arguments);
    assert_eq!(said.status, 0, "{arguments:?}: {}", said.err);
    assert_eq!(said.err, "", "{arguments:?}");
    said.out
}
