//! Links as a specification.

use super::*;
use crate::scenario::ScenarioFile;
use litemap::LiteMap;
use proptest::prelude::*;

fn open(fragment: &str) -> Link {
    Link::open(fragment).unwrap_or_else(|error| panic!("{fragment}: {error}"))
}

fn file(fragment: &str) -> ScenarioFile {
    open(fragment).file().unwrap_or_else(|problems| panic!("{fragment}: {problems:#?}"))
}

fn default_link() -> Link {
    Link::to_experiment("cfq-noidle-2010").expect("there")
}

/// The example that documentation shows.
#[test]
fn a_link_can_be_written_by_hand() {
    let fragment = "#1t.experiment=cfq-noidle-2010&kernels=deadline,cfq@2.6.35&seed=7&tunable.slice_idle=0&case=mixed\
                    &view=1.5s..2s&charts=head,queue-depth&selected=fs_mark";
    let link = open(fragment);
    assert_eq!(
        link.subject,
        Subject::Experiment {
            id: "cfq-noidle-2010".into(),
            case: "mixed".into(),
            kernels: vec!["deadline".into(), "cfq@2.6.35".into()],
            workload: None,
        }
    );
    assert_eq!(link.seed, Some(7));
    assert_eq!(link.view.range_ns, Some((1_500_000_000, 2_000_000_000)));
    assert_eq!((link.view.charts.len(), link.view.selected.as_str()), (2, "fs_mark"));
    let file = file(fragment);
    let labels: Vec<&str> = file.kernels.iter().map(|column| column.label.as_str()).collect();
    assert_eq!(labels, ["deadline", "vanilla cfq"]);
    assert_eq!(file.kernels[1].kernel.tunables.get("slice_idle"), Some(&0));
    assert_eq!((file.seed, file.limits.time_ns), (7, 30_000_000_000));
    // It is written again the same, but for the order of names and the defaults.
    assert_eq!(
        link.readable(),
        "#1t.case=mixed&kernels=deadline,cfq@2.6.35&seed=7&charts=head,queue-depth&selected=fs_mark\
         &time=30%20s&tunable.slice_idle=0&view=1.5s..2s"
            .replace("&time=30%20s", "")
    );
}

/// Defaults are left out: the page's first state is an empty link.
#[test]
fn defaults_are_left_out() {
    assert_eq!(default_link().share(), "#1t.");
    assert_eq!(open("#1t."), default_link());
    assert_eq!(open("1t."), default_link());
    let pinned = default_link().with_digest(0x00ab_cdef_0123_4567);
    assert_eq!(pinned.share(), format!("#1t.digest=00abcdef01234567&model={MODEL_VERSION}"));
    assert!(!open(&pinned.share()).is_of_another_model());
    assert!(open("#1t.model=4000000000").is_of_another_model());
    // A link by hand pins nothing.
    assert!(!open("#1t.seed=3").is_of_another_model());
}

/// The shorter form is shared, and both forms open to the same.
#[test]
fn the_shorter_form_is_shared() {
    let mut link = default_link();
    let workload = crate::workload::built_in::find("direct-writer").expect("there").toml.to_owned();
    link.subject = Subject::Experiment {
        id: "cfq-noidle-2010".into(),
        case: "mixed".into(),
        kernels: vec!["cfq@2.6.35".into()],
        workload: Some(workload),
    };
    let shared = link.share();
    assert!(shared.starts_with("#1z.") && shared.len() < link.readable().len(), "{shared}");
    assert!(shared.len() < RECOMMENDED_LENGTH, "{}", shared.len());
    assert_eq!(open(&shared), link);
    assert_eq!(open(&link.readable()), link);
    assert_eq!(file(&shared).workload.title, "direct writer beside two readers");
}

/// A scenario of one's own travels whole; what the link says beside it comes on top.
#[test]
fn an_own_scenario_travels() {
    let text = "kernels = \"cfq\"\nworkload = \"two-readers\"\nseed = 9\n";
    let mut link = default_link();
    link.subject = Subject::Own { text: text.to_owned() };
    link.seed = None;
    link.settings = LiteMap::new();
    let again = open(&link.share());
    assert_eq!(again, link);
    assert_eq!(again.file().expect("right").seed, 9);
    link.seed = Some(3);
    link.settings.insert("workload.file-size".into(), "1 GiB".into());
    let file = file(&link.share());
    assert_eq!((file.seed, file.workload.workload.files[0].size_bytes), (3, 1 << 30));
}

