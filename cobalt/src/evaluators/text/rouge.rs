//! `Rouge`: overlap of words with a reference.

use cobalt_core::item::Item;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::common::{Measure, MeasureName, References, TextEvaluator, TextOptions, text_evaluator};
use crate::evaluators::{EvalError, Score};
use crate::metrics::{Overlap, rouge_l, rouge_lsum, rouge_n, rouge_words};
use crate::settings::{NamedChoice as _, named_choices};
use crate::template::to_text;

/// Scores the overlap of output and reference (Lin 2004), mainly for summaries: its F1, unless
/// [`precision`](Self::precision) or [`recall`](Self::recall) is set.
///
/// | constructor | overlap of |
/// |---|---|
/// | [`one`](Self::one) | single words, in any order |
/// | [`two`](Self::two) | pairs of adjacent words |
/// | [`l`](Self::l) | the longest common subsequence of words |
/// | [`lsum`](Self::lsum) | the same, for each line of the reference with all lines of the output |
///
/// Of several references, the best score counts. Text without letters from `a` to `z` or digits scores 0. See also the module
/// [`text`](crate::text).
///
/// ```
/// use cobalt::Rouge;
///
/// let overlap = Rouge::l("rouge-l", "summary").stemmer(true);
/// let covered = Rouge::one("covered", "summary").recall().pass_mark(0.6);
/// ```
#[derive(Clone)]
pub struct Rouge {
    common: TextOptions,
    options: RougeOptions,
}

/// The keys of `type = "rouge"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RougeOptions {
    /// The field of the item with a reference text or a list of them, or a path such as "answers[0].text".
    field: References,
    /// The variant: words ("1"), word pairs ("2"), the longest common subsequence ("l"), or that line by line ("lsum").
    variant: RougeName,
    /// Which value is the score. Default: "f1".
    measure: Option<MeasureName>,
    /// Whether English words are stemmed. Default: false.
    stemmer: Option<bool>,
}

impl RougeOptions {
    fn measure(&self) -> Measure {
        self.measure.map_or_else(Measure::default, |MeasureName(measure)| measure)
    }

    fn uses_stems(&self) -> bool {
        self.stemmer == Some(true)
    }
}

named_choices! {
    /// The variant of ROUGE.
    RougeName(RougeVariant), "ROUGE variant", "variants": "1" => One, "2" => Two, "l" => L, "lsum" => Lsum;
}

/// The variant of ROUGE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RougeVariant {
    /// Words.
    #[serde(rename = "1")]
    One,
    /// Word pairs.
    #[serde(rename = "2")]
    Two,
    /// The longest common subsequence of words.
    #[serde(rename = "l")]
    L,
    /// The same, line by line.
    #[serde(rename = "lsum")]
    Lsum,
}

impl Rouge {
    /// ROUGE-1 with the item's `field`: a text, a list of texts, or a path such as `answers[0].text`.
    pub fn one(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::with_variant(RougeVariant::One, name, field)
    }

    /// ROUGE-2 with the item's `field`.
    pub fn two(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::with_variant(RougeVariant::Two, name, field)
    }

    /// ROUGE-L with the item's `field`.
    pub fn l(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::with_variant(RougeVariant::L, name, field)
    }

    /// ROUGE-Lsum with the item's `field`: ROUGE-L for texts with one sentence per line.
    pub fn lsum(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::with_variant(RougeVariant::Lsum, name, field)
    }

    fn with_variant(variant: RougeVariant, name: impl Into<String>, field: impl AsRef<str>) -> Self {
        let options = RougeOptions {
            field: References::new(field),
            variant: RougeName(variant),
            measure: None,
            stemmer: None,
        };
        Self { common: TextOptions::new(name), options }
    }

    /// Whether English words are stemmed with Porter's stemmer, so that `ferries` equals `ferry`. Default: `false`.
    #[must_use]
    pub fn stemmer(mut self, stemmer: bool) -> Self {
        self.options.stemmer = Some(stemmer);
        self
    }

    /// Scores precision instead of F1: the share of the output that is in the reference. Superfluous text lowers it.
    #[must_use]
    pub fn precision(self) -> Self {
        self.measure(Measure::Precision)
    }

    /// Scores recall instead of F1: the share of the reference that is in the output. Missing text lowers it.
    #[must_use]
    pub fn recall(self) -> Self {
        self.measure(Measure::Recall)
    }

    fn measure(mut self, measure: Measure) -> Self {
        self.options.measure = Some(MeasureName(measure));
        self
    }

    /// Explains a score of 0 that is due to one side: blank, too short, or in a script other than Latin.
    fn explain_zero(&self, item: &Item, output: &str) -> Result<Option<String>, EvalError> {
        let (least, lacks) = match self.options.variant.0 {
            RougeVariant::Two => (2, "has fewer than two words of letters from a to z and digits"),
            _ => (1, "has neither a letter from a to z nor a digit"),
        };
        let counts = |text: &str| rouge_words(text) >= least;
        let whose = if !counts(output) {
            self.common.output().name().to_owned()
        } else if !self.options.field.texts(item)?.iter().any(|reference| counts(reference)) {
            self.options.field.field().name().to_owned()
        } else {
            return Ok(None);
        };
        Ok(Some(format!("`{whose}` {lacks}, and ROUGE counts nothing else")))
    }

