//! `GEval`: a plain criterion becomes evaluation steps, and these a rating.

mod rating;
mod steps;
#[cfg(test)]
mod tests;

use std::time::Duration;

use steps::Steps;

use super::asking::model_setters::judge_setters;
use super::asking::tagged::unfilled;
use super::asking::texts::{Need, Texts};
use super::remap::Remap;
use super::{CheckError, DEFAULT_PASS_MARK, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use crate::llm::ModelChoice;

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
