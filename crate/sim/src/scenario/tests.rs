//! Scenario files and experiments as a specification.

use super::*;

const SMALL: &str = "\
kernels = \"cfq\"
workload = \"fs-mark\"
";

fn read(text: &str) -> Result<ScenarioFile, Vec<Problem>> {
    ScenarioFile::from_toml("scenario", text, &Overrides::none())
}

fn problems(text: &str) -> Vec<String> {
    read(text).expect_err(text).iter().map(ToString::to_string).collect()
}

fn overridden(path: &str, value: &str) -> Result<ScenarioFile, Vec<String>> {
    let overrides = Overrides::from_document("link").with(path, value);
    ScenarioFile::from_toml("scenario", SMALL, &overrides)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

/// What is not said has its default.
#[test]
fn two_lines_are_a_scenario() {
    let scenario = Scenario::from_toml(SMALL).expect("right");
    assert_eq!(scenario.machine, Machine::default());
    assert_eq!(scenario.kernel, KernelChoice::parse("cfq@2.6.35").expect("right"));
    assert_eq!((scenario.seed, scenario.limits.time_ns), (1, 10_000_000_000));
    assert_eq!(scenario.workload.processes[0].name, "fs_mark");
}

/// Everything at once, in the pleasant spellings.
#[test]
fn a_whole_scenario() {
    let text = r#"
title = "two readers"
seed = 7
time = "2 min"
events = 5_000_000

[machine]
cpus = 4
hz = 250
[machine.device]
preset = "device-b"
read-latency-us = 200
bandwidth-bytes-per-s = "300 MB/s"
capacity-sectors = "100 GiB"
[machine.file-system]
kind = "ext3"
[machine.host]
syscall-ns = "0.4 us"

[tunable]
slice_idle = "0 ms"
nr_requests = 64

[[kernels]]
kernel = "deadline"
label = "plain"
[[kernels]]
kernel = "cfq@2.6.35+blk-yield:low_latency=0"
tunables = { slice_idle = 4, slice_sync = "50 ms", back_seek_max = "8 MiB" }

[workload]
[[workload.file]]
name = "data"
size = "1 GiB"
[[workload.process]]
name = "reader"
steps = [{ open = "data" }, { read = "data", bytes = "all" }]
"#;
    let file = read(text).unwrap_or_else(|problems| panic!("{problems:#?}"));
    assert_eq!((file.machine.cpus, file.machine.hz, file.limits.time_ns), (4, 250, 120_000_000_000));
    let crate::device::DeviceOptions::Server(device) = &file.machine.device else { panic!("a server") };
    assert_eq!((device.read_latency_ns, device.bandwidth_bytes_per_s), (200_000, 300_000_000));
    assert_eq!((device.capacity_sectors, device.servers), (100 << 21, 32));
    // ext3's own default.
    assert!(!file.machine.file_system.barrier);
    assert_eq!(file.machine.host.syscall_ns, 400);
    let [plain, cfq] = file.kernels.as_slice() else { panic!("two") };
    assert_eq!(plain.label, "plain");
    assert_eq!(plain.kernel.to_string(), "deadline@2.6.35:nr_requests=64");
    assert_eq!(
        cfq.kernel.to_string(),
        "cfq@2.6.35+blk-yield:back_seek_max=8192:low_latency=0:nr_requests=64:slice_idle=4:slice_sync=50"
    );
    assert_eq!(file.scenarios().len(), 2);
}

/// Every kind of mistake, each with its place, value, range and nearest name.
#[test]
fn mistakes_are_explained() {
    for (text, expected) in [
        (
            "workload = \"fs-mark\"",
            "scenario line 1: `kernels` is missing: at least one, such as \"cfq@2.6.35\"",
        ),
        (
            "kernels = \"cfq\"\nworkload = \"fsmark\"",
            "scenario line 2: workload = \"fsmark\": there is no built-in workload of this name; did you mean fs-mark?",
        ),
        (
            "kernels = \"cqf\"\nworkload = \"fs-mark\"",
            "scenario line 1: kernels = \"cqf\": 2.6.35 has no elevator \"cqf\"; did you mean cfq?",
        ),
        (
            "kernels = \"cfq@2.6.35x\"\nworkload = \"fs-mark\"",
            "scenario line 1: kernels = \"cfq@2.6.35x\": there is no release \"2.6.35x\"; did you mean 2.6.35?",
        ),
        (
            "kernels = \"cfq+blk_yield\"\nworkload = \"fs-mark\"",
            "scenario line 1: kernels = \"cfq+blk_yield\": there is no patch \"blk_yield\"; did you mean blk-yield?",
        ),
        (
            "kernels = [\"cfq@2.6.32+blk-yield\"]\nworkload = \"fs-mark\"",
            "scenario line 1: kernels = \"cfq@2.6.32+blk-yield\": the patch",
        ),
        (
            "kernels = [\"cfq\", \"cfq\"]\nworkload = \"fs-mark\"",
            "scenario line 1: kernels = [...]: two kernels are labelled \"cfq\"",
        ),
        (
            "kernels = \"cfq:slice_idel=8\"\nworkload = \"fs-mark\"",
            "scenario line 1: slice_idel = 8: cfq@2.6.35 has no tunable \"slice_idel\"; did you mean slice_idle?",
        ),
        (
            "[tunable]\nslice_idle = \"8 hours\"\n",
            "scenario line 2: slice_idle = \"8 hours\": the longest slice_idle is 3600 s",
        ),
        (
            "[tunable]\nslice_idle = \"8.5 ms\"\n",
            "scenario line 2: slice_idle = \"8.5 ms\": slice_idle counts whole ms",
        ),
        ("[tunable]\nquantum = 0\n", "scenario line 2: quantum = 0: the smallest quantum is 1"),
        ("[tunable]\nlow_latency = 2\n", "scenario line 2: low_latency = 2: the largest low_latency is 1"),
        (
            "[tunable]\nfifo_batch = 2\n",
            "scenario line 2: fifo_batch = 2: none of the kernels has a tunable of this name",
        ),
        ("[machine]\ncpus = 0\n", "scenario line 2: cpus = 0: a machine has 1 to 64 CPUs"),
        (
            "[machine]\ncpus = 99999999999\n",
            "scenario line 2: cpus = 99999999999: this value does not fit here",
        ),
        (
            "[machine]\nhz = 300\n",
            "scenario line 2: hz = 300: kernels of the time ticked at 100, 250 or 1000 Hz (allowed: 100, 250, 1000)",
        ),
        (
            "[machine]\nhertz = 300\n",
            "scenario line 2: hertz = 300: there is no such key here (allowed: cpus",
        ),
        (
            "[machine]\ndevice = \"aray\"\n",
            "scenario line 2: device = \"aray\": there is no device of this name; did you mean array?",
        ),
        (
            "[machine.device]\nmodel = \"sata\"\n",
            "scenario line 2: model = \"sata\": there is no model of this name",
        ),
        ("[machine.device]\ndepth = 0\n", "scenario line 2: depth = 0: a device has a depth of 1 to 1024"),
        (
            "[machine.device]\nwrite-latncy-ns = 3\n",
            "there is no such key here; did you mean write-latency-ns?",
        ),
        ("[machine.device]\nwrite-latency-ns = \"420 us/s\"\n", "\"us/s\" is no unit here"),
        ("[machine.device]\nlink-bytes-per-s = \"400 MB\"\n", "write a rate such as \"400 MB/s\""),
        (
            "[machine.file-system]\nkind = \"ext5\"\n",
            "scenario line 2: kind = \"ext5\": there is nothing of this name; did you mean ext3?",
        ),
        ("[machine.file-system]\njournal-mib = \"100 KiB\"\n", "journal-mib is a whole number"),
        ("[machine.host]\nsyscall-ns = 0\n", "a system call takes 10 ns to 100 ms"),
        ("seed = -1\n", "scenario line 1: seed = -1: it cannot be negative"),
        ("time = \"2 h\"\n", "scenario line 1: time = \"2 h\": the longest time is 3600 s"),
        ("events = 99999999999\n", "the largest events is 10000000000"),
        ("tim = \"2 s\"\n", "scenario line 1: tim: there is no such key here; did you mean time?"),
    ] {
        let small = if text.contains("fs-mark") || text.contains("kernels") { "" } else { SMALL };
        // Keys before tables: TOML gives keys after a table to the table.
        let whole = if text.starts_with('[') { format!("{text}\n") } else { format!("{text}\n{small}") };
        let whole = if text.starts_with('[') { shifted(&whole) } else { whole };
        let problems = problems(&whole);
        let found =
            problems.iter().any(|problem| unshifted(problem, text.starts_with('[')).contains(expected));
        assert!(found, "{whole}\n{expected}\n{problems:#?}");
    }
}

/// Puts the small scenario before a table, two lines that the expectations do not count.
fn shifted(text: &str) -> String {
    format!("{SMALL}{text}")
}

fn unshifted(problem: &str, is_shifted: bool) -> String {
    if is_shifted {
        problem.replace("line 4:", "line 2:").replace("line 3:", "line 1:")
    } else {
        problem.to_owned()
    }
}

/// Several mistakes are reported together, in the order of the text.
#[test]
fn all_mistakes_at_once() {
    let problems = problems(
        "kernels = [\"cfq+nothing\", \"deadlin\"]\nworkload = \"fs-mrk\"\nseed = \"x\"\n[machine]\nhz = 7\ncpu = 3\n",
    );
    let starts =
        ["scenario line 1", "scenario line 1", "scenario line 2", "scenario line 3", "scenario line 6"];
    let lines: Vec<&str> = problems.iter().map(|problem| problem.split(':').next().unwrap_or("")).collect();
    assert_eq!(lines, starts, "{problems:#?}");
}

/// Files must lie on the device, one beside the other.
#[test]
fn files_are_on_the_device() {
    let text = |size: &str, at: &str| {
        format!(
            "kernels = \"cfq\"\n[machine.device]\ncapacity-sectors = \"4 GiB\"\n[workload]\n\
             file = [{{ name = \"a\", size = \"1 GiB\", at = \"10 %\" }}, {{ name = \"b\", size = \"{size}\", at = \"{at}\" }}]\n\
             process = [{{ name = \"p\", steps = [{{ open = \"a\" }}, {{ open = \"b\" }}] }}]\n"
        )
    };
    assert!(read(&text("1 GiB", "50 %")).is_ok());
    assert_eq!(
        problems(&text("3 GiB", "50 %")),
        [
            "scenario line 4: workload: the file \"b\" of 3 GiB begins at 50.0 % of a device of 4 GiB and would end beyond it"
        ]
    );
    assert_eq!(
        problems(&text("1 GiB", "20 %")),
        [
            "scenario line 4: workload: the files \"a\" and \"b\" lie on each other; give them other positions (at) or less size"
        ]
    );
}

/// Values by path reach everything, and their mistakes are told under their own names.
#[test]
fn overrides() {
    let file = overridden("machine.hz", "250").expect("right");
    assert_eq!(file.machine.hz, 250);
    let file = overridden("machine.device.write-latency-us", "450").expect("right");
    let crate::device::DeviceOptions::FcArray(array) = file.machine.device else { panic!("an array") };
    assert_eq!(array.write_latency_ns, 450_000);
    let file = overridden("machine.device", "sata").expect("right");
    assert_eq!(file.machine.device.kind(), crate::device::DeviceKind::SataDisk);
    let file = overridden("tunable.slice_idle", "0").expect("right");
    assert_eq!(file.kernels[0].kernel.tunables.get("slice_idle"), Some(&0));
    let file = overridden("kernels", "deadline,cfq@2.6.35+revert-8e55063").expect("right");
    let labels: Vec<&str> = file.kernels.iter().map(|column| column.label.as_str()).collect();
    assert_eq!(labels, ["deadline", "cfq@2.6.35+revert-8e55063"]);
    let file = overridden("workload.file-size", "16 KiB").expect("right");
    assert!(format!("{:?}", file.workload.workload).contains("Fixed(16384)"));
    assert_eq!(
        overridden("workload", "two-readers").expect("right").workload.title,
        "two sequential readers"
    );
    assert_eq!(overridden("time", "3 s").expect("right").limits.time_ns, 3_000_000_000);
    for (path, value, expected) in [
        ("machine.hertz", "3", "link: machine.hertz = 3: there is no such key here"),
        ("machine.hz", "x", "link: machine.hz = x: write a whole number"),
        ("machine.hz", "300", "link: machine.hz = 300: kernels of the time ticked"),
        ("machin.hz", "300", "link: machin.hz = 300: nothing has this name; did you mean machine?"),
        (
            "tunable.slice_idel",
            "0",
            "link: tunable.slice_idel = 0: none of the kernels has a tunable of this name; did you mean slice_idle?",
        ),
        ("kernels", "deadline,cqf", "link: kernels = cqf: 2.6.35 has no elevator \"cqf\"; did you mean cfq?"),
        (
            "workload.fil-size",
            "1",
            "link: workload.fil-size = 1: this workload has no parameter of this name; did you mean file-size?",
        ),
        ("workload.file-size.x", "1", "link: workload.file-size.x: write a size"),
        ("machine.hz.x", "1", "link: machine.hz.x: write a whole number"),
        ("", "1", "nothing has this name"),
        ("time..x", "1", "nothing has this name"),
    ] {
        let problems = overridden(path, value).expect_err(path);
        assert!(problems.iter().any(|problem| problem.contains(expected)), "{path}: {problems:#?}");
    }
}

mod experiments {
    use super::*;
    use crate::text::Node;

    fn experiment() -> Experiment {
        Experiment::find("cfq-noidle-2010").unwrap_or_else(|problems| panic!("{problems:#?}"))
    }

    /// Each column, in each case, is a run; all columns share the machine and the workload.
    #[test]
    fn every_column_and_case_is_a_run() {
        for id in Experiment::ids() {
            let experiment = Experiment::find(id).expect("right");
            assert_eq!(experiment.id, id);
            for case in &experiment.cases {
                let runs: Vec<Scenario> = experiment
                    .columns
                    .iter()
                    .map(|column| {
                        experiment
                            .scenario(&column.label, &case.name, 7, &Overrides::none())
                            .unwrap_or_else(|problems| panic!("{problems:#?}"))
                    })
                    .collect();
                for (run, column) in runs.iter().zip(&experiment.columns) {
                    assert_eq!(run.kernel, KernelChoice::parse(&column.kernel).expect("a name"));
                    assert_eq!((&run.machine, &run.workload), (&runs[0].machine, &runs[0].workload));
                    assert_eq!((run.seed, run.limits.time_ns), (7, case.time_ns));
                    assert!(run.check().is_empty());
                }
            }
            // Every metric names a process and a mark of its case's workload.
            for metric in experiment.metrics.iter().filter(|metric| metric.rate.is_of_process()) {
                let run = experiment
                    .scenario(&experiment.columns[0].label, &metric.case, 1, &Overrides::none())
                    .expect("right");
                let process = run.workload.processes.iter().find(|process| process.name == metric.process);
                let process = process.unwrap_or_else(|| panic!("{}", metric.process));
                if let Rate::Mark(mark) = &metric.rate {
                    assert!(process.marks.contains(mark));
                }
            }
        }
    }

    /// The experiment shows the published table: the same columns, rows and units, in its order.
    #[test]
    fn columns_and_rows_are_the_published_ones() {
        let experiment = experiment();
        let published = Node::parse("published", experiment.published_text().expect("there")).expect("TOML");
        let text = |path: &str| published.at(path).map(Node::written);
        let quoted = |text: &str| Some(format!("\"{text}\""));
        assert_eq!(text("id"), quoted(&experiment.id));
        assert_eq!(text("date"), quoted(&experiment.date));
        let tables = (0..).map_while(|at| text(&format!("table.{at}.id")));
        let table =
            tables.into_iter().position(|id| Some(id) == quoted(&experiment.table)).expect("the table");
        let columns = (0..).map_while(|at| text(&format!("table.{table}.columns.{at}")));
        assert!(columns.map(Some).eq(experiment.columns.iter().map(|column| quoted(&column.label))));
        for (at, metric) in experiment.metrics.iter().enumerate() {
            assert_eq!(text(&format!("table.{table}.row.{at}.metric")), quoted(&metric.row));
            assert_eq!(text(&format!("table.{table}.row.{at}.unit")), quoted(&metric.unit));
        }
        assert_eq!(text(&format!("table.{table}.row.{}.metric", experiment.metrics.len())), None);
    }

    /// A kernel beyond the table's columns, an override, and the page's shorter time.
    #[test]
    fn experiments_can_be_varied() {
        let overrides = Overrides::from_document("command line")
            .with("tunable.slice_idle", "0")
            .with("machine.hz", "250");
        let kernels = ["vanilla cfq".to_owned(), "cfq@2.6.37".to_owned(), "deadline".to_owned()];
        let selection = Selection {
            case: "mixed",
            kernels: &kernels,
            workload: None,
            seed: 3,
            is_interactive: true,
            overrides: &overrides,
        };
        let file = experiment().select(&selection).unwrap_or_else(|problems| panic!("{problems:#?}"));
        let labels: Vec<&str> = file.kernels.iter().map(|column| column.label.as_str()).collect();
        assert_eq!(labels, ["vanilla cfq", "cfq@2.6.37", "deadline"]);
        assert_eq!((file.machine.hz, file.limits.time_ns), (250, 30_000_000_000));
        let idle = |index: usize| file.kernels[index].kernel.tunables.get("slice_idle").copied();
        assert_eq!((idle(0), idle(1), idle(2)), (Some(0), Some(0), None));
        // A kernel name that a column has is that column.
        assert_eq!(experiment().column("cfq").expect("there").label, "vanilla cfq");
    }

    /// Unknown names are refused with the nearest.
    #[test]
    fn unknown_names() {
        let say = |kernel: &str, case: &str| -> String {
            experiment().scenario(kernel, case, 1, &Overrides::none()).expect_err("wrong")[0].to_string()
        };
        assert_eq!(
            say("vanila cfq", "mixed"),
            "experiment cfq-noidle-2010: kernels = vanila cfq: there is no column or kernel of this name; did you mean vanilla cfq?"
        );
        assert_eq!(
            say("deadlin", "mixed"),
            "experiment cfq-noidle-2010: kernels = deadlin: 2.6.35 has no elevator \"deadlin\"; did you mean deadline?"
        );
        assert_eq!(
            say("deadline", "mxed"),
            "experiment cfq-noidle-2010: case = mxed: the experiment has no case of this name; did you mean mixed?"
        );
        let none = Experiment::find("cfq-noidle-2011").expect_err("none");
        assert_eq!(
            none[0].to_string(),
            "scenario: experiment = cfq-noidle-2011: there is no such experiment; did you mean cfq-noidle-2010?"
        );
    }
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No override makes the reader panic, whatever its path and value.
        #[test]
        fn any_override_is_survived(
            paths in prop::collection::vec((
                prop_oneof![
                    Just("machine".to_owned()), Just("machine.device".to_owned()), Just("machine.hz".to_owned()),
                    Just("machine.device.model".to_owned()), Just("machine.device.depth".to_owned()),
                    Just("machine.file-system.kind".to_owned()), Just("workload".to_owned()),
                    Just("workload.process".to_owned()), Just("workload.use".to_owned()), Just("tunable.quantum".to_owned()),
                    Just("kernels".to_owned()), Just("kernels.0.kernel".to_owned()), "[a-z.0-9-]{0,20}",
                ],
                prop_oneof![Just("array".to_owned()), Just("fs-mark".to_owned()), Just("18446744073709551615".to_owned()),
                    Just("0".to_owned()), Just("cfq@2.6.35:slice_idle=99999999999999999999".to_owned()), ".{0,12}"],
            ), 0..5)
        ) {
            let mut overrides = Overrides::from_document("link");
            for (path, value) in paths {
                overrides = overrides.with(&path, &value);
            }
            let _ = ScenarioFile::from_toml("scenario", SMALL, &overrides);
        }

        /// Pieces of the language in any order are read or refused.
        #[test]
        fn any_text_is_survived(
            pieces in prop::collection::vec(prop_oneof![
                Just("kernels = \"cfq\"\n".to_owned()), Just("[[kernels]]\nkernel = \"cfq\"\n".to_owned()),
                Just("workload = \"fs-mark\"\n".to_owned()), Just("[workload]\nuse = \"two-readers\"\n".to_owned()),
                Just("[machine]\n".to_owned()), Just("[machine.device]\n".to_owned()), Just("[tunable]\n".to_owned()),
                Just("hz = 250\n".to_owned()), Just("depth = \"x\"\n".to_owned()), Just("slice_idle = 8\n".to_owned()),
                Just("model = \"sata-disk\"\n".to_owned()), Just("device = [1]\n".to_owned()), ".{0,12}",
            ], 0..12)
        ) {
            let _ = read(&pieces.concat());
        }
    }
}

