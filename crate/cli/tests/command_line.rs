//! The command line from outside: what it prints, what it refuses and how, what it tells the shell.

#![allow(missing_docs)]

mod support;

use stallarium_sim::report::RunResult;
use support::{out, say, stallarium};

const QUICK: [&str; 2] = ["--time", "300ms"];

fn with<'a>(first: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    first.iter().chain(more).copied().collect()
}

/// The experiment's question is answered in the first run: where the time goes, and why.
#[test]
fn a_run_says_where_the_time_goes() {
    let text = out(&with(&["run", "--kernel", "vanilla cfq"], &QUICK));
    for wanted in [
        "vanilla cfq (cfq@2.6.35), fs-mark, seed 1, HZ=1000",
        "0.300 s of 0.300 s simulated",
        "scheduler idling",
        "idling for fs_mark",
        "because CFQ idles for fs_mark",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let text = out(&with(&["run", "--kernel", "vanilla cfq", "--jiffies"], &QUICK));
    assert!(text.contains("jiffies) a file"), "{text}");
}

/// The same run gives the same bytes, and JSON is the whole result.
#[test]
fn json_is_the_whole_result() {
    let arguments = with(&["run", "--kernel", "cfq", "--json"], &QUICK);
    let line = out(&arguments);
    assert_eq!(line, out(&arguments));
    assert_eq!(line.lines().count(), 1);
    let result: RunResult = serde_json::from_str(&line).expect("it is a result");
    assert_eq!((result.kernel_name.as_str(), result.elapsed_ns), ("cfq@2.6.35", 300_000_000));
    let other: RunResult =
        serde_json::from_str(&out(&with(&arguments, &["--set", "tunable.slice_idle=0"]))).expect("a result");
    assert_ne!(result.digest, other.digest);
    let csv = out(&with(&["run", "--kernel", "cfq", "--csv"], &QUICK));
    let buckets: usize = result.timelines.iter().map(|timeline| timeline.buckets.len()).sum();
    assert_eq!(csv.lines().count(), buckets + 1);
}

/// Every line of the event list begins with a time within the window, in order.
#[test]
fn events_lie_in_their_window() {
    let text = out(&with(&["run", "--kernel", "cfq", "--events", "--window", "100ms..120ms"], &QUICK));
    let mut lines = text.lines();
    assert!(lines.next().is_some_and(|heading| heading.starts_with('#')));
    let times: Vec<f64> =
        lines.map(|line| line[..14].trim().parse().expect("a time in the first column")).collect();
    assert!(times.len() > 50);
    assert!(times.is_sorted());
    assert!(times.iter().all(|time| (0.1..=0.12).contains(time)));
    let known = include_str!("../../../docs/events.md");
    for line in text.lines().skip(1) {
        let word = line[33..].split(' ').next().expect("an event");
        assert!(known.contains(&format!("`{word}`")), "docs/events.md does not explain {word}");
    }
}

/// Several kernels stand side by side, in every format.
#[test]
fn kernels_are_compared() {
    let compare = with(&["compare", "--kernel", "deadline,noop,cfq:slice_idle=0", "--seeds", "2"], &QUICK);
    let text = out(&compare);
    let head = text.lines().nth(1).expect("labels");
    assert_eq!(head.split_whitespace().collect::<Vec<_>>(), ["deadline", "noop", "cfq:slice_idle=0"]);
    for wanted in ["  stddev", "  difference", "fs_mark, deadline: Of ", "and deadline both need "] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let csv = out(&with(&compare, &["--csv"]));
    assert!(csv.lines().skip(1).all(|line| line.split(',').nth(4) == Some("2")), "{csv}");
    assert!(out(&with(&compare, &["--markdown"])).starts_with("| metric | deadline | noop |"));
    assert!(out(&with(&compare, &["--json"])).starts_with("{\"id\":\"comparison\""));
}

/// `published` prints the documented JSON and tells the shell whether the claims hold.
#[test]
fn published_tells_the_shell() {
    let said = say(&["published", "cfq-noidle-2010", "--seeds", "2", "--scale", "0.01", "--json"]);
    let result: serde_json::Value = serde_json::from_str(&said.out).expect("one line of JSON");
    assert_eq!(result["experiment"], "cfq-noidle-2010");
    assert_eq!((&result["seeds"], &result["scale"]), (&2.into(), &0.01.into()));
    let table = &result["tables"][0];
    assert_eq!(table["id"], "fs-mark-fio");
    for row in table["rows"].as_array().expect("rows") {
        for key in ["mean", "min", "max", "stddev", "published"] {
            assert_eq!(row[key].as_array().map(Vec::len), Some(5), "{key}");
        }
    }
    let claims = result["claims"].as_array().expect("claims");
    assert_eq!(claims.len(), 12);
    let all_hold = claims.iter().all(|claim| claim["holds"] == true);
    assert_eq!(said.status, i32::from(!all_hold));
    assert!(result["median_abs_log_error"].as_f64().is_some_and(|error| error < 1.0));

    let said = say(&["published", "cfq-noidle-2010", "--seeds", "1", "--scale", "0.01"]);
    for wanted in ["published   ", "Claims:", "FAILS  open", "Median of", "Why:"] {
        assert!(said.out.contains(wanted), "{wanted}: {}", said.out);
    }
}

/// A traced kernel's requests are replayed, one line for each trace.
#[test]
fn real_traces_are_replayed() {
    let said = say(&["published", "--real"]);
    assert!(said.out.lines().count() >= 3, "{}", said.out);
    assert!(said.out.lines().all(|line| line.contains("starts in the same order")), "{}", said.out);
    let diverges = said.out.contains("starts alike");
    assert_eq!(said.status, i32::from(diverges), "{}", said.out);
}

/// Whatever is wrong, the message names the place and a way out, nothing is printed, and the status is 2.
#[test]
fn refusals_name_a_way_out() {
    let refusals: [(&[&str], &[&str]); 12] = [
        (&["run", "cfq-nodile-2010"], &["cfq-nodile-2010", "did you mean cfq-noidle-2010?"]),
        (&["run", "--kernel", "cfq@2.6.53"], &["2.6.53", "2.6.3"]),
        (&["run", "--kernel", "cfq+blk-yeild"], &["blk-yeild", "blk-yield"]),
        (&["run", "--kernel", "cfq:slice_idel=0"], &["slice_idel", "slice_idle"]),
        (&["run", "--kernel", "cfq:slice_idle=99999999999"], &["slice_idle", "99999999999", "3600 s"]),
        (&["run", "--set", "machine.hz=300"], &["machine.hz", "300", "250"]),
        (&["run", "--set", "machine.devcie=ssd"], &["machine.devcie", "device"]),
        (&["run", "--case", "mixd"], &["mixd", "mixed"]),
        (&["run", "--kernel", "cfq", "--events", "--window", "2ms..1ms"], &["--window", "2ms..1ms"]),
        (&["run", "--events"], &["--kernel", "choose one", "vanilla cfq"]),
        (&["published", "cfq-noidle-2010", "--scale", "-1"], &["scale"]),
        (&["render", "--chart", "tsaks"], &["tsaks", "did you mean tasks?"]),
    ];
    for (arguments, wanted) in refusals {
        let said = say(arguments);
        assert_eq!(said.status, 2, "{arguments:?}: {}", said.err);
        assert_eq!(said.out, "", "{arguments:?}");
        assert!(wanted.iter().all(|word| said.err.contains(word)), "{arguments:?}: {}", said.err);
    }
}

/// A link opens what it was made of, to the same digest.
#[test]
fn links_open_what_they_were_made_of() {
    let made = with(&["--kernel", "cfq", "--set", "machine.hz=250", "--case", "mixed"], &QUICK);
    let link =
        out(&with(&with(&["link", "--digest", "--readable"], &made), &["--page", "https://example.org/"]));
    let link = link.trim();
    assert!(link.starts_with("https://example.org/#1t."), "{link}");
    assert_eq!(out(&["run", link, "--json"]), out(&with(&["run", "--json"], &made)));
    let at = link.find("digest=").expect("it is pinned") + "digest=".len();
    let changed = format!("{}0123456789abcdef{}", &link[..at], &link[at + 16..]);
    let said = say(&["run", &changed]);
    assert!(said.err.contains("the link's digest is 0123456789abcdef"), "{}", said.err);
}

/// Pictures are whole files and carry the link that opens them again.
#[test]
fn pictures_can_be_opened_again() {
    let svg = out(&with(&["render", "--kernel", "cfq,deadline", "--chart", "breakdown"], &QUICK));
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("#1t."), "no link");
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/service.png");
    let window = ["--chart", "service", "--window", "100ms..150ms", "-o", path];
    out(&with(&with(&["render", "--kernel", "cfq"], &window), &QUICK));
    assert!(std::fs::read(path).expect("it was written").starts_with(b"\x89PNG"));
}

