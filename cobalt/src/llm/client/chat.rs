//! Questions to a model, in the format of its API.

use serde_json::Value;

use super::capabilities::RequestMode;
use super::request::Request;
use super::send::{self, SendError};
use super::{Client, ClientError, Reply, Target, anthropic, openai};
use crate::llm::{Provider, Schema};

impl Client {
    /// Asks a model, with the answer constrained to the schema if the API supports it.
    pub(crate) async fn chat(
        &self,
        target: &Target,
        system: &str,
        prompt: &str,
        schema: &Schema,
    ) -> Result<Reply, ClientError> {
        let mut manner = self.remembered.get(target);
        loop {
            let request = request(target, system, prompt, schema, manner);
            match self.send(target, &request).await {
                Ok(answer) => {
                    self.remembered.store(target, manner);
                    return read(target, &request, &answer, schema);
                }
                // Each round removes something, so the loop ends.
                Err(SendError::Refused(refusal)) => match manner.fallback_after(&refusal, target) {
                    Some(next) => manner = next,
                    None => return Err(send::refusal_error(target, &request, &refusal)),
                },
                Err(SendError::Failed(error)) => return Err(error),
            }
        }
    }
}

fn request(target: &Target, system: &str, prompt: &str, schema: &Schema, manner: RequestMode) -> Request {
    match target.provider {
        Provider::Anthropic => {
            Request::new(target, anthropic::PATH, &anthropic::body(target, system, prompt, schema, manner))
        }
        _ => Request::new(target, openai::PATH, &openai::body(target, system, prompt, schema, manner)),
    }
}

fn read(target: &Target, request: &Request, answer: &[u8], schema: &Schema) -> Result<Reply, ClientError> {
    let said = |error| send::response_error(target, request, error);
    let answer: Value = send::parse_json(answer, "JSON").map_err(said)?;
    let reply = match target.provider {
        Provider::Anthropic => anthropic::parse_response(&answer, schema.name),
        _ => openai::parse_response(&answer, schema.name),
    };
    reply.map_err(said)
}
