//! `GEval`: rates outputs from 1 to 5 by a plain criterion and evaluation steps.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;

use cobalt_core::wording::{count, format_decimal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::context::Remap;
use super::judge_support::inputs::{self, Need, Texts, template_error};
use super::judge_support::model_setters::{
    JudgeOptions, apply_field_paths, impl_judge_evaluator, judge_setters,
};
use super::judge_support::response;
use super::judge_support::response_schema::{list_of, object, string};
use super::options::{Options, fingerprint, pass_mark_or_default};
use super::{CheckError, EvalContext, EvalError, Evaluator, Score, Setup};
use crate::llm::{LlmHandle, ModelChoice, Question, Schema};
use crate::settings::{self, NonEmptyString, PositiveInt, non_empty_list};
use crate::thread_pool::join_all;

/// Rates the output by a plain criterion, following G-Eval (Liu et al., 2023, <https://arxiv.org/abs/2303.16634>).
///
/// A model first writes evaluation steps from the criterion, once for all items, unless [`steps`](Self::steps) are set. It then
/// returns a reason and a rating from 1 to 5 by these steps. The score is `(rating - 1) / 4`, from 0 to 1. The paper weights
/// ratings by their token probabilities or, if a model does not return them, takes the mean of several responses, as
/// [`samples`](Self::samples) does.
///
/// The judge sees the `output` and, if present, the item's `input` and `expected` (its `expectedOutput`, else its `expected`);
/// [`field`](Self::field) and [`inputs`](Self::inputs) change that.
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
#[derive(Clone)]
pub struct GEval {
    options: GEvalOptions,
    judge: JudgeOptions,
    texts: Texts,
}

fingerprint! {
    GEval as "GEval", it: name = it.options.name, criterion = it.options.criterion.0, steps = it.options.steps(),
    samples = it.options.samples(), texts = it.texts, choice = it.judge.choice(), remap = it.options.remap,
    pass_mark = pass_mark_or_default(it.options.pass_mark)
}

/// The keys of `type = "g-eval"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct GEvalOptions {
    /// Name in reports.
    #[serde(default = "type_name")]
    name: String,
    /// The criterion for a good output, in plain words.
    criterion: NonEmptyString,
    /// The evaluation steps. Default: a model writes them from the criterion.
    #[serde(default, deserialize_with = "non_empty_list")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    steps: Option<Vec<NonEmptyString>>,
    /// The number of responses to average. Default: 1.
    samples: Option<PositiveInt>,
    /// The inputs that the judge sees, such as "output". Default: "input" and "expected", if present, and "output".
    #[serde(default, deserialize_with = "non_empty_list")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    inputs: Option<Vec<NonEmptyString>>,
    /// The sources of inputs, each a path such as "output.answer" or "metadata.documents". Inputs with new names are
    /// added.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    fields: BTreeMap<String, NonEmptyString>,
    /// Minimum score for an output to pass. Default: 0.5.
    pass_mark: Option<settings::ScoreValue>,
    #[serde(skip)]
    remap: Option<Remap>,
}

fn type_name() -> String {
    "g-eval".to_owned()
}

impl Options for GEvalOptions {
    type Shared = JudgeOptions;

    fn make(mut self, judge: JudgeOptions) -> Result<Arc<dyn Evaluator>, String> {
        let mut texts = Texts::new(&DEFAULT_INPUTS);
        if let Some(inputs) = self.inputs.take() {
            texts.show_only(inputs.into_iter().map(|NonEmptyString(input)| input));
        }
        let texts = apply_field_paths(texts, mem::take(&mut self.fields));
        Ok(Arc::new(GEval { options: self, judge, texts }))
    }
}

/// The default inputs.
const DEFAULT_INPUTS: [(&str, Need); 3] =
    [("input", Need::IfThere), ("expected", Need::IfThere), ("output", Need::Always)];

impl GEvalOptions {
    fn steps(&self) -> Option<Vec<&str>> {
        Some(self.steps.as_ref()?.iter().map(|NonEmptyString(step)| &**step).collect())
    }

    fn samples(&self) -> u32 {
        self.samples.map_or(1, PositiveInt::to_u32)
    }
}

impl GEval {
    /// Creates an evaluator that rates the output by `criterion`.
    pub fn new(name: impl Into<String>, criterion: impl Into<String>) -> Self {
        let options = GEvalOptions {
            name: name.into(),
            criterion: NonEmptyString(criterion.into()),
            steps: None,
            samples: None,
            inputs: None,
            fields: BTreeMap::new(),
            pass_mark: None,
            remap: None,
        };
        let (judge, texts) = (JudgeOptions::default(), Texts::new(&DEFAULT_INPUTS));
        Self { options, judge, texts }
    }

