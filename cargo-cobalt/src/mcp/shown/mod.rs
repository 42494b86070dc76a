//! A run as an answer carries it: in the shape of its result file, with as many of its items as have room, the worst first.
//!
//! | file | idea |
//! |---|---|
//! | [`mod@run`] | a run with some of its items, and where the next page begins |
//! | [`head`], [`mod@item`] | all of a run but its items, and these: which are wanted, and one, each cut to the room that there is |
//! | [`cut`] | texts and JSON of any size, cut; how large they are |
//! | [`mod@text`] | the same for who reads |

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
