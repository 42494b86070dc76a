//! Presets over HTTP, with scripted responses.

mod answers;
mod conversations;
mod inputs;

use cobalt_core::item::Output;
use serde_json::Value;

use super::LlmJudge;
use crate::Provider;
use crate::evaluators::tests::asked_by;
use crate::evaluators::{EvalContext, Score};
use crate::llm::test_server::{ScriptedResponse, TestServer};

fn context() -> EvalContext {
    let item = crate::item! {
        "input": "Where is Paris?",
        "context": ["Paris is in France.", "It lies on the Seine."],
    };
    EvalContext::new(item, Output::new("Paris is in Spain, on the Seine, and large."))
}

/// A preset that calls the server.
fn preset(judge: LlmJudge, server: &TestServer) -> LlmJudge {
    judge.provider(Provider::OpenAi).model("judge-a").base_url(server.url("/v1"))
}

fn chat(answer: &Value) -> ScriptedResponse {
    ScriptedResponse::chat(&answer.to_string())
}

fn judged(judge: &LlmJudge) -> Result<Score, String> {
    asked_by(judge, &context(), "").0
}

fn prompt_of(server: &TestServer) -> String {
    server.requests()[0].body["messages"][1]["content"].as_str().unwrap().to_owned()
}
