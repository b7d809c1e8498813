//! Builds the page: www/ and crate/web into dist/.

use crate::command::{Child, Outcome};
use crate::project::Project;
use crate::{node, tools};
use std::path::Path;

/// How the wasm module is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speed {
    /// As it is published: slow to build, fast to run.
    Release,
    /// For a look while editing.
    Development,
}

/// Builds dist/ once.
///
/// # Errors
/// When a tool cannot be had, or the build fails.
pub(crate) fn build(project: &Project, speed: Speed) -> Outcome {
    let dist = project.dist();
    trunk(project, "build", speed)?.run()?;
    for name in ["index.html", "embed.html", "stallarium-web.js", "stallarium-web_bg.wasm"] {
        if !dist.join(name).is_file() {
            return Err(format!("trunk ended well but left no dist/{name}"));
        }
    }
    if speed == Speed::Release {
        minify(project)?;
    }
    println!(
        "Built dist/ ({} of wasm): any static web server can serve it.",
        size(&dist.join("stallarium-web_bg.wasm"))
    );
    Ok(())
}

/// Takes comments, white space and long local names out of every script and style sheet in dist/, each file by itself.
fn minify(project: &Project) -> Outcome {
    let dist = project.dist();
    let cannot = |error| format!("cannot list the files in dist/: {error}");
    let mut files = Vec::new();
    for folder in [dist.clone(), dist.join("parts")] {
        for entry in std::fs::read_dir(folder).map_err(cannot)? {
            let path = entry.map_err(cannot)?.path();
            if path.extension().is_some_and(|extension| extension == "js" || extension == "css") {
                files.push(path);
            }
        }
    }
    Child::new(node::packages(project)?.join("esbuild"))
        .args(["--minify", "--allow-overwrite", "--log-level=warning"])
        .args(["outdir", "outbase"].map(|option| format!("--{option}={}", dist.display())))
        .args(files)
        .dir(&project.root)
        .run()
}

/// A trunk command with its tools on `PATH`, ready to be given more arguments.
///
/// # Errors
/// When a tool cannot be had.
pub(crate) fn trunk(project: &Project, verb: &str, speed: Speed) -> Outcome<Child> {
    tools::wasm_target()?;
    let programs = node::packages(project)?;
    let bindgen = tools::wasm_bindgen(project)?;
    let trunk = tools::trunk(project)?;
    let bindgen_folder = bindgen.parent().unwrap_or(Path::new("")).to_path_buf();
    let child = Child::new(trunk)
        .args(["--skip-version-check", verb])
        .args((speed == Speed::Release).then_some("--release"))
        .dir(&project.root)
        // Trunk takes no value but true and false here, and other programs' habit is to set it to 1.
        .env_remove("NO_COLOR");
    child.path_first(&[bindgen_folder, programs])
}

/// A file's size in words.
fn size(path: &Path) -> String {
    let bytes = std::fs::metadata(path).map_or(0, |data| data.len());
    format!("{} KB", bytes.div_ceil(1000))
}
