//! Shared code of text evaluators: common settings, references and overlap scores.

use std::borrow::Cow;
use std::sync::LazyLock;

use cobalt_core::item::Item;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::format_share;
use crate::evaluators::context::Remap;
use crate::evaluators::field_path::{AgentField, ItemField, OUTPUT};
use crate::evaluators::options::{fingerprint, pass_mark_or_default};
use crate::evaluators::{CheckError, EvalContext, EvalError, LARGE_TEXT_BYTES, Score, Setup};
use crate::metrics::Overlap;
use crate::settings::{self, NonEmptyString, named_choices};
use crate::template::to_text;
use crate::thread_pool;

/// The settings shared by all text evaluators: keys of their tables.
#[derive(Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TextOptions {
    /// Name in reports. Default: the type.
    pub(super) name: Option<NonEmptyString>,
    /// The part of the agent's result to score, a path such as "output.answer" or "metadata.answer". Default: "output".
    pub(super) output: Option<AgentField>,
    /// Minimum score for an output to pass. Default: 0.5.
    pub(super) pass_mark: Option<settings::ScoreValue>,
    #[serde(skip)]
    pub(super) remap: Option<Remap>,
}

// These names are in stored runs.
fingerprint! {
    TextOptions as "Common", it: name = it.name(), output = it.output(), remap = it.remap, pass_mark = pass_mark_or_default(it.pass_mark)
}

impl TextOptions {
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self { name: Some(NonEmptyString(name.into())), output: None, pass_mark: None, remap: None }
    }

    pub(super) fn name(&self) -> &str {
        self.name.as_ref().map_or("", |NonEmptyString(name)| name)
    }

    pub(super) fn output(&self) -> &AgentField {
        static WHOLE: LazyLock<AgentField> = LazyLock::new(|| AgentField::new(OUTPUT));
        self.output.as_ref().unwrap_or(&WHOLE)
    }
}

/// The settings of a text evaluator; implemented by [`text_evaluator`].
pub trait TextSettings {
    /// The shared settings.
    fn common(&self) -> &TextOptions;

    /// The field of the item that is used, unless the setting is the same for all items.
    fn field(&self) -> Option<&ItemField>;
}

/// The specific part of a text evaluator.
pub trait TextEvaluator: TextSettings + Clone + Send + Sync + 'static {
    /// Scores the selected part of an output, which is not `null`.
    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError>;

    /// Reads external inputs, such as files, that may change later.
    fn load_files(&mut self) {}

    /// Validates the settings.
    fn check_settings(&self) -> Result<(), CheckError> {
        Ok(())
    }

    /// Validates the items.
    fn check_items(&self, setup: &Setup) -> Result<(), CheckError> {
        self.field().map_or(Ok(()), |field| field.check(setup))
    }
}

/// Scores an output; on a separate thread if the texts are long.
pub async fn evaluate<E: TextEvaluator>(evaluator: &E, cx: &EvalContext) -> Result<Score, EvalError> {
    let seen = Remap::apply(evaluator.common().remap.as_ref(), cx);
    let looked_at = evaluator.field().and_then(|field| field.resolve(seen.item()).ok());
    if looked_at.map_or(0, approx_text_size) + approx_text_size(seen.output()) <= LARGE_TEXT_BYTES {
        return score(evaluator, &seen);
    }
    let evaluator = evaluator.clone();
    let score = thread_pool::run(move || score(&evaluator, &seen)).await;
    score.map_err(|error| EvalError::new(error.to_string()))?
}

fn score(evaluator: &impl TextEvaluator, seen: &EvalContext) -> Result<Score, EvalError> {
    evaluator.score(seen.item(), evaluator.common().output().resolve(seen)?)
}

