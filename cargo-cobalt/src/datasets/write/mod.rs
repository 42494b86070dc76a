//! Data files, changed in place: what is not changed keeps its bytes.

mod csv;
mod edit;
mod error;
mod file;
mod format;
mod items;
mod json;
mod jsonl;
mod layout;
#[cfg(test)]
mod tests;

pub(crate) use error::WriteError;
pub(super) use file::DataFile;
pub(super) use items::key;
