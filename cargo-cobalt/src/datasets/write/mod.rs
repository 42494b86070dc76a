//! Data files, changed in place: what is not changed keeps its bytes.

mod csv;
mod file;
mod json;
mod jsonl;
mod layout;
#[cfg(test)]
mod tests;

pub(super) use file::DataFile;
pub(crate) use file::WriteError;
pub(super) use layout::key;
