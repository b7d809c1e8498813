//! Kernels as data: a release and patches yield a policy, one field per rule.

mod policy;
mod releases_fs;

pub use policy::{
    FsPolicy, FsyncCommit, FsyncFlush, JournalPolicy, ReadaheadPolicy, WriteFlagsPolicy, WritebackPolicy,
};
