//! What can be written on the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A Linux machine's block layer, simulated: from an fsync to the disk head, kernel by kernel.
#[derive(Debug, Parser)]
#[command(name = "stallarium", version, after_help = EXAMPLES, max_term_width = 110)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Start here:
  stallarium compare                       five kernels of July 2010 on one fsync after the other
  stallarium run --kernel cfq@2.6.35       one of them, and where its time goes
  stallarium run --kernel cfq --events --window 1s..1.02s
                                           everything that happens in 20 ms
  stallarium compare --kernel cfq,cfq:slice_idle=0,deadline --set machine.hz=250
                                           the same with other tunables on another machine
  stallarium published cfq-noidle-2010     the published table beside the simulated one
  stallarium list kernels                  what can be chosen; also: patches, tunables, devices, ...

Exit status: 0 fine; 1 a claim fails, or a run ended before its time; 2 nothing could be run (bad input, with its
place, the allowed values and the nearest name); 130 stopped by Ctrl-C, what there was has been printed.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs one kernel and says what was done, where the time went, and why
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Runs several kernels on the same seeds and puts them side by side
    #[command(after_help = COMPARE_HELP)]
    Compare(CompareArgs),
    /// Runs published experiments and checks what their tables claim
    #[command(after_help = PUBLISHED_HELP)]
    Published(PublishedArgs),
    /// Draws a chart of a run as SVG or PNG
    Render(RenderArgs),
    /// Makes the link that opens a scenario in the page, or says what a link runs
    Link(LinkArgs),
    /// Lists what there is: experiments, kernels, patches, elevators, tunables, devices, workloads, terms
    List(ListArgs),
}

const RUN_HELP: &str = "\
A window seen closely (--events, --blkparse, --blktrace) is run a second time from the nearest checkpoint; that it is
the same run is checked. Columns and words of --events are described in docs/events.md. The file of --blktrace can be
read by blkparse when it is called NAME.blktrace.0:

  stallarium run --kernel cfq --blktrace sda.blktrace.0
  blkparse -M -q -i sda -O -d sda.bin && btt -i sda.bin        (-M leaves CFQ's messages out)";

const COMPARE_HELP: &str = "\
In brackets is the gain against the first kernel; positive is better. \"difference\" is the 95 % confidence interval of
the paired differences (same seeds); it says \"none\" when the interval contains zero.";

const PUBLISHED_HELP: &str = "\
Without an id every experiment is run. Exit status: 0 when every claim holds, 1 when one fails, 2 when it could not be
run. With --firm-only the exit status looks at firm claims alone: \"reach\" and \"open\" ones have no known explanation by the
kernels' rules, are shown, and are not fitted.";

/// What to run.
#[derive(Args, Clone, Debug)]
pub(crate) struct SubjectArgs {
    /// A scenario file, an experiment's id, or a link; "-" reads a scenario from stdin
    #[arg(value_name = "FILE|EXPERIMENT|LINK", default_value = "cfq-noidle-2010")]
    pub(crate) subject: String,
    /// Kernels: cfq, deadline@2.6.35, cfq@2.6.35+revert-8e55063:slice_idle=0, or labels of an experiment's columns;
    /// several with commas or by repeating this
    #[arg(long, short, value_name = "KERNEL", value_delimiter = ',')]
    pub(crate) kernel: Vec<String>,
    /// The experiment's case, such as fs-mark, reader, mixed
    #[arg(long, short, value_name = "CASE")]
    pub(crate) case: Option<String>,
    /// The (first) seed
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
    /// Simulated time, such as "20 s"
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,
    /// A value of the machine, the tunables or the workload, by path: machine.hz=250, machine.device=sata,
    /// tunable.slice_idle=0, workload.file-size=16KiB
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// As long as the published numbers need, instead of as long as in the page
    #[arg(long)]
    pub(crate) full: bool,
    /// Times in the kernel's words too: 9.0 ms (9.0 jiffies)
    #[arg(long)]
    pub(crate) jiffies: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    #[command(flatten)]
    pub(crate) form: RunForm,
    /// The window to look at, such as 1s..1.02s; all of the run if left out
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) window: Option<String>,
    /// The most entries of a window
    #[arg(long, value_name = "ENTRIES", default_value_t = 1_000_000)]
    pub(crate) limit: usize,
}