/// What the documentation shows is right.
mod documentation {
    use super::*;
    use crate::workload::text::{Values, read};

    /// The blocks of a Markdown text that are marked with a language.
    fn blocks<'t>(markdown: &'t str, language: &str) -> Vec<&'t str> {
        let parts: Vec<&str> = markdown.split("```").collect();
        let inside = parts.into_iter().skip(1).step_by(2);
        inside.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
    }

    #[test]
    fn examples_in_the_readmes_can_be_read() {
        let workloads = blocks(include_str!("../../workloads/README.md"), "toml");
        let scenarios = blocks(include_str!("../../experiments/README.md"), "toml");
        let links = blocks(include_str!("../../experiments/README.md"), "");
        assert!(!workloads.is_empty() && !scenarios.is_empty() && !links.is_empty());
        for text in workloads {
            read("README", text, &Values::none()).unwrap_or_else(|problems| panic!("{text}\n{problems:#?}"));
        }
        for text in scenarios {
            super::read(text).unwrap_or_else(|problems| panic!("{text}\n{problems:#?}"));
        }
        for line in links.iter().flat_map(|block| block.lines()) {
            let link = link::Link::open(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            link.file().unwrap_or_else(|problems| panic!("{line}: {problems:#?}"));
        }
    }

    #[test]
    fn the_example_can_be_read() {
        let text = include_str!("../../../../docs/examples/readers-on-three-schedulers.toml");
        let file = read_file(text);
        assert_eq!(file.kernels.len(), 3);
        assert_eq!(file.machine.device.kind(), crate::device::DeviceKind::SataDisk);
    }

    fn read_file(text: &str) -> ScenarioFile {
        super::read(text).unwrap_or_else(|problems| panic!("{problems:#?}"))
    }

    /// Every built-in workload, device, key of a step is in the README.
    #[test]
    fn the_readmes_are_complete() {
        let workloads = include_str!("../../workloads/README.md");
        for built_in in crate::workload::built_in::ALL {
            assert!(workloads.contains(&format!("`{}`", built_in.name)), "{}", built_in.name);
            let text = read(built_in.name, built_in.toml, &Values::none()).expect("right");
            for parameter in text.parameters {
                assert!(workloads.contains(&format!("`{}`", parameter.name)), "{}", parameter.name);
            }
        }
        let experiments = include_str!("../../experiments/README.md");
        for preset in crate::device::presets() {
            assert!(experiments.contains(&format!("`{}`", preset.name)), "{}", preset.name);
        }
        for kind in crate::device::DeviceKind::ALL {
            assert!(experiments.contains(&format!("`{}`", kind.name())), "{}", kind.name());
        }
        let machine = toml::Table::try_from(Machine::default()).expect("a table");
        for key in machine.keys() {
            assert!(experiments.contains(&format!("`{key}`")), "{key}");
        }
    }
}