/// Every topic has entries, and a word narrows them down.
#[test]
fn lists_list() {
    let topics =
        ["experiments", "kernels", "patches", "elevators", "tunables", "devices", "workloads", "terms"];
    let overview = out(&["list"]);
    for topic in topics {
        assert!(overview.lines().any(|line| line == topic), "{topic}");
        assert!(out(&["list", topic]).lines().count() > 3, "{topic}");
    }
    let tunable = out(&["list", "tunables", "slice_idle"]);
    assert!(tunable.starts_with("cfq: slice_idle\n") && tunable.contains("default 8 ms"), "{tunable}");
    assert_eq!(say(&["list", "kernels", "no such word"]).status, 2);
}

/// A scenario file of one's own runs, from a file and from stdin alike.
#[test]
fn scenario_files_run() {
    let file = "docs/examples/readers-on-three-schedulers.toml";
    let text = out(&with(&["compare", file, "--seeds", "1"], &QUICK));
    assert!(text.contains("cfq, no idling") && text.contains("left reader read, MB/s"), "{text}");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/readers-on-three-schedulers.toml");
    let input = std::fs::File::open(path).expect("the example exists");
    let piped = stallarium(&with(&["run", "-", "--kernel", "cfq", "--json"], &QUICK)).stdin(input).output();
    let piped = String::from_utf8(piped.expect("the program starts").stdout).expect("text");
    assert_eq!(piped, out(&with(&["run", file, "--kernel", "cfq", "--json"], &QUICK)));
}

/// Ctrl-C ends a long run at once, with what there is, and the shell is told.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_with_what_there_is() {
    use std::process::{Command, Stdio};

    let arguments = ["run", "--case", "mixed", "--kernel", "cfq,deadline", "--time", "3600s"];
    let mut child =
        stallarium(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // Only once the program listens for it: the mask of caught signals has SIGINT's bit, the second.
    let status = format!("/proc/{}/status", child.id());
    let listens = || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mask =
            text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim().to_owned();
        u64::from_str_radix(&mask, 16).is_ok_and(|mask| mask & 2 != 0)
    };
    while !listens() && child.try_wait().expect("it can be asked").is_none() {
        std::thread::yield_now();
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill exists");
    assert!(sent.success(), "the run was over before it could be stopped");
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{said}");
    // A signal that comes before the first event leaves nothing to show.
    assert!(said.is_empty() || said.contains("it was stopped before the time was up"), "{said}");
}
