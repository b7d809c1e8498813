//! Links open for ever, and give the digests they gave.
//!
//! Goal: a link of any released schema opens and its runs are the same as when it was recorded; and the
//! same natively (here), in wasm under Node.js (tests/wasm/digests.test.mjs) and in a browser
//! (tests/browser). Method: every line of tests/links.txt is opened and run as the page would.
//! `UPDATE_DIGESTS=1 cargo test -p stallarium-charts --test links` writes the digests down, which is
//! right only together with a new model version.

use stallarium_charts::page::{Board, PageRun, open_link};
use stallarium_sim::report::Digest;
use std::path::PathBuf;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/links.txt")
}

/// Opens a fragment and runs what it shows; its digest.
fn digest(fragment: &str) -> String {
    let opened = open_link(fragment);
    assert_eq!(opened.remarks, [""; 0], "{fragment} opens without remarks");
    let mut board = Board::default();
    let checked = board.set(&opened.setting);
    assert!(checked.complaints.is_empty(), "{fragment}: {:?}", checked.complaints);
    for column in checked.columns.iter().filter(|column| column.is_on) {
        let mut run = PageRun::new(&opened.setting, &column.label, false).expect("a checked setting");
        while !run.advance(1_000_000) {}
        board.put(&column.key, run.result());
    }
    Digest(board.digest().expect("every run is there")).to_string()
}

#[test]
fn links_give_their_digests() {
    let text = std::fs::read_to_string(path()).expect("tests/links.txt");
    let update = std::env::var_os("UPDATE_DIGESTS").is_some();
    let mut lines = Vec::new();
    let mut checked = 0;
    for line in text.lines() {
        let Some((fragment, recorded)) = line.split_once(' ').filter(|_| line.starts_with("#1")) else {
            lines.push(line.to_owned());
            continue;
        };
        let found = digest(fragment);
        if !update {
            assert_eq!(found, recorded, "{fragment}");
        }
        lines.push(format!("{fragment} {found}"));
        checked += 1;
    }
    assert!(checked >= 8, "tests/links.txt holds links");
    if update {
        std::fs::write(path(), lines.join("\n") + "\n").expect("tests/links.txt can be written");
    }
}
