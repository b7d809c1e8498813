//! `stallarium`: run a machine, compare kernels, check published tables, draw, share.
//!
//! Exit status: 0 when everything went well; 1 when a claim fails or a run ended before its time; 2 when nothing could be
//! run, with the reason on stderr; 130 after Ctrl-C.

mod args;
mod compare;
mod failure;
mod input;
mod jobs;
mod link;
mod list;
mod published;
mod render;
mod run;

use clap::Parser as _;
use failure::{Failure, Status};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = args::Arguments::parse();
    let outcome = match args.command {
        args::Command::Run(args) => run::run(&args),
        args::Command::Compare(args) => compare::compare(&args),
        args::Command::Published(args) => published::published(&args),
        args::Command::Render(args) => render::render(&args),
        args::Command::Link(args) => link::link(&args),
        args::Command::List(args) => list::list(&args),
    };
    match outcome {
        Ok(status) => status.into(),
        // Whoever reads our output has seen enough.
        Err(Failure::ClosedPipe) => Status::Fine.into(),
        Err(failure) => {
            eprintln!("stallarium: {failure}");
            Status::NotRun.into()
        }
    }
}
