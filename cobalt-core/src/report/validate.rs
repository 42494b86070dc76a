//! Validates stored items: values that no version of this library writes are damage and are rejected.

use super::config::RunConfig;
use super::item::{Execution, ItemResult, ScoredEvaluation, Status};
use super::model::Report;

/// A problem with a stored item. The messages continue "item 3 is damaged:".
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ItemError {
    /// An invalid latency.
    #[error("its `latencyMs` is {0}, expected a finite number of at least 0")]
    Latency(f64),
    /// A score out of range.
    #[error("the score of `{evaluator}` is {score}, expected a number from 0 to 1")]
    Score {
        /// The evaluator's name.
        evaluator: String,
        /// The stored score.
        score: f64,
    },
    /// An invalid judge cost.
    #[error("the judge cost of `{evaluator}` is {cost}, expected a finite number of at least 0")]
    JudgeCost {
        /// The evaluator's name.
        evaluator: String,
        /// The stored cost in USD.
        cost: f64,
    },
    /// An evaluation with neither a score nor an error, or with both.
    #[error("`{evaluator}` must have either a score or an error")]
    Outcome {
        /// The evaluator's name.
        evaluator: String,
    },
    /// Evaluations are missing, or belong to other evaluators.
    #[error("its evaluators are [{}], expected [{}]", .found.join(", "), .expected.join(", "))]
    Evaluators {
        /// The item's evaluators.
        found: Vec<String>,
        /// The run's evaluators.
        expected: Vec<String>,
    },
    /// The wrong number of trials.
    #[error("it has {found} of {expected} trials")]
    Runs {
        /// The item's trials.
        found: usize,
        /// The run's trials per item.
        expected: usize,
    },
    /// The status contradicts the output and error.
    #[error("its status `{status}` does not match its output and error")]
    Status {
        /// The status, as stored.
        status: &'static str,
    },
    /// The item is marked as passed, but has an error.
    #[error("it is marked as passed, although it has an error")]
    Passed,
    /// `passed` contradicts the scores.
    #[error("its `passed` does not match its scores and pass marks")]
    PassedContradicts,
}

/// Checks an item written by this library in a run with these settings.
pub fn validate_item(item: &ItemResult, config: &RunConfig) -> Result<(), ItemError> {
    if item.runs.len() != config.runs {
        return Err(ItemError::Runs { found: item.runs.len(), expected: config.runs });
    }
    validate_values(item)?;
    item.runs.iter().try_for_each(|run| validate_execution(run, &config.evaluators))?;
    if item.passed && item.is_in_error() { Err(ItemError::Passed) } else { Ok(()) }
}

/// Checks the items of a report. In a file of the original tool, which has fewer guarantees, only value ranges are checked.
///
/// # Errors
///
/// The position of the first damaged item, and its problem.
pub fn validate_items(report: &Report) -> Result<(), (usize, ItemError)> {
    let mut items = report.items.iter().enumerate();
    items.try_for_each(|(place, item)| validate_stored_item(item, report).map_err(|problem| (place, problem)))
}

/// The same for an item of this report.
pub fn validate_stored_item(item: &ItemResult, report: &Report) -> Result<(), ItemError> {
    let is_original = report.schema == 0;
    if is_original { validate_values(item) } else { validate_item(item, &report.config) }
}

/// Checks value ranges.
fn validate_values(item: &ItemResult) -> Result<(), ItemError> {
    for run in &item.runs {
        let latencies =
            std::iter::once(run.latency_ms).chain(run.retried.iter().map(|attempt| attempt.latency_ms));
        if let Some(invalid) = { latencies }.find(|ms| !(ms.is_finite() && *ms >= 0.0)) {
            return Err(ItemError::Latency(invalid));
        }
        for (name, evaluation) in run.evaluations.iter() {
            let evaluator = || name.to_owned();
            if let Some(score) = evaluation.score.filter(|score| !(0.0..=1.0).contains(score)) {
                return Err(ItemError::Score { evaluator: evaluator(), score });
            }
            let mut costs = evaluation.judge.iter().flat_map(|judge| [judge.cost, judge.replayed_cost]);
            if let Some(cost) = costs.find(|cost| !(cost.is_finite() && *cost >= 0.0)) {
                return Err(ItemError::JudgeCost { evaluator: evaluator(), cost });
            }
        }
    }
    Ok(())
}

