//! Questions to a model, in the format of its API.

use serde_json::Value;

use super::remembered::Manner;
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
        let mut manner = self.remembered.of(target);
        loop {
            let request = request(target, system, prompt, schema, manner);
            match self.send(target, &request).await {
                Ok(answer) => {
                    self.remembered.keep(target, manner);
                    return read(target, &request, &answer, schema);
                }
                // Each round removes something, so the loop ends.
                Err(SendError::Refused(refusal)) => match manner.without(&refusal, target) {
                    Some(next) => manner = next,
                    None => return Err(send::refused(target, &request, &refusal)),
                },
                Err(SendError::Failed(error)) => return Err(error),
            }
        }
    }
}

fn request(target: &Target, system: &str, prompt: &str, schema: &Schema, manner: Manner) -> Request {
    match target.provider {
        Provider::Anthropic => {
            Request::new(target, anthropic::PATH, &anthropic::body(target, system, prompt, schema, manner))
        }
        _ => Request::new(target, openai::PATH, &openai::body(target, system, prompt, schema, manner)),
    }
}

fn read(target: &Target, request: &Request, answer: &[u8], schema: &Schema) -> Result<Reply, ClientError> {
    let said = |error| send::of_answer(target, request, error);
    let answer: Value = send::parsed(answer, "JSON").map_err(said)?;
    let reply = match target.provider {
        Provider::Anthropic => anthropic::read(&answer, schema.name),
        _ => openai::read(&answer, schema.name),
    };
    reply.map_err(said)
}
