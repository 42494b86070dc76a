//! Embeddings of texts.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::prices::JudgeUsage;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;

use super::{WEEK, models, of, settings, with_cache};
use crate::config::Config;
use crate::llm::models::Models;
use crate::llm::test_server::{ReceivedRequest, ScriptedResponse, TestServer};
use crate::llm::{CallMeter, ModelChoice, Provider};

/// An embedding with the text's length, for 3 tokens per text and 1 per request.
fn lengths(asked: &ReceivedRequest) -> ScriptedResponse {
    let texts = asked.body["input"].as_array().unwrap();
    let row = |text: &Value| json!([text.as_str().unwrap().len(), 1.0]);
    let rows = texts.iter().enumerate().map(|(index, text)| json!({"index": index, "embedding": row(text)}));
    let tokens = texts.len() * 3 + 1;
    let body =
        json!({"data": rows.collect::<Vec<_>>(), "usage": {"prompt_tokens": tokens, "total_tokens": tokens}});
    ScriptedResponse::json(200, &body)
}

async fn embed(models: &Models, texts: &[&str]) -> (Result<Vec<f32>, String>, JudgeUsage) {
    let meter = CallMeter::default();
    let vectors = models.embed(&ModelChoice::default(), texts, &meter).await;
    let firsts = vectors.map(|vectors| vectors.iter().map(|vector| vector[0]).collect());
    (firsts.map_err(|error| error.to_string()), meter.usage().unwrap_or_default())
}

fn sent(server: &TestServer) -> Vec<usize> {
    server.requests().iter().map(|asked| asked.body["input"].as_array().unwrap().len()).collect()
}

#[tokio::test]
async fn texts_of_several_evaluations_go_in_one_request_each_once() {
    let server = TestServer::start(lengths);
    let models = models(&server);
    let (one, two, three) = tokio::join!(
        embed(&models, &["a", "bb", "a"]),
        embed(&models, &["bb", "ccc"]),
        embed(&models, &["dddd"])
    );
    assert_eq!((one.0, two.0, three.0), (Ok(vec![1.0, 2.0, 1.0]), Ok(vec![2.0, 3.0]), Ok(vec![4.0])));
    assert_eq!(sent(&server), [4]);
    let usages = [one.1, two.1, three.1];
    assert_eq!(usages.iter().map(|usage| usage.calls).sum::<u64>(), 1);
    assert_eq!(usages.iter().map(|usage| usage.tokens.input).sum::<u64>(), 13, "the shares add up");
    assert_eq!(usages.iter().map(|usage| usage.cached).sum::<u64>(), 1, "one text was already in flight");
}

#[tokio::test]
async fn a_request_has_neither_too_many_texts_nor_too_long_ones() {
    let server = TestServer::start(lengths);
    let models = models(&server);
    let many: Vec<_> = (0..200).map(|number| format!("text {number}")).collect();
    embed(&models, &many.iter().map(String::as_str).collect::<Vec<_>>()).await.0.unwrap();
    let mut sizes = sent(&server);
    sizes.sort_unstable();
    assert_eq!(sizes, [8, 96, 96]);
    let long: Vec<_> = (0..3).map(|number| number.to_string().repeat(60_000)).collect();
    embed(&models, &long.iter().map(String::as_str).collect::<Vec<_>>()).await.0.unwrap();
    assert_eq!(sent(&server)[3..], [1, 1, 1]);
    let both: Vec<_> = (0..96).map(|number| format!("{number:5000}")).collect();
    embed(&models, &both.iter().map(String::as_str).collect::<Vec<_>>()).await.0.unwrap();
    let mut sizes = sent(&server)[6..].to_vec();
    sizes.sort_unstable();
    assert_eq!(sizes, [16, 20, 20, 20, 20], "even if the texts fill a request exactly");
}

#[tokio::test]
async fn a_text_is_embedded_once_whoever_asks_and_whenever() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(lengths);
    embed(&with_cache(&server, &folder, WEEK), &["a", "bb"]).await.0.unwrap();
    let (vectors, usage) = embed(&with_cache(&server, &folder, WEEK), &["bb", "ccc"]).await;
    assert_eq!((vectors, usage.calls, usage.cached), (Ok(vec![2.0, 3.0]), 1, 1));
    assert_eq!(sent(&server), [2, 1]);
}

#[tokio::test]
async fn what_cannot_be_compared_is_asked_for_once_more_and_then_an_error() {
    let odd = ScriptedResponse::json(
        200,
        &json!({"data": [{"index": 0, "embedding": [1e39]}], "usage": {"prompt_tokens": 3}}),
    );
    let server = TestServer::script([odd]);
    let (vectors, usage) = embed(&models(&server), &["a"]).await;
    assert!(vectors.unwrap_err().contains("2 attempts"));
    assert_eq!((usage.calls, usage.tokens.input, server.requests().len()), (2, 0, 2));
}