    /// Sets the evaluation steps, at least one, instead of letting a model write them. This saves a call, and keeps the steps
    /// stable, independent of the cache.
    #[must_use]
    pub fn steps<S: Into<String>>(mut self, steps: impl IntoIterator<Item = S>) -> Self {
        self.options.steps = Some(steps.into_iter().map(|step| NonEmptyString(step.into())).collect());
        self
    }

    /// Sets the number of responses to average. Default: 1. They differ only at a [`temperature`](Self::temperature) above 0; the
    /// paper uses 20 at temperature 1. If one of them fails, there is no score.
    #[must_use]
    pub fn samples(mut self, answers: u32) -> Self {
        self.options.samples = Some(PositiveInt(answers as usize));
        self
    }

    /// Sets the inputs that the judge sees, all required: `output` is the agent's output, `trace` its steps (see
    /// [where the calls are](crate::calls#where-the-calls-are); else the outline of its [trace](crate::trace#judges)), `expected`
    /// the item's `expectedOutput` (else its `expected`), and any other the item's field of that name, unless
    /// [`field`](Self::field) maps it.
    #[must_use]
    pub fn inputs<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.texts.show_only(names.into_iter().map(Into::into));
        self
    }

    judge_setters!();

    /// Validates the settings alone, without items.
    fn problem(&self) -> Option<String> {
        let NonEmptyString(criterion) = &self.options.criterion;
        if criterion.trim().is_empty() {
            return Some("the criterion is empty; describe what makes an output good".to_owned());
        }
        if self.options.samples() == 0 {
            return Some("`samples` is 0; it must be at least 1".to_owned());
        }
        template_error("the criterion", criterion)
            .or_else(|| steps_problem(&self.options.steps()?))
            .or_else(|| self.texts.problem())
            .or_else(|| self.judge.choice().validation_error())
    }

    async fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        if let Some(problem) = self.problem() {
            return Err(EvalError::new(problem));
        }
        let asking = cx.llm()?;
        let cx = &Remap::apply(self.options.remap.as_ref(), cx);
        let texts = self.texts.resolve(cx)?;
        let (choice, NonEmptyString(criterion)) = (self.judge.choice(), &self.options.criterion);
        let generated;
        let steps = match self.options.steps() {
            Some(given) => given,
            None => {
                generated = generate_steps(&asking, &choice, criterion, &self.texts).await?;
                generated.iter().map(String::as_str).collect()
            }
        };
        let prompt = prompt(criterion, &steps, &texts);
        let ratings = request_ratings(&asking, &choice, &prompt, self.options.samples()).await?;
        Ok(mean_score(&ratings).metadata("steps", steps))
    }

    fn check_setup(&self, setup: &Setup) -> Result<(), CheckError> {
        if let Some(problem) = self.problem() {
            return Err(CheckError::new(problem));
        }
        if self.options.remap.is_none() {
            self.texts.check(setup)?;
        }
        setup.models.check_judge(&self.judge.choice())
    }
}

impl_judge_evaluator!(GEval, it: &it.options.name);

const LOWEST: u8 = 1;
const HIGHEST: u8 = 5;

const RATING_TASK: &str = "\
Rate the output of an AI agent by the criterion below, and by nothing else. The other texts help to rate it, and are not rated \
themselves. Go through the steps one by one, and then fill in the form: first `reason`, one to three sentences that name what \
decided; then `score`, a whole number from 1 (the criterion is not met at all) to 5 (it is met in full).";

/// A rating with its reason.
#[derive(Debug)]
pub struct Rating {
    rating: u8,
    reason: Option<String>,
}

/// Builds the prompt for one output.
pub fn prompt(criterion: &str, steps: &[&str], texts: &[(&str, String)]) -> String {
    let steps: Vec<_> =
        steps.iter().enumerate().map(|(index, step)| format!("{}. {step}", index + 1)).collect();
    let task = format!("{RATING_TASK}\n\nThe criterion: {criterion}\n\nThe steps:\n{}", steps.join("\n"));
    let texts: Vec<_> = texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
    inputs::prompt(&task, &texts)
}

/// Requests several ratings in parallel.
pub async fn request_ratings(
    asking: &LlmHandle,
    model: &ModelChoice,
    prompt: &str,
    samples: u32,
) -> Result<Vec<Rating>, EvalError> {
    let asked = (0..samples).map(|which| -> Pin<Box<dyn Future<Output = _> + Send>> {
        let question = Question { repetition: which, ..inputs::question(prompt.to_owned(), schema()) };
        Box::pin(async move { inputs::ask(asking, model, &question, read_rating).await })
    });
    join_all(asked.collect()).await.into_iter().collect()
}

