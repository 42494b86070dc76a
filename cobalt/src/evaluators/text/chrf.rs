//! `ChrF`: how many sequences of letters output and reference have in common.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::common::{Common, References, TextEvaluator, TextOptions, text_evaluator};
use super::{check_longest, share};
use crate::evaluators::options::Options;
use crate::evaluators::places::ItemField;
use crate::evaluators::{CheckError, EvalError, Evaluator, Score};
use crate::metrics::{self, ChrFScore};
use crate::settings::{Count, Weight};
use crate::template::to_text;
use cobalt_core::item::Item;

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

/// The keys of `type = "chrf"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ChrFOptions {
    /// The field of the item with one right text or a list of them, or a path such as "answers[0].text".
    field: References,
    /// The longest sequences of letters; 6 unless it is set.
    char_order: Option<Count>,
    /// The longest sequences of words; none unless it is set, 2 for chrF++.
    word_order: Option<Count>,
    /// How many times as much recall counts as precision; 2 unless it is set.
    beta: Option<Weight>,
    /// Whether `Paris` and `paris` differ; they do unless it is set.
    case_sensitive: Option<bool>,
}

impl Options for ChrFOptions {
    type Shared = TextOptions;

    fn make(self, shared: TextOptions) -> Result<Arc<dyn Evaluator>, String> {
        let usual = metrics::ChrF::default();
        let chrf = metrics::ChrF {
            char_order: self.char_order.map_or(usual.char_order, |Count(letters)| letters),
            word_order: self.word_order.map_or(usual.word_order, |Count(words)| words),
            beta: self.beta.map_or(usual.beta, |Weight(beta)| beta),
            lowercase: self.case_sensitive.map_or(usual.lowercase, |differ| !differ),
            ..usual
        };
        Ok(Arc::new(ChrF { common: shared.common("chrf"), references: self.field, chrf }))
    }
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
