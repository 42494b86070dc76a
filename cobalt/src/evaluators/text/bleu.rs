//! `Bleu`: how many sequences of words an output has in common with its references.

use cobalt_core::item::Item;
use cobalt_core::wording::{count, unknown_name};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::common::{References, TextEvaluator, TextOptions, text_evaluator};
use super::{check_longest, share};
use crate::evaluators::{CheckError, EvalError, Score};
use crate::metrics::{self, BleuScore, BleuSmoothing, BleuTokenizer};
use crate::settings::{Count, from_text};
use crate::template::to_text;

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
    /// The field of the item with one right text or a list of them, or a path such as "answers[0].text".
    field: References,
    /// How texts become words; "13a" unless it is set.
    tokenizer: Option<TokenizerName>,
    /// The longest sequences, in words; 4 unless it is set.
    max_order: Option<Count>,
    /// Whether `Paris` and `paris` differ; they do unless it is set.
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
            max_order: self.max_order.map_or(usual.max_order, |Count(words)| words),
            lowercase: self.case_sensitive.map_or(usual.lowercase, |differ| !differ),
            ..usual
        }
    }
}

/// A tokenizer, by the name that sacrebleu has for it.
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

from_text! {
    TokenizerName: "a tokenizer in quotes",
    |name| {
        let found = Self::NAMES.into_iter().find(|(known, _)| *known == name);
        found
            .map(|(_, tokenizer)| Self(tokenizer))
            .ok_or_else(|| unknown_name("tokenizer", "tokenizers", name, &Self::names()))
    }
}

impl Serialize for TokenizerName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let found = Self::NAMES.into_iter().find(|(_, tokenizer)| *tokenizer == self.0);
        found.map(|(name, _)| name).serialize(serializer)
    }
}

#[cfg(feature = "schema")]
crate::settings::schema_of! {
    TokenizerName: { "type": "string", "enum": TokenizerName::names() },
}

impl Bleu {
    /// Compares the output with the item's `field`, a text or a list of texts, or a path to one such as `answers[0].text`.
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

    /// How texts become words: as mteval-v13a does unless it is set.
    #[must_use]
    pub fn tokenizer(mut self, tokenizer: BleuTokenizer) -> Self {
        self.options.tokenizer = Some(TokenizerName(tokenizer));
        self
    }

    /// What a length of sequences without a match counts as: exponentially less unless it is set.
    #[must_use]
    pub fn smoothing(mut self, smoothing: BleuSmoothing) -> Self {
        self.options.smoothing = Some(smoothing);
        self
    }

    /// The longest sequences, in words: 4 unless it is set. At least 1.
    #[must_use]
    pub fn max_order(mut self, words: usize) -> Self {
        self.options.max_order = Some(Count(words));
        self
    }

    /// Whether `Paris` and `paris` differ (they do unless this is set to `false`, sacrebleu's `lowercase`).
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
            return Err(CheckError::new("the longest sequences have 0 words; count sequences of at least 1"));
        }
        check_longest("words", bleu.max_order)?;
        match bleu.smoothing {
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

text_evaluator!(Bleu(BleuOptions), it: "bleu", Some(it.field.field()); references = it.field, bleu = it.bleu());
