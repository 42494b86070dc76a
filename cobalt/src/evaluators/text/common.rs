//! What all evaluators of text have in common: a name, the part of an output that they look at, and a pass mark.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dataset::Item;
use crate::evaluators::context::Remap;
use crate::evaluators::places::{AgentField, ItemField, OUTPUT};
use crate::evaluators::{CheckError, DEFAULT_PASS_MARK, EvalContext, EvalError, LARGE, Score, Setup};
use crate::settings;
use crate::settings::Word;
use crate::threads;

/// The settings that all of them have.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) name: String,
    pub(super) output: AgentField,
    pub(super) remap: Option<Remap>,
    pub(super) pass_mark: f64,
}

/// The keys that the tables of all of them have.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TextOptions {
    /// The name in reports; that of the type unless it is set.
    name: Option<Word>,
    /// The part of what the agent gave to look at, a path such as "output.answer" or "metadata.answer"; "output"
    /// unless it is set.
    output: Option<AgentField>,
    /// From which score an output passes; 0.5 unless it is set.
    pass_mark: Option<settings::Score>,
}

impl Common {
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), output: AgentField::new(OUTPUT), remap: None, pass_mark: DEFAULT_PASS_MARK }
    }
}

impl TextOptions {
    /// The settings, with this name unless another is written.
    pub(super) fn common(self, name: &str) -> Common {
        let usual = Common::new(self.name.map_or_else(|| name.to_owned(), |Word(name)| name));
        Common {
            output: self.output.unwrap_or(usual.output),
            pass_mark: self.pass_mark.map_or(usual.pass_mark, |settings::Score(mark)| mark),
            ..usual
        }
    }
}

/// What makes one of them different from the others.
pub(super) trait TextEvaluator: Clone + Send + Sync + 'static {
    fn common(&self) -> &Common;

    /// The field of the item that is looked at, unless all items are asked the same.
    fn field(&self) -> Option<&ItemField>;

    /// Scores the part of an output that is looked at, which is not `null`.
    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError>;

    /// Says what is wrong with the settings by themselves.
    fn check_settings(&self) -> Result<(), CheckError> {
        Ok(())
    }

    /// Says what the items lack.
    fn check_items(&self, setup: &Setup) -> Result<(), CheckError> {
        self.field().map_or(Ok(()), |field| field.check(setup))
    }
}

/// Scores what there is to see of an execution, aside where texts are so long that it may take a while.
pub(super) async fn evaluate<E: TextEvaluator>(evaluator: &E, cx: &EvalContext) -> Result<Score, EvalError> {
    let remap = evaluator.common().remap.as_ref();
    let seen = remap.map_or_else(|| cx.clone(), |remap| remap.apply(cx));
    let looked_at = evaluator.field().and_then(|field| field.find(seen.item()).ok());
    if looked_at.map_or(0, size) + size(seen.output()) <= LARGE {
        return score(evaluator, &seen);
    }
    let evaluator = evaluator.clone();
    let score = threads::run(move || score(&evaluator, &seen)).await;
    score.map_err(|error| EvalError::new(error.to_string()))?
}

fn score<E: TextEvaluator>(evaluator: &E, seen: &EvalContext) -> Result<Score, EvalError> {
    evaluator.score(seen.item(), evaluator.common().output.find(seen)?)
}

/// About how many bytes of text a value has.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(size).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + size(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

/// Says all that can be said before the first item is run. What items lack that are exchanged later is not known yet.
pub(super) fn check<E: TextEvaluator>(evaluator: &E, setup: &Setup) -> Result<(), CheckError> {
    evaluator.common().output.check()?;
    evaluator.check_settings()?;
    match evaluator.common().remap {
        None => evaluator.check_items(setup),
        Some(_) => Ok(()),
    }
}

/// Makes an evaluator of a [`TextEvaluator`] with the field `common`, and adds the setters for it.
macro_rules! text_evaluator {
    ($type:ident) => {
        impl $type {
            /// Looks at a part of what the agent gave, by a path such as `output.answer`, `output.parts[0].text` or
            /// `metadata.summary`: at the whole `output` unless it is set. A part that is missing or `null` is an
            /// error, not a score.
            #[must_use]
            pub fn output(mut self, path: impl AsRef<str>) -> Self {
                self.common.output = crate::evaluators::places::AgentField::new(path.as_ref());
                self
            }

            /// Changes what is looked at, for example another output or item.
            #[must_use]
            pub fn context(
                mut self,
                remap: impl Fn(&crate::EvalContext) -> crate::EvalContext + Send + Sync + 'static,
            ) -> Self {
                self.common.remap = Some(crate::evaluators::context::Remap::new(remap));
                self
            }

            /// From which score an output passes: 0.5 unless it is set.
            #[must_use]
            pub fn pass_mark(mut self, mark: f64) -> Self {
                self.common.pass_mark = mark;
                self
            }
        }

        impl crate::Evaluator for $type {
            fn name(&self) -> &str {
                &self.common.name
            }

            fn evaluate<'a>(&'a self, cx: &'a crate::EvalContext) -> crate::Evaluation<'a> {
                Box::pin(super::common::evaluate(self, cx))
            }

            fn pass_mark(&self) -> f64 {
                self.common.pass_mark
            }

            fn check(&self, setup: &crate::Setup) -> Result<(), crate::CheckError> {
                super::common::check(self, setup)
            }
        }
    };
}

pub(super) use text_evaluator;
