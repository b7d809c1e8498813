//! Finds the programs that a build needs, and installs what is missing.
//!
//! Nothing is installed twice: a tool of the right version on `PATH` is used as it is; one that cargo has to build goes to the
//! user's cache under its version, so that all checkouts share it and an old checkout keeps its own.

use crate::command::{Child, Outcome, find_on_path};
use crate::project::Project;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Trunk 0.22 needs a newer compiler than the one this project supports.
const TRUNK_VERSION: &str = "0.21.14";

/// `cargo binstall` takes seconds where it can reach its downloads, and would wait for minutes where it cannot.
const BINSTALL_LIMIT: Duration = Duration::from_secs(60);

/// Settings for building a tool that only has to work: the tools' own release profiles take three times as long.
const LIGHT_PROFILE: [(&str, &str); 4] = [
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
];

/// A program that cargo can build.
struct CargoTool {
    package: &'static str,
    program: &'static str,
    version: String,
    arguments: &'static [&'static str],
    minutes: &'static str,
}

/// Makes sure that rustc can compile to wasm.
///
/// # Errors
/// When the target is missing and rustup cannot add it.
pub(crate) fn wasm_target() -> Outcome {
    let sysroot = Child::new("rustc").args(["--print", "sysroot"]).output()?;
    if Path::new(sysroot.trim()).join("lib/rustlib/wasm32-unknown-unknown/lib").is_dir() {
        return Ok(());
    }
    if find_on_path("rustup").is_none() {
        return Err("install rustup, or the wasm32-unknown-unknown standard library of this rustc".into());
    }
    announce("the Rust target wasm32-unknown-unknown", "about half a minute");
    Child::new("rustup").args(["target", "add", "wasm32-unknown-unknown"]).run()
}

/// Makes sure that the toolchain has rustfmt or clippy: a minimal one has neither.
///
/// # Errors
/// When it is missing and rustup cannot add it.
pub(crate) fn component(name: &str) -> Outcome {
    let subcommand = name.replace("rust", "");
    if Child::new("cargo").args([&subcommand, "--version"]).output().is_ok() {
        return Ok(());
    }
    if find_on_path("rustup").is_none() {
        return Err(format!("install {name} for this toolchain"));
    }
    announce(&format!("the Rust component {name}"), "some seconds");
    Child::new("rustup").args(["component", "add", name]).run()
}

/// Trunk's path: it builds www/ and crate/web into dist/.
///
/// # Errors
/// When it is missing and cannot be built.
pub(crate) fn trunk(project: &Project) -> Outcome<PathBuf> {
    cargo_tool(
        project,
        &CargoTool {
            package: "trunk",
            program: "trunk",
            version: TRUNK_VERSION.into(),
            arguments: &["--locked", "--no-default-features", "--features", "rustls"],
            minutes: "about 5 minutes on two cores",
        },
    )
}

/// wasm-bindgen's path. Its version must equal the library's to the last digit, so the lock file names it.
///
/// # Errors
/// When it is missing and cannot be built.
pub(crate) fn wasm_bindgen(project: &Project) -> Outcome<PathBuf> {
    cargo_tool(
        project,
        &CargoTool {
            package: "wasm-bindgen-cli",
            program: "wasm-bindgen",
            version: project.locked_version("wasm-bindgen")?,
            // Without --locked: the lock file of 0.2.130 names a crate version that is no longer to be had.
            arguments: &[],
            minutes: "about 3 minutes on two cores",
        },
    )
}

/// Says what is about to be installed, and how long that takes.
pub(crate) fn announce(what: &str, duration: &str) {
    println!("Installing {what} ({duration}).");
}

fn cargo_tool(project: &Project, tool: &CargoTool) -> Outcome<PathBuf> {
    let root = project.tool(tool.package, &tool.version);
    let built = root.join("bin").join(tool.program);
    if reports_version(&built, &tool.version) {
        return Ok(built);
    }
    if let Some(found) = find_on_path(tool.program)
        && reports_version(&found, &tool.version)
    {
        return Ok(found);
    }
    let what = format!("{} {}", tool.package, tool.version);
    let start = Instant::now();
    if find_on_path("cargo-binstall").is_some() {
        announce(&what, "ready-made, some seconds");
        match binstall(tool, &root) {
            Ok(()) if reports_version(&built, &tool.version) => return Ok(built),
            Ok(()) => println!("The ready-made program does not run here; building it instead."),
            Err(error) => println!("Not to be had ready-made ({error}); building it instead."),
        }
    }
    announce(&what, tool.minutes);
    build(project, tool, &root)?;
    if !reports_version(&built, &tool.version) {
        return Err(format!("{what} was built but `{} --version` does not say so", built.display()));
    }
    println!("Installed {what} in {} s.", start.elapsed().as_secs());
    Ok(built)
}

fn binstall(tool: &CargoTool, root: &Path) -> Outcome {
    let package = format!("{}@{}", tool.package, tool.version);
    Child::new("cargo")
        .args(["binstall", "--no-confirm", "--disable-strategies", "compile", "--root"])
        .args([root.as_os_str(), package.as_ref()])
        .run_within(BINSTALL_LIMIT)
}

fn build(project: &Project, tool: &CargoTool, root: &Path) -> Outcome {
    std::fs::create_dir_all(&project.cache)
        .map_err(|error| format!("cannot create {}: {error}", project.cache.display()))?;
    // From the cache's folder, so that no setting of this workspace applies, and with cargo's own temporary target folder.
    let mut child = Child::new("cargo")
        .args(["install", tool.package, "--version", &tool.version, "--force", "--root"])
        .args([root])
        .args(tool.arguments)
        .dir(&project.cache)
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("CARGO_BUILD_TARGET")
        .env_remove("RUSTFLAGS");
    for (name, value) in LIGHT_PROFILE {
        child = child.env(name, value);
    }
    child.run()
}

/// Whether the program exists and says that it is of this version.
fn reports_version(program: &Path, version: &str) -> bool {
    program.is_file()
        && Child::new(program)
            .args(["--version"])
            .output()
            .is_ok_and(|text| text.split_whitespace().any(|word| word == version))
}

#[cfg(test)]
mod tests {
    use super::reports_version;
    use std::path::Path;

    #[test]
    fn a_program_is_taken_only_in_the_version_asked_for() {
        let cargo = crate::command::find_on_path("cargo").expect("cargo runs this test");
        let version = crate::command::Child::new(&cargo).args(["--version"]).output().unwrap();
        let version = version.split_whitespace().nth(1).unwrap();
        assert!(reports_version(&cargo, version));
        assert!(!reports_version(&cargo, "0.0.1"));
        assert!(!reports_version(Path::new("no-such-program"), version));
    }
}
