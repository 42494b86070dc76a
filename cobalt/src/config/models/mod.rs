//! What the file says of models: whom judges ask, who embeds texts, and what is kept of the answers.

mod merge;
mod tables;
mod values;

pub(super) use tables::{Cache, Embedding, Judge};
#[cfg(feature = "schema")]
pub(super) use values::Retries;
pub(super) use values::{Address, Age, EmbeddingVendor, JudgeVendor, KeyVariable, Temperature, Word};
