//! Evaluators of text: what an output says, compared word by word or letter by letter, and the form that it has. None of
//! them asks a model.

mod bleu;
mod chrf;
mod common;
mod contains;
#[cfg(feature = "judge")]
mod json_schema;
mod overlap;
mod pattern;
mod references;
mod regex_match;
mod rouge;
mod squad_exact_match;
#[cfg(all(test, feature = "judge"))]
mod tests;
mod texts;
mod token_f1;
mod wanted;
mod wer;

use std::borrow::Cow;

pub use bleu::Bleu;
pub use chrf::ChrF;
pub use contains::Contains;
pub(crate) use contains::Quantity;
#[cfg(feature = "judge")]
pub use json_schema::JsonSchema;
pub(crate) use overlap::Measure;
pub(crate) use pattern::expression;
pub use regex_match::RegexMatch;
pub use rouge::Rouge;
pub(crate) use rouge::RougeVariant;
pub use squad_exact_match::SquadExactMatch;
pub use token_f1::TokenF1;
pub use wer::Wer;

use crate::wording::cut;

/// A text, cut to what fits into a reason.
fn shown(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 80;
    cut(text, LONGEST)
}
