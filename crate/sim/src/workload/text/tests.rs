//! The language as a specification: what it says, what it refuses and in which words, and that
//! text and workload go into each other.

use super::*;
use crate::workload::{Branch, HandleId, MarkId, Operand, Pattern, Spot, Step, Times, Workload, built_in};

fn problems(text: &str) -> Vec<String> {
    let wrong = read("workload", text, &Values::none()).expect_err("it is wrong");
    wrong.iter().map(ToString::to_string).collect()
}

fn process(steps: &str) -> String {
    format!("[[file]]\nname = \"data\"\nsize = \"1 GiB\"\n[[process]]\nname = \"p\"\nsteps = [\n{steps}\n]\n")
}

/// fs_mark is what section 4.3 says: 64 KiB in 16 writes of 4 KiB, fsync before close, 100
/// directories.
#[test]
fn fs_mark_has_the_options_of_the_thread() {
    let text =
        read("fs-mark", built_in::find("fs-mark").expect("there").toml, &Values::none()).expect("right");
    let [process] = text.workload.processes.as_slice() else { panic!("one process") };
    let file = HandleId(0);
    let body = vec![
        Step::Create { handle: file, directories: 100 },
        Step::Write {
            handle: file,
            bytes: Operand::Fixed(65_536),
            call_bytes: 4096,
            pattern: Pattern::Sequential,
            direct: false,
        },
        Step::Fsync(file),
        Step::Close(file),
        Step::Mark { mark: MarkId(0), amount: 1 },
    ];
    assert_eq!(process.steps, [Step::Repeat { times: Times::Forever, body }]);
    assert_eq!((process.count, process.marks.as_slice()), (1, &["files".to_owned()][..]));
}

/// The reader drops its file's cache and starts again (section 0.4, point 3).
#[test]
fn the_reader_wraps() {
    let toml = built_in::find("fio-sequential-reader").expect("there").toml;
    let workload = read("reader", toml, &Values::none()).expect("right").workload;
    assert_eq!(workload.files[0].size_bytes, 4_190_000_000);
    let data = HandleId(0);
    let Some(Step::Repeat { body, .. }) = workload.processes[0].steps.last() else { panic!("a loop") };
    assert_eq!(body[0], Step::ReadToEnd { handle: data, call_bytes: 128 << 10 });
    assert_eq!(body[2..], [Step::DropCache(data), Step::Rewind(data)]);
}

/// Every built-in workload can be read, explains itself, and survives being written and read again.
#[test]
fn built_in_workloads_are_right() {
    for built_in in built_in::ALL {
        let text = read(built_in.name, built_in.toml, &Values::none())
            .unwrap_or_else(|problems| panic!("{}: {problems:#?}", built_in.name));
        assert!(!text.title.is_empty() && !text.about.is_empty(), "{}", built_in.name);
        assert!(text.parameters.iter().all(|parameter| !parameter.about.is_empty()), "{}", built_in.name);
        let written = write(&text.workload);
        let again = read("written", &written, &Values::none())
            .unwrap_or_else(|problems| panic!("{written}\n{problems:#?}"));
        assert_eq!(again.workload, text.workload, "{}", built_in.name);
    }
}

/// Parameters reach included workloads, and an unknown one is refused with the nearest name.
#[test]
fn parameters_can_be_set() {
    let toml = built_in::find("fs-mark-beside-reader").expect("there").toml;
    let mut values = Values::none();
    values.set("file-size", "link", "workload.file-size", "16 KiB");
    values.set("threads", "link", "workload.threads", "3");
    let text = read("mixed", toml, &values).expect("right");
    assert_eq!(text.workload.processes[0].count, 3);
    let size = text.parameters.iter().find(|parameter| parameter.name == "file-size").expect("there");
    assert_eq!((size.default.as_str(), size.value.as_str()), ("64 KiB", "16 KiB"));
    values.set("thread", "link", "workload.thread", "3");
    let wrong = read("mixed", toml, &values).expect_err("no such parameter");
    assert_eq!(
        wrong[0].to_string(),
        "link: workload.thread = 3: this workload has no parameter of this name; did you mean threads?"
    );
}

/// A wrong value of a parameter is reported where the value came from.
#[test]
fn a_wrong_parameter_names_its_origin() {
    let mut values = Values::none();
    values.set("file-size", "link", "workload.file-size", "64 parsecs");
    let toml = built_in::find("fs-mark").expect("there").toml;
    let wrong = read("fs-mark", toml, &values).expect_err("no size");
    assert_eq!(wrong.len(), 1);
    assert!(
        wrong[0]
            .to_string()
            .starts_with("link: workload.file-size = 64 parsecs: \"parsecs\" is no unit here"),
        "{}",
        wrong[0]
    );
}

