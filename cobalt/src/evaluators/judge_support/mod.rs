//! Shared code of evaluators that call models: inputs, prompts, settings and structured responses.

pub mod inputs;
pub mod model_setters;
pub mod prompt;
pub mod response;
pub mod response_schema;
