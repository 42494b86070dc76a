//! The steps by which an output is rated: given, or written by a model, once for all outputs.

use std::fmt;
use std::sync::OnceLock;

use serde_json::{Map, Value};

use crate::evaluators::EvalError;
use crate::evaluators::asking::answer;
use crate::evaluators::asking::answer_schema::{list_of, object, string};
use crate::evaluators::asking::source::{Need, Texts};
use crate::evaluators::asking::tagged::{self, unfilled};
use crate::llm::{Asking, ModelChoice, Schema};

const TASK: &str = "\
Outputs of an AI agent are to be rated by the criterion below, each by itself, from 1 (the criterion is not met at all) to 5 (it \
is met in full). An evaluator is given the texts that are named below and your steps. Write the steps by which it gets from these \
texts to the rating: what to look at, what to compare, what counts against the output and how much. Write three to eight steps, \
of one or two sentences each, that hold for any output; apply the criterion as it is written, and add no other. You are not \
shown the texts.";

/// Evaluation steps.
#[derive(Default)]
pub(super) struct Steps {
    given: Option<Vec<String>>,
    /// Those that a model wrote: all outputs are rated by the same ones, with or without a cache.
    written: OnceLock<Vec<String>>,
}

impl Steps {
    pub(super) fn given(steps: Vec<String>) -> Self {
        Self { given: Some(steps), ..Self::default() }
    }

    /// What is wrong with the given ones.
    pub(super) fn problem(&self) -> Option<String> {
        let steps = self.given.as_ref()?;
        if steps.is_empty() {
            return Some("there are no steps; write at least one, or leave `steps` out".to_owned());
        }
        if let Some(index) = steps.iter().position(|step| step.trim().is_empty()) {
            return Some(format!("step {} is empty", index + 1));
        }
        let number = |(index, step): (usize, &String)| unfilled(&format!("step {}", index + 1), step);
        steps.iter().enumerate().find_map(number)
    }

    /// The given ones, or those that a model has written or now writes for the criterion.
    pub(super) async fn find(
        &self,
        asking: &Asking,
        model: &ModelChoice,
        criterion: &str,
        texts: &Texts,
    ) -> Result<&[String], EvalError> {
        if let Some(given) = &self.given {
            return Ok(given);
        }
        if let Some(written) = self.written.get() {
            return Ok(written);
        }
        // Items that ask side by side share one request, and its failure: were they to wait for each other, each would fail
        // anew after the one before.
        let written = write(asking, model, criterion, texts).await;
        let written = written.map_err(|error| EvalError::new(format!("no evaluation steps: {error}")))?;
        Ok(self.written.get_or_init(|| written))
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
    let prompt = format!("{TASK}\n\nThe texts: {names}.\n\nThe criterion: {criterion}");
    let steps = list_of(&string("a step"), "the steps, in their order");
    let schema = Schema { name: "evaluation_steps", schema: object(&[("steps", steps)]) };
    tagged::ask(asking, model, prompt, schema, 0, read).await
}

fn read(answer: &Map<String, Value>) -> Result<Vec<String>, String> {
    let steps = answer::texts(answer, "steps")?;
    let steps: Vec<_> = steps.iter().map(|step| step.trim().to_owned()).collect();
    match steps.is_empty() || steps.iter().any(String::is_empty) {
        true => Err("`steps` must hold at least one step, and none that is empty".to_owned()),
        false => Ok(steps),
    }
}

/// Whose steps are written anew: those of another model or criterion would not be the same.
impl Clone for Steps {
    fn clone(&self) -> Self {
        Self { given: self.given.clone(), ..Self::default() }
    }
}

/// Without what was written, which is no setting: fingerprints are made of this.
impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.given.fmt(f)
    }
}
