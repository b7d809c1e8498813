//! What a link of each schema means by saying nothing. Nothing here ever changes: a link that left
//! something out in its day still means the same. New defaults need a new schema; new experiments may
//! be added to the newest one.

use super::codec::Fields;

/// What every schema up to now means by leaving out `experiment`.
const EXPERIMENT: &str = "cfq-noidle-2010";

/// Defaults of one experiment.
struct Frozen {
    experiment: &'static str,
    case: &'static str,
    kernels: &'static str,
    /// Of each case: its name and its `time`.
    times: &'static [(&'static str, &'static str)],
}

/// Schema 1.
const ONE: &[Frozen] = &[
    Frozen {
        experiment: "cfq-noidle-2010",
        case: "fs-mark",
        kernels: "deadline,cfq@2.6.35,cfq@2.6.35+revert-8e55063",
        times: &[("fs-mark", "5 s"), ("reader", "5 s"), ("mixed", "30 s")],
    },
    Frozen {
        experiment: "congestion-wait-2010",
        case: "late",
        kernels: "deadline@mmotm-2010-08,deadline@mmotm-2010-08+no-reclaim-congestion-wait",
        times: &[("stream", "1800 s"), ("late", "120 s")],
    },
];

/// Adds what a link of this schema left out.
pub(super) fn complete(schema: u32, mut fields: Fields) -> Fields {
    let frozen = match schema {
        1 => ONE,
        _ => &[],
    };
    fields.entry("seeds".to_owned()).or_insert_with(|| "1".to_owned());
    if fields.contains_key("scenario") {
        // A scenario's own text says the rest.
        return fields;
    }
    let experiment = fields.entry("experiment".to_owned()).or_insert_with(|| EXPERIMENT.to_owned()).clone();
    fields.entry("seed".to_owned()).or_insert_with(|| "1".to_owned());
    if let Some(frozen) = frozen.iter().find(|frozen| frozen.experiment == experiment) {
        let case = fields.entry("case".to_owned()).or_insert_with(|| frozen.case.to_owned()).clone();
        fields.entry("kernels".to_owned()).or_insert_with(|| frozen.kernels.to_owned());
        if let Some((_, time)) = frozen.times.iter().find(|(name, _)| *name == case) {
            fields.entry("time".to_owned()).or_insert_with(|| (*time).to_owned());
        }
    }
    fields
}

/// Takes out what [`complete`] would add.
pub(super) fn leave_out(schema: u32, mut fields: Fields) -> Fields {
    // In any order: what is left out is what `complete` puts back, so what depends on it stays the same.
    for name in ["seeds", "seed", "time", "kernels", "case", "experiment"] {
        let Some(value) = fields.remove(name) else { continue };
        if complete(schema, fields.clone()).get(name) != Some(&value) {
            fields.insert(name.to_owned(), value);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Experiment;
    use crate::scenario::link::SCHEMA;
    use crate::text::format_time;

    /// The page shows first what the newest schema means by saying nothing. When this fails because an
    /// experiment's interactive defaults were changed on purpose: add a schema with the new defaults,
    /// and an upgrader; the old ones stay.
    #[test]
    fn frozen_defaults_are_those_of_the_experiments() {
        for id in Experiment::ids() {
            let experiment = Experiment::find(id).expect("right");
            let fields = Fields::from_iter([("experiment".to_owned(), id.to_owned())]);
            let completed = complete(SCHEMA, fields);
            assert_eq!(completed.get("case"), Some(&experiment.interactive.case));
            let kernels: Vec<&str> = experiment
                .interactive
                .columns
                .iter()
                .map(|label| experiment.column(label).expect("there").kernel.as_str())
                .collect();
            let frozen: Vec<String> =
                completed.get("kernels").expect("there").split(',').map(str::to_owned).collect();
            let labels: Vec<&str> =
                frozen.iter().map(|name| experiment.column(name).expect("there").label.as_str()).collect();
            assert_eq!(labels, experiment.interactive.columns, "{kernels:?}");
            for case in &experiment.cases {
                let fields = Fields::from_iter([
                    ("experiment".to_owned(), id.to_owned()),
                    ("case".to_owned(), case.name.clone()),
                ]);
                assert_eq!(
                    complete(SCHEMA, fields).get("time"),
                    Some(&format_time(case.interactive_time_ns))
                );
            }
        }
    }

    /// Leaving out and completing are each other's reverse.
    #[test]
    fn leaving_out_loses_nothing() {
        for text in [
            vec![],
            vec![("case", "mixed"), ("time", "30 s")],
            vec![("case", "mixed"), ("time", "5 s"), ("seed", "9")],
            vec![("experiment", "another"), ("kernels", "noop")],
            vec![("scenario", "x"), ("seed", "1")],
        ] {
            let fields: Fields =
                text.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let completed = complete(SCHEMA, fields);
            let short = leave_out(SCHEMA, completed.clone());
            assert_eq!(complete(SCHEMA, short), completed);
        }
        assert!(leave_out(SCHEMA, complete(SCHEMA, Fields::new())).is_empty());
    }
}
