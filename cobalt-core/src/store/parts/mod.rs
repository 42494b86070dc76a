//! Results in parts: of a large run, the result file has everything except the items, and a file beside it has the items.
//!
//! The items file consists of Zstandard frames, each with about 1 MiB of JSON lines: any program for Zstandard gives the items in
//! dataset order. Between them are skippable frames with the [columns](columns) of the items. The result file has the
//! [index](index) of both.

mod columns;
mod compress;
mod damaged;
mod index;
mod part;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use columns::{ItemRow, RowName, RowRest, RowTraffic, index_name};
pub use index::{PARTS_FORMAT, PartEntry, PartsIndex, head_of_items_file, items_file};
pub use part::Part;
pub use reader::PartsReader;
pub use writer::PartsWriter;
