//! `GEval`: a plain criterion becomes evaluation steps, and these a rating from 1 to 5.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use cobalt_core::wording::{count, decimal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::asking::answer;
use super::asking::answer_schema::{list_of, object, string};
use super::asking::model_setters::{JudgeOptions, asking_evaluator, judge_setters, with_fields};
use super::asking::source::{self, Need, Texts, unfilled};
use super::context::Remap;
use super::options::{Options, fingerprint, mark};
use super::{CheckError, EvalContext, EvalError, Evaluator, Score, Setup};
use crate::llm::{Asking, ModelChoice, Schema};
use crate::settings::{self, Count, Word, at_least_one};
use crate::threads::join_all;

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
#[derive(Clone)]
pub struct GEval {
    options: GEvalOptions,
    judge: JudgeOptions,
    texts: Texts,
    written: Written,
}

fingerprint! {
    GEval as "GEval", it: name = it.options.name, criterion = it.options.criterion.0, steps = it.options.steps(),
    samples = it.options.samples(), texts = it.texts, choice = it.judge.choice(), remap = it.options.remap,
    pass_mark = mark(it.options.pass_mark)
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
    #[serde(skip)]
    remap: Option<Remap>,
}

fn type_name() -> String {
    "g-eval".to_owned()
}

impl Options for GEvalOptions {
    type Shared = JudgeOptions;

    fn make(mut self, judge: JudgeOptions) -> Result<Arc<dyn Evaluator>, String> {
        let mut texts = Texts::new(&SHOWN);
        if let Some(inputs) = self.inputs.take() {
            texts.show_only(inputs.into_iter().map(|Word(input)| input));
        }
        let texts = with_fields(texts, mem::take(&mut self.fields));
        Ok(Arc::new(GEval { options: self, judge, texts, written: Written::default() }))
    }
}

/// What the judge sees unless it is said otherwise.
const SHOWN: [(&str, Need); 3] =
    [("input", Need::IfThere), ("expected", Need::IfThere), ("output", Need::Always)];

impl GEvalOptions {
    fn steps(&self) -> Option<Vec<&str>> {
        Some(self.steps.as_ref()?.iter().map(|Word(step)| &**step).collect())
    }

    fn samples(&self) -> u32 {
        self.samples.map_or(1, Count::to_u32)
    }
}

impl GEval {
    /// Rates the output by `criterion`.
    pub fn new(name: impl Into<String>, criterion: impl Into<String>) -> Self {
        let options = GEvalOptions {
            name: name.into(),
            criterion: Word(criterion.into()),
            steps: None,
            samples: None,
            inputs: None,
            fields: BTreeMap::new(),
            pass_mark: None,
            remap: None,
        };
        let (judge, texts) = (JudgeOptions::default(), Texts::new(&SHOWN));
        Self { options, judge, texts, written: Written::default() }
    }

    /// The evaluation steps, at least one, instead of those that a model writes. This saves a question, and every run
    /// rates by the same steps, whatever is in the cache.
    #[must_use]
    pub fn steps<S: Into<String>>(mut self, steps: impl IntoIterator<Item = S>) -> Self {
        self.options.steps = Some(steps.into_iter().map(|step| Word(step.into())).collect());
        self
    }

    /// How many answers are asked for, 1 unless it is set: the score is their mean. They differ only at a
    /// [`temperature`](Self::temperature) above 0; the paper takes 20 at a temperature of 1. Where one of them does not come
    /// there is no score.
    #[must_use]
    pub fn samples(mut self, answers: u32) -> Self {
        self.options.samples = Some(Count(answers as usize));
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
        let Word(criterion) = &self.options.criterion;
        if criterion.trim().is_empty() {
            return Some("the criterion is empty; say what makes an output good".to_owned());
        }
        if self.options.samples() == 0 {
            return Some(
                "`samples` is 0; it is the number of answers to take the mean of, at least 1".to_owned(),
            );
        }
        unfilled("the criterion", criterion)
            .or_else(|| problem_of(&self.options.steps()?))
            .or_else(|| self.texts.problem())
            .or_else(|| self.judge.choice().problem())
    }

