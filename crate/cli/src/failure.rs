//! Why a command could not do what it was asked to, and what it tells the shell.

use stallarium_sim::scenario::Problem;
use stallarium_sim::scenario::link::LinkError;
use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// What the shell is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Everything went well.
    Fine,
    /// It ran, but a claim fails, or a run ended before its time.
    Fails,
    /// It could not be run.
    NotRun,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Fine => 0,
            Status::Fails => 1,
            Status::NotRun => 2,
            Status::Interrupted => 130,
        })
    }
}

/// Why nothing could be run.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was said makes no sense, every problem with its place.
    Problems(Vec<Problem>),
    /// Anything else, as a sentence.
    Other(String),
    /// Nobody reads the output any more.
    ClosedPipe,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Problems(problems) => {
                let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
                formatter.write_str(&lines.join("\n            "))
            }
            Self::Other(sentence) => formatter.write_str(sentence),
            Self::ClosedPipe => formatter.write_str("the output was closed"),
        }
    }
}

impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Problems(problems)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problems(vec![problem])
    }
}

impl From<String> for Failure {
    fn from(sentence: String) -> Self {
        Self::Other(sentence)
    }
}

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        match error {
            LinkError::Wrong(problems) => Self::Problems(problems),
            other => Self::Other(other.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Other(format!("writing the output: {error}")),
        }
    }
}

/// Writes to stdout. A closed pipe is no error of ours.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes plain data as one line of JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let line = serde_json::to_string(value).map_err(|error| format!("writing JSON: {error}"))?;
    print(&format!("{line}\n"))
}
