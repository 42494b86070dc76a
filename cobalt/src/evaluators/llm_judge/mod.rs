//! `LlmJudge`: a model, or a panel of models, judges the output by a prompt, or by one that comes with the library.

mod answer;
mod findings;
mod form;
mod judge;
mod panel;
#[cfg(test)]
mod preset_tests;
mod presets;
mod system;
mod task;
#[cfg(test)]
mod tests;

pub use judge::LlmJudge;
pub(crate) use judge::LlmJudgeOptions;