/// How a run is shown.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct RunForm {
    /// The whole result as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The timelines as CSV
    #[arg(long)]
    pub(crate) csv: bool,
    /// One line for each event
    #[arg(long)]
    pub(crate) events: bool,
    /// The trace as blkparse prints it
    #[arg(long)]
    pub(crate) blkparse: bool,
    /// The trace as blktrace writes it, into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) blktrace: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    /// How many seeds, from the first on
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    #[command(flatten)]
    pub(crate) form: TableForm,
    /// How many runs at a time; as many as the machine has processors if left out
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) jobs: usize,
}

/// How a table is shown.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct TableForm {
    /// As one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// As CSV
    #[arg(long)]
    pub(crate) csv: bool,
    /// As Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PublishedArgs {
    /// The experiment; all of them if left out
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) id: Option<String>,
    /// How many seeds, from 1 on
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) seeds: u64,
    /// Length of the workload relative to the published one: below 1 for quick looks. Claims are stated for 1
    #[arg(allow_negative_numbers = true, long, value_name = "F", default_value_t = 1.0)]
    pub(crate) scale: f64,
    #[command(flatten)]
    pub(crate) form: TableForm,
    /// Replays the recorded traces of real kernels too: the same arrivals, what is started in which order and when. Alone,
    /// without an experiment, nothing else is run
    #[arg(long)]
    pub(crate) real: bool,
    /// The exit status looks at firm claims alone
    #[arg(long)]
    pub(crate) firm_only: bool,
    /// How many runs at a time; as many as the machine has processors if left out
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) jobs: usize,
}

#[derive(Args, Debug)]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    /// Which chart: rates, throughput, breakdown, periods, files, reader, queue; of memory: sleeps, reclaimers, allocation, free,
    /// free-2, free-3, direct-scan, kswapd-scan, memory, kswapd, scanners, freers, dirty, writeback; of a window: service, tasks,
    /// dispatches, depth
    #[arg(long, value_name = "NAME", default_value = "rates")]
    pub(crate) chart: String,
    /// Where to write it: a name that ends in .svg, .png or .csv (its numbers); SVG on stdout if left out
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The window of a close-up (service, tasks, dispatches, depth), such as 1s..1.02s; of one kernel
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) window: Option<String>,
    /// Width in CSS pixels
    #[arg(long, value_name = "PX", default_value_t = 800)]
    pub(crate) width: u32,
    /// Pixels of a PNG per CSS pixel, 0.25 to 8
    #[arg(long, value_name = "FACTOR", default_value_t = 2.0)]
    pub(crate) density: f64,
    /// Dark colours
    #[arg(long)]
    pub(crate) dark: bool,
}

#[derive(Args, Debug)]
pub(crate) struct LinkArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,
    /// The readable form, even if the compressed one is shorter
    #[arg(long)]
    pub(crate) readable: bool,
    /// Runs the scenario and pins its digest in the link
    #[arg(long)]
    pub(crate) digest: bool,
    /// The page's address, to put before the link
    #[arg(long, value_name = "URL", default_value = "")]
    pub(crate) page: String,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// What to list; everything in short if left out
    #[arg(value_enum)]
    pub(crate) topic: Option<Topic>,
    /// Only entries that contain this
    #[arg(value_name = "WORD")]
    pub(crate) word: Option<String>,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Topic {
    /// Published experiments, their cases and kernels
    Experiments,
    /// Kernel releases
    Kernels,
    /// Patches, and which releases they apply to
    Patches,
    /// I/O schedulers
    Elevators,
    /// Tunables by their sysfs names, with units, ranges and defaults
    Tunables,
    /// Named devices
    Devices,
    /// Built-in workloads
    Workloads,
    /// The words, explained
    Terms,
}
