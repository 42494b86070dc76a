//! A run in a response: in the format of its result file, with as many items as fit, worst first.
//!
//! | file | contents |
//! |---|---|
//! | [`mod@run`] | a run with some of its items, and the cursor of the next page |
//! | [`overview`] | a run without its items, cut to a byte budget |
//! | [`mod@item`] | the query for items, and an item, cut to a byte budget |
//! | [`traces`] | traces of items, in full or as outlines |
//! | [`transcripts`] | transcripts of items, in full or as texts |
//! | [`ranking`] | a ranking of runs, cut to a byte budget |
//! | [`truncate`] | truncation and size of texts and JSON |
//! | [`mod@text`] | the run as Markdown |

mod item;
mod overview;
mod ranking;
mod run;
#[cfg(test)]
mod tests;
mod text;
mod traces;
mod transcripts;
pub mod truncate;

pub use item::{ItemQuery, ItemStatus, change};
pub use ranking::compact_ranking;
pub use run::{ItemPage, MAX_STRUCTURED, OtherVariant, RunPage, item, malformed_cursor, run};
pub use text::{MAX_TEXT, first_lines, fit_lines, text, traffic};
pub use truncate::{keep_fitting, size};
