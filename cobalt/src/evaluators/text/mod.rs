//! Evaluators of text: what an output says, compared word by word or letter by letter, and the form that it has. None of
//! them asks a model.

mod common;
mod contains;
#[cfg(feature = "judge")]
mod json_schema;
mod pattern;
mod regex_match;
#[cfg(all(test, feature = "judge"))]
mod tests;
mod texts;
mod wanted;

use std::borrow::Cow;

pub use contains::Contains;
pub(crate) use contains::Quantity;
#[cfg(feature = "judge")]
pub use json_schema::JsonSchema;
pub(crate) use pattern::expression;
pub use regex_match::RegexMatch;

use crate::wording::cut;

/// A text, cut to what fits into a reason.
fn shown(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 80;
    cut(text, LONGEST)
}
