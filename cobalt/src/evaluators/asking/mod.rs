//! What the evaluators that ask models have in common: what they show, how they ask, and what form the answers have.

pub(super) mod answer;
pub(super) mod answer_schema;
pub(super) mod model_setters;
pub(super) mod prompt;
pub(super) mod source;
