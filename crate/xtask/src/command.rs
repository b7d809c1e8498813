//! Runs another program, and says in one sentence what went wrong when it fails.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a step gives: a value, or one sentence for the person at the terminal.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// How often a child with a time limit is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A program about to be run.
pub(crate) struct Child {
    command: Command,
}

impl Child {
    /// A program by name (found on `PATH`) or by path.
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        // `cargo run` tells this process about the xtask package; a nested cargo that saw it would rebuild every crate
        // whose build script reads those variables.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(is_about_this_package) {
                command.env_remove(name);
            }
        }
        command.stdin(Stdio::null());
        Self { command }
    }

    /// Adds arguments.
    pub(crate) fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, arguments: I) -> Self {
        self.command.args(arguments);
        self
    }

    /// Sets an environment variable of this child alone.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Takes an environment variable away from this child alone.
    pub(crate) fn env_remove(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// The directory to run in.
    pub(crate) fn dir(mut self, path: &Path) -> Self {
        self.command.current_dir(path);
        self
    }

    /// Puts directories before all others on the child's `PATH`.
    pub(crate) fn path_first(self, directories: &[PathBuf]) -> Outcome<Self> {
        let old = std::env::var_os("PATH").unwrap_or_default();
        let all = directories.iter().cloned().chain(std::env::split_paths(&old));
        let path = std::env::join_paths(all).map_err(|error| format!("cannot extend PATH: {error}"))?;
        Ok(self.env("PATH", path))
    }

    /// Runs it with its output on the terminal.
    ///
    /// # Errors
    /// When it cannot be started, or ends with anything but success.
    pub(crate) fn run(mut self) -> Outcome {
        let status = self.command.status().map_err(|error| self.cannot_start(&error))?;
        if status.success() { Ok(()) } else { Err(format!("`{}` ended with {status}", self.line())) }
    }

    /// Runs it and stops it when it takes longer than `limit`.
    ///
    /// # Errors
    /// As [`Child::run`], and when the limit is reached.
    pub(crate) fn run_within(mut self, limit: Duration) -> Outcome {
        let mut child = self.command.spawn().map_err(|error| self.cannot_start(&error))?;
        let end = Instant::now() + limit;
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(format!("`{}` ended with {status}", self.line())),
                Ok(None) if Instant::now() < end => std::thread::sleep(POLL_INTERVAL),
                Ok(None) => {
                    // The child may end between the two calls: then there is nothing left to stop.
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("`{}` took longer than {} s", self.line(), limit.as_secs()));
                }
                Err(error) => return Err(format!("cannot wait for `{}`: {error}", self.line())),
            }
        }
    }

    /// Runs it silently and returns what it wrote to standard output.
    ///
    /// # Errors
    /// As [`Child::run`]; the sentence holds the last line of its error output.
    pub(crate) fn output(mut self) -> Outcome<String> {
        let output = self.command.output().map_err(|error| self.cannot_start(&error))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let reason = errors.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("").trim();
        Err(format!("`{}` ended with {}: {reason}", self.line(), output.status))
    }

    /// Runs it with its output on the terminal, and gives every line of standard output to `each` as well.
    /// Returns whether it ended with success.
    ///
    /// # Errors
    /// When it cannot be started or its output cannot be read.
    pub(crate) fn run_reading(mut self, mut each: impl FnMut(&str)) -> Outcome<bool> {
        self.command.stdout(Stdio::piped());
        let mut child = self.command.spawn().map_err(|error| self.cannot_start(&error))?;
        if let Some(stdout) = child.stdout.take() {
            let mut reader = BufReader::new(stdout);
            let mut bytes = Vec::new();
            loop {
                bytes.clear();
                let count = reader
                    .read_until(b'\n', &mut bytes)
                    .map_err(|error| format!("cannot read the output of `{}`: {error}", self.line()))?;
                if count == 0 {
                    break;
                }
                let line = String::from_utf8_lossy(&bytes);
                print!("{line}");
                each(line.trim_end());
            }
        }
        let status = child.wait().map_err(|error| format!("cannot wait for `{}`: {error}", self.line()))?;
        Ok(status.success())
    }

    /// The command as a person would type it.
    fn line(&self) -> String {
        let words: Vec<OsString> = std::iter::once(self.command.get_program())
            .chain(self.command.get_args())
            .map(OsStr::to_owned)
            .collect();
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    fn cannot_start(&self, error: &std::io::Error) -> String {
        format!("cannot start `{}`: {error}", self.line())
    }
}

/// Whether cargo set this variable to describe the package that it runs.
fn is_about_this_package(name: &str) -> bool {
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || ["CARGO_BIN_NAME", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE"].contains(&name)
}

/// The full path of a program on `PATH`.
pub(crate) fn find_on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_program_is_named_with_its_last_line_of_errors() {
        let error =
            Child::new("sh").args(["-c", "echo first >&2; echo reason >&2; exit 3"]).output().unwrap_err();
        assert!(
            error.contains("sh -c") && error.contains("exit status: 3") && error.ends_with("reason"),
            "{error}"
        );
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Child::new("no-such-program-anywhere").run().unwrap_err();
        assert!(error.starts_with("cannot start `no-such-program-anywhere`"), "{error}");
    }

    #[test]
    fn a_program_that_outlives_its_limit_is_stopped() {
        let error = Child::new("sleep").args(["60"]).run_within(Duration::from_millis(100)).unwrap_err();
        assert!(error.contains("took longer"), "{error}");
    }

    #[test]
    fn every_line_of_the_output_is_handed_on_and_the_exit_status_told() {
        let mut lines = Vec::new();
        let success = Child::new("sh")
            .args(["-c", "echo one; echo two; exit 1"])
            .run_reading(|line| lines.push(line.to_owned()))
            .unwrap();
        assert!(!success);
        assert_eq!(lines, ["one", "two"]);
    }

    #[test]
    fn a_child_sees_nothing_of_the_package_that_runs_it() {
        assert!(is_about_this_package("CARGO_PKG_NAME") && is_about_this_package("CARGO_MANIFEST_DIR"));
        assert!(!is_about_this_package("CARGO_HOME") && !is_about_this_package("CARGO_TERM_COLOR"));
    }
}
