//! `cargo xtask test`: everything that has to hold, in one command.
//!
//! A step that fails does not stop the others: one run shows every failure. The last line is a count over all steps.

mod counts;
mod steps;
mod style;

use crate::build::{Speed, build};
use crate::command::Outcome;
use crate::project::Project;
use counts::Counts;
use std::cell::OnceCell;
use std::time::Instant;
use steps::STEPS;

/// One part of the tests.
struct Step {
    /// What `--only` calls it.
    name: &'static str,
    /// What it protects, in a line.
    about: &'static str,
    run: fn(&Context<'_>) -> Outcome<Counts>,
}

/// What the steps share.
struct Context<'a> {
    project: &'a Project,
    page: OnceCell<Outcome>,
}

impl Context<'_> {
    /// Builds dist/, the first time that a step asks for it.
    ///
    /// # Errors
    /// When the build failed, now or for an earlier step.
    fn page(&self) -> Outcome {
        self.page.get_or_init(|| build(self.project, Speed::Release)).clone()
    }
}

/// Prints the steps and what each protects.
pub(crate) fn list() {
    for step in STEPS {
        println!("{:10} {}", step.name, step.about);
    }
}

/// Runs the named steps, or all when none is named.
///
/// # Errors
/// When a name is unknown (nothing is run then), or anything failed.
pub(crate) fn test(project: &Project, only: &[String]) -> Outcome {
    let chosen = choose(only)?;
    let context = Context { project, page: OnceCell::new() };
    let start = Instant::now();
    let mut total = Counts::default();
    let mut failed_steps = Vec::new();
    for step in chosen {
        println!("\n== {}: {}", step.name, step.about);
        let step_start = Instant::now();
        let counts = (step.run)(&context).unwrap_or_else(|message| {
            println!("{}: {message}", step.name);
            Counts::failure()
        });
        println!("-- {}: {counts}, {:.1} s", step.name, step_start.elapsed().as_secs_f64());
        if !counts.is_success() {
            failed_steps.push(step.name);
        }
        total += counts;
    }
    println!("\nAll steps: {:.0} s.", start.elapsed().as_secs_f64());
    if !failed_steps.is_empty() {
        println!(
            "Failed: {}. One step alone: cargo xtask test --only {}",
            failed_steps.join(", "),
            failed_steps[0]
        );
    }
    println!("{total}");
    if total.is_success() { Ok(()) } else { Err("there are failures".into()) }
}

fn choose(only: &[String]) -> Outcome<Vec<&'static Step>> {
    for name in only {
        if !STEPS.iter().any(|step| step.name == name) {
            let known: Vec<_> = STEPS.iter().map(|step| step.name).collect();
            return Err(format!("no step is called {name}; the steps are {}", known.join(", ")));
        }
    }
    Ok(STEPS.iter().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_run_in_their_own_order_whatever_the_order_asked_for() {
        let names: Vec<_> =
            choose(&["types".into(), "format".into()]).unwrap().iter().map(|step| step.name).collect();
        assert_eq!(names, ["format", "types"]);
    }

    #[test]
    fn no_name_means_every_step_and_an_unknown_name_is_refused_with_the_known_ones() {
        assert_eq!(choose(&[]).unwrap().len(), STEPS.len());
        let error = choose(&["fromat".into()]).err().unwrap();
        assert!(error.contains("fromat") && error.contains("format"), "{error}");
    }

    #[test]
    fn no_two_steps_share_a_name() {
        for (index, step) in STEPS.iter().enumerate() {
            assert!(STEPS[..index].iter().all(|other| other.name != step.name), "{}", step.name);
        }
    }
}