/// The approximate size of a value's text, in bytes.
fn approx_text_size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(approx_text_size).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + approx_text_size(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

/// Validates settings and items before the run. Items that `context` will replace cannot be checked yet.
pub fn check(evaluator: &impl TextEvaluator, setup: &Setup) -> Result<(), CheckError> {
    evaluator.common().output().check()?;
    evaluator.check_settings()?;
    match evaluator.common().remap {
        None => evaluator.check_items(setup),
        Some(_) => Ok(()),
    }
}

/// Implements `Evaluator`, the table and the shared setters for a [`TextEvaluator`] with the fields `common` and `options`.
///
/// The arguments are the default name (with an optional suffix), the item field that is used (`None` if the setting is the
/// same for all items), the fields of the fingerprint after `common`, and optionally the mutually exclusive keys, of which
/// exactly one is required. In all of them, `it` is the table.
macro_rules! text_evaluator {
    (
        $type:ident($options:ident), $it:ident: $usual_name:literal $(+ $ending:expr)?, $looked_at:expr;
        $($field:ident = $value:expr),+ $(; $what:literal by one of $($key:ident),+)?
    ) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $it = &self.options;
                let mut fields = f.debug_struct(stringify!($type));
                fields.field("common", &self.common)$(.field(stringify!($field), &$value))+.finish()
            }
        }

        impl crate::evaluators::options::Options for $options {
            type Shared = super::common::TextOptions;

            $(fn checked(self, _: &Self::Shared) -> Result<Self, String> {
                let keys = [$((stringify!($key), self.$key.is_some())),+];
                crate::evaluators::options::require_exactly_one($what, &keys).map(|()| self)
            })?

            fn make(self, mut common: Self::Shared) -> Result<std::sync::Arc<dyn crate::Evaluator>, String> {
                let usual_name = [$usual_name $(, { let $it = &self; $ending })?].concat();
                common.name.get_or_insert(crate::settings::NonEmptyString(usual_name));
                let mut made = $type { common, options: self };
                super::common::TextEvaluator::load_files(&mut made);
                Ok(std::sync::Arc::new(made))
            }
        }

        impl super::common::TextSettings for $type {
            fn common(&self) -> &super::common::TextOptions {
                &self.common
            }

            fn field(&self) -> Option<&crate::evaluators::field_path::ItemField> {
                let $it = &self.options;
                $looked_at
            }
        }

        impl $type {
            /// Scores a part of the agent's result, a path such as `output.answer`, `output.parts[0].text` or
            /// `metadata.summary`. Default: the whole `output`. A part that is missing or `null` is an error, not a score.
            #[must_use]
            pub fn output(mut self, path: impl AsRef<str>) -> Self {
                self.common.output = Some(crate::evaluators::field_path::AgentField::new(path.as_ref()));
                self
            }

            crate::evaluators::options::shared_setters!(common, "the evaluator sees");
        }

        impl crate::Evaluator for $type {
            fn name(&self) -> &str {
                self.common.name()
            }

            fn evaluate<'a>(&'a self, cx: &'a crate::EvalContext) -> crate::Evaluation<'a> {
                Box::pin(super::common::evaluate(self, cx))
            }

            fn pass_mark(&self) -> f64 {
                crate::evaluators::options::pass_mark_or_default(self.common.pass_mark)
            }

            fn check(&self, setup: &crate::Setup) -> Result<(), crate::CheckError> {
                super::common::check(self, setup)
            }
        }
    };
}

pub(super) use text_evaluator;

/// A field of the item with a reference text, or a list of them.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, transparent))]
pub struct References(ItemField);

/// The result of the comparison with the best of several references.
pub struct BestMatch<T> {
    pub(super) result: T,
    /// The index of the reference, from 0, and the number of references.
    index: usize,
    count: usize,
}

impl References {
    pub fn new(path: impl AsRef<str>) -> Self {
        Self(ItemField::new(path.as_ref()))
    }

    pub fn field(&self) -> &ItemField {
        &self.0
    }

