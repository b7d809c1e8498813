//! `stallarium render`.

use crate::args::RenderArgs;
use crate::failure::{Failure, Status, print};
use crate::input::{Subject, window};
use crate::jobs::{Progress, drive, is_interrupted, report_short_runs, run_all, watch};
use stallarium_charts::describe::{Figure, Span};
use stallarium_charts::figures::{self, Closeup, Column, Context};
use stallarium_charts::{Picture, Theme, page, png, svg};
use stallarium_sim::report::{RunResult, Runner};
use stallarium_sim::scenario::{Place, Problem};
use stallarium_sim::text::format_time;
use std::path::Path;

/// Charts of a window of one run.
const WINDOW: [&str; 4] = ["service", "tasks", "dispatches", "depth"];
/// The most entries of a close-up: more cannot be told apart.
const ENTRIES_MAX: usize = 200_000;
/// The window that is shown if none is chosen, in nanoseconds from the beginning.
const FIRST_WINDOW_NS: (u64, u64) = (0, 50_000_000);

/// What is drawn, and what it tells the shell.
struct Drawn {
    figure: Figure,
    status: Status,
}

pub(crate) fn render(args: &RenderArgs) -> Result<Status, Failure> {
    let form = Form::of(args.output.as_deref())?;
    let chart = args.chart.as_str();
    let is_window = WINDOW.contains(&chart);
    if !is_window && !figures::WHOLE.contains(&chart) {
        let problem = Problem::new(Place::of_path("command line", "--chart"), "there is no such chart");
        return Err(problem
            .with_value(chart)
            .with_names(chart, figures::WHOLE.into_iter().chain(WINDOW))
            .into());
    }
    if !is_window && args.window.is_some() {
        return Err(format!("--window goes with {}", WINDOW.join(", ")).into());
    }
    let subject = Subject::read(&args.subject)?;
    let drawn = if is_window { closeup(args, &subject)? } else { whole(args, &subject)? };
    let theme = if args.dark { Theme::dark() } else { Theme::light() };
    let mut picture = Picture::fitting(&drawn.figure, args.width, &theme);
    // A picture can be opened again.
    picture.link = Some(subject.link.share());
    form.write(args, &drawn.figure, &picture, &theme)?;
    Ok(drawn.status)
}

/// How a picture is written.
#[derive(Clone, Copy)]
enum Form {
    Svg,
    Png,
    Csv,
}

impl Form {
    fn of(output: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = output else { return Ok(Self::Svg) };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("csv") => Ok(Self::Csv),
            _ => {
                let problem =
                    Problem::new(Place::of_path("command line", "--output"), "this is no kind of picture");
                let value = path.display().to_string();
                Err(problem.with_value(value).with_allowed("a name that ends in .svg, .png or .csv").into())
            }
        }
    }

    fn write(
        self,
        args: &RenderArgs,
        figure: &Figure,
        picture: &Picture,
        theme: &Theme,
    ) -> Result<(), Failure> {
        let bytes = match self {
            Self::Svg => svg(figure, picture, theme).map(String::into_bytes),
            Self::Png => png(figure, picture, args.density, theme),
            Self::Csv => Ok(page::csv(figure).into_bytes()),
        };
        let bytes = bytes.map_err(|error| error.to_string())?;
        match &args.output {
            Some(path) => std::fs::write(path, bytes)
                .map_err(|error| format!("writing {}: {error}", path.display()).into()),
            None => print(&String::from_utf8_lossy(&bytes)),
        }
    }
}

/// A chart of whole runs, a column for each kernel.
fn whole(args: &RenderArgs, subject: &Subject) -> Result<Drawn, Failure> {
    let results = run_all(&subject.runs(subject.file.seed), 0)?;
    let is_short = report_short_runs(&results);
    let published = subject.experiment.as_ref().map(page::numbers).unwrap_or_default();
    let conditions = conditions(subject);
    let context = Context {
        experiment: subject.experiment.as_ref(),
        case: &subject.case,
        conditions: &conditions,
        published: &published,
    };
    let columns: Vec<Column<'_>> = results.iter().zip(0_u8..).map(|(run, slot)| column(run, slot)).collect();
    let figure = figures::whole(&args.chart, &context, &columns);
    let status = if is_interrupted() {
        Status::Interrupted
    } else if is_short {
        Status::Fails
    } else {
        Status::Fine
    };
    Ok(Drawn { figure: figure.ok_or_else(|| nothing_to_show(args))?, status })
}

fn column(run: &RunResult, slot: u8) -> Column<'_> {
    Column { label: &run.kernel, slot, run, others: &[] }
}

/// The conditions in a line, for subtitles.
fn conditions(subject: &Subject) -> String {
    let file = &subject.file;
    let time = format_time(file.limits.time_ns);
    format!("{}, {time}, HZ={}, seed {}", subject.title, file.machine.hz, file.seed)
}

/// A chart of a window of one run.
fn closeup(args: &RenderArgs, subject: &Subject) -> Result<Drawn, Failure> {
    let (label, scenario) = subject.only_run("a window is one kernel's: choose one")?;
    let (start_ns, end_ns) = match &args.window {
        Some(text) => window(text)?,
        None => FIRST_WINDOW_NS,
    };
    watch();
    let elevator = scenario.kernel.elevator.clone();
    let mut runner = Runner::new(&scenario, label).map_err(|error| error.to_string())?;
    let progress = Progress::new(end_ns.min(scenario.limits.time_ns));
    drive(&mut runner, end_ns, &progress);
    progress.finish();
    // What a lane shows at the window's beginning has begun before it.
    let lead_ns = (end_ns.saturating_sub(start_ns) / 2).clamp(50_000_000, 500_000_000);
    let detail = runner.detail(start_ns.saturating_sub(lead_ns), end_ns, ENTRIES_MAX);
    let detail = detail.map_err(|error| format!("--window: {error}"))?;
    let closeup = Closeup { span: Span::new(start_ns, end_ns), detail, elevator };
    let remark = closeup.remark();
    if !remark.is_empty() {
        eprintln!("stallarium: {remark}");
    }
    let figure = closeup.figure(&args.chart).ok_or_else(|| nothing_to_show(args))?;
    let status = if is_interrupted() { Status::Interrupted } else { Status::Fine };
    Ok(Drawn { figure, status })
}

fn nothing_to_show(args: &RenderArgs) -> Failure {
    Failure::Other(format!("there is nothing that the chart {} could show of this", args.chart))
}
