//! The rules of this house that no other tool checks. Each rule is one test; what breaks it is printed with its place.

use super::Context;
use super::counts::Counts;
use crate::command::Outcome;
use std::path::{Component, Path, PathBuf};

/// Longer files are rooms that cannot be seen whole.
const LINES_MAX: usize = 600;

/// What tools make, and what others wrote. (`.git` is a file in a linked work tree.)
const SKIPPED: [&str; 4] = [".git", "target", "dist", "node_modules"];

/// Words that no source file contains, with the kinds of file they are looked for in, and why.
/// They are put together here so that this file keeps its own rule.
const BANNED: &[(&str, &[&str], &str)] = &[
    (concat!("todo", "!("), &["rs"], "what is not written is not called done"),
    (concat!("unimplemented", "!("), &["rs"], "what is not written is not called done"),
    (concat!("#[ign", "ore"), &["rs"], "a test that does not run protects nothing"),
    (concat!("allow(dead", "_code)"), &["rs"], "what nobody uses is removed"),
    (concat!(".sk", "ip("), &["mjs"], "a test that does not run protects nothing"),
    (concat!(".on", "ly("), &["mjs"], "the other tests would not run"),
    (concat!("waitFor", "Timeout"), &["mjs"], "a test waits for what it needs, never for a time"),
    (concat!("inner", "HTML"), &["js"], "text is only ever shown as text"),
];

/// The beginnings of paths that exist on somebody's machine alone.
const MACHINE_PATHS: [&str; 4] =
    [concat!("/ho", "me/"), concat!("/Use", "rs/"), concat!("/ro", "ot/"), concat!("/wo", "rk/")];

/// A source file of the project.
struct Source {
    /// Relative to the root.
    path: PathBuf,
    text: String,
}

impl Source {
    fn is_any_of(&self, extensions: &[&str]) -> bool {
        self.path
            .extension()
            .and_then(|extension| extension.to_str())
            .is_some_and(|own| extensions.contains(&own))
    }

    /// The numbers (from 1) of the lines that meet a condition.
    fn lines_where(&self, condition: impl Fn(&str) -> bool) -> Vec<usize> {
        self.text.lines().zip(1..).filter(|(line, _)| condition(line)).map(|(_, number)| number).collect()
    }
}

/// A rule: its name, and what breaks it in these files.
type Rule = (&'static str, fn(&[Source], &Path) -> Vec<String>);

/// All rules. A new one is a function and a line here.
const RULES: &[Rule] = &[
    ("files are short enough to see whole", long_files),
    ("no word stands for work not done", banned_words),
    ("no path of one machine", machine_paths),
    ("links between documents lead to a file", broken_links),
    ("the npm lock file names no download host", download_hosts),
];

/// Runs every rule over the checkout.
///
/// # Errors
/// When a folder cannot be read.
pub(super) fn check(context: &Context<'_>) -> Outcome<Counts> {
    let root = &context.project.root;
    let mut sources = Vec::new();
    collect(root, Path::new(""), &mut sources)?;
    sources.sort_by(|one, other| one.path.cmp(&other.path));
    let mut counts = Counts::default();
    for (name, rule) in RULES {
        let findings = rule(&sources, root);
        println!("{} {name}", if findings.is_empty() { "ok    " } else { "BROKEN" });
        for finding in &findings {
            println!("       {finding}");
        }
        counts += if findings.is_empty() { Counts::success() } else { Counts::failure() };
    }
    Ok(counts)
}

/// Reads all text files below a folder. What is not text is no source.
fn collect(root: &Path, folder: &Path, sources: &mut Vec<Source>) -> Outcome {
    let unreadable = |error| format!("cannot read {}: {error}", folder.display());
    for entry in std::fs::read_dir(root.join(folder)).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = folder.join(entry.file_name());
        let kind = entry.file_type().map_err(unreadable)?;
        if SKIPPED.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if kind.is_dir() {
            collect(root, &path, sources)?;
        } else if kind.is_file()
            && let Ok(text) = std::fs::read_to_string(root.join(&path))
        {
            sources.push(Source { path, text });
        }
    }
    Ok(())
}

fn long_files(sources: &[Source], _: &Path) -> Vec<String> {
    let code = sources.iter().filter(|source| source.is_any_of(&["rs", "js", "mjs", "css"]));
    code.filter_map(|source| {
        let lines = source.text.lines().count();
        (lines > LINES_MAX).then(|| format!("{}: {lines} lines, at most {LINES_MAX}", source.path.display()))
    })
    .collect()
}

fn banned_words(sources: &[Source], _: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources {
        for (word, _, reason) in BANNED.iter().filter(|(_, extensions, _)| source.is_any_of(extensions)) {
            for number in source.lines_where(|line| line.contains(word)) {
                findings.push(format!("{}:{number}: {word} ({reason})", source.path.display()));
            }
        }
    }
    findings
}

fn machine_paths(sources: &[Source], _: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources {
        for number in source.lines_where(|line| MACHINE_PATHS.iter().any(|path| names_path(line, path))) {
            findings.push(format!("{}:{number}", source.path.display()));
        }
    }
    findings
}

/// Whether the line holds the path from the root on, and not as a later part of a relative path or an address.
fn names_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|character| character.is_alphanumeric() || "._-/~}>".contains(character))
    })
}

fn broken_links(sources: &[Source], root: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_any_of(&["md"])) {
        let folder = source.path.parent().unwrap_or(Path::new(""));
        for (number, target) in links(&source.text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { source.path.clone() } else { folder.join(file) };
            let leads_to_file = file.is_empty() || (stays_inside(&path) && root.join(&path).exists());
            if !leads_to_file || !has_heading(sources, &path, anchor) {
                findings.push(format!("{}:{number}: {target}", source.path.display()));
            }
        }
    }
    findings
}

