//! Node.js and the npm packages of package-lock.json.

use crate::command::{Child, Outcome, find_on_path};
use crate::project::Project;
use crate::tools::announce;
use std::path::PathBuf;

/// The oldest Node.js whose test runner and type definitions fit.
const NODE_MAJOR_MIN: u32 = 20;

/// What was installed, kept beside it: the text of the lock file that it came from.
const STAMP: &str = "node_modules/.installed-from";

/// Makes sure that Node.js is there and new enough.
///
/// # Errors
/// When it is not: it cannot be installed from here.
pub(crate) fn runtime() -> Outcome {
    let wanted = format!(
        "install Node.js {NODE_MAJOR_MIN} or newer together with npm (Debian: apt-get install nodejs npm)"
    );
    if find_on_path("node").is_none() || find_on_path("npm").is_none() {
        return Err(wanted);
    }
    let version = Child::new("node").args(["--version"]).output()?;
    match major(&version) {
        Some(major) if major >= NODE_MAJOR_MIN => Ok(()),
        _ => Err(format!("this Node.js is {}: {wanted}", version.trim())),
    }
}

/// Makes sure that node_modules holds what package-lock.json says, and returns the folder of its programs.
///
/// # Errors
/// When Node.js is missing or npm fails.
pub(crate) fn packages(project: &Project) -> Outcome<PathBuf> {
    runtime()?;
    let lock = project.read("package-lock.json")?;
    let stamp = project.root.join(STAMP);
    if std::fs::read_to_string(&stamp).ok().as_deref() != Some(&*lock) {
        announce("the npm packages of package-lock.json", "about 150 MB, some seconds to a minute");
        Child::new("npm").args(["ci", "--no-fund", "--no-audit"]).dir(&project.root).run()?;
        std::fs::write(&stamp, lock).map_err(|error| format!("cannot write {STAMP}: {error}"))?;
    }
    Ok(project.root.join("node_modules/.bin"))
}

/// The major number of what `node --version` prints.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn the_major_version_is_read_from_what_node_prints() {
        assert_eq!(major("v20.20.2\n"), Some(20));
        assert_eq!(major("v8.1.0"), Some(8));
        assert_eq!(major("20.1"), None);
    }
}
