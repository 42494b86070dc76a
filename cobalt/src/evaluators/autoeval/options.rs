//! The settings of `Autoeval`, and the inputs and settings of each kind.

use std::collections::BTreeSet;

use crate::evaluators::autoeval::AutoevalKind;
use crate::evaluators::autoeval::correctness::Weights;
use crate::llm::ModelChoice;
use crate::metrics::DEFAULT_EXPECTED_MIN;

/// The settings, with their defaults.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) chain_of_thought: bool,
    pub(super) strictness: u32,
    pub(super) threshold: Option<f64>,
    pub(super) expected_min: Option<f64>,
    pub(super) preserve_strings: bool,
    pub(super) allow_extra: bool,
    pub(super) semantic: bool,
    pub(super) weights: Weights,
    pub(super) model: ModelChoice,
    pub(super) embedding: ModelChoice,
    /// The names of the setters that were called.
    pub(super) set: BTreeSet<&'static str>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            chain_of_thought: true,
            strictness: 3,
            threshold: None,
            expected_min: None,
            preserve_strings: false,
            allow_extra: false,
            semantic: false,
            weights: Weights::default(),
            model: ModelChoice::default(),
            embedding: ModelChoice::default(),
            set: BTreeSet::new(),
        }
    }
}

impl Options {
    pub fn expected_min(&self) -> f64 {
        self.expected_min.unwrap_or(DEFAULT_EXPECTED_MIN)
    }

    /// The embedding model. If there is also a judge, its address is used for embeddings, too, unless theirs is set: a gateway
    /// usually serves both. The exception is a provider without embeddings.
    pub fn embedding(&self, asks_judge: bool) -> ModelChoice {
        let own = self.embedding.clone();
        let ModelChoice { base_url, api_key_env, .. } = self.model.clone();
        if !asks_judge {
            return ModelChoice { base_url: own.base_url.or(base_url), api_key_env, ..own };
        }
        // A vendor's key must not be sent to another vendor, so it is used only if its vendor is known.
        let vendor = self.model.vendor();
        let is_apart = own.provider.is_some() || own.base_url.is_some();
        let says_where = self.model.provider.is_some() || base_url.is_some() || api_key_env.is_some();
        let serves = match (vendor, own.vendor()) {
            (Some(vendor), _) if !vendor.has_embeddings() => false,
            (vendor, own) => {
                base_url.is_some() || (vendor.is_some() && own.is_none_or(|own| Some(own) == vendor))
            }
        };
        if is_apart || !says_where || !serves {
            return own;
        }
        ModelChoice { provider: vendor, base_url, api_key_env, ..own }
    }

    /// A setting that was set although the kind does not support it.
    pub fn unsupported_setting(&self, takes: &[Setting]) -> Option<&'static str> {
        let known = |set: &str| {
            takes.iter().any(|setting| match setting {
                Setting::Model => {
                    ["model", "provider", "temperature", "base_url", "api_key_env"].contains(&set)
                }
                Setting::Embedding => {
                    ["embedding_model", "embedding_provider", "embedding_base_url", "base_url", "api_key_env"]
                        .contains(&set)
                }
                setting => setting.name() == set,
            })
        };
        self.set.iter().copied().find(|set| !known(set))
    }

    /// Validates the values.
    pub fn problem(&self) -> Option<String> {
        if self.strictness == 0 {
            return Some("`strictness` is 0; it must be at least 1".to_owned());
        }
        if self.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Some("`threshold` must be a number from 0 to 1".to_owned());
        }
        if self.expected_min.is_some_and(|least| !(-1.0..1.0).contains(&least)) {
            return Some("`expected_min` must be a cosine from -1 to below 1".to_owned());
        }
        let of_weights = || self.weights.problem().map(|problem| format!("`weights`: {problem}"));
        self.model.validation_error().or_else(of_weights)
    }
}

/// A setting that only some kinds support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    ChainOfThought,
    Strictness,
    Threshold,
    ExpectedMin,
    PreserveStrings,
    AllowExtra,
    Semantic,
    Weights,
    Schema,
    /// The judge's model and its API.
    Model,
    /// The embedding model and its API.
    Embedding,
}

