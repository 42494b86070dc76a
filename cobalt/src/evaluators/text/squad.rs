//! `TokenF1` and `SquadExactMatch`: the metrics of SQuAD.

use cobalt_core::item::Item;
use cobalt_core::wording;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::common::{Measure, References, TextEvaluator, TextOptions, text_evaluator};
use super::truncated;
use crate::evaluators::{EvalError, Score};
use crate::metrics::{squad_exact_match, squad_normalize, token_f1};
use crate::template::to_text;

/// Scores short answers by the F1 of shared words, as in SQuAD 1.1 (Rajpurkar et al. 2016).
///
/// Case, punctuation and the articles `a`, `an` and `the` are ignored. Of several references, the best score counts. If nothing
/// remains of a text, the score is 0, even if nothing remains of both.
///
/// ```
/// let answered = cobalt::TokenF1::new("f1", "answers");
/// ```
#[derive(Clone)]
pub struct TokenF1 {
    common: TextOptions,
    options: TokenF1Options,
}

/// The keys of `type = "token-f1"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TokenF1Options {
    /// The field of the item with a reference text or a list of them, or a path such as "answers[0].text".
    field: References,
}

impl TokenF1 {
    /// Compares the output with the item's `field`: a text, a list of texts, or a path such as `answers[0].text`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self { common: TextOptions::new(name), options: TokenF1Options { field: References::new(field) } }
    }
}

impl TextEvaluator for TokenF1 {
    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let output = to_text(output);
        let compare = |reference: &str| token_f1(&output, reference);
        let nearest = self.options.field.best_match(item, compare, |overlap| overlap.f1)?;
        Ok(nearest.with_reference_index(Measure::F1.score(&nearest.result)))
    }
}

text_evaluator!(TokenF1(TokenF1Options), it: "token-f1", Some(it.field.field()); references = it.field);

/// Scores short answers by equality with a reference, 1 or 0, as in SQuAD 1.1 (Rajpurkar et al. 2016).
///
/// Case, punctuation and the articles `a`, `an` and `the` are ignored; two texts of which nothing remains are equal. Any of
/// several references is enough. Use [`ExactMatch`](crate::ExactMatch) for verbatim text and JSON.
///
/// ```
/// let right = cobalt::SquadExactMatch::new("right", "answers");
/// ```
#[derive(Clone)]
pub struct SquadExactMatch {
    common: TextOptions,
    options: SquadExactMatchOptions,
}

/// The keys of `type = "squad-exact-match"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SquadExactMatchOptions {
    /// The field of the item with a reference text or a list of them, or a path such as "answers[0].text".
    field: References,
}

impl SquadExactMatch {
    /// Compares the output with the item's `field`: a text, a list of texts, or a path such as `answers[0].text`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self {
            common: TextOptions::new(name),
            options: SquadExactMatchOptions { field: References::new(field) },
        }
    }
}

impl TextEvaluator for SquadExactMatch {
    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let output = to_text(output);
        let references = self.options.field.texts(item)?;
        if references.iter().any(|reference| squad_exact_match(&output, reference)) {
            return Ok(Score::from(true));
        }
        let normal = |text: &str| truncated(&squad_normalize(text)).into_owned();
        let expected: Vec<_> = references.iter().map(|reference| normal(reference)).collect();
        let expected = wording::join_quoted(expected.iter().map(String::as_str));
        Ok(Score::from(false).reason(format!("expected {expected}, got `{}`", normal(&output))))
    }
}

text_evaluator!(SquadExactMatch(SquadExactMatchOptions), it: "squad-exact-match", Some(it.field.field()); references = it.field);
