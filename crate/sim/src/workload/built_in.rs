//! The built-in workloads: files in the workload language, see `workloads/README.md`.

/// A built-in workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name in scenarios, links and on the command line.
    pub name: &'static str,
    /// Its text.
    pub toml: &'static str,
}

/// Every built-in workload. To add one, write its file and add a line here.
pub const ALL: &[BuiltIn] = &[
    BuiltIn { name: "fs-mark", toml: include_str!("../../workloads/fs-mark.toml") },
    BuiltIn {
        name: "fio-sequential-reader",
        toml: include_str!("../../workloads/fio-sequential-reader.toml"),
    },
    BuiltIn {
        name: "fs-mark-beside-reader",
        toml: include_str!("../../workloads/fs-mark-beside-reader.toml"),
    },
    BuiltIn { name: "two-readers", toml: include_str!("../../workloads/two-readers.toml") },
    BuiltIn { name: "random-readers", toml: include_str!("../../workloads/random-readers.toml") },
    BuiltIn { name: "direct-writer", toml: include_str!("../../workloads/direct-writer.toml") },
    BuiltIn { name: "mapped-file-stream", toml: include_str!("../../workloads/mapped-file-stream.toml") },
    BuiltIn { name: "big-writer", toml: include_str!("../../workloads/big-writer.toml") },
    BuiltIn { name: "reader-and-writer", toml: include_str!("../../workloads/reader-and-writer.toml") },
    BuiltIn { name: "anonymous-hog", toml: include_str!("../../workloads/anonymous-hog.toml") },
    BuiltIn { name: "buffered-writers", toml: include_str!("../../workloads/buffered-writers.toml") },
];

/// The one of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    ALL.iter().find(|workload| workload.name == name)
}

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|workload| workload.name)
}
