//! `stallarium link`.

use crate::args::LinkArgs;
use crate::failure::{Failure, Status, print};
use crate::input::Subject;
use crate::jobs::run_all;
use stallarium_sim::scenario::link::RECOMMENDED_LENGTH;

pub(crate) fn link(args: &LinkArgs) -> Result<Status, Failure> {
    let subject = Subject::read(&args.subject)?;
    // What cannot be opened again is not handed out.
    subject.link.file()?;
    let mut link = subject.link.clone();
    if args.digest {
        let runs = subject.runs(subject.file.seed);
        let results = run_all(runs.get(..1).unwrap_or_default(), 1)?;
        if let Some(result) = results.first() {
            link = link.with_digest(result.digest.0);
        }
    }
    let fragment = if args.readable { link.readable() } else { link.share() };
    let length = args.page.len() + fragment.len();
    if length > RECOMMENDED_LENGTH {
        eprintln!(
            "stallarium: the link has {length} characters; some programs cut links after {RECOMMENDED_LENGTH}"
        );
    }
    print(&format!("{}{fragment}\n", args.page))?;
    Ok(Status::Fine)
}
