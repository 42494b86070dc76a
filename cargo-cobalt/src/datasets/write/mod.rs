//! Data files, changed in place: what is not changed keeps its bytes.

mod csv;
mod file;
mod json;
mod layout;
#[cfg(test)]
mod tests;

pub use file::{DataFile, WriteError};
