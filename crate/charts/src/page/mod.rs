//! What the page shows and asks for, as data: `crate/web` only hands it over.

mod board;
mod check;
mod export;
mod judge;
mod run;
mod setting;

pub use board::Board;
pub use check::{Catalogue, Checked, Column, Complaint, catalogue, check};
pub use export::{csv, png_with_link};
pub use judge::{Judged, Task, Verdict, numbers};
pub use run::PageRun;
pub use setting::{Opened, Setting, View, link_advice, open_link, share};
