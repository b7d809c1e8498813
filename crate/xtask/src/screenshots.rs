//! Pictures of the page, for a look with one's own eyes: `tests/browser/screenshots.mjs` takes them.

use crate::build::{Speed, build};
use crate::command::{Child, Outcome};
use crate::project::Project;
use crate::{debian, node};
use std::path::Path;

/// Builds dist/ and writes the pictures into a folder.
///
/// # Errors
/// When a tool cannot be had, the build fails, or a page does not become ready.
pub(crate) fn take(project: &Project, out: &Path) -> Outcome {
    build(project, Speed::Release)?;
    node::packages(project)?;
    Child::new("node")
        .args(["tests/browser/screenshots.mjs".as_ref(), out.as_os_str()])
        .env("CHROME", debian::chromium()?)
        .dir(&project.root)
        .run()
}