/// Checks that an execution matches its status and has evaluations of exactly these evaluators.
fn validate_execution(run: &Execution, evaluators: &[String]) -> Result<(), ItemError> {
    let fits = match run.status {
        Status::Ok => run.output.is_some() && run.error.is_none(),
        Status::Timeout | Status::Error => run.error.is_some(),
    };
    if !fits {
        return Err(ItemError::Status { status: run.status.name() });
    }
    let is_left_out = run.status != Status::Ok && run.evaluations.is_empty();
    // Other programs may write them in a different order.
    let is_one_of_each = || {
        run.evaluations.iter().count() == evaluators.len()
            && evaluators.iter().all(|evaluator| run.evaluations.get(evaluator).is_some())
    };
    if !is_left_out && !is_one_of_each() {
        let found = run.evaluations.iter().map(|(name, _)| name.to_owned()).collect();
        return Err(ItemError::Evaluators { found, expected: evaluators.to_vec() });
    }
    let is_one = |ScoredEvaluation { score, error, not_applicable, .. }: &ScoredEvaluation| {
        [score.is_some(), error.is_some(), *not_applicable].iter().filter(|is| **is).count() == 1
    };
    match run.evaluations.iter().find(|(_, evaluation)| !is_one(evaluation)) {
        Some((name, _)) => Err(ItemError::Outcome { evaluator: name.to_owned() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn config(runs: usize) -> RunConfig {
        RunConfig { runs, evaluators: vec!["exact".to_owned(), "tone".to_owned()], ..RunConfig::default() }
    }

    /// The problem of a valid item with these fields replaced.
    fn problem(fields: &Value) -> Option<String> {
        let mut item = json!({
            "index": 0, "key": "k", "input": {}, "output": { "output": "a" }, "latencyMs": 1.5, "status": "ok", "passed": true,
            "evaluations": { "exact": { "score": 1 }, "tone": { "score": 0.5, "judge": { "cost": 0.1 } } },
        });
        item.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let item: ItemResult = serde_json::from_value(item).unwrap();
        validate_item(&item, &config(1)).err().map(|problem| problem.to_string())
    }

    #[test]
    fn an_item_as_it_is_written_has_no_problem() {
        let failed = json!({ "status": "error", "error": "no", "output": { "output": "" }, "evaluations": {}, "passed": false });
        let unscored =
            json!({ "evaluations": { "exact": { "score": 0 }, "tone": { "error": "no" } }, "passed": false });
        for fields in [json!({}), failed, unscored, json!({ "latencyMs": 0 })] {
            assert_eq!(problem(&fields), None, "{fields}");
        }
    }

    #[test]
    fn values_that_no_run_gives_are_named() {
        let tone = |tone: Value| json!({ "evaluations": { "exact": { "score": 1 }, "tone": tone } });
        for (fields, says) in [
            (json!({ "latencyMs": -1 }), "`latencyMs` is -1"),
            (tone(json!({ "score": 9.0 })), "the score of `tone` is 9, expected a number from 0 to 1"),
            (tone(json!({ "score": -0.5 })), "the score of `tone` is -0.5"),
            (tone(json!({ "score": 1, "judge": { "cost": -1 } })), "the judge cost of `tone` is -1"),
            (tone(json!({})), "`tone` must have either a score or an error"),
            (tone(json!({ "score": 1, "error": "no" })), "`tone` must have either a score or an error"),
            (json!({ "evaluations": { "exact": { "score": 1 } } }), "its evaluators are [exact], expected ["),
            (json!({ "evaluations": {} }), "its evaluators are []"),
            (json!({ "error": "no" }), "its status `ok` does not match"),
            (json!({ "status": "error" }), "its status `error` does not match"),
            (json!({ "status": "timeout", "passed": false }), "its status `timeout` does not match"),
        ] {
            let found = problem(&fields).unwrap_or_default();
            assert!(found.contains(says), "{fields}: {found}");
        }
    }

    #[test]
    fn an_item_that_passed_has_no_error_and_each_has_all_of_its_runs() {
        let run = Execution { status: Status::Error, error: Some("no".to_owned()), ..Execution::default() };
        let mut item: ItemResult =
            serde_json::from_value(json!({ "index": 0, "input": {}, "passed": false })).unwrap();
        item.runs = vec![run.clone(), run];
        assert_eq!(validate_item(&item, &config(2)), Ok(()));
        assert_eq!(validate_item(&item, &config(3)), Err(ItemError::Runs { found: 2, expected: 3 }));
        item.passed = true;
        assert_eq!(validate_item(&item, &config(2)), Err(ItemError::Passed));
    }
}
