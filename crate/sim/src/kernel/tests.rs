//! Every release and patch yields rules; wrong names are explained.

use super::*;
use crate::scenario::FileSystemKind::Ext4;
use litemap::LiteMap;

fn choice(release: &str, patches: &[&str], elevator: &str) -> KernelChoice {
    KernelChoice {
        release: release.to_owned(),
        patches: patches.iter().map(|&patch| patch.to_owned()).collect(),
        elevator: elevator.to_owned(),
        tunables: LiteMap::new(),
    }
}

fn build(choice: &KernelChoice) -> Result<Kernel, KernelError> {
    Kernel::new(choice, Ext4, &Clock::new(1000, false))
}

/// Every release can be built with every elevator it has, and every patch applies somewhere.
#[test]
fn every_release_and_patch_can_be_built() {
    for release in releases() {
        for elevator in ElevatorName::ALL {
            let built = build(&choice(release.name, &[], elevator.name()));
            let expected = elevator != ElevatorName::Anticipatory || release.has_anticipatory;
            assert_eq!(built.is_ok(), expected, "{} on {}", elevator.name(), release.name);
        }
        assert!(!release.documentation.is_empty());
    }
    for patch in patches() {
        let applies = |release: &&ReleaseInfo| build(&choice(release.name, &[patch.name], "cfq")).is_ok();
        let count = releases().iter().filter(applies).count();
        assert!(count > 0, "{} applies to no release", patch.name);
    }
}

/// Architecture rule 2: a patch changes some field, and only those of the rules it names.
#[test]
fn a_patch_is_a_difference_in_fields() {
    let plain = Policy::new("2.6.35", &[], Ext4).expect("known");
    let patched = Policy::new("2.6.35", &["noidle-tree".to_owned()], Ext4).expect("known");
    assert_ne!(plain, patched);
    let mut undone = patched;
    undone.cfq.noidle_request_ends_idle_window = plain.cfq.noidle_request_ends_idle_window;
    undone.fs.journal.log_flags = plain.fs.journal.log_flags;
    assert_eq!(plain, undone);
}

/// Section 2.17: 8e55063 on its own, put on the tree before it and then reverted in 2.6.35, are the
/// two ends of one change.
#[test]
fn the_revert_restores_the_idling_of_november_2009() {
    let before = Policy::new("for-2.6.33", &[], Ext4).expect("known").cfq;
    let reverted = Policy::new("2.6.35", &["revert-8e55063".to_owned()], Ext4).expect("known").cfq;
    assert_eq!((before.idle_when, before.idle_after), (reverted.idle_when, reverted.idle_after));
}

/// Wrong names come back with the nearest right one.
#[test]
fn wrong_names_are_explained() {
    let message = |choice: &KernelChoice| build(choice).expect_err("wrong").to_string();
    assert!(message(&choice("2.6.53", &[], "cfq")).contains("nearest name is \"2.6.33\""));
    assert!(message(&choice("2.6.35", &["blk-yeild"], "cfq")).contains("\"blk-yield\""));
    assert!(message(&choice("2.6.35", &[], "deadlien")).contains("\"deadline\""));
    assert!(message(&choice("2.6.35", &[], "anticipatory")).contains("removed in 2.6.33"));
    assert!(message(&choice("2.6.37", &["749ef9f"], "cfq")).contains("part of 2.6.37"));
    let mut tuned = choice("2.6.35", &[], "cfq");
    tuned.tunables.insert("slice_idel".to_owned(), 8);
    assert!(message(&tuned).contains("\"slice_idle\""));
    tuned.tunables = [("slice_idle".to_owned(), 28_800_000)].into_iter().collect();
    assert!(message(&tuned).contains("0 to 3600000 ms"));
    let mut old = choice("2.6.31", &[], "cfq");
    old.tunables.insert("low_latency".to_owned(), 0);
    assert!(build(&old).is_err(), "2.6.31 has no low_latency");
}
