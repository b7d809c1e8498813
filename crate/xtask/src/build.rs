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
        strip_comments(project)?;
    }
    println!(
        "Built dist/ ({} of wasm): any static web server can serve it.",
        size(&dist.join("stallarium-web_bg.wasm"))
    );
    Ok(())
}

/// Takes the comments, a third of the scripts' weight, out of every script in dist/. The compiler that checks their types
/// writes them again: it does not overwrite what it reads, so they go by way of target/.
fn strip_comments(project: &Project) -> Outcome {
    let (dist, stripped) = (project.dist(), project.root.join("target/scripts"));
    let cannot = |error| format!("cannot list the scripts in dist/: {error}");
    let mut scripts = Vec::new();
    for folder in ["", "parts"] {
        for entry in std::fs::read_dir(dist.join(folder)).map_err(cannot)? {
            let name = Path::new(folder).join(entry.map_err(cannot)?.file_name());
            if name.extension().is_some_and(|extension| extension == "js") {
                scripts.push(name);
            }
        }
    }
    Child::new(node::packages(project)?.join("tsc"))
        .args(["--ignoreConfig", "--allowJs", "--noCheck", "--skipLibCheck", "--removeComments"])
        .args(["--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler"])
        .args(["--rootDir".as_ref(), dist.as_os_str(), "--outDir".as_ref(), stripped.as_os_str()])
        .args(scripts.iter().map(|name| dist.join(name)))
        .dir(&project.root)
        .run()?;
    for name in &scripts {
        let copied = std::fs::copy(stripped.join(name), dist.join(name));
        copied.map_err(|error| format!("cannot write dist/{}: {error}", name.display()))?;
    }
    Ok(())
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