    fn overlap(&self, output: &str, reference: &str) -> Overlap {
        let stemmer = self.options.uses_stems();
        match self.options.variant.0 {
            RougeVariant::One => rouge_n(output, reference, 1, stemmer),
            RougeVariant::Two => rouge_n(output, reference, 2, stemmer),
            RougeVariant::L => rouge_l(output, reference, stemmer),
            RougeVariant::Lsum => rouge_lsum(output, reference, stemmer),
        }
    }
}

impl TextEvaluator for Rouge {
    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let output = to_text(output);
        let measure = self.options.measure();
        let compare = |reference: &str| self.overlap(&output, reference);
        let nearest = self.options.field.best_match(item, compare, |overlap| measure.value(overlap))?;
        let score = nearest.with_reference_index(measure.score(&nearest.result));
        let uncounted = if score.value() > 0.0 { None } else { self.explain_zero(item, &output)? };
        Ok(match uncounted {
            Some(why) => score.reason(why),
            None => score,
        })
    }
}

text_evaluator! {
    Rouge(RougeOptions), it: "rouge-" + it.variant.0.name(), Some(it.field.field());
    references = it.field, variant = it.variant.0, measure = it.measure(), stemmer = it.uses_stems()
}

#[cfg(all(test, feature = "judge"))]
mod tests {
    use serde_json::json;

    use crate::evaluators::text::tests::{scored, value};
    use crate::{Evaluator, Rouge};

    #[test]
    fn f1_is_the_score_unless_precision_or_recall_is_asked_for() {
        let item = json!({"summary": "the ferry left late"});
        let output = json!("the ferry left");
        let rouge = Rouge::one("r", "summary");
        let (score, why) = value(&rouge, item.clone(), output.clone());
        assert!((score - 6.0 / 7.0).abs() < 1e-12, "{score}");
        assert_eq!(why.unwrap(), "precision 1, recall 0.75, F1 0.857");
        assert_eq!(value(&rouge.clone().precision(), item.clone(), output.clone()), (1.0, None));
        assert_eq!(value(&rouge.clone().recall(), item.clone(), output.clone()).0, 0.75);
        let kept = scored(&rouge, item, output).unwrap();
        assert_eq!(
            (&kept.all_metadata()["precision"], &kept.all_metadata()["recall"]),
            (&json!(1.0), &json!(0.75))
        );
    }

    #[test]
    fn each_variant_counts_something_else() {
        let item = json!({"s": "the ferry left.\nit rained."});
        let score = |rouge: Rouge| value(&rouge, item.clone(), json!("it rained.\nthe ferry left.")).0;
        assert_eq!(score(Rouge::one("r", "s")), 1.0);
        assert_eq!(score(Rouge::two("r", "s")), 0.75);
        assert!((score(Rouge::l("r", "s")) - 0.6).abs() < 1e-12);
        assert_eq!(score(Rouge::lsum("r", "s")), 1.0);
    }

    #[test]
    fn words_are_stemmed_where_asked() {
        let item = json!({"s": "leaving ferries"});
        assert_eq!(value(&Rouge::one("r", "s"), item.clone(), json!("ferry leaves")).0, 0.0);
        assert_eq!(value(&Rouge::one("r", "s").stemmer(true), item, json!("ferry leaves")).0, 1.0);
    }

    #[test]
    fn a_text_of_which_nothing_counts_scores_0_and_says_so() {
        for (item, output, whose) in [
            (json!({"s": "a b"}), json!(" "), "`output`"),
            (json!({"s": ""}), json!("a b"), "`s`"),
            (json!({"s": ["паром", "лодка"]}), json!("a ferry"), "`s`"),
        ] {
            let (score, why) = value(&Rouge::one("r", "s"), item, output);
            let why = why.unwrap();
            assert!(
                score == 0.0 && why.starts_with(whose) && why.contains("neither a letter from a to z"),
                "{why}"
            );
        }
    }

    #[test]
    fn a_text_without_a_pair_of_words_says_so() {
        for (reference, output, whose) in [("mill", "the mill", "`s`"), ("the mill", "mill", "`output`")] {
            let (score, why) = value(&Rouge::two("r", "s"), json!({"s": reference}), json!(output));
            let why = why.unwrap();
            assert!(score == 0.0 && why.starts_with(&format!("{whose} has fewer than two words")), "{why}");
        }
        let (_, why) = value(&Rouge::two("r", "s"), json!({"s": "old mill"}), json!("the mill"));
        assert_eq!(why.unwrap(), "precision 0, recall 0, F1 0");
    }

    #[test]
    fn a_score_that_is_nearly_full_is_not_called_full() {
        let text = |last: &str| json!("word ".repeat(4_999) + last);
        let (score, why) = value(&Rouge::one("r", "s"), json!({"s": text("end")}), text("start"));
        assert!(score < 1.0 && score > 0.9995, "{score}");
        assert_eq!(why.unwrap(), "precision 0.999, recall 0.999, F1 0.999");
    }

    #[test]
    fn each_setting_changes_the_fingerprint() {
        let plain = Rouge::one("r", "s");
        for other in [
            Rouge::two("r", "s"),
            Rouge::one("r", "t"),
            plain.clone().stemmer(true),
            plain.clone().recall(),
            plain.clone().output("output.a"),
            plain.clone().pass_mark(0.9),
        ] {
            assert_ne!(other.fingerprint(), plain.fingerprint());
        }
    }
}
