//! `Pairwise`: the output against another answer to the same input, in both orders.

mod comparison;
#[cfg(test)]
mod tests;

use std::time::Duration;

use comparison::Sides;

use super::asking::model_setters::judge_setters;
use super::asking::source::input_text;
use super::asking::tagged::unfilled;
use super::asking::texts::{Need, Texts};
use super::places::{ItemField, OUTPUT};
use super::remap::Remap;
use super::{CheckError, DEFAULT_PASS_MARK, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use crate::llm::ModelChoice;

const CRITERION: &str = "The better answer does more fully and more correctly what the input asks for.";

/// Lets a model decide whether the output or a field of the item, such as an earlier answer or another system's, is the
/// better answer to the item's `input`.
///
/// Judges tend to prefer the answer that they read first, or second. So the model is asked in both orders, and only who wins in
/// both has won (Zheng et al., 2023, <https://arxiv.org/abs/2306.05685>): 1 where the output does, 0 where the other answer
/// does, and 0.5, a tie, where the orders disagree or a tie is declared in one of them. Texts that are the same
/// are a tie without a question. The verdict of each order is kept in the metadata as `orders`.
///
/// Where one of the two questions finds no answer there is no score.
///
/// ```
/// use cobalt::Pairwise;
///
/// let better = Pairwise::new("better than before", "previousAnswer");
/// let kinder = Pairwise::new("kinder", "answers.other")
///     .criterion("The better answer is the one that a disappointed customer would rather get.")
///     .field("input", "question.text");
/// ```
#[derive(Clone, Debug)]
pub struct Pairwise {
    name: String,
    field: ItemField,
    criterion: String,
    texts: Texts,
    choice: ModelChoice,
    remap: Option<Remap>,
    pass_mark: f64,
}

impl Pairwise {
    /// Compares the output with the item's `field`, which may be a path such as `answers[0].text`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self {
            name: name.into(),
            field: ItemField::new(field.as_ref()),
            criterion: CRITERION.to_owned(),
            texts: Texts::new(&[("input", Need::Always), (OUTPUT, Need::Always)]),
            choice: ModelChoice::default(),
            remap: None,
            pass_mark: DEFAULT_PASS_MARK,
        }
    }

    /// By what one answer is better than another: by how fully and correctly it does what the input asks for, unless it is
    /// set.
    #[must_use]
    pub fn criterion(mut self, criterion: impl Into<String>) -> Self {
        self.criterion = criterion.into();
        self
    }

    judge_setters!();

    /// What is wrong with the settings by themselves.
    fn problem(&self) -> Option<String> {
        if self.criterion.trim().is_empty() {
            return Some(
                "the criterion is empty; say what makes an answer better, or leave it out".to_owned(),
            );
        }
        if let Some((name, _)) = self.texts.names().find(|(name, _)| Sides::TAGS.contains(name)) {
            return Some(format!(
                "`{name}` is what one of the answers is called; give the text another name"
            ));
        }
        unfilled("the criterion", &self.criterion)
            .or_else(|| self.texts.problem())
            .or_else(|| self.choice.problem())
    }

    async fn compare(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        if let Some(problem) = self.problem() {
            return Err(EvalError::new(problem));
        }
        let asking = cx.models()?;
        let remapped = self.remap.as_ref().map(|remap| remap.apply(cx));
        let cx = remapped.as_ref().unwrap_or(cx);
        let other = input_text(self.field.name(), self.field.find(cx.item())?);
        let (outputs, texts): (Vec<_>, Vec<_>) =
            self.texts.find(cx)?.into_iter().partition(|(name, _)| *name == OUTPUT);
        // There is one: the output is always shown, and no name twice.
        let output = outputs.into_iter().map(|(_, output)| output).collect();
        let sides = Sides { criterion: &self.criterion, output, other, field: self.field.name(), texts };
        sides.compare(&asking, &self.choice).await
    }
}

impl Evaluator for Pairwise {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(self.compare(cx))
    }

    fn pass_mark(&self) -> f64 {
        self.pass_mark
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        self.problem().map_or(Ok(()), |problem| Err(CheckError::new(problem)))?;
        if self.remap.is_none() {
            let mut needed = self.texts.clone();
            needed.set_field("the other answer".to_owned(), self.field.name());
            needed.check(setup)?;
        }
        setup.models.check_judge(&self.choice)
    }

    /// Requests to models have time limits of their own.
    fn time_limit(&self, _: Duration) -> Option<Duration> {
        None
    }
}
