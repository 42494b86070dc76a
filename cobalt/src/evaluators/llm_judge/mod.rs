//! `LlmJudge`: a model or a panel of models judges the output by a prompt or a preset.

mod judge;
#[cfg(test)]
mod preset_tests;
mod presets;
mod response;
mod task;
#[cfg(test)]
mod tests;

pub use judge::LlmJudge;
pub(crate) use judge::LlmJudgeOptions;
