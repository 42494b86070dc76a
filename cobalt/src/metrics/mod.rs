//! Metrics: plain functions that compare texts, values, lists and vectors, each with its formula.
//!
//! They give scores from 0 to 1, or say whether something holds; error rates, of which 0 is best, may exceed 1. The
//! evaluators are made of them; they are as good for evaluators of your own. The formulas are those of autoevals and of RAGAS
//! where they have the metric; those of texts are those of rouge-score (`rouge_…`), of sacrebleu (`Bleu`, `ChrF`), of jiwer
//! (`wer`, `cer`) and of SQuAD 1.1 (`token_f1`, `squad_…`), and each says where it differs.

mod assignment;
mod bleu;
mod chrf;
mod exact_match;
mod json_diff;
mod json_subset;
mod json_text;
mod levenshtein;
mod list_contains;
mod means;
mod n_grams;
mod numeric_diff;
mod overlap;
mod porter;
mod porter_rules;
mod rouge;
mod rouge_words;
mod sequences;
mod squad;
mod valid_json;
mod vectors;
mod word_errors;
mod words;

pub(crate) use assignment::best_pairs;
pub use bleu::{Bleu, BleuScore, BleuSmoothing, BleuTokenizer};
pub use chrf::{ChrF, ChrFScore};
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
pub use overlap::Overlap;
pub(crate) use rouge::rouge_words;
pub use rouge::{rouge_l, rouge_lsum, rouge_n};
pub use squad::{squad_exact_match, squad_normalize, token_f1};
#[cfg(feature = "json-schema")]
pub(crate) use valid_json::is_json_text;
pub use valid_json::valid_json;
pub use vectors::{DEFAULT_EXPECTED_MIN, VectorError, cosine, dot, embedding_similarity};
pub use word_errors::{
    UnequalTexts, WordErrors, cer, character_errors, corpus_cer, corpus_wer, wer, word_errors,
};
