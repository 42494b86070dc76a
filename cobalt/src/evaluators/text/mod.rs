//! Text evaluators: they compare outputs with references, or check their format. They call no model.

mod bleu;
mod chrf;
mod common;
mod contains;
#[cfg(feature = "judge")]
mod json_schema;
mod regex_match;
mod rouge;
mod squad;
#[cfg(all(test, feature = "judge"))]
mod tests;
mod wer;

use std::borrow::Cow;

use cobalt_core::wording::{format_decimal, truncate};

use super::CheckError;
pub use bleu::Bleu;
pub(crate) use bleu::BleuOptions;
pub use chrf::ChrF;
pub(crate) use chrf::ChrFOptions;
pub use contains::Contains;
pub(crate) use contains::ContainsOptions;
#[cfg(feature = "judge")]
pub use json_schema::JsonSchema;
#[cfg(feature = "judge")]
pub(crate) use json_schema::JsonSchemaOptions;
pub use regex_match::RegexMatch;
pub(crate) use regex_match::RegexOptions;
pub use rouge::Rouge;
pub(crate) use rouge::RougeOptions;
pub use squad::{SquadExactMatch, TokenF1};
pub(crate) use squad::{SquadExactMatchOptions, TokenF1Options};
pub use wer::Wer;
pub(crate) use wer::WerOptions;

/// A text, truncated for a reason.
fn truncated(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 80;
    truncate(text, LONGEST)
}

/// Formats a share with three decimals; only a full share is shown as 1.
fn format_share(share: f64) -> String {
    let shown = if share < 1.0 { share.min(0.999) } else { share };
    format_decimal(shown, 3)
}

/// Rejects unreasonably long n-grams: each order takes memory and time.
fn check_max_order(of: &str, longest: usize) -> Result<(), CheckError> {
    const MOST: usize = 1_000;
    match longest {
        0..=MOST => Ok(()),
        _ => Err(CheckError::new(format!("n-grams of {longest} {of} are too long; the maximum is {MOST}"))),
    }
}
