//! Metrics: plain functions that compare texts, values, lists and vectors, each with its formula.
//!
//! All give a score from 0 to 1, or say whether something holds. The evaluators are made of them; they are as good for
//! evaluators of your own. The formulas are those of autoevals and of RAGAS where they have the metric.

mod assignment;
mod edit_distance;
mod exact_match;
mod json_diff;
mod json_subset;
mod json_text;
mod levenshtein;
mod list_contains;
mod means;
mod numeric_diff;
mod valid_json;
mod vectors;

pub(crate) use assignment::best_pairs;
pub use exact_match::exact_match;
pub(crate) use exact_match::same;
pub use json_diff::json_diff;
pub(crate) use json_diff::tree_of;
pub use json_subset::json_subset;
#[cfg(feature = "judge")]
pub(crate) use json_text::json_text;
pub use levenshtein::levenshtein;
pub use list_contains::list_contains;
pub use means::{average_precision, f_beta, harmonic_mean};
pub use numeric_diff::numeric_diff;
#[cfg(feature = "judge")]
pub(crate) use valid_json::is_json_text;
pub use valid_json::valid_json;
pub use vectors::{DEFAULT_EXPECTED_MIN, VectorError, cosine, dot, embedding_similarity};