/// Whether a document has the heading that an anchor names. Only our own Markdown documents are looked into.
fn has_heading(sources: &[Source], path: &Path, anchor: &str) -> bool {
    let Some(document) = sources.iter().find(|source| source.path == normal(path)) else { return true };
    if anchor.is_empty() || !document.is_any_of(&["md"]) {
        return true;
    }
    document.text.lines().any(|line| line.starts_with('#') && anchor_of(line) == anchor)
}

/// The anchor that Markdown viewers give a heading: its words in small letters, joined by hyphens.
fn anchor_of(heading: &str) -> String {
    let title = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = title.chars().filter(|character| character.is_alphanumeric() || " -_".contains(*character));
    kept.map(|character| if character == ' ' { '-' } else { character }).collect()
}

/// A path without steps back: `a/../b` is `b`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut so_far, component| {
        match component {
            Component::ParentDir => {
                so_far.pop();
            }
            Component::Normal(name) => so_far.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
        so_far
    })
}

/// The targets of a Markdown text's links and pictures with their lines. Code is not looked at.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (line, number) in text.lines().zip(1..) {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            // Every second piece between back quotes is code.
            for prose in line.split('`').step_by(2) {
                let after = prose.split("](").skip(1);
                found.extend(after.filter_map(|rest| Some((number, rest.split([')', ' ']).next()?))));
            }
            if let Some((label, target)) = line.split_once("]: ")
                && label.starts_with('[')
            {
                found.push((number, target.trim()));
            }
        }
    }
    found
}

/// Whether a relative path, followed step by step, never leaves the folder that it starts in.
fn stays_inside(path: &Path) -> bool {
    let mut depth = 0_i32;
    for component in path.components() {
        match component {
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return false,
        }
        if depth < 0 {
            return false;
        }
    }
    true
}

fn download_hosts(sources: &[Source], _: &Path) -> Vec<String> {
    let lock = sources.iter().filter(|source| source.path.ends_with("package-lock.json"));
    lock.flat_map(|source| {
        let lines = source.lines_where(|line| line.trim_start().starts_with("\"resolved\""));
        lines.into_iter().map(|number| format!("{}:{number}", source.path.display()))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    /// What a rule finds in one planted file.
    fn findings(rule: &str, path: &str, text: &str) -> Vec<String> {
        let (_, check) = RULES.iter().find(|(name, _)| *name == rule).expect("the rule exists");
        check(&[source(path, text)], Path::new(env!("CARGO_MANIFEST_DIR")))
    }

    #[test]
    fn a_file_of_601_lines_is_too_long_and_one_of_600_is_not() {
        let rule = "files are short enough to see whole";
        assert_eq!(findings(rule, "a.rs", &"\n".repeat(601)).len(), 1);
        assert_eq!(findings(rule, "a.rs", &"\n".repeat(600)).len(), 0);
        assert_eq!(findings(rule, "a.json", &"\n".repeat(9000)).len(), 0);
    }

    #[test]
    fn every_banned_word_is_found_with_its_line_and_only_in_its_kind_of_file() {
        for (word, extensions, _) in BANNED {
            let text = format!("fine\n  {word}");
            let path = format!("a.{}", extensions[0]);
            let found = findings("no word stands for work not done", &path, &text);
            assert!(found.len() == 1 && found[0].starts_with(&format!("{path}:2: ")), "{word}: {found:?}");
            assert!(findings("no word stands for work not done", "a.md", &text).is_empty());
        }
    }

    #[test]
    fn a_path_of_a_machine_is_told_from_the_end_of_a_relative_one() {
        for path in MACHINE_PATHS {
            assert!(names_path(&format!("see {path}me/x"), path) && names_path(&format!("\"{path}\""), path));
            assert!(
                !names_path(&format!("../a{path}x"), path) && !names_path(&format!("crate{path}x"), path)
            );
            assert_eq!(findings("no path of one machine", "a.md", &format!("\n`{path}x`\n")), ["a.md:2"]);
        }
    }

    #[test]
    fn a_link_to_no_file_or_out_of_the_project_is_broken() {
        let rule = "links between documents lead to a file";
        assert_eq!(findings(rule, "a.md", "[x](src/gone.rs) and [y](src/main.rs)"), ["a.md:1: src/gone.rs"]);
        assert_eq!(findings(rule, "a.md", "[x]: src/gone.rs\n"), ["a.md:1: src/gone.rs"]);
        assert_eq!(findings(rule, "src/a.md", "![x](../../../README.md)").len(), 1);
        assert!(
            findings(rule, "src/a.md", "[x](../Cargo.toml#dependencies), [y](https://example.org)")
                .is_empty()
        );
        let headed = "# One: two\n[x](#one-two)\n[y](#three)\n[z](./a.md#four)";
        assert_eq!(findings(rule, "a.md", headed), ["a.md:3: #three", "a.md:4: ./a.md#four"]);
        assert!(findings(rule, "a.md", "`[x](gone)`\n```\n[x](gone)\n```\n").is_empty());
    }

    #[test]
    fn a_download_host_in_the_npm_lock_file_is_found() {
        let rule = "the npm lock file names no download host";
        assert_eq!(
            findings(rule, "package-lock.json", "{\n  \"resolved\": \"x\"\n}"),
            ["package-lock.json:2"]
        );
        assert!(findings(rule, "package-lock.json", "{\n  \"version\": \"1\"\n}").is_empty());
    }
}
