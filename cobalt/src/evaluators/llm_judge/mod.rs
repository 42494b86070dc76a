//! `LlmJudge`: a model, or a panel of models, judges the output by a prompt.

mod answer;
mod judge;
mod panel;
mod prompt;
mod system;
#[cfg(test)]
mod tests;

pub use judge::LlmJudge;
