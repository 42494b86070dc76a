//! The recording of one item.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::body::Body;
use super::request_key::RequestKey;
use crate::prices::Tokens;
use crate::timestamp::Timestamp;

/// The version of the format.
pub const CASSETTE_VERSION: u32 = 1;

/// The recording of one item: what its agent sent to models in each trial, and what the judges answered.
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
    /// The judges' answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<JudgeAnswer>,
}

/// The recording of one trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// When it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<Timestamp>,
    /// The agent's latency in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<f64>,
    /// Requests and responses, in the order of the requests.
    #[serde(default)]
    pub interactions: Vec<Interaction>,
}

/// A request and its response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Interaction {
    /// The experiment, if the item is unknown but only one experiment was running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// When it was recorded, if that is not known from its trial.
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
    /// The vendor and the path below its base URL: `openai/chat/completions`.
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
    /// The vendor.
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

    /// When its oldest part was recorded.
    #[must_use]
    pub fn recorded_at(&self) -> Option<Timestamp> {
        let of_interactions = self.interactions().filter_map(|interaction| interaction.recorded_at);
        let of_trials = self.trials.iter().filter_map(|trial| trial.recorded_at);
        of_interactions.chain(of_trials).min()
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
        self.judges.is_empty() && self.interactions().next().is_none()
    }

    /// Calls `found` with the hash of each long text that it refers to.
    pub fn for_each_blob(&self, found: &mut impl FnMut(&str)) {
        let bodies = self.interactions().flat_map(|interaction| {
            [interaction.request.body.as_ref(), interaction.response.body.as_ref()].into_iter().flatten()
        });
        let questions = self.judges.iter().filter_map(|answer| answer.question.as_ref());
        bodies.chain(questions).for_each(|body| body.for_each_blob(found));
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
                "latencyMs": 4.0, "model": "m", "tokens": { "input": 3, "output": 1 } }] }],
            "judges": [{ "key": "k", "provider": "openai", "model": "m", "answer": { "score": 1 },
                "tokens": { "input": 1, "output": 1 } }]
        });
        let cassette: Cassette = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(&cassette).unwrap(), written);
        assert_eq!(cassette.interactions().count(), 1);
        let response = RecordedResponse { status: 204, ..RecordedResponse::default() };
        let value = serde_json::to_value(&response).unwrap();
        assert_eq!(value, json!({ "status": 204 }));
        assert_eq!(serde_json::from_value::<RecordedResponse>(value).unwrap(), response);
    }
}
