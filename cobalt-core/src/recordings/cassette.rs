//! The recording of one item.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::body::Body;
use super::request_key::{RequestKey, ignore_fields};
use crate::prices::Tokens;
use crate::timestamp::Timestamp;

/// The version of the format.
pub const CASSETTE_VERSION: u32 = 1;

/// The recording of one item: what its agent sent to models in each trial, what its tools returned, and what the
/// judges answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cassette {
    /// [`CASSETTE_VERSION`].
    pub version: u32,
    /// The experiment's name.
    pub experiment: String,
    /// The item's key: its `id`, or a hash of its input. Empty for requests that could not be attributed to an item.
    #[serde(default)]
    pub item: String,
    /// The trials, in order.
    #[serde(default)]
    pub trials: Vec<Trial>,
    /// Judges' answers for all trials, in files of earlier versions; see [`give_judges_to_trials`](Self::give_judges_to_trials).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<JudgeAnswer>,
}

/// The recording of one trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// Whether it has only the requests that were answered before the trial was killed or its budget was spent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// When it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<Timestamp>,
    /// The agent's latency in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// Requests and responses, in the order of the requests.
    #[serde(default)]
    pub interactions: Vec<Interaction>,
    /// The judges' answers. Those to the same question are in the order in which it was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<JudgeAnswer>,
    /// The calls of wrapped tools, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<RecordedToolCall>,
}

impl Trial {
    /// When its oldest part was recorded.
    #[must_use]
    pub fn oldest(&self) -> Option<Timestamp> {
        let of_interactions =
            self.interactions.iter().filter_map(|interaction| interaction.recorded_at.or(self.recorded_at));
        let of_judges = self.judges.iter().filter_map(|answer| answer.recorded_at);
        let of_tools = self.tools.iter().filter_map(|call| call.recorded_at);
        of_interactions.chain(of_judges).chain(of_tools).min().or(self.recorded_at)
    }

    /// Whether it contains nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.interactions.is_empty() && self.judges.is_empty() && self.tools.is_empty()
    }
}

/// A request and its response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Interaction {
    /// The experiment, if the item is unknown but only one experiment was running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// When it was recorded, if not with the rest of its trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<Timestamp>,
    /// The request.
    pub request: RecordedRequest,
    /// The response.
    pub response: RecordedResponse,
    /// Milliseconds from the request to the end of the response.
    pub latency_ms: f64,
    /// The model, as answered, or else as requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tokens that the response reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// A request, without its headers, which contain keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedRequest {
    /// The HTTP method.
    pub method: String,
    /// The provider and the path below its base URL: `openai/chat/completions`.
    pub path: String,
    /// The address, without credentials. Not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The body.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

impl RecordedRequest {
    /// The key by which it is compared.
    #[must_use]
    pub fn key(&self, ignore: &[String]) -> RequestKey {
        RequestKey::new(&self.method, &self.path, self.body.as_ref(), ignore)
    }

    /// The model that it asks.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.body.as_ref()?.json()?["model"].as_str()
    }

    /// The request without fields that are not compared.
    #[must_use]
    pub fn without(&self, ignore: &[String]) -> Cow<'_, Self> {
        match &self.body {
            Some(Body::Json(value)) if !ignore.is_empty() => {
                let mut value = value.clone();
                ignore_fields(&mut value, ignore);
                Cow::Owned(Self { body: Some(Body::Json(value)), ..self.clone() })
            }
            _ => Cow::Borrowed(self),
        }
    }
}

/// A response.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedResponse {
    /// The HTTP status.
    pub status: u16,
    /// The content type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The wait that the server asked for, as in its header `retry-after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<String>,
    /// Whether the connection broke before its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The body.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

/// A judge's answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgeAnswer {
    /// A hash of the question, without the model.
    pub key: String,
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The question, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Body>,
    /// The answer.
    pub answer: Value,
    /// The tokens that it used.
    #[serde(default)]
    pub tokens: Tokens,
    /// When it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<Timestamp>,
}

