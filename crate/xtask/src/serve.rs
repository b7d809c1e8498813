//! Builds the page and serves it to a browser on this machine, again whenever a source changes.

use crate::build::{Speed, trunk};
use crate::command::Outcome;
use crate::project::Project;

/// Builds and serves until interrupted.
///
/// # Errors
/// When a tool cannot be had, or the server ends.
pub(crate) fn serve(project: &Project, speed: Speed, port: u16, open: bool) -> Outcome {
    let child = trunk(project, "serve", speed)?;
    println!("Building; then http://127.0.0.1:{port}/ has the page until you press Ctrl-C.");
    child.args(["--port", &port.to_string()]).args(open.then_some("--open")).run()
}
