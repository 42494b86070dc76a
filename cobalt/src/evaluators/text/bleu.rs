//! `Bleu`: how many sequences of words an output has in common with its references.

use serde_json::Value;

use super::common::{Common, TextEvaluator, text_evaluator};
use super::references::References;
use super::{check_longest, share};
use crate::dataset::Item;
use crate::evaluators::places::ItemField;
use crate::evaluators::{CheckError, EvalError, Score};
use crate::metrics::{self, BleuScore, BleuSmoothing, BleuTokenizer};
use crate::template::to_text;
use crate::wording::count;

/// Scores a translation by its BLEU (Papineni and others 2002): the share of its sequences of one to four words that a
/// reference has too, less what it is too short by.
///
/// The score is that of a single sentence, by the defaults of sacrebleu: tokenizer `13a`, exponential smoothing, effective
/// order. It is taken against all references at once. A mean over items is no corpus BLEU; [`metrics::Bleu`] works that
/// out. A blank output scores 0, and so does one with a blank reference.
///
/// ```
/// use cobalt::Bleu;
/// use cobalt::metrics::BleuTokenizer;
///
/// let close = Bleu::new("bleu", "translations");
/// // Scripts without spaces between words: letters in place of words.
/// let japanese = Bleu::new("bleu", "translations").tokenizer(BleuTokenizer::Char);
/// ```
#[derive(Clone, Debug)]
pub struct Bleu {
    common: Common,
    references: References,
    bleu: metrics::Bleu,
}

impl Bleu {
    /// Compares the output with the item's `field`, a text or a list of texts, or a path to one such as `answers[0].text`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self { common: Common::new(name), references: References::new(field), bleu: metrics::Bleu::default() }
    }

    /// How texts become words: as mteval-v13a does unless it is set.
    #[must_use]
    pub fn tokenizer(mut self, tokenizer: BleuTokenizer) -> Self {
        self.bleu.tokenizer = tokenizer;
        self
    }

    /// What a length of sequences without a match counts as: exponentially less unless it is set.
    #[must_use]
    pub fn smoothing(mut self, smoothing: BleuSmoothing) -> Self {
        self.bleu.smoothing = smoothing;
        self
    }

    /// The longest sequences, in words: 4 unless it is set. At least 1.
    #[must_use]
    pub fn max_order(mut self, words: usize) -> Self {
        self.bleu.max_order = words;
        self
    }

    /// Whether `Paris` and `paris` differ (they do unless this is set to `false`, sacrebleu's `lowercase`).
    #[must_use]
    pub fn case_sensitive(mut self, case_sensitive: bool) -> Self {
        self.bleu.lowercase = !case_sensitive;
        self
    }
}

impl TextEvaluator for Bleu {
    fn common(&self) -> &Common {
        &self.common
    }

    fn field(&self) -> Option<&ItemField> {
        Some(self.references.field())
    }

    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let found = self.bleu.score(&to_text(output), &self.references.texts(item)?);
        let score = Score::new(found.score.clamp(0.0, 1.0));
        let score = if score.value() < 1.0 { score.reason(reason(&found)) } else { score };
        Ok(score
            .metadata("precisions", found.precisions)
            .metadata("brevityPenalty", found.brevity_penalty)
            .metadata("outputLength", found.output_length)
            .metadata("referenceLength", found.reference_length))
    }

    fn check_settings(&self) -> Result<(), CheckError> {
        if self.bleu.max_order == 0 {
            return Err(CheckError::new("the longest sequences have 0 words; count sequences of at least 1"));
        }
        check_longest("words", self.bleu.max_order)?;
        match self.bleu.smoothing {
            BleuSmoothing::Floor(value) | BleuSmoothing::AddK(value)
                if !(value.is_finite() && value >= 0.0) =>
            {
                Err(CheckError::new(format!("smoothing is by {value}; it is a number that is 0 or more")))
            }
            _ => Ok(()),
        }
    }
}

fn reason(found: &BleuScore) -> String {
    let precisions: Vec<_> = found.precisions.iter().map(|precision| share(*precision)).collect();
    format!(
        "precisions {}; brevity penalty {}: {} for {}",
        precisions.join(", "),
        share(found.brevity_penalty),
        count(found.output_length, "token"),
        found.reference_length
    )
}

text_evaluator!(Bleu);