/// Newer, broken, too large and wrong links are told apart, each with a way out.
#[test]
fn errors_are_told_apart() {
    let say = |fragment: &str| Link::open(fragment).expect_err(fragment);
    let newer = say("#7q.anything at all");
    assert_eq!(newer, LinkError::Newer { link: 7, known: SCHEMA });
    assert_eq!(
        newer.to_string(),
        "this link is of version 7, this page knows versions up to 1: reload the page to get the newest"
    );
    for broken in [
        "",
        "#",
        "#t.",
        "#1",
        "#1t",
        "#1x.",
        "#0t.",
        "#99999999999999t.",
        "#1t.seed",
        "#1t.seed=%zz",
        "#1t.seed=%4",
        "#1t.seed=1&seed=2",
        "#1t.selected=%FF",
        "#1z.!",
        "#1z.AAAA",
        "#1z.%20",
        "#ä1t.",
    ] {
        let error = say(broken);
        assert!(matches!(error, LinkError::Broken { .. }), "{broken}: {error}");
        assert!(error.to_string().contains("damaged"), "{error}");
    }
    for (wrong, expected) in [
        ("#1t.seed=-1", "link: seed = -1: seed is a whole number from 0 to 18446744073709551615"),
        ("#1t.seeds=65", "link: seeds = 65: seeds is a whole number from 1 to 64"),
        ("#1t.sed=1", "link: sed = 1: a link has no such name; did you mean seed?"),
        ("#1t.digest=12", "link: digest = 12: a digest has 16 hexadecimal digits"),
        ("#1t.view=2s..1s", "link: view = 2s..1s: the range runs backwards"),
        ("#1t.view=1s..2h", "link: view = 1s..2h: a view begins before it ends, within one hour"),
        ("#1t.charts=Head", "link: charts = Head: this is no list of charts"),
        (
            "#1t.experiment=cfq-noidle-2011",
            "link: experiment = cfq-noidle-2011: there is no such experiment; did you mean cfq-noidle-2010?",
        ),
        ("#1t.scenario=x&case=mixed", "link: case = mixed: a scenario's own text says this itself"),
    ] {
        let LinkError::Wrong(problems) = say(wrong) else { panic!("{wrong}") };
        assert!(problems[0].to_string().starts_with(expected), "{}", problems[0]);
    }
    for (wrong, expected) in [
        ("#1t.kernels=cfq@2.6.35x", "there is no release \"2.6.35x\"; did you mean 2.6.35?"),
        ("#1t.case=mxed", "link: case = mxed: the experiment has no case of this name; did you mean mixed?"),
        ("#1t.machine.hz=300", "link: machine.hz = 300: kernels of the time ticked"),
        (
            "#1t.tunable.slice_idel=0",
            "link: tunable.slice_idel = 0: none of the kernels has a tunable of this name; did you mean slice_idle?",
        ),
        ("#1t.time=2%20h", "link: time = 2 h: the longest time is 3600 s"),
        (
            "#1t.workload=fsmark",
            "link: workload = fsmark: there is no built-in workload of this name; did you mean fs-mark?",
        ),
        (
            "#1t.workload-text=%5B%5Bprocess%5D%5D%0Aname%3D3%0Asteps%3D%5B%5D",
            "workload line 2: name = 3: this is not text",
        ),
        ("#1t.scenario=kernels%3D1", "scenario line 1: kernels = 1: this is not text"),
    ] {
        let problems = open(wrong).file().expect_err(wrong);
        assert!(
            problems.iter().any(|problem| problem.to_string().contains(expected)),
            "{wrong}: {problems:#?}"
        );
    }
}

/// Nothing is unpacked beyond 64 KiB, however small the link.
#[test]
fn a_bomb_is_refused() {
    let bomb = |bytes: usize| {
        let fields = LiteMap::from_iter([("selected".to_owned(), "a".repeat(bytes))]);
        codec::encode_compressed(SCHEMA, &fields).expect("the feature is on")
    };
    let link = bomb(10_000_000);
    assert!(link.len() < 20_000);
    assert_eq!(Link::open(&link), Err(LinkError::TooLarge));
    assert!(codec::decode(&bomb(MAX_PAYLOAD_BYTES - 100)).is_ok());
    let readable = format!("#1t.selected={}", "a".repeat(MAX_PAYLOAD_BYTES));
    assert_eq!(Link::open(&readable), Err(LinkError::TooLarge));
    let many: Vec<String> = (0..1000).map(|index| format!("machine.{index}=1")).collect();
    assert_eq!(Link::open(&format!("#1t.{}", many.join("&"))), Err(LinkError::TooLarge));
}

