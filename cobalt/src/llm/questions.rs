//! Questions to judges: answered from the cache, by a request in flight, or by a new one; retried once if the answer is unusable.

use std::sync::Arc;

use cobalt_core::prices::Tokens;
use cobalt_core::redact::redacted;
use serde_json::{Map, Value};

use super::answer::{AskError, Given, Moderation, Question, read_answer};
use super::batches::Spent;
use super::client::{ClientError, Ordered, Target};
use super::flights::Landed;
use super::models::Models;
use super::vendors::Role;
use super::{Meter, ModelChoice, cache};

/// How often a question is asked until the answer is usable.
const ATTEMPTS: usize = 2;

impl Models {
    /// Asks a judge. `read` parses an object from the answer, or returns what is wrong with it; then the question is asked once
    /// more, with a stricter instruction that includes the problem.
    pub(crate) async fn ask<T>(
        &self,
        choice: &ModelChoice,
        question: &Question,
        meter: &Meter,
        read: impl Fn(&Map<String, Value>) -> Result<T, String>,
    ) -> Result<T, AskError> {
        let target = self.target(Role::Judge, choice)?;
        let key = cache::of_question(&target, question);
        let accepts = |text: &str| read_answer(text, &question.prompt, |object| read(object).map(drop));
        let ask = async {
            if let Some(text) = self.kept_text(&key).filter(|text| accepts(text).is_ok()) {
                return Ok(Given { text: text.into(), known: true });
            }
            let text = self.accepted(&target, question, meter, accepts).await?;
            // The judged output may contain a key, and the answer may repeat it.
            self.keep(&key, redacted(&text).as_bytes());
            Ok(Given { text: text.into(), known: false })
        };
        let given = self.landed(&target, &key, meter, ask).await?;
        read_answer(&given, &question.prompt, read).map_err(|problem| useless(&target, &problem))
    }

    /// Classifies a text with a moderation model.
    pub(crate) async fn moderate(
        &self,
        choice: &ModelChoice,
        text: &str,
        meter: &Meter,
    ) -> Result<Moderation, AskError> {
        let target = self.target(Role::Moderation, choice)?;
        let key = cache::of_text("moderation", &target, text);
        let ask = async {
            let is_whole = |text: &String| serde_json::from_str::<Moderation>(text).is_ok();
            if let Some(text) = self.kept_text(&key).filter(is_whole) {
                return Ok(Given { text: text.into(), known: true });
            }
            let found = self.moderation(&target, text, meter).await?;
            let text = serde_json::to_string(&found).map_err(|error| AskError(error.to_string()))?;
            self.keep(&key, text.as_bytes());
            Ok(Given { text: text.into(), known: false })
        };
        let given = self.landed(&target, &key, meter, ask).await?;
        serde_json::from_str(&given).map_err(|error| useless(&target, &error.to_string()))
    }

    /// The result of a request that may already be in flight.
    async fn landed(
        &self,
        target: &Target,
        key: &str,
        meter: &Meter,
        ask: impl Future<Output = Result<Given, AskError>>,
    ) -> Result<Arc<str>, AskError> {
        let Landed { outcome, shared } = self.answers.join(key, ask).await;
        let Given { text, known } = outcome?;
        if shared || known {
            self.known(meter, target);
        }
        Ok(text)
    }

    /// Asks until an answer is accepted, up to the limit of attempts.
    async fn accepted(
        &self,
        target: &Target,
        question: &Question,
        meter: &Meter,
        accepts: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String, AskError> {
        let Question { system, prompt, schema, .. } = question;
        let mut prompt = prompt.clone();
        let mut problem = String::new();
        for _ in 0..ATTEMPTS {
            match self.client.chat(target, system, &prompt, schema).await {
                Ok(reply) => {
                    self.charge(meter, target, Spent::call(reply.tokens));
                    match accepts(&reply.text) {
                        Ok(()) => return Ok(reply.text),
                        Err(wrong) => {
                            prompt = stricter(question, &wrong);
                            problem = useless(target, &wrong).0;
                        }
                    }
                }
                Err(ClientError::Malformed { problem: wrong, tokens }) => {
                    self.charge(meter, target, Spent::call(tokens));
                    prompt = stricter(question, "it was empty, cut off, or in another form");
                    problem = wrong;
                }
                Err(ClientError::Failed(problem) | ClientError::Refused(problem)) => {
                    return Err(AskError(problem));
                }
            }
        }
        Err(AskError(format!("{problem}; asked twice")))
    }

    /// Calls a moderation model, once more if the response is unusable.
    async fn moderation(&self, target: &Target, text: &str, meter: &Meter) -> Result<Moderation, AskError> {
        let mut found = self.client.moderate(target, text).await;
        if let Err(ClientError::Malformed { tokens, .. }) = found {
            self.charge(meter, target, Spent::call(tokens));
            found = self.client.moderate(target, text).await;
        }
        match found {
            Ok(found) => {
                self.charge(meter, target, Spent::call(Tokens::default()));
                Ok(found)
            }
            Err(ClientError::Malformed { problem, tokens }) => {
                self.charge(meter, target, Spent::call(tokens));
                Err(AskError(format!("{problem}; asked twice")))
            }
            Err(ClientError::Failed(problem) | ClientError::Refused(problem)) => Err(AskError(problem)),
        }
    }

    fn kept_text(&self, key: &str) -> Option<String> {
        String::from_utf8(self.kept(key)?).ok()
    }
}

/// The retry prompt after an unusable answer.
fn stricter(Question { prompt, schema, .. }: &Question, wrong: &str) -> String {
    format!(
        "{prompt}\n\n---\nThis was asked before, and the answer could not be used: {wrong}. Answer with one JSON object \
         and nothing else: no text before or after it, and no fence around it. It has to match this JSON schema:\n{}",
        Ordered(&schema.schema).text()
    )
}

fn useless(target: &Target, problem: &str) -> AskError {
    AskError(format!("{} `{}` returned an unusable answer: {problem}", target.provider, target.model))
}
