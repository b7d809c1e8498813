//! `stallarium render`.

use crate::args::RenderArgs;
use crate::failure::{Failure, Status};

pub(crate) fn render(_args: &RenderArgs) -> Result<Status, Failure> {
    Err("drawing is not wired yet".to_owned().into())
}
