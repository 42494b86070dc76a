//! Shared code of evaluators that call models: inputs, prompts, settings and structured responses.

pub mod answer;
pub mod answer_schema;
pub mod model_setters;
pub mod prompt;
pub mod source;
