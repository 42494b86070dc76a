//! The models as used by evaluators: called over real HTTP, or cached.

mod asking;
mod embedding;
mod targets;

use std::path::Path;
use std::time::Duration;

use cobalt_core::prices::PriceTable;
use cobalt_core::redact::Secret;
use cobalt_core::store::Layout;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::models::Models;
use super::test_server::TestServer;
use super::{CacheSettings, CallMeter, JudgeUsage, ModelChoice, ModelSettings, Question, Schema};

/// Settings without a cache, with the judge and embedding models on a test server.
fn settings(server: &TestServer) -> ModelSettings {
    let choice = |model: &str| ModelChoice {
        model: Some(model.to_owned()),
        base_url: Some(server.url("/v1")),
        api_key: Some(Secret("key-0123456789-of-the-test".to_owned())),
        ..ModelChoice::default()
    };
    ModelSettings {
        judge: choice("gpt-4o-mini"),
        embedding: choice("text-embedding-3-small"),
        timeout: Duration::from_secs(5),
        retries: 0,
        concurrency: 64,
        cache: None,
    }
}

/// Models without environment variables and without a cache.
fn models(server: &TestServer) -> Models {
    of(settings(server))
}

/// The same with a cache in a folder.
fn with_cache(server: &TestServer, folder: &TempDir, ttl: Duration) -> Models {
    of(ModelSettings {
        cache: Some(CacheSettings { layout: layout(folder.path()), ttl }),
        ..settings(server)
    })
}

fn of(settings: ModelSettings) -> Models {
    Models::new(settings, PriceTable::default(), |_| None)
}

fn layout(folder: &Path) -> Layout {
    let root = folder.join(".cobalt");
    let [results, history, cache] = ["results", "history.db", "cache"].map(|name| root.join(name));
    Layout::new(root, results, history, cache)
}

const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

fn question(prompt: &str) -> Question {
    let properties = json!({"score": {"type": "number"}});
    let schema = json!({"type": "object", "properties": properties, "required": ["score"], "additionalProperties": false});
    let schema = Schema { name: "score", schema };
    Question {
        system: "You are a judge.".to_owned(),
        prompt: prompt.to_owned(),
        schema,
        repetition: 0,
        is_shared: false,
    }
}

/// Parses a score from 0 to 1.
fn score(object: &Map<String, Value>) -> Result<f64, String> {
    let score = object.get("score").and_then(Value::as_f64).ok_or("`score` is missing")?;
    (0.0..=1.0)
        .contains(&score)
        .then_some(score)
        .ok_or_else(|| format!("`score` is {score}, not from 0 to 1"))
}

/// Asks the configured judge.
async fn ask(models: &Models, question: &Question) -> (Result<f64, String>, JudgeUsage) {
    let meter = CallMeter::default();
    let answer = models.ask(&ModelChoice::default(), question, &meter, score).await;
    (answer.map_err(|error| error.to_string()), meter.usage().unwrap_or_default())
}