fn schema() -> Schema {
    let ratings: Vec<_> = (LOWEST..=HIGHEST).collect();
    let rating = json!({ "type": "integer", "enum": ratings, "description": "the rating" });
    Schema { name: "rating", schema: object(&[("reason", string("what decided")), ("score", rating)]) }
}

fn read_rating(answer: &Map<String, Value>) -> Result<Rating, String> {
    let score = response::field(answer, "score")?;
    let rating = (LOWEST..=HIGHEST).find(|rating| score.as_f64() == Some(f64::from(*rating)));
    let rating = rating.ok_or_else(|| {
        let score = response::truncated_json(score);
        format!("`score` is {score}; it must be a whole number from {LOWEST} to {HIGHEST}")
    })?;
    Ok(Rating { rating, reason: response::optional_reasons(answer, "reason") })
}

/// The mean of at least one rating, scaled to 0..=1.
pub fn mean_score(ratings: &[Rating]) -> Score {
    let sum: f64 = ratings.iter().map(|rating| f64::from(rating.rating)).sum();
    let mean = sum / ratings.len() as f64;
    let value = (mean - f64::from(LOWEST)) / f64::from(HIGHEST - LOWEST);
    let with_reason = |what: String, reason: &Option<String>| match reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what,
    };
    let reason = match ratings {
        [Rating { rating, reason }] => with_reason(format!("rated {rating} of {HIGHEST}"), reason),
        ratings => {
            let each = ratings.iter().map(|rating| with_reason(rating.rating.to_string(), &rating.reason));
            let (mean, answers) = (format_decimal(mean, 2), count(ratings.len(), "answer"));
            format!(
                "rated {mean} of {HIGHEST}, the mean of {answers}; {}",
                each.collect::<Vec<_>>().join("; ")
            )
        }
    };
    let each = ratings.iter().map(|Rating { rating, reason }| json!({ "rating": rating, "reason": reason }));
    Score::new(value).reason(reason).metadata("rating", mean).metadata("ratings", each.collect::<Vec<_>>())
}

const STEPS_TASK: &str = "\
Outputs of an AI agent are to be rated by the criterion below, each by itself, from 1 (the criterion is not met at all) to 5 (it \
is met in full). An evaluator is given the texts that are named below and your steps. Write the steps by which it gets from these \
texts to the rating: what to look at, what to compare, what counts against the output and how much. Write three to eight steps, \
of one or two sentences each, that hold for any output; apply the criterion as it is written, and add no other. You are not \
shown the texts.";

/// Validates configured evaluation steps.
fn steps_problem(steps: &[&str]) -> Option<String> {
    if steps.is_empty() {
        return Some("`steps` is empty; add at least one step, or remove it".to_owned());
    }
    if let Some(index) = steps.iter().position(|step| step.trim().is_empty()) {
        return Some(format!("step {} is empty", index + 1));
    }
    steps.iter().enumerate().find_map(|(index, step)| template_error(&format!("step {}", index + 1), step))
}

/// The evaluation steps, written by a model. All outputs are rated by the same steps, with or without a cache, unless others are
/// recorded with an item.
async fn generate_steps(
    asking: &LlmHandle,
    model: &ModelChoice,
    criterion: &str,
    texts: &Texts,
) -> Result<Vec<String>, EvalError> {
    let names = texts.names().map(|(name, need)| match need {
        Need::Always => format!("`{name}`"),
        Need::IfThere => format!("`{name}`, where there is one"),
    });
    let names = names.collect::<Vec<_>>().join("; ");
    let prompt = format!("{STEPS_TASK}\n\nThe texts: {names}.\n\nThe criterion: {criterion}");
    let steps = list_of(&string("a step"), "the steps, in their order");
    let schema = Schema { name: "evaluation_steps", schema: object(&[("steps", steps)]) };
    // It has no texts of an item.
    let question = Question { is_shared: true, ..inputs::question(prompt, schema) };
    let steps = inputs::ask(asking, model, &question, read_steps).await;
    steps.map_err(|error| EvalError::new(format!("failed to get evaluation steps: {error}")))
}

fn read_steps(answer: &Map<String, Value>) -> Result<Vec<String>, String> {
    let steps = response::texts(answer, "steps")?;
    let steps: Vec<_> = steps.iter().map(|step| step.trim().to_owned()).collect();
    match steps.is_empty() || steps.iter().any(String::is_empty) {
        true => Err("`steps` must hold at least one step, and none that is empty".to_owned()),
        false => Ok(steps),
    }
}
