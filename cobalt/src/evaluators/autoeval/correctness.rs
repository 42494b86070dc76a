//! `AnswerCorrectness`: factual agreement and similarity with the expected answer.

use std::pin::Pin;

use cobalt_core::wording::count;
use serde_json::{Map, Value};

use super::classify::Judge;
use crate::evaluators::judge_support::inputs::{Inputs, prompt};
use crate::evaluators::judge_support::response;
use crate::evaluators::judge_support::response_schema::{list_of, object, string};
use crate::evaluators::{EvalError, Score};
use crate::llm::Schema;
use crate::metrics::f_beta;
use crate::thread_pool::join_all;

/// The weights of factual agreement and similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    pub(super) factuality: f64,
    pub(super) similarity: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self { factuality: 0.75, similarity: 0.25 }
    }
}

impl Weights {
    pub fn problem(self) -> Option<&'static str> {
        let weights = [self.factuality, self.similarity];
        if weights.iter().any(|weight| !weight.is_finite() || *weight < 0.0) {
            return Some("a weight is negative or not a number");
        }
        weights
            .iter()
            .all(|weight| *weight == 0.0)
            .then_some("both weights are 0; at least one must be positive")
    }
}

/// The weighted mean of the F1 of the output's statements and the similarity of both texts.
pub async fn answer_correctness(
    judge: &Judge<'_>,
    inputs: &Inputs,
    weights: Weights,
) -> Result<Score, EvalError> {
    let (output, expected) = (inputs.text("output"), inputs.text("expected"));
    let similarity: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(async {
        if weights.similarity == 0.0 {
            return Ok(Part::Similarity(None));
        }
        judge.similarity(&output, &expected, 0.0).await.map(|found| Part::Similarity(Some(found)))
    });
    let factuality = Box::pin(async { Statements::classify(judge, inputs).await.map(Part::Statements) });
    let mut statements = Statements::default();
    let mut likeness = None;
    for part in join_all(vec![factuality, similarity]).await {
        match part? {
            Part::Statements(found) => statements = found,
            Part::Similarity(found) => likeness = found,
        }
    }
    let factuality = statements.f1();
    let Weights { factuality: f, similarity: s } = weights;
    let score = (f * factuality + s * likeness.unwrap_or_default()) / (f + s);
    let score = Score::new(score.clamp(0.0, 1.0)).reason(statements.in_words());
    let score = score.metadata("factualityScore", factuality);
    let score = match likeness {
        Some(likeness) => score.metadata("answerSimilarityScore", likeness),
        None => score,
    };
    let Statements { right, wrong, missing } = statements;
    Ok(score.metadata("TP", right).metadata("FP", wrong).metadata("FN", missing))
}

/// A part of the score.
enum Part {
    Statements(Statements),
    Similarity(Option<f64>),
}

/// The statements of output and expected text, by category.
#[derive(Default)]
struct Statements {
    right: Vec<String>,
    wrong: Vec<String>,
    missing: Vec<String>,
}

impl Statements {
    async fn classify(judge: &Judge<'_>, inputs: &Inputs) -> Result<Self, EvalError> {
        let task = "The output and the expected text both answer the input; the expected one is right. Take both apart into single \
                    statements and sort these: `TP`, statements of the output that the expected text supports; `FP`, statements of \
                    the output that it does not support; `FN`, statements of the expected text that the output lacks.";
        let texts = [inputs.text("input"), inputs.text("output"), inputs.text("expected")];
        let prompt = prompt(task, &[("input", &texts[0]), ("output", &texts[1]), ("expected", &texts[2])]);
        let statement = string("a statement");
        let schema = object(&[
            ("TP", list_of(&statement, "statements of the output that the expected text supports")),
            ("FP", list_of(&statement, "statements of the output that it does not support")),
            ("FN", list_of(&statement, "statements of the expected text that the output lacks")),
        ]);
        let read = |answer: &Map<String, Value>| {
            Ok(Self {
                right: response::texts(answer, "TP")?,
                wrong: response::texts(answer, "FP")?,
                missing: response::texts(answer, "FN")?,
            })
        };
        judge.ask(prompt, Schema { name: "answer_correctness", schema }, 0, read).await
    }

    fn f1(&self) -> f64 {
        f_beta(self.right.len(), self.wrong.len(), self.missing.len(), 1.0)
    }

    fn in_words(&self) -> String {
        let Self { right, wrong, missing } = self;
        format!(
            "{} correct, {} not supported, {} missing",
            count(right.len(), "statement"),
            wrong.len(),
            missing.len()
        )
    }
}