    /// The references as templates render them; at least one.
    pub fn texts<'v>(&self, item: &'v Item) -> Result<Vec<Cow<'v, str>>, EvalError> {
        let texts = reference_texts(&self.0, item)?;
        if texts.is_empty() {
            let name = self.0.name();
            return Err(EvalError::new(format!(
                "the item's `{name}` is an empty list; write at least one text"
            )));
        }
        Ok(texts)
    }

    /// Compares with each reference and returns the best; the first one if several are equal.
    pub fn best_match<T>(
        &self,
        item: &Item,
        compare: impl Fn(&str) -> T,
        score: impl Fn(&T) -> f64,
    ) -> Result<BestMatch<T>, EvalError> {
        let texts = self.texts(item)?;
        let of = texts.len();
        let compared = texts.iter().enumerate().map(|(index, text)| BestMatch {
            result: compare(text),
            index,
            count: of,
        });
        let better = |best: BestMatch<T>, next: BestMatch<T>| {
            if score(&next.result) > score(&best.result) { next } else { best }
        };
        Ok(compared.reduce(better).expect("there is at least one reference"))
    }
}

impl<T> BestMatch<T> {
    /// Stores the index of the reference, if there are several.
    pub fn with_reference_index(&self, score: Score) -> Score {
        if self.count > 1 { score.metadata("reference", self.index) } else { score }
    }
}

/// The elements of a list, or the value itself, as templates render them. A list may be empty.
pub fn reference_texts<'v>(field: &ItemField, item: &'v Item) -> Result<Vec<Cow<'v, str>>, EvalError> {
    let value = field.resolve(item)?;
    let Value::Array(elements) = value else { return Ok(vec![to_text(value)]) };
    if let Some(index) = elements.iter().position(Value::is_null) {
        return Err(EvalError::new(format!("the item's `{}[{index}]` is null; write a text", field.name())));
    }
    Ok(elements.iter().map(to_text).collect())
}

/// A requirement on outputs.
#[derive(Debug)]
pub enum Requirement<'o, T> {
    /// Per item, in this field.
    InItem(&'o ItemField),
    /// The same for all items.
    Given(T),
}

impl<T> Requirement<'_, T> {
    /// Reads the field in all items that have it, to find mistakes before the run.
    pub fn check_items<R>(
        &self,
        setup: &Setup,
        read: impl Fn(&ItemField, &Item) -> Result<R, EvalError>,
    ) -> Result<(), CheckError> {
        let Self::InItem(field) = self else { return Ok(()) };
        field.check(setup)?;
        let with_field = setup.items().enumerate().filter(|(_, item)| field.resolve(item).is_ok());
        for (index, item) in with_field {
            if let Err(problem) = read(field, &item) {
                let key = setup.dataset.case_names().get(index);
                return Err(CheckError::new(format!("item `{key}`: {problem}")));
            }
        }
        Ok(())
    }
}

/// The text of an item's field.
pub fn required_text<'v>(field: &ItemField, item: &'v Item) -> Result<&'v str, EvalError> {
    match field.resolve(item)? {
        Value::String(text) => Ok(text),
        other => Err(EvalError::new(format!(
            "the item's `{}` is {}; expected text",
            field.name(),
            super::truncated(&other.to_string())
        ))),
    }
}

/// Which value of an overlap is the score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The harmonic mean of precision and recall.
    #[default]
    F1,
    /// The share of the output that is in the reference.
    Precision,
    /// The share of the reference that is in the output.
    Recall,
}

named_choices! {
    /// Which value of an overlap is the score.
    MeasureName(Measure), "measure", "measures": "f1" => F1, "precision" => Precision, "recall" => Recall;
}

impl Measure {
    /// The selected value.
    pub fn value(self, overlap: &Overlap) -> f64 {
        match self {
            Self::F1 => overlap.f1,
            Self::Precision => overlap.precision,
            Self::Recall => overlap.recall,
        }
    }

    /// The selected value as a score, with all three in the metadata.
    pub fn score(self, overlap: &Overlap) -> Score {
        let Overlap { precision, recall, f1 } = *overlap;
        let value = self.value(overlap).clamp(0.0, 1.0);
        let score = Score::new(value);
        let score = if value < 1.0 {
            let figures = [precision, recall, f1].map(format_share);
            score.reason(format!("precision {}, recall {}, F1 {}", figures[0], figures[1], figures[2]))
        } else {
            score
        };
        score.metadata("precision", precision).metadata("recall", recall).metadata("f1", f1)
    }
}
