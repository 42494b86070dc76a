//! `ChrF`: how many sequences of letters output and reference have in common.

use serde_json::Value;

use super::common::{Common, TextEvaluator, text_evaluator};
use super::references::References;
use super::{check_longest, share};
use crate::dataset::Item;
use crate::evaluators::places::ItemField;
use crate::evaluators::{CheckError, EvalError, Score};
use crate::metrics::{self, ChrFScore};
use crate::template::to_text;

/// Scores a translation by its chrF (Popović 2015): the sequences of one to six letters that it shares with a reference, as
/// an F-score in which recall counts twice as much as precision.
///
/// It needs no words, so it suits every language, and endings that differ cost little. Options and defaults are those of
/// sacrebleu. With [`word_order(2)`](Self::word_order) it is chrF++ (Popović 2017). Of several references, the one with the
/// best score counts. White space plays no part; a blank text shares nothing, and scores 0.
///
/// ```
/// use cobalt::ChrF;
///
/// let close = ChrF::new("chrf", "translations");
/// let chrf_plus_plus = ChrF::new("chrf++", "translations").word_order(2);
/// ```
#[derive(Clone, Debug)]
pub struct ChrF {
    common: Common,
    references: References,
    chrf: metrics::ChrF,
}

impl ChrF {
    /// Compares the output with the item's `field`, a text or a list of texts, or a path to one such as `answers[0].text`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self { common: Common::new(name), references: References::new(field), chrf: metrics::ChrF::default() }
    }

    /// The longest sequences of letters: 6 unless it is set.
    #[must_use]
    pub fn char_order(mut self, letters: usize) -> Self {
        self.chrf.char_order = letters;
        self
    }

    /// The longest sequences of words, which are counted beside those of letters: 0, none, unless it is set; 2 for chrF++.
    #[must_use]
    pub fn word_order(mut self, words: usize) -> Self {
        self.chrf.word_order = words;
        self
    }

    /// How many times as much recall counts as precision: 2 unless it is set. At least 0.
    #[must_use]
    pub fn beta(mut self, beta: f64) -> Self {
        self.chrf.beta = beta;
        self
    }

    /// Whether `Paris` and `paris` differ (they do unless this is set to `false`, sacrebleu's `lowercase`).
    #[must_use]
    pub fn case_sensitive(mut self, case_sensitive: bool) -> Self {
        self.chrf.lowercase = !case_sensitive;
        self
    }

    /// The metric's name with its options, as papers write it: `chrF2`, or `chrF2++` with pairs of words.
    fn metric(&self) -> String {
        let words = match self.chrf.word_order {
            0 => String::new(),
            2 => "++".to_owned(),
            order => format!("+{order}"),
        };
        format!("chrF{}{words}", self.chrf.beta)
    }
}

impl TextEvaluator for ChrF {
    fn common(&self) -> &Common {
        &self.common
    }

    fn field(&self) -> Option<&ItemField> {
        Some(self.references.field())
    }

    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let output = to_text(output);
        let compare = |reference: &str| self.chrf.score(&output, &[reference]);
        let nearest = self.references.nearest(item, compare, |found| found.score)?;
        let ChrFScore { score: value, precision, recall } = nearest.found;
        let value = value.clamp(0.0, 1.0);
        let score = Score::new(value).metadata("precision", precision).metadata("recall", recall);
        let score = if value < 1.0 {
            let [precision, recall, value] = [precision, recall, value].map(share);
            score.reason(format!("precision {precision}, recall {recall}, {} {value}", self.metric()))
        } else {
            score
        };
        Ok(nearest.kept(score))
    }

    fn check_settings(&self) -> Result<(), CheckError> {
        let (letters, words) = (self.chrf.char_order, self.chrf.word_order);
        if (letters, words) == (0, 0) {
            return Err(CheckError::new(
                "neither letters nor words are counted; set `char_order` to at least 1",
            ));
        }
        check_longest("letters", letters)?;
        check_longest("words", words)?;
        if !(self.chrf.beta.is_finite() && self.chrf.beta >= 0.0) {
            return Err(CheckError::new(format!(
                "`beta` is {}; it is a number that is 0 or more",
                self.chrf.beta
            )));
        }
        Ok(())
    }
}

text_evaluator!(ChrF);
