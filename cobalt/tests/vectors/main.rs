//! The shared vectors: what other implementations answer to the same questions.

mod cost;
mod loader;
mod stats;
mod template;
