//! What the evaluators that ask models have in common: what they show, how they ask, and what form the answers have.

pub mod answer;
pub mod answer_schema;
pub mod model_setters;
pub mod prompt;
pub mod source;
