//! Data files, changed in place: what is not changed keeps its bytes.

mod csv;
mod file;
mod json;
mod jsonl;
mod layout;
#[cfg(test)]
mod tests;

pub use file::DataFile;
pub use file::WriteError;
pub use layout::key;