/// A call of a wrapped tool, and what the tool itself returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedToolCall {
    /// The tool.
    pub tool: String,
    /// The number of the call among those of the tool, from 1. Not compared.
    pub call: usize,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Body>,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Body>,
    /// The tool's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The duration in milliseconds.
    pub latency_ms: f64,
    /// When it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<Timestamp>,
}

impl Cassette {
    /// An empty cassette.
    #[must_use]
    pub fn new(experiment: &str, item: &str) -> Self {
        Self {
            version: CASSETTE_VERSION,
            experiment: experiment.to_owned(),
            item: item.to_owned(),
            ..Self::default()
        }
    }

    /// All interactions.
    pub fn interactions(&self) -> impl Iterator<Item = &Interaction> {
        self.trials.iter().flat_map(|trial| &trial.interactions)
    }

    /// All judges' answers.
    pub fn judge_answers(&self) -> impl Iterator<Item = &JudgeAnswer> {
        self.trials.iter().flat_map(|trial| &trial.judges).chain(&self.judges)
    }

    /// When its oldest part was recorded.
    #[must_use]
    pub fn recorded_at(&self) -> Option<Timestamp> {
        let of_judges = self.judges.iter().filter_map(|answer| answer.recorded_at);
        self.trials.iter().filter_map(Trial::oldest).chain(of_judges).min()
    }

    /// Moves the judges' answers for all trials into the trials, of which there are at least `trials` then. If the agent has sent
    /// requests, a trial without any has no recording, so it gets no answers.
    pub fn give_judges_to_trials(&mut self, trials: usize) {
        if self.judges.is_empty() {
            return;
        }
        let judges = std::mem::take(&mut self.judges);
        let has_sent = self.interactions().next().is_some();
        if !has_sent && self.trials.len() < trials.max(1) {
            self.trials.resize_with(trials.max(1), Trial::default);
        }
        for trial in self.trials.iter_mut().filter(|trial| trial.judges.is_empty()) {
            if !has_sent || !trial.interactions.is_empty() {
                trial.judges.clone_from(&judges);
            }
        }
    }

    /// The recording of a trial, unless it contains nothing.
    #[must_use]
    pub fn trial(&self, index: usize) -> Option<&Trial> {
        self.trials.get(index).filter(|trial| !trial.is_empty())
    }

    /// Replaces a trial; missing trials before it are empty.
    pub fn set_trial(&mut self, index: usize, trial: Trial) {
        if self.trials.len() <= index {
            self.trials.resize_with(index + 1, Trial::default);
        }
        self.trials[index] = trial;
    }

