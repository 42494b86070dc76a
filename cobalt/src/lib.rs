//! `cargo test` for AI agents.

pub mod dataset;
pub mod llm;
pub mod report;
pub mod template;