/// Everything that is wrong is told at once, in the order of the text, each with its line.
#[test]
fn all_problems_at_once() {
    let text = "\
[[process]]
name = \"p\"
count = 0
io-priority = 8
stepz = []
steps = [
  { sleep = 8 },
  { wirte = \"f\" },
  { read = \"f\", cal = \"4 KiB\" },
  { open = \"dta\" },
  { fsync = \"f\", close = \"f\" },
  { compute = \"5..1 ms\" },
]
";
    assert_eq!(
        problems(text),
        [
            "workload line 3: count = 0: the smallest count is 1",
            "workload line 4: io-priority = 8: the largest io-priority is 7",
            "workload line 5: stepz: there is no such key here; did you mean steps?",
            "workload line 7: sleep = 8: it has no unit; write a time with its unit, such as \"8 ms\" or \"1.5 s\" (ns, us, ms, s, min, h) (allowed: 0 s to 3600 s)",
            "workload line 8: steps: the step does nothing that is known; did you mean write?",
            "workload line 9: cal: there is no such key here; did you mean call?",
            "workload line 10: open = \"dta\": the workload has no file of this name; files that exist before the run are listed under [[file]]",
            "workload line 11: steps: a step does one thing, this one does fsync and close",
            "workload line 12: compute = \"5..1 ms\": the range runs backwards (allowed: 0 s to 3600 s)",
        ]
    );
}

/// What cannot run is refused before it runs, with the reason.
#[test]
fn the_impossible_is_refused() {
    for (text, reason) in [
        ("".to_owned(), "no process"),
        (process("{ repeat = \"forever\", steps = [{ mark = \"m\" }] }"), "the loop takes no time"),
        (process("{ repeat = \"forever\", steps = [] }"), "the loop takes no time"),
        (process("{ repeat = \"1 s\", steps = [{ compute = \"0..1 ms\" }] }"), "the loop takes no time"),
        (
            process("{ repeat = 10000, steps = [{ repeat = 10000, steps = [{ mark = \"m\" }] }] }"),
            "takes no time for more than 1000000 steps",
        ),
        (
            process("{ repeat = \"forever\", steps = [{ choose = [{ steps = [{ sleep = \"1 ms\" }] }, { steps = [] }] }] }"),
            "the loop takes no time",
        ),
        (process("{ read = \"data\" }"), "\"data\" is not open here"),
        (process("{ open = \"data\" }, { close = \"data\" }, { read = \"data\" }"), "\"data\" is closed here"),
        (process("{ open = \"data\" }, { open = \"data\" }"), "is open already"),
        (process("{ repeat = 2, steps = [{ open = \"data\" }, { read = \"data\" }] }"), "leaves \"data\" open"),
        (
            process("{ open = \"data\" }, { repeat = 2, steps = [{ read = \"data\" }, { close = \"data\" }] }"),
            "a round closes \"data\"",
        ),
        (
            process("{ create = \"f\" }, { close = \"f\" }, { repeat = 2, steps = [{ sleep = \"1 s\" }, { unlink = \"f\" }] }"),
            "a round removes \"f\"",
        ),
        (
            process("{ choose = [{ steps = [{ open = \"data\" }] }, { steps = [] }] }"),
            "open after one branch and not after another",
        ),
        (process("{ choose = [] }"), "a choice has branches"),
        (
            process("{ open = \"data\" }, { read = \"data\", call = 1000, direct = true }"),
            "direct I/O moves whole sectors",
        ),
        (
            process("{ repeat = \"forever\", steps = [{ sleep = \"1 s\" }] }, { sleep = \"1 s\" }"),
            "never reached",
        ),
        ("[[process]]\nname = \"a\"\ncount = 600\nsteps = []\n[[process]]\nname = \"b\"\ncount = 600\nsteps = []\n".to_owned(),
         "1200 processes are too many: the most is 1000"),
        ("[[process]]\nname = \"a\"\nsteps = []\n[[process]]\nname = \"a\"\nsteps = []\n".to_owned(),
         "two process entries called \"a\""),
        ("include = [\"fs-mrk\"]".to_owned(), "did you mean fs-mark?"),
        ("[parameters]\nsize = 3\n[[process]]\nname = \"a\"\nsteps = []\n".to_owned(), "nothing uses this parameter"),
        ("[[process]]\nname = \"$nme\"\nsteps = []\n".to_owned(), "there is no parameter of this name"),
    ] {
        let problems = problems(&text);
        assert!(problems.iter().any(|problem| problem.contains(reason)), "{text}\n{reason}\n{problems:#?}");
    }
}

/// A fault of the whole-workload check points at the line of its step.
#[test]
fn faults_have_lines() {
    let text = process("{ open = \"data\" },\n{ repeat = 3, steps = [\n{ read = \"dat\" } ] }");
    assert_eq!(problems(&text), ["workload line 9: steps: \"dat\" is not open here; did you mean data?"]);
}

/// The language's pleasantries: units, ranges, loops of all kinds, choices, barriers.
#[test]
fn the_language_can_say_this() {
    let text = process(
        "{ open = \"data\", as = \"d\" },
         { repeat = \"for ever\", steps = [] }",
    );
    assert!(problems(&text).iter().any(|problem| problem.contains("did you mean forever?")));
    let text = process(
        "{ open = \"data\", as = \"d\" },
         { repeat = \"2 s\", steps = [
            { choose = [
                { weight = 3, steps = [{ read = \"d\", bytes = \"4 KiB..1 MiB\", call = \"64 KiB\" }] },
                { steps = [{ sleep = \"1..5 ms\" }, { mark = \"naps\", amount = 2 }] },
            ] },
         ] },
         { meet = \"end\" }",
    );
    let workload = read("workload", &text, &Values::none()).expect("right").workload;
    let read_some = Step::Read {
        handle: HandleId(0),
        bytes: Operand::Between(4096, 1 << 20),
        call_bytes: 64 << 10,
        pattern: Pattern::Sequential,
        direct: false,
    };
    let nap =
        vec![Step::Sleep(Operand::Between(1_000_000, 5_000_000)), Step::Mark { mark: MarkId(0), amount: 2 }];
    let choose =
        Step::Choose(vec![Branch { weight: 3, steps: vec![read_some] }, Branch { weight: 1, steps: nap }]);
    assert_eq!(
        workload.processes[0].steps,
        [
            Step::Open { handle: HandleId(0), file: 0 },
            Step::Repeat { times: Times::For(2_000_000_000), body: vec![choose] },
            Step::Meet(0),
        ]
    );
    assert_eq!(workload.files[0].at_per_mille, 500);
}

/// The check holds for workloads that never were text.
#[test]
fn a_built_workload_is_checked_too() {
    let mut workload = Workload::default();
    assert_eq!(workload.check()[0].spot, Spot::Workload);
    workload = read("w", built_in::ALL[0].toml, &Values::none()).expect("right").workload;
    workload.processes[0].steps.push(Step::Fsync(HandleId(7)));
    let faults = workload.check();
    assert!(faults.iter().any(|fault| fault.message == "the process has no such handle"), "{faults:?}");
}

mod properties {
    use super::*;
    use crate::block::IoClass;
    use crate::workload::{FileSpec, ProcessSpec};
    use proptest::prelude::*;

    fn operand(max: u64) -> impl Strategy<Value = Operand> {
        prop_oneof![
            (1..max).prop_map(Operand::Fixed),
            (1..max / 2, max / 2..max).prop_map(|(low, high)| Operand::Between(low, high)),
        ]
    }

    /// Steps on a file that is open as handle 0.
    fn step() -> impl Strategy<Value = Step> {
        let handle = HandleId(0);
        let leaf = prop_oneof![
            (operand(1 << 40), 1_u64..1 << 30).prop_map(move |(bytes, call_bytes)| Step::Read {
                handle,
                bytes,
                call_bytes,
                pattern: Pattern::Sequential,
                direct: false
            }),
            (1_u64..1 << 20, 1_u64..1 << 20, any::<bool>()).prop_map(move |(pieces, sectors, direct)| {
                let call_bytes = sectors * 512;
                let bytes = Operand::Fixed(pieces * 512);
                Step::Write { handle, bytes, call_bytes, pattern: Pattern::Random, direct }
            }),
            (1_u64..1 << 30).prop_map(move |call_bytes| Step::ReadToEnd { handle, call_bytes }),
            Just(Step::Rewind(handle)),
            Just(Step::Fsync(handle)),
            Just(Step::Fdatasync(handle)),
            Just(Step::DropCache(handle)),
            (1_u64..1 << 40).prop_map(move |bytes| Step::Truncate { handle, bytes }),
            (prop::option::of(1_u64..1 << 40), any::<bool>()).prop_map(move |(bytes, random)| Step::Touch {
                handle,
                bytes: bytes.map(Operand::Fixed),
                pattern: if random { Pattern::Random } else { Pattern::Sequential },
                writes_percent: None,
            }),
            operand(3_600_000_000_000).prop_map(Step::Compute),
            operand(3_600_000_000_000).prop_map(Step::Sleep),
            (1_u32..1000).prop_map(|amount| Step::Mark { mark: MarkId(0), amount }),
            Just(Step::Meet(0)),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            let times = prop_oneof![
                (1_u64..10).prop_map(Times::Count),
                (1_u64..3_600_000_000_000).prop_map(Times::For)
            ];
            let timed = prop::collection::vec(inner.clone(), 0..4).prop_map(|mut steps| {
                steps.push(Step::Sleep(Operand::Fixed(1)));
                steps
            });
            let branch = (1_u32..1000, prop::collection::vec(inner, 0..3))
                .prop_map(|(weight, steps)| Branch { weight, steps });
            prop_oneof![
                (times, timed).prop_map(|(times, body)| Step::Repeat { times, body }),
                prop::collection::vec(branch, 1..4).prop_map(Step::Choose),
            ]
        })
    }

    prop_compose! {
        fn workload()(
            name in "[a-zäΩ'#\\\\ ]{0,10}x",
            size_bytes in 1_u64..1 << 44,
            at_per_mille in 0_u32..1000,
            count in 1_u32..1000,
            io_priority in 0_u8..8,
            io_class in prop_oneof![Just(IoClass::RealTime), Just(IoClass::BestEffort), Just(IoClass::Idle)],
            shared_io_context: bool,
            same_name: bool,
            touched in prop::option::of(0_u32..101),
            steps in prop::collection::vec(step(), 0..6),
        ) -> Workload {
            let name = name.trim().to_owned();
            let handle = if same_name { name.clone() } else { "handle".to_owned() };
            let region = HandleId(1);
            let mut all = vec![
                Step::Open { handle: HandleId(0), file: 0 },
                Step::MapAnonymous { handle: region, bytes: size_bytes.min(1 << 40) },
                Step::Touch { handle: region, bytes: None, pattern: Pattern::Sequential, writes_percent: touched },
                Step::Close(region),
                Step::Mark { mark: MarkId(0), amount: 1 },
                Step::Meet(0),
            ];
            all.extend(steps);
            Workload {
                files: vec![FileSpec { name: name.clone(), size_bytes, at_per_mille }],
                processes: vec![ProcessSpec {
                    name: name.clone(),
                    count,
                    io_class,
                    io_priority,
                    shared_io_context,
                    handles: vec![handle, "region of it".to_owned()],
                    marks: vec!["work".to_owned()],
                    steps: all,
                }],
                barriers: vec![name],
            }
        }
    }

    proptest! {
        /// Any workload that can run can be written, and reads back the same.
        #[test]
        fn text_and_workload_go_into_each_other(workload in workload()) {
            prop_assert_eq!(workload.check(), Vec::new());
            let text = write(&workload);
            let again = read("written", &text, &Values::none());
            prop_assert_eq!(again.map(|text| text.workload), Ok(workload), "{}", text);
        }

        /// No text makes the reader panic: pieces of the language in any order.
        #[test]
        fn any_text_is_survived(
            pieces in prop::collection::vec(prop_oneof![
                Just("[[process]]\n".to_owned()), Just("name = \"a\"\n".to_owned()), Just("steps = [\n".to_owned()),
                Just("{ repeat = \"forever\", steps = [".to_owned()), Just("] }, ".to_owned()), Just("]\n".to_owned()),
                Just("{ open = \"a\" }, ".to_owned()), Just("{ read = \"a\", bytes = \"all\" }, ".to_owned()),
                Just("[[file]]\n".to_owned()), Just("size = \"$x\"\n".to_owned()), Just("[parameters]\n".to_owned()),
                Just("x = \"4 KiB\"\n".to_owned()), Just("include = [\"fs-mark\"]\n".to_owned()),
                Just("count = 99999999999999999999\n".to_owned()), Just("at = \"99.95 %\"\n".to_owned()), ".{0,12}",
            ], 0..24)
        ) {
            let _ = read("workload", &pieces.concat(), &Values::none());
        }
    }
}
