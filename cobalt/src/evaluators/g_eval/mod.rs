//! `GEval`: a plain criterion becomes evaluation steps, and these a rating.

mod rating;
mod steps;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use steps::Steps;

use super::asking::model_setters::{JudgeOptions, judge_setters, with_fields};
use super::asking::tagged::unfilled;
use super::options::Options;
use super::{CheckError, DEFAULT_PASS_MARK, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use crate::evaluators::asking::source::{Need, Texts};
use crate::evaluators::context::Remap;
use crate::llm::ModelChoice;
use crate::settings::{self, Count, Word, at_least_one};

/// Rates the output by a plain criterion, as G-Eval does (Liu et al., 2023, <https://arxiv.org/abs/2303.16634>).
///
/// First a model writes evaluation steps from the criterion, once for all items, unless [`steps`](Self::steps) are given.
/// By these it fills in a form, with its reason and a rating from 1 to 5, which becomes a score from 0 to 1:
/// `(rating - 1) / 4`. The paper weights the ratings by the probabilities of their tokens, or, where a model does not tell these,
/// takes the mean of several answers: so does [`samples`](Self::samples).
///
/// The judge sees the `output`, and the item's `input` and what is `expected` (its `expectedOutput`, else its `expected`)
/// where it has them; [`field`](Self::field) and [`inputs`](Self::inputs) change that.
///
/// ```
/// use cobalt::GEval;
///
/// let coherent = GEval::new("coherent", "The answer hangs together: each sentence follows from the one before.");
/// let grounded = GEval::new("grounded", "The answer says nothing that the documents do not.")
///     .inputs(["documents", "output"])
///     .field("documents", "metadata.documents")
///     .steps(["List what the output states.", "Look for each statement in the documents.", "Rate by the share found."])
///     .samples(5)
///     .temperature(1.0);
/// ```
#[derive(Clone, Debug)]
pub struct GEval {
    name: String,
    criterion: String,
    steps: Steps,
    samples: u32,
    texts: Texts,
    choice: ModelChoice,
    remap: Option<Remap>,
    pass_mark: f64,
}

/// The keys of `type = "g-eval"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct GEvalOptions {
    /// The name in reports.
    #[serde(default = "type_name")]
    name: String,
    /// What makes an output good, in plain words.
    criterion: Word,
    /// The evaluation steps; a model writes them from the criterion unless they are set.
    #[serde(default, deserialize_with = "at_least_one")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    steps: Option<Vec<Word>>,
    /// How many answers the score is the mean of; 1 unless it is set.
    samples: Option<Count>,
    /// The texts that the judge sees, such as "output"; "input", "expected" and "output" as far as they are there unless it is
    /// set.
    #[serde(default, deserialize_with = "at_least_one")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    inputs: Option<Vec<Word>>,
    /// Where texts come from, each by a path such as "output.answer" or "metadata.documents"; one of a new name is shown as
    /// well.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    fields: BTreeMap<String, Word>,
    /// From which score an output passes; 0.5 unless it is set.
    pass_mark: Option<settings::Score>,
}

fn type_name() -> String {
    "g-eval".to_owned()
}

impl Options for GEvalOptions {
    type Shared = JudgeOptions;

    fn make(self, judge: JudgeOptions) -> Result<Arc<dyn Evaluator>, String> {
        let usual = GEval::new(self.name, self.criterion.0);
        let words = |words: Vec<Word>| words.into_iter().map(|Word(text)| text);
        let mut texts = usual.texts;
        if let Some(inputs) = self.inputs {
            texts.show_only(words(inputs));
        }
        Ok(Arc::new(GEval {
            steps: self.steps.map_or(usual.steps, |steps| Steps::given(words(steps).collect())),
            samples: self.samples.map_or(usual.samples, Count::to_u32),
            texts: with_fields(texts, self.fields),
            choice: judge.into(),
            pass_mark: self.pass_mark.map_or(usual.pass_mark, |settings::Score(mark)| mark),
            ..usual
        }))
    }
}

impl GEval {
    /// Rates the output by `criterion`.
    pub fn new(name: impl Into<String>, criterion: impl Into<String>) -> Self {
        let shown = [("input", Need::IfThere), ("expected", Need::IfThere), ("output", Need::Always)];
        Self {
            name: name.into(),
            criterion: criterion.into(),
            steps: Steps::default(),
            samples: 1,
            texts: Texts::new(&shown),
            choice: ModelChoice::default(),
            remap: None,
            pass_mark: DEFAULT_PASS_MARK,
        }
    }

    /// The evaluation steps, at least one, instead of those that a model writes. This saves a question, and every run
    /// rates by the same steps, whatever is in the cache.
    #[must_use]
    pub fn steps<S: Into<String>>(mut self, steps: impl IntoIterator<Item = S>) -> Self {
        self.steps = Steps::given(steps.into_iter().map(Into::into).collect());
        self
    }

    /// How many answers are asked for, 1 unless it is set: the score is their mean. They differ only at a
    /// [`temperature`](Self::temperature) above 0; the paper takes 20 at a temperature of 1. Where one of them does not come
    /// there is no score.
    #[must_use]
    pub fn samples(mut self, answers: u32) -> Self {
        self.samples = answers;
        self
    }

    /// Shows the judge these texts and no others. Each has to be there: `output` is the agent's, `trace` what it did on the
    /// way (see [where calls are](crate::calls#where-the-calls-are)), `expected` the item's `expectedOutput` (else its
    /// `expected`), any other the item's field of that name, unless [`field`](Self::field) says otherwise.
    #[must_use]
    pub fn inputs<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.texts.show_only(names.into_iter().map(Into::into));
        self
    }

    judge_setters!();

    /// What is wrong with the settings by themselves.
    fn problem(&self) -> Option<String> {
        if self.criterion.trim().is_empty() {
            return Some("the criterion is empty; say what makes an output good".to_owned());
        }
        if self.samples == 0 {
            return Some(
                "`samples` is 0; it is the number of answers to take the mean of, at least 1".to_owned(),
            );
        }
        unfilled("the criterion", &self.criterion)
            .or_else(|| self.steps.problem())
            .or_else(|| self.texts.problem())
            .or_else(|| self.choice.problem())
    }

    async fn rate(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        if let Some(problem) = self.problem() {
            return Err(EvalError::new(problem));
        }
        let asking = cx.models()?;
        let remapped = self.remap.as_ref().map(|remap| remap.apply(cx));
        let texts = self.texts.find(remapped.as_ref().unwrap_or(cx))?;
        let steps = self.steps.find(&asking, &self.choice, &self.criterion, &self.texts).await?;
        let prompt = rating::prompt(&self.criterion, steps, &texts);
        let ratings = rating::ask(&asking, &self.choice, &prompt, self.samples).await?;
        Ok(rating::score(&ratings).metadata("steps", steps))
    }
}

impl Evaluator for GEval {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(self.rate(cx))
    }

    fn pass_mark(&self) -> f64 {
        self.pass_mark
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        self.problem().map_or(Ok(()), |problem| Err(CheckError::new(problem)))?;
        if self.remap.is_none() {
            self.texts.check(setup)?;
        }
        setup.models.check_judge(&self.choice)
    }

    /// Requests to models have time limits of their own.
    fn time_limit(&self, _: Duration) -> Option<Duration> {
        None
    }
}