impl Setting {
    /// The method that sets it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ChainOfThought => "chain_of_thought",
            Self::Strictness => "strictness",
            Self::Threshold => "threshold",
            Self::ExpectedMin => "expected_min",
            Self::PreserveStrings => "preserve_strings",
            Self::AllowExtra => "allow_extra",
            Self::Semantic => "semantic",
            Self::Weights => "weights",
            Self::Schema => "schema",
            Self::Model => "model",
            Self::Embedding => "embedding_model",
        }
    }
}

/// The inputs and settings of a kind.
pub(super) struct KindTraits {
    /// The required inputs.
    pub(super) inputs: &'static [&'static str],
    pub(super) settings: &'static [Setting],
}

/// The optional input of `ValidJson`.
pub const SCHEMA: &str = "schema";

const COMPARED: &[&str] = &["output", "expected"];
const ANSWERED: &[&str] = &["input", "output", "expected"];
const RETRIEVED: &[&str] = &["input", "expected", "context"];
const GROUNDED: &[&str] = &["input", "context", "output"];
const CHOICE: &[Setting] = &[Setting::ChainOfThought, Setting::Model];
const JUDGED: &[Setting] = &[Setting::Model];

impl AutoevalKind {
    pub(super) fn traits(self) -> KindTraits {
        let (needs, takes): (&[&str], &[Setting]) = match self {
            Self::Factuality => (ANSWERED, CHOICE),
            Self::ContextRecall => (RETRIEVED, JUDGED),
            Self::ContextPrecision => (RETRIEVED, JUDGED),
            Self::ContextRelevancy => (&["input", "context"], JUDGED),
            Self::AnswerRelevancy => {
                (GROUNDED, &[Setting::Strictness, Setting::ExpectedMin, Setting::Model, Setting::Embedding])
            }
            Self::AnswerCorrectness => (ANSWERED, &[Setting::Weights, Setting::Model, Setting::Embedding]),
            Self::AnswerSimilarity => (COMPARED, &[Setting::ExpectedMin, Setting::Embedding]),
            Self::Ragas => (
                &["input", "output", "expected", "context"],
                &[Setting::Strictness, Setting::ExpectedMin, Setting::Model, Setting::Embedding],
            ),
            Self::JsonDiff => (COMPARED, &[Setting::PreserveStrings]),
            Self::ValidJson => (&["output"], &[Setting::Schema]),
            Self::Security => (&["output"], CHOICE),
            Self::Levenshtein => (COMPARED, &[]),
            Self::NumericDiff => (COMPARED, &[]),
            Self::ExactMatch => (COMPARED, &[]),
            Self::EmbeddingSimilarity => (COMPARED, &[Setting::ExpectedMin, Setting::Embedding]),
            Self::ListContains => (
                COMPARED,
                &[Setting::AllowExtra, Setting::Semantic, Setting::ExpectedMin, Setting::Embedding],
            ),
            Self::Battle => (&["instructions", "output", "expected"], CHOICE),
            Self::Humor => (&["output"], CHOICE),
            Self::ClosedQa => (&["input", "output", "criteria"], CHOICE),
            Self::Possible => (&["input", "output"], CHOICE),
            Self::Sql => (ANSWERED, CHOICE),
            Self::Summary => (ANSWERED, CHOICE),
            Self::Translation => (&["language", "input", "output", "expected"], CHOICE),
            Self::Faithfulness => (GROUNDED, JUDGED),
            Self::ContextEntityRecall => {
                (&["expected", "context"], &[Setting::ExpectedMin, Setting::Model, Setting::Embedding])
            }
            Self::Moderation => (&["output"], &[Setting::Threshold, Setting::Model]),
        };
        KindTraits { inputs: needs, settings: takes }
    }

    /// Whether `null` is a valid value of an input, for kinds that compare JSON.
    pub(super) fn takes_null(self, input: &str) -> bool {
        matches!(self, Self::JsonDiff | Self::ExactMatch | Self::ValidJson) && input != SCHEMA
    }
}
