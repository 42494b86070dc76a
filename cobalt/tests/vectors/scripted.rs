//! A server that responds as a vector's script says, depending on the requested schema.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};

use crate::case::{Case, OUT_OF_SCRIPT};
use crate::test_server::{ReceivedRequest, ScriptedResponse, TestServer};

/// Starts a server for one case.
pub(crate) fn serve(case: &Case) -> TestServer {
    let script = Script {
        scripted: case.scripted().clone(),
        expected: case.input()["expected"].as_str().unwrap_or_default().to_owned(),
        is_choice: case.scripted().get("answer").is_some(),
        questions: AtomicUsize::new(0),
    };
    TestServer::start(move |asked| script.answer(asked))
}

fn out_of_script(problem: &str) -> ScriptedResponse {
    ScriptedResponse::error(400, &format!("{OUT_OF_SCRIPT}: {problem}"))
}

struct Script {
    scripted: Value,
    /// The text whose entities are the expected ones, not those of the context.
    expected: String,
    /// Whether the case is a classifier.
    is_choice: bool,
    /// How many generated questions were returned.
    questions: AtomicUsize,
}

impl Script {
    fn answer(&self, asked: &ReceivedRequest) -> ScriptedResponse {
        match self.scripted["fault"].as_str() {
            Some("http_400") => return ScriptedResponse::error(400, "scripted error"),
            Some("http_500") => return ScriptedResponse::error(500, "scripted error"),
            _ => {}
        }
        match asked.path.as_str() {
            "/embeddings" => self.embeddings(&asked.body["input"]),
            "/moderations" => {
                ScriptedResponse::json(200, &json!({ "results": [self.scripted["moderation"]] }))
            }
            "/chat/completions" => self.chat(&asked.body),
            other => out_of_script(&format!("no such path: {other}")),
        }
    }

    fn chat(&self, body: &Value) -> ScriptedResponse {
        if let Some(answers) = self.scripted["answers"].as_array() {
            return called(&body["response_format"]["json_schema"]["name"], answers);
        }
        let raw = || self.scripted["raw"].as_str().expect("a fault has its raw text");
        match self.scripted["fault"].as_str() {
            None => self
                .meant(body)
                .map_or_else(|problem| out_of_script(&problem), |text| ScriptedResponse::chat(&text)),
            Some("malformed_json" | "wrong_shape") => ScriptedResponse::chat(raw()),
            Some("no_tool_call") => {
                ScriptedResponse::chat(self.scripted["content"].as_str().unwrap_or_default())
            }
            Some("empty_choices") => ScriptedResponse::json(200, &json!({ "choices": [] })),
            // Tool names are compared for classifiers only; otherwise the arguments count.
            Some("wrong_tool") if self.is_choice => {
                called(&json!("something_else"), &[self.scripted["answer"].clone()])
            }
            Some("wrong_tool") => self
                .meant(body)
                .map_or_else(|problem| out_of_script(&problem), |text| ScriptedResponse::chat(&text)),
            Some(other) => out_of_script(&format!("unknown fault {other}")),
        }
    }

    /// The response in the requested schema.
    fn meant(&self, body: &Value) -> Result<String, String> {
        let properties = &body["response_format"]["json_schema"]["schema"]["properties"];
        let properties = properties.as_object().ok_or("the request has no schema")?;
        let has = |name: &str| properties.contains_key(name);
        let of = |evaluator: &str| self.scripted.get(evaluator).unwrap_or(&self.scripted).clone();
        if has("choice") {
            return Ok(self.scripted["answer"].to_string());
        }
        let answer = if has("question") {
            let told = self.questions.fetch_add(1, Ordering::Relaxed);
            of("AnswerRelevancy")["generated"]
                .get(told)
                .cloned()
                .ok_or("more questions than the script has")?
        } else if has("entities") {
            let prompt = body["messages"][1]["content"].as_str().unwrap_or_default();
            let whose =
                if prompt.contains(&self.expected) { "expected_entities" } else { "context_entities" };
            self.scripted.get(whose).map_or(Value::Null, |entities| json!({ "entities": entities }))
        } else {
            let is_list_of_texts =
                properties.get("statements").is_some_and(|of| of["items"]["type"] == "string");
            let evaluator = if has("faithfulness") || is_list_of_texts {
                "Faithfulness"
            } else if has("statements") {
                "ContextRecall"
            } else if has("verdict") {
                "ContextPrecision"
            } else if has("sentences") {
                "ContextRelevancy"
            } else {
                "AnswerCorrectness"
            };
            let script = of(evaluator);
            let fields = script.as_object().ok_or("no script")?.iter();
            Value::Object(
                fields
                    .filter(|(name, _)| has(name))
                    .map(|(n, v)| (n.clone(), v.clone()))
                    .collect::<Map<_, _>>(),
            )
        };
        Ok(answer.to_string())
    }

    fn embeddings(&self, input: &Value) -> ScriptedResponse {
        let known = [&self.scripted["embeddings"], &self.scripted["AnswerRelevancy"]["embeddings"]];
        let texts = input.as_array().cloned().unwrap_or_else(|| vec![input.clone()]);
        let vectors: Option<Vec<&Value>> =
            texts.iter().map(|text| known.iter().find_map(|known| known.get(text.as_str()?))).collect();
        match vectors {
            Some(vectors) => {
                let rows = vectors.into_iter().enumerate();
                let rows: Vec<_> =
                    rows.map(|(index, row)| json!({"index": index, "embedding": row})).collect();
                ScriptedResponse::json(
                    200,
                    &json!({"data": rows, "usage": {"prompt_tokens": 1, "total_tokens": 1}}),
                )
            }
            None => out_of_script(&format!("no scripted embedding among {input}")),
        }
    }
}

/// Tool calls, one per response.
fn called(tool: &Value, answers: &[Value]) -> ScriptedResponse {
    let call = |answer: &Value| json!({"function": {"name": tool, "arguments": answer.to_string()}});
    let calls: Vec<_> = answers.iter().map(call).collect();
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    ScriptedResponse::json(200, &json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]}))
}