    /// Whether it contains nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.judges.is_empty() && self.trials.iter().all(Trial::is_empty)
    }

    /// Calls `found` with the hash of each long text that it refers to.
    pub fn for_each_blob(&self, found: &mut impl FnMut(&str)) {
        let bodies = self.interactions().flat_map(|interaction| {
            [interaction.request.body.as_ref(), interaction.response.body.as_ref()].into_iter().flatten()
        });
        let questions = self.judge_answers().filter_map(|answer| answer.question.as_ref());
        let calls = self.trials.iter().flat_map(|trial| &trial.tools);
        let calls =
            calls.flat_map(|call| [call.arguments.as_ref(), call.result.as_ref()].into_iter().flatten());
        bodies.chain(questions).chain(calls).for_each(|body| body.for_each_blob(found));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cassette_reads_as_it_is_written() {
        let written = json!({
            "version": 1, "experiment": "desk", "item": "one",
            "trials": [{ "recordedAt": "2026-11-21T10:00:00.000Z", "latencyMs": 12.5, "interactions": [{
                "request": { "method": "POST", "path": "openai/chat/completions", "json": { "model": "m" } },
                "response": { "status": 200, "contentType": "text/event-stream", "truncated": true,
                    "events": [{ "at": 3, "text": "data: 1\n\n" }] },
                "latencyMs": 4.0, "model": "m", "tokens": { "input": 3, "output": 1 } }],
                "judges": [{ "key": "k", "provider": "openai", "model": "m", "answer": { "score": 1 },
                    "tokens": { "input": 1, "output": 1 } }],
                "tools": [{ "tool": "search", "call": 1, "arguments": { "json": { "q": "tea" } }, "error": "no", "latencyMs": 2.0 }] }]
        });
        let cassette: Cassette = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(&cassette).unwrap(), written);
        assert_eq!(cassette.interactions().count(), 1);
        let response = RecordedResponse { status: 204, ..RecordedResponse::default() };
        let value = serde_json::to_value(&response).unwrap();
        assert_eq!(value, json!({ "status": 204 }));
        assert_eq!(serde_json::from_value::<RecordedResponse>(value).unwrap(), response);
    }

    fn answer(day: u32) -> Value {
        json!({ "key": "k", "provider": "openai", "model": "m", "answer": day,
            "recordedAt": format!("2026-11-{day:02}T10:00:00.000Z") })
    }

    #[test]
    fn answers_of_judges_for_all_trials_become_answers_of_each_trial() {
        let old = json!({ "version": 1, "experiment": "desk", "item": "one", "judges": [answer(3)],
            "trials": [{ "recordedAt": "2026-11-05T10:00:00.000Z" }, { "judges": [answer(4)] }] });
        let mut cassette: Cassette = serde_json::from_value(old).unwrap();
        assert_eq!(cassette.judge_answers().count(), 2);
        cassette.give_judges_to_trials(3);
        let given: Vec<_> = cassette.trials.iter().map(|trial| trial.judges[0].answer.clone()).collect();
        assert_eq!((given, cassette.judges.len()), (vec![json!(3), json!(4), json!(3)], 0));
        let mut empty = Cassette::new("desk", "one");
        empty.give_judges_to_trials(3);
        assert!(empty.trials.is_empty() && empty.is_empty());
    }

    #[test]
    fn a_trial_without_requests_gets_no_answers_of_judges_if_others_have_requests() {
        let interaction = json!({ "request": { "method": "POST", "path": "x" }, "response": { "status": 200 }, "latencyMs": 1.0 });
        let old = json!({ "version": 1, "experiment": "desk", "item": "one", "judges": [answer(3)],
            "trials": [{}, { "interactions": [interaction] }] });
        let mut cassette: Cassette = serde_json::from_value(old).unwrap();
        cassette.give_judges_to_trials(3);
        let recorded: Vec<_> =
            (0..3).map(|run| cassette.trial(run).map(|trial| trial.judges.len())).collect();
        assert_eq!(recorded, [None, Some(1), None]);
    }

    #[test]
    fn a_trial_is_as_old_as_its_oldest_part() {
        let oldest = |trial: Value| {
            let trial: Trial = serde_json::from_value(trial).unwrap();
            trial.oldest().map(|at| at.to_string()[8..10].to_owned())
        };
        let interaction = |day: Option<u32>| {
            json!({ "request": { "method": "POST", "path": "x" }, "response": { "status": 200 }, "latencyMs": 1.0,
                "recordedAt": day.map(|day| format!("2026-11-{day:02}T10:00:00.000Z")) })
        };
        let at = "2026-11-20T10:00:00.000Z";
        assert_eq!(oldest(json!({ "recordedAt": at })).as_deref(), Some("20"));
        assert_eq!(oldest(json!({ "judges": [answer(9), answer(8)] })).as_deref(), Some("08"));
        let renewed = json!({ "recordedAt": at, "interactions": [interaction(Some(7)), interaction(None)] });
        assert_eq!(oldest(renewed).as_deref(), Some("07"));
        assert_eq!(oldest(json!({})), None);
    }
}
