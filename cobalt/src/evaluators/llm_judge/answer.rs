//! What a judge answers, read strictly: what is no verdict or score is asked for again, not guessed at.

use serde_json::{Map, Value};

use super::super::DEFAULT_PASS_MARK;
use crate::evaluators::asking::answer::shown;

/// What a judge found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    /// From 0 to 1; a verdict is one or the other.
    pub(super) score: f64,
    pub(super) reason: Option<String>,
    pub(super) chain_of_thought: Option<String>,
    /// What the score was made of.
    pub(super) figures: Map<String, Value>,
}

/// A field of text that is not blank.
pub(super) fn text(answer: &Map<String, Value>, field: &str) -> Option<String> {
    let text = answer.get(field).and_then(Value::as_str).map(str::trim)?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// 1 or 0. A score stands in for a verdict that is missing.
pub(super) fn verdict(answer: &Map<String, Value>) -> Result<f64, String> {
    let yes = match answer.get("verdict") {
        Some(Value::Bool(verdict)) => *verdict,
        None | Some(Value::Null) => {
            let missing = "the field `verdict` is missing; it must be `true` or `false`";
            score(answer)?.ok_or(missing)? >= DEFAULT_PASS_MARK
        }
        Some(other) => return Err(format!("`verdict` is {}; it must be `true` or `false`", shown(other))),
    };
    Ok(if yes { 1.0 } else { 0.0 })
}

/// A number from 0 to 1, where there is one.
pub(super) fn score(answer: &Map<String, Value>) -> Result<Option<f64>, String> {
    match answer.get("score") {
        None | Some(Value::Null) => Ok(None),
        Some(found) => {
            let score = found.as_f64().filter(|score| (0.0..=1.0).contains(score));
            score
                .map(Some)
                .ok_or_else(|| format!("`score` is {}; it must be a number from 0 to 1", shown(found)))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::form::Form;
    use super::*;

    fn reads(form: Form, answer: &Value) -> Result<f64, String> {
        form.read(answer.as_object().unwrap()).map(|judgement| judgement.score)
    }

    #[test]
    fn a_verdict_goes_before_a_score() {
        for (answer, score) in [
            (json!({ "verdict": true }), 1.0),
            (json!({ "verdict": false, "score": 0.9 }), 0.0),
            (json!({ "verdict": true, "score": 85 }), 1.0),
            (json!({ "score": 0.5 }), 1.0),
            (json!({ "score": 0.49 }), 0.0),
            (json!({ "verdict": null, "score": 0 }), 0.0),
        ] {
            assert_eq!(reads(Form::Verdict, &answer), Ok(score), "{answer}");
        }
    }

    #[test]
    fn what_only_looks_like_a_verdict_is_refused() {
        for (answer, problem) in [
            (json!({ "verdict": "true" }), "`verdict` is \"true\"; it must be `true` or `false`"),
            (json!({ "verdict": 1 }), "`verdict` is 1; it must be `true` or `false`"),
            (json!({ "score": 85 }), "`score` is 85; it must be a number from 0 to 1"),
            (json!({ "score": null }), "the field `verdict` is missing; it must be `true` or `false`"),
            (json!({}), "the field `verdict` is missing; it must be `true` or `false`"),
        ] {
            assert_eq!(reads(Form::Verdict, &answer), Err(problem.to_owned()));
        }
    }

    #[test]
    fn a_score_is_a_number_from_0_to_1() {
        for score in [0.0, 0.25, 1.0] {
            assert_eq!(reads(Form::Scale, &json!({ "score": score, "verdict": false })), Ok(score));
        }
        assert_eq!(reads(Form::Scale, &json!({ "score": 1 })), Ok(1.0));
        for (answer, problem) in [
            (json!({ "score": 1.7 }), "`score` is 1.7; it must be a number from 0 to 1"),
            (json!({ "score": -0.1 }), "`score` is -0.1; it must be a number from 0 to 1"),
            (json!({ "score": "0.8" }), "`score` is \"0.8\"; it must be a number from 0 to 1"),
            (json!({ "verdict": true }), "the field `score` is missing; it must be a number from 0 to 1"),
        ] {
            assert_eq!(reads(Form::Scale, &answer), Err(problem.to_owned()));
        }
    }

    #[test]
    fn a_blank_reason_is_none() {
        let answer = json!({ "verdict": true, "reason": " ", "chainOfThought": "a, then b\n", "extra": 1 });
        let judgement = Form::Verdict.read(answer.as_object().unwrap()).unwrap();
        assert_eq!((judgement.reason, judgement.chain_of_thought.as_deref()), (None, Some("a, then b")));
    }
}
