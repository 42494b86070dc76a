//! A run in a response: in the format of its result file, with as many items as fit, worst first.
//!
//! | file | contents |
//! |---|---|
//! | [`mod@run`] | a run with some of its items, and the cursor of the next page |
//! | [`head`] | a run without its items, cut to a byte budget |
//! | [`mod@item`] | the query for items, and an item, cut to a byte budget |
//! | [`cut`] | truncation and size of texts and JSON |
//! | [`mod@text`] | the run as Markdown |

pub mod cut;
mod head;
mod item;
mod run;
#[cfg(test)]
mod tests;
mod text;

pub use cut::{keep, size};
pub use item::{ItemStatus, Wanted, change};
pub use run::{BUDGET, ShownItem, ShownRun, item, keys, malformed_cursor, run};
pub use text::{ROOM, list, text, up_to};
