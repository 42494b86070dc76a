//! Requests and responses over HTTP.

mod answers;
mod broken;
mod requests;

use std::time::Duration;

use cobalt_core::back_off::BackOff;
use cobalt_core::redact::Secret;
use serde_json::json;

use super::{Client, ClientError, Reply, Target};
use crate::llm::test_server::TestServer;
use crate::llm::{ModelSettings, Provider, Schema};

const KEY: &str = "key-0123456789-of-the-test";

/// Settings with a short timeout, so a server that never responds does not delay a test.
fn settings() -> ModelSettings {
    ModelSettings {
        judge: Default::default(),
        embedding: Default::default(),
        timeout: Duration::from_millis(500),
        retries: 2,
        concurrency: 64,
        cache: None,
    }
}

/// A client with a short back-off.
fn client() -> Client {
    client_of(&settings())
}

fn client_of(settings: &ModelSettings) -> Client {
    let back_off = BackOff { first: Duration::from_millis(1), max: Duration::from_millis(4) };
    Client::with_back_off(settings, back_off)
}

/// A model at a base URL with the vendor's path.
fn target(server: &TestServer, provider: Provider, model: &str) -> Target {
    let path = match provider {
        Provider::Anthropic | Provider::Cohere => "",
        Provider::Azure => "/openai/v1",
        Provider::Gemini => "/v1beta/openai",
        _ => "/v1",
    };
    Target {
        provider,
        model: model.to_owned(),
        base_url: server.url(path),
        api_key: Some(Secret(KEY.to_owned())),
        temperature: None,
    }
}

fn openai(server: &TestServer) -> Target {
    target(server, Provider::OpenAi, "gpt-4o-mini")
}

fn schema() -> Schema {
    let properties = json!({"score": {"type": "number", "minimum": 0, "maximum": 1}});
    Schema {
        name: "verdict",
        schema: json!({
            "type": "object", "properties": properties, "required": ["score"], "additionalProperties": false,
        }),
    }
}

/// Asks a question.
async fn ask(client: &Client, target: &Target) -> Result<Reply, ClientError> {
    client.chat(target, "Be a judge.", "Is it good?", &schema()).await
}