/// Swap that has no place and watermarks that memory cannot pass are refused with the reason.
#[test]
fn impossible_swap_and_watermarks_are_refused() {
    let device = "device = { model = \"server\", capacity-sectors = 2097152 }";
    for (memory, more, reason) in [
        ("size-mib = 64\nswap-mib = 2000", "", "does not fit on a device of 1 GiB"),
        ("swap-mib = 64", "", "swap needs a machine whose memory is simulated"),
        ("size-mib = 64\nswap-mib = 100000", "", "a swap area has at most 64 GiB"),
        (
            "size-mib = 64",
            "[tunable]\nmin_free_kbytes = 17000\n",
            "at most a quarter of the memory is kept free",
        ),
        ("size-mib = 64", "[tunable]\nswappiness = 101\n", "the largest swappiness is 100"),
        ("size-mib = 3", "", "for Linux does not start with less"),
        ("size-mib = 65537", "", "at most 64 GiB of memory"),
        ("size-mib = 64\nnormal-present = 5", "", "this machine has no zone Normal"),
        ("size-mib = 64\ndma-present = 5000", "", "zone DMA has at most 4096 pages on this machine"),
        (
            "size-mib = 64\ndma32-present = 14000",
            "",
            "all zones together have 17980 pages, and the machine has 16384",
        ),
        ("size-mib = 64\ndma-taken = 3980", "", "zone DMA has 3980 pages, and some must be free"),
        (
            "size-mib = 64\ndma-taken = 3900\ndma32-taken = 11600",
            "",
            "the kernel would keep 253 of them free: more than a quarter",
        ),
    ] {
        let text = format!("{SMALL}{more}[machine]\n{device}\n[machine.memory]\n{memory}\n");
        let problems = problems(&text);
        assert!(problems.iter().any(|problem| problem.contains(reason)), "{text}: {problems:#?}");
    }
    let file = "kernels = \"cfq\"\nworkload = \"two-readers\"\n";
    let text = format!("{file}[machine]\n{device}\n[machine.memory]\nsize-mib = 64\nswap-mib = 1000\n");
    let message = "reaches into the swap area at the end of the device";
    assert!(problems(&text).iter().any(|problem| problem.contains(message)), "{:#?}", problems(&text));
    assert!(read(&format!("{SMALL}[machine.memory]\nsize-mib = 64\nswap-mib = 64\n")).is_ok());
}