    async fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        if let Some(problem) = self.problem() {
            return Err(EvalError::new(problem));
        }
        let asking = cx.models()?;
        let cx = &Remap::seen(self.options.remap.as_ref(), cx);
        let texts = self.texts.find(cx)?;
        let (choice, Word(criterion)) = (self.judge.choice(), &self.options.criterion);
        let steps = match self.options.steps() {
            Some(given) => given,
            None => self.written.find(&asking, &choice, criterion, &self.texts).await?,
        };
        let prompt = prompt(criterion, &steps, &texts);
        let ratings = ask(&asking, &choice, &prompt, self.options.samples()).await?;
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

asking_evaluator!(GEval, it: &it.options.name);

const LOWEST: u8 = 1;
const HIGHEST: u8 = 5;

const RATING_TASK: &str = "\
Rate the output of an AI agent by the criterion below, and by nothing else. The other texts help to rate it, and are not rated \
themselves. Go through the steps one by one, and then fill in the form: first `reason`, one to three sentences that name what \
decided; then `score`, a whole number from 1 (the criterion is not met at all) to 5 (it is met in full).";

/// A rating, and why.
#[derive(Debug)]
pub struct Rating {
    rating: u8,
    reason: Option<String>,
}

/// The question for one output.
pub fn prompt(criterion: &str, steps: &[&str], texts: &[(&str, String)]) -> String {
    let steps: Vec<_> =
        steps.iter().enumerate().map(|(index, step)| format!("{}. {step}", index + 1)).collect();
    let task = format!("{RATING_TASK}\n\nThe criterion: {criterion}\n\nThe steps:\n{}", steps.join("\n"));
    let texts: Vec<_> = texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
    source::prompt(&task, &texts)
}

/// Asks for so many ratings, side by side.
pub async fn ask(
    asking: &Asking,
    model: &ModelChoice,
    prompt: &str,
    samples: u32,
) -> Result<Vec<Rating>, EvalError> {
    let asked = (0..samples).map(|which| -> Pin<Box<dyn Future<Output = _> + Send>> {
        Box::pin(source::ask(asking, model, prompt.to_owned(), schema(), which, read_rating))
    });
    join_all(asked.collect()).await.into_iter().collect()
}

fn schema() -> Schema {
    let ratings: Vec<_> = (LOWEST..=HIGHEST).collect();
    let rating = json!({ "type": "integer", "enum": ratings, "description": "the rating" });
    Schema { name: "rating", schema: object(&[("reason", string("what decided")), ("score", rating)]) }
}

fn read_rating(answer: &Map<String, Value>) -> Result<Rating, String> {
    let score = answer::field(answer, "score")?;
    let rating = (LOWEST..=HIGHEST).find(|rating| score.as_f64() == Some(f64::from(*rating)));
    let rating = rating.ok_or_else(|| {
        let score = answer::shown(score);
        format!("`score` is {score}; it must be a whole number from {LOWEST} to {HIGHEST}")
    })?;
    Ok(Rating { rating, reason: answer::reasons(answer, "reason") })
}

/// The mean of at least one rating, brought to 0..=1.
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
            let (mean, answers) = (decimal(mean, 2), count(ratings.len(), "answer"));
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

/// What is wrong with evaluation steps that are given.
fn problem_of(steps: &[&str]) -> Option<String> {
    if steps.is_empty() {
        return Some("there are no steps; write at least one, or leave `steps` out".to_owned());
    }
    if let Some(index) = steps.iter().position(|step| step.trim().is_empty()) {
        return Some(format!("step {} is empty", index + 1));
    }
    steps.iter().enumerate().find_map(|(index, step)| unfilled(&format!("step {}", index + 1), step))
}

/// The evaluation steps that a model wrote: all outputs are rated by the same ones, with or without a cache.
#[derive(Default)]
struct Written(OnceLock<Vec<String>>);

impl Written {
    /// Those that a model has written or now writes for the criterion.
    async fn find(
        &self,
        asking: &Asking,
        model: &ModelChoice,
        criterion: &str,
        texts: &Texts,
    ) -> Result<Vec<&str>, EvalError> {
        if let Some(written) = self.0.get() {
            return Ok(written.iter().map(String::as_str).collect());
        }
        // Items that ask side by side share one request, and its failure: were they to wait for each other, each would fail
        // anew after the one before.
        let written = write(asking, model, criterion, texts).await;
        let written = written.map_err(|error| EvalError::new(format!("no evaluation steps: {error}")))?;
        Ok(self.0.get_or_init(|| written).iter().map(String::as_str).collect())
    }
}

async fn write(
    asking: &Asking,
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
    source::ask(asking, model, prompt, schema, 0, read_steps).await
}

fn read_steps(answer: &Map<String, Value>) -> Result<Vec<String>, String> {
    let steps = answer::texts(answer, "steps")?;
    let steps: Vec<_> = steps.iter().map(|step| step.trim().to_owned()).collect();
    match steps.is_empty() || steps.iter().any(String::is_empty) {
        true => Err("`steps` must hold at least one step, and none that is empty".to_owned()),
        false => Ok(steps),
    }
}

/// Steps are written anew: those of another model or criterion would not be the same.
impl Clone for Written {
    fn clone(&self) -> Self {
        Self::default()
    }
}
