//! The APIs: each reads a request as a [`Conversation`] and writes the [`Reply`] as JSON or as a stream of events.

mod chat;
mod embeddings;
mod messages;
mod responses;

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures::{StreamExt as _, stream};
use serde_json::Value;

use crate::conversation::{Conversation, Reply, Tool, hash};
use crate::script;

/// The time to the first token, in milliseconds: at least, and at most that much more.
const LATENCY: (u64, u64) = (25, 40);
/// The time for each token of an answer that is not a stream, in microseconds.
const PER_TOKEN: u64 = 300;
/// The pause between two events of a stream.
const PER_EVENT: Duration = Duration::from_millis(2);
/// The beginnings of the names of models that "exist".
const MODELS: [&str; 5] = ["gpt-", "claude-", "text-embedding-", "o3", "o4"];
/// 1 November 2026: equal requests get equal responses.
const CREATED: u64 = 1_793_491_200;

/// An event of a stream: its name, if the API names events, and its data.
type Event = (Option<String>, String);

/// The format of an API.
struct Api {
    read: fn(&Value) -> Conversation,
    write: fn(&Reply) -> Value,
    events: fn(&Value, &Reply) -> Vec<Event>,
    error: fn(&Failure) -> Value,
}

/// Why a request is rejected.
#[derive(Debug, PartialEq)]
enum Failure {
    NoKey,
    NotJson,
    UnknownModel(String),
    Unsupported(String),
}

impl Failure {
    fn status(&self) -> StatusCode {
        match self {
            Self::NoKey => StatusCode::UNAUTHORIZED,
            Self::NotJson | Self::Unsupported(_) => StatusCode::BAD_REQUEST,
            Self::UnknownModel(_) => StatusCode::NOT_FOUND,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::NoKey => "You didn't provide an API key.".to_owned(),
            Self::NotJson => "The body of the request is not valid JSON.".to_owned(),
            Self::UnknownModel(model) => format!("The model `{model}` does not exist."),
            Self::Unsupported(what) => format!("{what} is not supported by the scripted model."),
        }
    }
}

pub(crate) fn router() -> Router {
    Router::new()
        .route("/v1/chat/completions", post(|headers, body| answer(&chat::API, headers, body)))
        .route("/v1/responses", post(|headers, body| answer(&responses::API, headers, body)))
        .route("/v1/messages", post(|headers, body| answer(&messages::API, headers, body)))
        .route("/v1/embeddings", post(embed))
}

async fn answer(api: &'static Api, headers: HeaderMap, body: Bytes) -> Response {
    let body = match check(&headers, &body) {
        Ok(body) => body,
        Err(failure) => return json(failure.status(), &(api.error)(&failure)),
    };
    let conversation = (api.read)(&body);
    let reply = conversation.reply(script::answer(&conversation));
    let pause = Duration::from_millis(LATENCY.0 + hash(&reply.id) % LATENCY.1);
    if body["stream"] == true {
        tokio::time::sleep(pause).await;
        return event_stream((api.events)(&body, &reply));
    }
    tokio::time::sleep(pause + Duration::from_micros(reply.usage.output * PER_TOKEN)).await;
    json(StatusCode::OK, &(api.write)(&reply))
}

async fn embed(headers: HeaderMap, body: Bytes) -> Response {
    let embedded = check(&headers, &body).and_then(|body| embeddings::response(&body));
    tokio::time::sleep(Duration::from_millis(LATENCY.0)).await;
    match embedded {
        Ok(response) => json(StatusCode::OK, &response),
        Err(failure) => json(failure.status(), &openai_error(&failure)),
    }
}

/// The body, if there is a key, the body is JSON and the model exists.
fn check(headers: &HeaderMap, body: &[u8]) -> Result<Value, Failure> {
    if !headers.contains_key(header::AUTHORIZATION) && !headers.contains_key("x-api-key") {
        return Err(Failure::NoKey);
    }
    let body: Value = serde_json::from_slice(body).map_err(|_| Failure::NotJson)?;
    let model = body["model"].as_str().unwrap_or_default();
    if !MODELS.iter().any(|beginning| model.starts_with(beginning)) {
        return Err(Failure::UnknownModel(model.to_owned()));
    }
    Ok(body)
}

/// An error in OpenAI's format.
fn openai_error(failure: &Failure) -> Value {
    let code = match failure {
        Failure::NoKey => Value::from("invalid_api_key"),
        Failure::UnknownModel(_) => Value::from("model_not_found"),
        Failure::NotJson | Failure::Unsupported(_) => Value::Null,
    };
    serde_json::json!({
        "error": { "message": failure.message(), "type": "invalid_request_error", "param": null, "code": code },
    })
}

fn json(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

fn event_stream(events: Vec<Event>) -> Response {
    let chunks = stream::iter(events).then(|(name, data)| async move {
        tokio::time::sleep(PER_EVENT).await;
        let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        Ok::<_, Infallible>(format!("{name}data: {data}\n\n"))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(chunks)).into_response()
}

/// The text of a message: a string, or the text parts of a list.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Arguments that the API transports as JSON text.
fn parse_arguments(arguments: &Value) -> Value {
    arguments.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The pieces in which a text is streamed: words with the space after them.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

fn owned(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn tool(name: &Value, parameters: &Value) -> Tool {
    Tool { name: owned(name), parameters: parameters.clone() }
}

fn join(system: &mut String, text: &str) {
    if !system.is_empty() {
        system.push('\n');
    }
    system.push_str(text);
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_request_needs_a_key_json_and_a_model() {
        let mut headers = HeaderMap::new();
        assert_eq!(check(&headers, br#"{"model": "gpt-5"}"#), Err(Failure::NoKey));
        headers.insert("x-api-key", HeaderValue::from_static("scripted"));
        assert_eq!(check(&headers, b"{"), Err(Failure::NotJson));
        let unknown = check(&headers, br#"{"model": "no-such-model"}"#).unwrap_err();
        assert_eq!(openai_error(&unknown)["error"]["code"], "model_not_found");
        assert_eq!(check(&headers, br#"{"model": "gpt-5"}"#).unwrap()["model"], "gpt-5");
    }
}
