//! What all evaluators of text have in common: a name, the part of an output that they look at, and a pass mark.

use std::fmt::Debug;

use serde_json::Value;

use crate::dataset::Item;
use crate::evaluators::places::{AgentField, OUTPUT};
use crate::evaluators::remap::Remap;
use crate::evaluators::{CheckError, DEFAULT_PASS_MARK, EvalContext, EvalError, Score, Setup};

/// The settings that all of them have.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) name: String,
    pub(super) output: AgentField,
    pub(super) remap: Option<Remap>,
    pub(super) pass_mark: f64,
}

impl Common {
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), output: AgentField::new(OUTPUT), remap: None, pass_mark: DEFAULT_PASS_MARK }
    }
}

/// What makes one of them different from the others.
pub(super) trait TextEvaluator: Debug + Send + Sync + 'static {
    fn common(&self) -> &Common;

    /// Scores the part of an output that is looked at, which is not `null`.
    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError>;

    /// Says what is wrong with the settings by themselves.
    fn check_settings(&self) -> Result<(), CheckError> {
        Ok(())
    }

    /// Says what the items lack.
    fn check_items(&self, setup: &Setup) -> Result<(), CheckError>;

    /// Scores what there is to see of an execution.
    fn score_seen(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        let Common { remap, output, .. } = self.common();
        let remapped = remap.as_ref().map(|remap| remap.apply(cx));
        let cx = remapped.as_ref().unwrap_or(cx);
        self.score(cx.item(), output.find(cx)?)
    }

    /// All that can be said before the first item is run. What items lack that are exchanged later is not known yet.
    fn check_all(&self, setup: &Setup) -> Result<(), CheckError> {
        self.common().output.check()?;
        self.check_settings()?;
        match self.common().remap {
            None => self.check_items(setup),
            Some(_) => Ok(()),
        }
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
                self.common.remap = Some(crate::evaluators::remap::Remap::new(remap));
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
                Box::pin(async move { $crate::evaluators::text::common::TextEvaluator::score_seen(self, cx) })
            }

            fn pass_mark(&self) -> f64 {
                self.common.pass_mark
            }

            fn check(&self, setup: &crate::Setup) -> Result<(), crate::CheckError> {
                $crate::evaluators::text::common::TextEvaluator::check_all(self, setup)
            }
        }
    };
}

pub(super) use text_evaluator;
