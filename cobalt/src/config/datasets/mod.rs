//! The tables `[datasets.…]`: data sets that experiments name, each with where it is kept.

mod entry;
mod fetched_table;
mod file;
mod lookup;
mod platforms;
mod url;
mod values;

pub(super) use entry::Entry;
pub(super) use lookup::NamedSets;
#[cfg(feature = "schema")]
pub(super) use values::{Bytes, FileAddress, FormatName, HashStart, HeaderName, HeaderText, PageSize};
