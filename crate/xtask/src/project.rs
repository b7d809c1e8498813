//! Where things are: the project's own folders and the cache of tools.

use crate::command::Outcome;
use std::path::{Path, PathBuf};

/// The folders of this checkout, and where installed tools are kept.
pub(crate) struct Project {
    /// The root of the checkout.
    pub(crate) root: PathBuf,
    /// Where tools go that are built or installed once for all checkouts of this user.
    pub(crate) cache: PathBuf,
}

impl Project {
    /// Finds the checkout that `cargo xtask` was started in.
    ///
    /// # Errors
    /// When this program was not started by cargo, or no home directory is known.
    pub(crate) fn find() -> Outcome<Self> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR").ok_or("start this program as `cargo xtask`")?;
        let root = Path::new(&manifest)
            .ancestors()
            .nth(2)
            .ok_or("the xtask crate is not in crate/xtask")?
            .to_path_buf();
        let cache = match std::env::var_os("XDG_CACHE_HOME") {
            Some(path) if !path.is_empty() => PathBuf::from(path),
            _ => PathBuf::from(std::env::var_os("HOME").ok_or("HOME is not set: no place to keep tools in")?)
                .join(".cache"),
        };
        Ok(Self { root, cache: cache.join("stallarium") })
    }

    /// The folder of one tool in one version.
    pub(crate) fn tool(&self, name: &str, version: &str) -> PathBuf {
        self.cache.join("tools").join(format!("{name}-{version}"))
    }

    /// The built page.
    pub(crate) fn dist(&self) -> PathBuf {
        self.root.join("dist")
    }

    /// Reads a file of the project.
    ///
    /// # Errors
    /// When it cannot be read as text.
    pub(crate) fn read(&self, path: &str) -> Outcome<String> {
        std::fs::read_to_string(self.root.join(path)).map_err(|error| format!("cannot read {path}: {error}"))
    }

    /// The version of a crate in Cargo.lock.
    ///
    /// # Errors
    /// When the lock file has no such crate.
    pub(crate) fn locked_version(&self, name: &str) -> Outcome<String> {
        version_in_lock(&self.read("Cargo.lock")?, name)
            .ok_or_else(|| format!("Cargo.lock has no {name}: is a crate that uses it in the workspace?"))
    }
}

/// Finds a package's version in the text of a Cargo.lock.
fn version_in_lock(lock: &str, name: &str) -> Option<String> {
    let wanted = format!("name = \"{name}\"");
    let mut lines = lock.lines();
    lines.find(|line| *line == wanted)?;
    Some(lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::version_in_lock;

    #[test]
    fn the_version_is_that_of_the_named_package_alone() {
        let lock = "[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"9.9.9\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(version_in_lock(lock, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(version_in_lock(lock, "trunk"), None);
    }
}