/// Links of every schema ever released open and can be run. Their digests are compared where
/// simulations run.
#[test]
fn golden_links_open() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/links.txt");
    let text = std::fs::read_to_string(path).expect("the file is in the repository");
    let mut schemas = std::collections::BTreeSet::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        let (fragment, digest) = line.split_once(' ').unwrap_or_else(|| panic!("{line}: link and digest"));
        let digest = digest.trim();
        assert!(digest == "-" || (digest.len() == 16 && u64::from_str_radix(digest, 16).is_ok()), "{line}");
        file(fragment);
        schemas.insert(codec::decode(fragment).expect("opens").0);
    }
    assert!(schemas.into_iter().eq(1..=SCHEMA), "a link of every schema");
}

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9-]{0,12}"
}

fn subject() -> impl Strategy<Value = Subject> {
    let kernels = prop::collection::vec("[a-z0-9@.+:=_-]{1,20}", 1..4);
    let workload = proptest::option::of(any::<String>());
    prop_oneof![
        (Just("cfq-noidle-2010".to_owned()), name(), kernels, workload)
            .prop_map(|(id, case, kernels, workload)| Subject::Experiment { id, case, kernels, workload }),
        any::<String>().prop_map(|text| Subject::Own { text }),
    ]
}

prop_compose! {
    fn view()(
        range_ns in proptest::option::of((0_u64..1_000_000_000_000, 1_u64..1_000_000_000_000)),
        charts in prop::collection::vec(name(), 0..4),
        selected in "[^\\p{Cc}]{0,20}",
    ) -> View {
        View { range_ns: range_ns.map(|(from, length)| (from, from + length)), charts, selected }
    }
}

prop_compose! {
    fn link()(
        subject in subject(),
        seed in any::<u64>(),
        has_seed: bool,
        seeds in 1_u32..65,
        settings in prop::collection::btree_map(
            prop_oneof![
                Just("machine.hz".to_owned()), Just("tunable.slice_idle".to_owned()), Just("events".to_owned()),
                "workload\\.[a-z-]{1,8}", "machine\\.[a-zä%&=.-]{1,8}",
            ],
            any::<String>(),
            0..5,
        ),
        time in "[0-9]{1,3} s",
        model in proptest::option::of(1_u32..9),
        digest: Option<u64>,
        view in view(),
    ) -> Link {
        let mut settings: LiteMap<_, _> = settings.into_iter().collect();
        // An experiment always has a seed and a time: saying nothing means the defaults.
        let is_experiment = matches!(subject, Subject::Experiment { .. });
        if is_experiment {
            settings.insert("time".to_owned(), time);
        }
        Link { seed: (is_experiment || has_seed).then_some(seed), subject, seeds, settings, model, digest, view }
    }
}

proptest! {
    /// Whatever a link says, it says again.
    #[test]
    fn links_come_back(link in link()) {
        prop_assert_eq!(Link::open(&link.share()), Ok(link.clone()));
        prop_assert_eq!(Link::open(&link.readable()), Ok(link.clone()));
        let fields = codec::decode(&link.readable()).expect("opens").1;
        let compressed = codec::encode_compressed(SCHEMA, &fields).expect("the feature is on");
        prop_assert_eq!(Link::open(&compressed), Ok(link));
    }

    /// A readable link has only characters that addresses and chat tools leave alone.
    #[test]
    fn shared_characters_are_safe(link in link()) {
        for fragment in [link.share(), link.readable()] {
            let is_safe = |c: char| c.is_ascii_alphanumeric() || "#-._~,@+:/=&%".contains(c);
            prop_assert!(fragment.chars().all(is_safe), "{}", fragment);
        }
    }

    /// No text makes the reader panic, and what opens can be asked for its runs.
    #[test]
    fn any_text_is_survived(text in "(#?[0-9]{0,2}[tz]\\.)?.*") {
        if let Ok(link) = Link::open(&text) {
            let _ = link.file();
        }
    }

    /// Neither does any stream of bytes behind a valid beginning.
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        use base64::Engine as _;
        let payload = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(&bytes);
        let _ = Link::open(&format!("#1z.{payload}"));
        let _ = Link::open(&format!("#1t.{}", String::from_utf8_lossy(&bytes)));
    }

    /// Nor does a valid link with some characters changed, removed or repeated.
    #[test]
    fn damaged_links_are_survived(
        link in link(),
        is_readable: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<char>(), 0_u8..3), 1..4),
    ) {
        let fragment = if is_readable { link.readable() } else { link.share() };
        let mut characters: Vec<char> = fragment.chars().collect();
        for (index, character, kind) in changes {
            let index = index.index(characters.len());
            match kind {
                0 => characters[index] = character,
                1 => characters.truncate(index + 1),
                _ => characters.insert(index, characters[index]),
            }
        }
        if let Ok(link) = Link::open(&characters.into_iter().collect::<String>()) {
            let _ = link.file();
        }
    }
}
