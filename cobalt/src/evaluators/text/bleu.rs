//! `Bleu`: word n-grams shared with the references.

use cobalt_core::item::Item;
use cobalt_core::wording::{count, unknown_name_message};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::common::{References, TextEvaluator, TextOptions, text_evaluator};
use super::{check_max_order, format_share};
use crate::evaluators::{CheckError, EvalError, Score};
use crate::metrics::{self, BleuScore, BleuSmoothing, BleuTokenizer};
use crate::settings::{PositiveInt, deserialize_from_str};
use crate::template::to_text;

/// Scores a translation by BLEU (Papineni et al. 2002): n-gram precision for n = 1 to 4, with a brevity penalty.
///
/// It is sentence BLEU with the defaults of sacrebleu: tokenizer `13a`, exponential smoothing, effective order, against all
/// references at once. A mean over items is not corpus BLEU; use [`metrics::Bleu`] for that. A blank output or reference
/// scores 0.
///
/// ```
/// use cobalt::Bleu;
/// use cobalt::metrics::BleuTokenizer;
///
/// let close = Bleu::new("bleu", "translations");
/// // Scripts without spaces between words: use characters instead of words.
/// let japanese = Bleu::new("bleu", "translations").tokenizer(BleuTokenizer::Char);
/// ```
#[derive(Clone)]
pub struct Bleu {
    common: TextOptions,
    options: BleuOptions,
}

/// The keys of `type = "bleu"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct BleuOptions {
    /// The field of the item with a reference text or a list of them, or a path such as "answers[0].text".
    field: References,
    /// The tokenizer. Default: "13a".
    tokenizer: Option<TokenizerName>,
    /// The maximum n-gram order, in words. Default: 4.
    max_order: Option<PositiveInt>,
    /// Whether `Paris` and `paris` differ. Default: true.
    case_sensitive: Option<bool>,
    #[serde(skip)]
    smoothing: Option<BleuSmoothing>,
}

impl BleuOptions {
    fn bleu(&self) -> metrics::Bleu {
        let usual = metrics::Bleu::default();
        metrics::Bleu {
            tokenizer: self.tokenizer.map_or(usual.tokenizer, |TokenizerName(tokenizer)| tokenizer),
            smoothing: self.smoothing.unwrap_or(usual.smoothing),
            max_order: self.max_order.map_or(usual.max_order, |PositiveInt(words)| words),
            lowercase: self.case_sensitive.map_or(usual.lowercase, |differ| !differ),
            ..usual
        }
    }
}

/// A tokenizer, by its name in sacrebleu.
#[derive(Clone, Copy, Debug)]
struct TokenizerName(BleuTokenizer);

impl TokenizerName {
    const NAMES: [(&str, BleuTokenizer); 5] = [
        ("13a", BleuTokenizer::V13a),
        ("none", BleuTokenizer::None),
        ("char", BleuTokenizer::Char),
        ("intl", BleuTokenizer::Intl),
        ("zh", BleuTokenizer::Zh),
    ];

    fn names() -> [&'static str; 5] {
        Self::NAMES.map(|(name, _)| name)
    }
}

deserialize_from_str! {
    TokenizerName: "a tokenizer name in quotes",
    |name| {
        let found = Self::NAMES.into_iter().find(|(known, _)| *known == name);
        found
            .map(|(_, tokenizer)| Self(tokenizer))
            .ok_or_else(|| unknown_name_message("tokenizer", "tokenizers", name, &Self::names()))
    }
}

impl Serialize for TokenizerName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let found = Self::NAMES.into_iter().find(|(_, tokenizer)| *tokenizer == self.0);
        found.map(|(name, _)| name).serialize(serializer)
    }
}

#[cfg(feature = "schema")]
crate::settings::inline_schemas! {
    TokenizerName: { "type": "string", "enum": TokenizerName::names() },
}

impl Bleu {
    /// Compares the output with the item's `field`: a text, a list of texts, or a path such as `answers[0].text`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        let options = BleuOptions {
            field: References::new(field),
            tokenizer: None,
            max_order: None,
            case_sensitive: None,
            smoothing: None,
        };
        Self { common: TextOptions::new(name), options }
    }

    /// Sets the tokenizer. Default: mteval-v13a.
    #[must_use]
    pub fn tokenizer(mut self, tokenizer: BleuTokenizer) -> Self {
        self.options.tokenizer = Some(TokenizerName(tokenizer));
        self
    }

    /// Sets the smoothing of n-gram orders without a match. Default: exponential.
    #[must_use]
    pub fn smoothing(mut self, smoothing: BleuSmoothing) -> Self {
        self.options.smoothing = Some(smoothing);
        self
    }

    /// Sets the maximum n-gram order, in words, at least 1. Default: 4.
    #[must_use]
    pub fn max_order(mut self, words: usize) -> Self {
        self.options.max_order = Some(PositiveInt(words));
        self
    }

    /// Whether `Paris` and `paris` differ. Default: `true`. The opposite of sacrebleu's `lowercase`.
    #[must_use]
    pub fn case_sensitive(mut self, case_sensitive: bool) -> Self {
        self.options.case_sensitive = Some(case_sensitive);
        self
    }
}

impl TextEvaluator for Bleu {
    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let found = self.options.bleu().score(&to_text(output), &self.options.field.texts(item)?);
        let score = Score::new(found.score.clamp(0.0, 1.0));
        let score = if score.value() < 1.0 { score.reason(reason(&found)) } else { score };
        Ok(score
            .metadata("precisions", found.precisions)
            .metadata("brevityPenalty", found.brevity_penalty)
            .metadata("outputLength", found.output_length)
            .metadata("referenceLength", found.reference_length))
    }

    fn check_settings(&self) -> Result<(), CheckError> {
        let bleu = self.options.bleu();
        if bleu.max_order == 0 {
            return Err(CheckError::new("`max_order` is 0; it must be at least 1"));
        }
        check_max_order("words", bleu.max_order)?;
        match bleu.smoothing {
            BleuSmoothing::Floor(value) | BleuSmoothing::AddK(value)
                if !(value.is_finite() && value >= 0.0) =>
            {
                Err(CheckError::new(format!("the smoothing value is {value}; it must be 0 or more")))
            }
            _ => Ok(()),
        }
    }
}

fn reason(found: &BleuScore) -> String {
    let precisions: Vec<_> = found.precisions.iter().map(|precision| format_share(*precision)).collect();
    format!(
        "precisions {}; brevity penalty {} ({}, reference {})",
        precisions.join(", "),
        format_share(found.brevity_penalty),
        count(found.output_length, "token"),
        found.reference_length
    )
}

text_evaluator!(Bleu(BleuOptions), it: "bleu", Some(it.field.field()); references = it.field, bleu = it.bleu());
