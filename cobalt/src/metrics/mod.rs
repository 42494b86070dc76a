//! Metrics: plain functions that compare texts, values, lists and vectors, each with its formula.
//!
//! They return scores from 0 to 1, or a boolean. `macro_f1`, `confusion_matrix` and `Bleu::corpus_score` are for
//! [summary functions](macro@crate::summary). Error rates, where 0 is best, can exceed 1. The built-in evaluators use them, and you can
//! use them in your own. The formulas are those of autoevals and RAGAS if they have the metric. Text metrics follow rouge-score
//! (`rouge_…`), sacrebleu (`Bleu`, `ChrF`), jiwer (`wer`, `cer`) and SQuAD 1.1 (`token_f1`, `squad_…`); each documents its differences.

mod alignment;
mod bleu;
mod chrf;
mod embedding_metrics;
mod exact_match;
mod json;
mod labels;
mod list_matching;
mod n_grams;
mod porter;
mod rouge;
mod word_errors;

pub use bleu::{Bleu, BleuScore, BleuSmoothing, BleuTokenizer};
pub use chrf::{ChrF, ChrFScore};
pub use embedding_metrics::{
    DEFAULT_EXPECTED_MIN, VectorError, average_precision, cosine, dot, embedding_similarity, f_beta,
    harmonic_mean,
};
pub(crate) use exact_match::values_equal;
pub use exact_match::{exact_match, numeric_diff, squad_exact_match, squad_normalize, token_f1};
#[cfg(feature = "json-schema")]
pub(crate) use json::is_json_text;
#[cfg(feature = "judge")]
pub(crate) use json::json_text;
pub(crate) use json::parse_container;
pub use json::{json_diff, json_subset, valid_json};
pub use labels::{confusion_matrix, macro_f1};
pub use list_matching::list_contains;
pub(crate) use list_matching::{longest_common_subsequence, max_weight_matching};
pub use n_grams::Overlap;
pub(crate) use rouge::rouge_words;
pub use rouge::{rouge_l, rouge_lsum, rouge_n};
pub use word_errors::{
    LengthMismatch, WordErrors, cer, character_errors, corpus_cer, corpus_wer, levenshtein, wer, word_errors,
};
