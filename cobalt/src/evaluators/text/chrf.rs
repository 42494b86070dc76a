//! `ChrF`: character n-grams shared with a reference.

use cobalt_core::item::Item;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::common::{References, TextEvaluator, TextOptions, text_evaluator};
use super::{check_max_order, format_share};
use crate::evaluators::{CheckError, EvalError, Score};
use crate::metrics::{self, ChrFScore};
use crate::settings::{PositiveInt, Weight};
use crate::template::to_text;

/// Scores a translation by chrF (Popović 2015): the F-score of its character n-grams for n = 1 to 6, with recall weighted
/// twice as much as precision.
///
/// It does not depend on words, so it suits every language and tolerates different endings. Options and defaults are those of
/// sacrebleu. With [`word_order(2)`](Self::word_order) it is chrF++ (Popović 2017). Of several references, the best score
/// counts. White space is ignored; blank text scores 0.
///
/// ```
/// use cobalt::ChrF;
///
/// let close = ChrF::new("chrf", "translations");
/// let chrf_plus_plus = ChrF::new("chrf++", "translations").word_order(2);
/// ```
#[derive(Clone)]
pub struct ChrF {
    common: TextOptions,
    options: ChrFOptions,
}

/// The keys of `type = "chrf"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ChrFOptions {
    /// The field of the item with a reference text or a list of them, or a path such as "answers[0].text".
    field: References,
    /// The maximum order of character n-grams. Default: 6.
    char_order: Option<PositiveInt>,
    /// The maximum order of word n-grams: 2 for chrF++. Default: 0, none.
    word_order: Option<PositiveInt>,
    /// The weight of recall relative to precision. Default: 2.
    beta: Option<Weight>,
    /// Whether `Paris` and `paris` differ. Default: true.
    case_sensitive: Option<bool>,
}

impl ChrFOptions {
    fn chrf(&self) -> metrics::ChrF {
        let usual = metrics::ChrF::default();
        metrics::ChrF {
            char_order: self.char_order.map_or(usual.char_order, |PositiveInt(letters)| letters),
            word_order: self.word_order.map_or(usual.word_order, |PositiveInt(words)| words),
            beta: self.beta.map_or(usual.beta, |Weight(beta)| beta),
            lowercase: self.case_sensitive.map_or(usual.lowercase, |differ| !differ),
            ..usual
        }
    }
}

impl ChrF {
    /// Compares the output with the item's `field`: a text, a list of texts, or a path such as `answers[0].text`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        let options = ChrFOptions {
            field: References::new(field),
            char_order: None,
            word_order: None,
            beta: None,
            case_sensitive: None,
        };
        Self { common: TextOptions::new(name), options }
    }

    /// Sets the maximum order of character n-grams. Default: 6.
    #[must_use]
    pub fn char_order(mut self, letters: usize) -> Self {
        self.options.char_order = Some(PositiveInt(letters));
        self
    }

    /// Sets the maximum order of word n-grams, counted in addition: 2 for chrF++. Default: 0, none.
    #[must_use]
    pub fn word_order(mut self, words: usize) -> Self {
        self.options.word_order = Some(PositiveInt(words));
        self
    }

    /// Sets the weight of recall relative to precision, at least 0. Default: 2.
    #[must_use]
    pub fn beta(mut self, beta: f64) -> Self {
        self.options.beta = Some(Weight(beta));
        self
    }

    /// Whether `Paris` and `paris` differ. Default: `true`. The opposite of sacrebleu's `lowercase`.
    #[must_use]
    pub fn case_sensitive(mut self, case_sensitive: bool) -> Self {
        self.options.case_sensitive = Some(case_sensitive);
        self
    }
}

/// The metric's name as in papers: `chrF2`, or `chrF2++` with word n-grams.
fn metric_name(chrf: &metrics::ChrF) -> String {
    let words = match chrf.word_order {
        0 => String::new(),
        2 => "++".to_owned(),
        order => format!("+{order}"),
    };
    format!("chrF{}{words}", chrf.beta)
}

impl TextEvaluator for ChrF {
    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let (output, chrf) = (to_text(output), self.options.chrf());
        let compare = |reference: &str| chrf.score(&output, &[reference]);
        let nearest = self.options.field.best_match(item, compare, |found| found.score)?;
        let ChrFScore { score: value, precision, recall } = nearest.result;
        let value = value.clamp(0.0, 1.0);
        let score = Score::new(value).metadata("precision", precision).metadata("recall", recall);
        let score = if value < 1.0 {
            let [precision, recall, value] = [precision, recall, value].map(format_share);
            score.reason(format!("precision {precision}, recall {recall}, {} {value}", metric_name(&chrf)))
        } else {
            score
        };
        Ok(nearest.with_reference_index(score))
    }

    fn check_settings(&self) -> Result<(), CheckError> {
        let metrics::ChrF { char_order: letters, word_order: words, beta, .. } = self.options.chrf();
        if (letters, words) == (0, 0) {
            return Err(CheckError::new(
                "`char_order` and `word_order` are both 0; set `char_order` to at least 1",
            ));
        }
        check_max_order("characters", letters)?;
        check_max_order("words", words)?;
        if !(beta.is_finite() && beta >= 0.0) {
            return Err(CheckError::new(format!("`beta` is {beta}; it must be 0 or more")));
        }
        Ok(())
    }
}

text_evaluator!(ChrF(ChrFOptions), it: "chrf", Some(it.field.field()); references = it.field, chrf = it.chrf());
