//! What the file says of models: whom judges ask, who embeds texts, and what is kept of the answers.

mod merge;
mod tables;

pub(super) use tables::{Cache, Embedding, Judge};
