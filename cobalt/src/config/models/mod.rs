//! What the file says of models: whom judges ask, who embeds texts, and what is kept of the answers.

mod merge;
mod tables;
mod values;

pub(super) use tables::{Cache, Embedding, Judge};
pub(super) use values::{
    Address, Age, AgeOrOff, EmbeddingVendor, JudgeVendor, KeyVariable, Retries, Temperature, Word,
};
