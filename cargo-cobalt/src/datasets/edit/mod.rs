//! In-place edits of data files: unchanged content keeps its bytes.

mod csv;
mod file;
mod json;
mod layout;
#[cfg(test)]
mod tests;

pub use file::{DataFile, WriteError};
