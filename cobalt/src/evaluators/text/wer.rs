//! `Wer`: how few words must be changed to come from the reference to the output.

use serde_json::Value;

use super::common::{Common, TextEvaluator, text_evaluator};
use super::references::References;
use crate::dataset::Item;
use crate::evaluators::places::ItemField;
use crate::evaluators::{EvalError, Score};
use crate::metrics::{WordErrors, character_errors, word_errors};
use crate::template::to_text;
use crate::wording::{count, decimal};

/// Scores a transcript by its word error rate: `max(0, 1 - rate)`, where the rate is the number of words that must be
/// changed, left out or added, by the number of words of the reference.
///
/// Case and punctuation count; words are what white space parts. With a list of references, the one with the lowest rate
/// counts. With a blank reference, a blank output scores 1 and any other 0.
///
/// ```
/// use cobalt::Wer;
///
/// let heard = Wer::new("heard", "transcript").pass_mark(0.9);
/// let letters = Wer::new("letters", "transcript").characters(true);
/// ```
#[derive(Clone, Debug)]
pub struct Wer {
    common: Common,
    references: References,
    characters: bool,
}

impl Wer {
    /// Compares the output with the item's `field`, a text or a list of texts, or a path to one such as `answers[0].text`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self { common: Common::new(name), references: References::new(field), characters: false }
    }

    /// Whether letters are counted rather than words (they are not unless this is set to `true`): the character error
    /// rate, CER.
    #[must_use]
    pub fn characters(mut self, characters: bool) -> Self {
        self.characters = characters;
        self
    }

    fn errors(&self, output: &str, reference: &str) -> WordErrors {
        if self.characters { character_errors(output, reference) } else { word_errors(output, reference) }
    }

    fn reason(&self, errors: &WordErrors) -> String {
        let (rate, noun) = if self.characters { ("CER", "character") } else { ("WER", "word") };
        let kinds = [
            (errors.substitutions, "substituted"),
            (errors.deletions, "missing"),
            (errors.insertions, "too many"),
        ];
        let edits: Vec<_> = kinds
            .iter()
            .filter(|(edits, _)| *edits > 0)
            .map(|(edits, kind)| format!("{edits} {kind}"))
            .collect();
        let words = count(errors.reference_words(), noun);
        format!("{rate} {}: {} for {words}", decimal(errors.rate(), 3), edits.join(", "))
    }
}

impl TextEvaluator for Wer {
    fn common(&self) -> &Common {
        &self.common
    }

    fn field(&self) -> Option<&ItemField> {
        Some(self.references.field())
    }

    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let output = to_text(output);
        let compare = |reference: &str| self.errors(&output, reference);
        let nearest = self.references.nearest(item, compare, |errors| -errors.rate())?;
        let WordErrors { hits, substitutions, deletions, insertions } = nearest.found;
        let rate = nearest.found.rate();
        let score = Score::new((1.0 - rate).max(0.0))
            .metadata("rate", rate)
            .metadata("hits", hits)
            .metadata("substitutions", substitutions)
            .metadata("deletions", deletions)
            .metadata("insertions", insertions);
        let score = if rate > 0.0 { score.reason(self.reason(&nearest.found)) } else { score };
        Ok(nearest.kept(score))
    }
}

text_evaluator!(Wer);
