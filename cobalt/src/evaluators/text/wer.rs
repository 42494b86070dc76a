//! `Wer`: word and character error rate.

use cobalt_core::item::Item;
use cobalt_core::wording::{count, format_decimal};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::common::{References, TextEvaluator, TextOptions, text_evaluator};
use crate::evaluators::{EvalError, Score};
use crate::metrics::{WordErrors, character_errors, word_errors};
use crate::template::to_text;

/// Scores a transcript by its word error rate: `max(0, 1 - rate)`. The rate is the number of substitutions, deletions and
/// insertions, divided by the number of words of the reference.
///
/// Words are separated by white space; case and punctuation count. Of several references, the lowest rate counts. With a blank
/// reference, a blank output scores 1 and any other 0.
///
/// ```
/// use cobalt::Wer;
///
/// let heard = Wer::new("heard", "transcript").pass_mark(0.9);
/// let letters = Wer::new("letters", "transcript").characters(true);
/// ```
#[derive(Clone)]
pub struct Wer {
    common: TextOptions,
    options: WerOptions,
}

/// The keys of `type = "wer"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct WerOptions {
    /// The field of the item with a reference text or a list of them, or a path such as "answers[0].text".
    field: References,
    /// Whether to count characters instead of words (character error rate). Default: false.
    characters: Option<bool>,
}

impl WerOptions {
    fn counts_characters(&self) -> bool {
        self.characters == Some(true)
    }
}

impl Wer {
    /// Compares the output with the item's `field`: a text, a list of texts, or a path such as `answers[0].text`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self {
            common: TextOptions::new(name),
            options: WerOptions { field: References::new(field), characters: None },
        }
    }

    /// Whether to count characters instead of words (character error rate, CER). Default: `false`.
    #[must_use]
    pub fn characters(mut self, characters: bool) -> Self {
        self.options.characters = Some(characters);
        self
    }

    fn errors(&self, output: &str, reference: &str) -> WordErrors {
        if self.options.counts_characters() {
            character_errors(output, reference)
        } else {
            word_errors(output, reference)
        }
    }

    fn reason(&self, errors: &WordErrors) -> String {
        let (rate, noun) = if self.options.counts_characters() {
            ("CER", "reference character")
        } else {
            ("WER", "reference word")
        };
        let kinds = [
            (errors.substitutions, "substitution"),
            (errors.deletions, "deletion"),
            (errors.insertions, "insertion"),
        ];
        let edits: Vec<_> =
            kinds.iter().filter(|(edits, _)| *edits > 0).map(|(edits, kind)| count(*edits, kind)).collect();
        let words = count(errors.reference_words(), noun);
        format!("{rate} {}: {} in {words}", format_decimal(errors.rate(), 3), edits.join(", "))
    }
}

impl TextEvaluator for Wer {
    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let output = to_text(output);
        let compare = |reference: &str| self.errors(&output, reference);
        let nearest = self.options.field.best_match(item, compare, |errors| -errors.rate())?;
        let WordErrors { hits, substitutions, deletions, insertions } = nearest.result;
        let rate = nearest.result.rate();
        let score = Score::new((1.0 - rate).max(0.0))
            .metadata("rate", rate)
            .metadata("hits", hits)
            .metadata("substitutions", substitutions)
            .metadata("deletions", deletions)
            .metadata("insertions", insertions);
        let score = if rate > 0.0 { score.reason(self.reason(&nearest.result)) } else { score };
        Ok(nearest.with_reference_index(score))
    }
}

text_evaluator! {
    Wer(WerOptions), it: "wer", Some(it.field.field());
    references = it.field, characters = it.counts_characters()
}

#[cfg(all(test, feature = "judge"))]
mod tests {
    use serde_json::json;

    use crate::Wer;
    use crate::evaluators::text::tests::{scored, value};

    #[test]
    fn the_score_is_1_without_the_share_of_words_that_are_wrong() {
        let item = json!({"said": "the old ferry has left"});
        let score = scored(&Wer::new("w", "said"), item, json!("the ferry is left early")).unwrap();
        assert!((score.value() - 0.4).abs() < 1e-12, "{score:?}");
        assert_eq!(
            score.why(),
            Some("WER 0.6: 1 substitution, 1 deletion, 1 insertion in 5 reference words")
        );
        assert_eq!(
            serde_json::to_value(score.all_metadata()).unwrap(),
            json!({"rate": 0.6, "hits": 3, "substitutions": 1, "deletions": 1, "insertions": 1})
        );
    }

    #[test]
    fn more_errors_than_words_are_no_score_below_0() {
        let (score, why) = value(&Wer::new("w", "said"), json!({"said": "yes"}), json!("no I do not"));
        assert_eq!((score, &*why.unwrap()), (0.0, "WER 4: 1 substitution, 3 insertions in 1 reference word"));
    }

    #[test]
    fn letters_are_counted_where_asked() {
        let (score, why) =
            value(&Wer::new("w", "said").characters(true), json!({"said": "meadow"}), json!("meadaw"));
        assert!((score - 5.0 / 6.0).abs() < 1e-12, "{score}");
        assert_eq!(why.unwrap(), "CER 0.167: 1 substitution in 6 reference characters");
    }

    #[test]
    fn a_blank_text_is_right_for_a_blank_reference_only() {
        let wer = Wer::new("w", "said");
        assert_eq!(value(&wer, json!({"said": " "}), json!("")), (1.0, None));
        assert_eq!(value(&wer, json!({"said": ""}), json!("yes")).0, 0.0);
        let (score, why) = value(&wer, json!({"said": "yes"}), json!(""));
        assert_eq!((score, &*why.unwrap()), (0.0, "WER 1: 1 deletion in 1 reference word"));
    }
}
