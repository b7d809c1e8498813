//! Programs that come as packages of the operating system: Chromium for the browser tests, btt for the trace tests.

use crate::command::{Child, Outcome, find_on_path};
use crate::tools::announce;
use std::path::{Path, PathBuf};

/// Names under which a Chromium is found on `PATH`, the plainest first.
const CHROMIUM_NAMES: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge"];

/// Where macOS keeps its browsers.
const CHROMIUM_PATHS: [&str; 2] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/// The path of a Chromium: the variable CHROME, what is installed, or Debian's package.
///
/// # Errors
/// When CHROME names no file, or none is found and none can be installed.
pub(crate) fn chromium() -> Outcome<PathBuf> {
    if let Some(path) = std::env::var_os("CHROME").map(PathBuf::from) {
        return if path.is_file() {
            Ok(path)
        } else {
            Err(format!("CHROME names no file: {}", path.display()))
        };
    }
    if let Some(path) = installed_chromium() {
        return Ok(path);
    }
    install("chromium", "the browser tests need it", "2 to 3 minutes")?;
    installed_chromium()
        .ok_or_else(|| "the package chromium is installed, but no program chromium is on PATH".into())
}

/// The path of blktrace's `btt`, which the tests give the simulator's traces to.
///
/// # Errors
/// When it is missing and cannot be installed.
pub(crate) fn btt() -> Outcome<PathBuf> {
    if let Some(path) = find_on_path("btt") {
        return Ok(path);
    }
    install("blktrace", "its btt checks the simulator's traces", "about half a minute")?;
    find_on_path("btt")
        .ok_or_else(|| "the package blktrace is installed, but no program btt is on PATH".into())
}

fn installed_chromium() -> Option<PathBuf> {
    let named = CHROMIUM_NAMES.iter().find_map(|name| find_on_path(name));
    named.or_else(|| CHROMIUM_PATHS.iter().map(PathBuf::from).find(|path| path.is_file()))
}

/// Installs a Debian package, if this system has them and this user may.
fn install(package: &str, reason: &str, duration: &str) -> Outcome {
    let apt = find_on_path("apt-get").filter(|_| is_root());
    let Some(apt) = apt else {
        return Err(format!("install {package} ({reason}); on Debian: sudo apt-get install {package}"));
    };
    announce(&format!("Debian's package {package}"), duration);
    // A package list that is old or was never fetched is the usual reason for a first failure.
    if apt_install(&apt, package).is_ok() {
        return Ok(());
    }
    Child::new(&apt).args(["update"]).run()?;
    apt_install(&apt, package)
}

fn apt_install(apt: &Path, package: &str) -> Outcome {
    Child::new(apt)
        .args(["install", "--yes", "--no-install-recommends", package])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .run()
}

fn is_root() -> bool {
    Child::new("id").args(["-u"]).output().is_ok_and(|text| text.trim() == "0")
}