#[tokio::test]
async fn an_empty_text_is_sent_for_the_api_to_refuse() {
    let server =
        TestServer::start(|asked| match asked.body["input"].as_array().unwrap().contains(&json!("")) {
            true => ScriptedResponse::error(400, "the input is empty"),
            false => lengths(asked),
        });
    let (vectors, _) = embed(&models(&server), &["a", ""]).await;
    assert!(vectors.unwrap_err().contains("the input is empty"));
}

#[tokio::test]
async fn an_error_is_everyones_and_costs_nothing() {
    let server = TestServer::script([ScriptedResponse::error(500, "down").after(Duration::from_millis(5))]);
    let models = models(&server);
    let (one, two) = tokio::join!(embed(&models, &["a"]), embed(&models, &["a", "bb"]));
    assert!(one.0.unwrap_err().contains("500") && two.0.unwrap_err().contains("500"));
    assert_eq!((one.1, two.1, server.requests().len()), (JudgeUsage::default(), JudgeUsage::default(), 1));
}

#[tokio::test]
async fn a_text_that_is_refused_fails_no_other() {
    let server = TestServer::start(|asked| match asked.body["input"].to_string().contains("too long") {
        true => ScriptedResponse::error(400, "too long"),
        false => lengths(asked),
    });
    let models = models(&server);
    let others = ["a", "bb", "ccc", "dddd", "eeeee"];
    let (good, bad) = tokio::join!(embed(&models, &others), embed(&models, &["too long"]));
    assert_eq!(good.0, Ok(vec![1.0, 2.0, 3.0, 4.0, 5.0]));
    assert!(bad.0.unwrap_err().contains("400"));
    assert_eq!(
        good.1.calls,
        server.requests().len() as u64 - 4,
        "requests of 6, 3, 2 and 1 texts are rejected"
    );
}

#[test]
fn a_text_in_line_is_sent_by_another_runtime_where_its_own_has_ended() {
    let server = TestServer::start(lengths);
    let models = std::sync::Arc::new(models(&server));
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (first, second) = (runtime(), runtime());
    let asked = std::sync::Arc::clone(&models);
    first.spawn(async move { embed(&asked, &["a"]).await });
    first.block_on(tokio::task::yield_now());
    let waiting = async {
        let late = embed(&models, &["bb"]);
        let end = async { first.shutdown_background() };
        tokio::join!(late, end).0.0
    };
    let vectors =
        second.block_on(async { tokio::time::timeout(Duration::from_secs(5), waiting).await.unwrap() });
    assert_eq!(vectors, Ok(vec![2.0]));
}

#[tokio::test]
async fn texts_are_compared_by_their_characters_without_any_server() {
    let server = TestServer::start(lengths);
    let mut settings = settings(&server);
    settings.embedding = ModelChoice { provider: Some(Provider::Local), ..ModelChoice::default() };
    let (vectors, usage) = embed(&of(settings), &["a", "", "a"]).await;
    let vectors = vectors.unwrap();
    assert_eq!(vectors[0], vectors[2]);
    assert!(usage.is_empty() && server.requests().is_empty());
}

#[test]
fn a_runtime_that_stands_still_keeps_no_text_of_another() {
    let server = TestServer::start(lengths);
    let models = Arc::new(models(&server));
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let still = runtime();
    still.block_on(async {
        let models = Arc::clone(&models);
        tokio::spawn(async move { embed(&models, &["a"]).await });
        // It is queued, but not yet sent.
        tokio::task::yield_now().await;
    });
    let other = runtime();
    let embedded = async { timeout(Duration::from_secs(5), embed(&models, &["bb"])).await };
    assert_eq!(other.block_on(embedded).unwrap().0, Ok(vec![2.0]));
}

fn config(folder: &TempDir, text: &str) -> Config {
    fs::write(folder.path().join("cobalt.toml"), text).unwrap();
    Config::load(folder.path(), |_| None).unwrap()
}

#[test]
fn all_who_have_the_same_settings_share_their_models() {
    let folder = tempfile::tempdir().unwrap();
    let models = config(&folder, "judge.model = \"a\"").shared_models();
    assert!(Arc::ptr_eq(
        &models,
        &config(&folder, "judge.model = \"a\"\n[ci]\ntimeout = \"9s\"").shared_models()
    ));
    for other in ["judge.model = \"b\"", "judge.model = \"a\"\nprices.a = { input = 1, output = 1 }"] {
        assert!(!Arc::ptr_eq(&models, &config(&folder, other).shared_models()), "{other}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let other = config(&elsewhere, "judge.model = \"a\"").shared_models();
    assert!(!Arc::ptr_eq(&models, &other), "their caches differ");
}
