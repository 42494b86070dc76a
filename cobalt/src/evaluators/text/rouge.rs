//! `Rouge`: how much output and reference overlap, counted in words.

use serde_json::Value;

use super::common::{Common, TextEvaluator, text_evaluator};
use super::overlap::Measure;
use super::references::References;
use crate::dataset::Item;
use crate::evaluators::places::ItemField;
use crate::evaluators::{EvalError, Score};
use crate::metrics::{Overlap, rouge_l, rouge_lsum, rouge_n, rouge_words};
use crate::template::to_text;

/// Scores how much output and reference overlap (Lin 2004), for summaries above all: the F1 of what they share, unless
/// [`precision`](Self::precision) or [`recall`](Self::recall) is asked for.
///
/// | made by | what is shared |
/// |---|---|
/// | [`one`](Self::one) | single words, in whatever order |
/// | [`two`](Self::two) | pairs of neighbouring words |
/// | [`l`](Self::l) | the longest sequence of words that is in both, with gaps |
/// | [`lsum`](Self::lsum) | the same for each line of the reference with all lines of the output |
///
/// A list of references is compared one by one; the best score counts. A text without a letter or digit from `a` to `z`
/// and 0 to 9 shares nothing, and scores 0. The module [`text`](crate::text) has more.
///
/// ```
/// use cobalt::Rouge;
///
/// let overlap = Rouge::l("rouge-l", "summary").stemmer(true);
/// let covered = Rouge::one("covered", "summary").recall().pass_mark(0.6);
/// ```
#[derive(Clone, Debug)]
pub struct Rouge {
    common: Common,
    references: References,
    variant: RougeVariant,
    measure: Measure,
    stemmer: bool,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) enum RougeVariant {
    /// Words.
    #[serde(rename = "1")]
    One,
    /// Pairs of words.
    #[serde(rename = "2")]
    Two,
    /// The longest common subsequence of words.
    #[serde(rename = "l")]
    L,
    /// The same, line by line.
    #[serde(rename = "lsum")]
    Lsum,
}

impl RougeVariant {
    /// What stands after `ROUGE-`, in lower case.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::One => "1",
            Self::Two => "2",
            Self::L => "l",
            Self::Lsum => "lsum",
        }
    }
}

impl Rouge {
    /// ROUGE-1 with the item's `field`, a text or a list of texts, or a path to one such as `answers[0].text`.
    pub fn one(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::of(RougeVariant::One, name, field)
    }

    /// ROUGE-2 with the item's `field`.
    pub fn two(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::of(RougeVariant::Two, name, field)
    }

    /// ROUGE-L with the item's `field`.
    pub fn l(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::of(RougeVariant::L, name, field)
    }

    /// ROUGE-Lsum with the item's `field`: ROUGE-L for texts of which each line is a sentence.
    pub fn lsum(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::of(RougeVariant::Lsum, name, field)
    }

    pub(crate) fn of(variant: RougeVariant, name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self {
            common: Common::new(name),
            references: References::new(field),
            variant,
            measure: Measure::default(),
            stemmer: false,
        }
    }

    /// Whether English words are compared by their stems, so that `ferries` is `ferry` (they are not unless this is set to
    /// `true`). The stemmer is Porter's.
    #[must_use]
    pub fn stemmer(mut self, stemmer: bool) -> Self {
        self.stemmer = stemmer;
        self
    }

    /// Scores the share of the output that is in the reference, in place of F1: what is said too much costs.
    #[must_use]
    pub fn precision(self) -> Self {
        self.measure(Measure::Precision)
    }

    /// Scores the share of the reference that is in the output, in place of F1: what is missing costs.
    #[must_use]
    pub fn recall(self) -> Self {
        self.measure(Measure::Recall)
    }

    pub(crate) fn measure(mut self, measure: Measure) -> Self {
        self.measure = measure;
        self
    }

    /// Why nothing is shared, where that is because of one side alone: blank, too short, or in another script than Latin.
    fn uncounted(&self, item: &Item, output: &str) -> Result<Option<String>, EvalError> {
        let (least, lacks) = match self.variant {
            RougeVariant::Two => (2, "has no two words of letters from a to z and digits"),
            _ => (1, "has neither a letter from a to z nor a digit"),
        };
        let counts = |text: &str| rouge_words(text) >= least;
        let whose = if !counts(output) {
            self.common.output.name()
        } else if !self.references.texts(item)?.iter().any(|reference| counts(reference)) {
            self.references.field().name()
        } else {
            return Ok(None);
        };
        Ok(Some(format!("`{whose}` {lacks}, and nothing else counts")))
    }

    fn overlap(&self, output: &str, reference: &str) -> Overlap {
        match self.variant {
            RougeVariant::One => rouge_n(output, reference, 1, self.stemmer),
            RougeVariant::Two => rouge_n(output, reference, 2, self.stemmer),
            RougeVariant::L => rouge_l(output, reference, self.stemmer),
            RougeVariant::Lsum => rouge_lsum(output, reference, self.stemmer),
        }
    }
}

impl TextEvaluator for Rouge {
    fn common(&self) -> &Common {
        &self.common
    }

    fn field(&self) -> Option<&ItemField> {
        Some(self.references.field())
    }

    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let output = to_text(output);
        let measure = self.measure;
        let compare = |reference: &str| self.overlap(&output, reference);
        let nearest = self.references.nearest(item, compare, |overlap| measure.of(overlap))?;
        let score = nearest.kept(measure.score(&nearest.found));
        let uncounted = if score.value() > 0.0 { None } else { self.uncounted(item, &output)? };
        Ok(match uncounted {
            Some(why) => score.reason(why),
            None => score,
        })
    }
}

text_evaluator!(Rouge);
