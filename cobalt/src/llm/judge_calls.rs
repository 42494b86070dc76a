//! Questions to judges: answered from the cache, by a request in flight, or by a new one; retried once if the answer is unusable.

use crate::log;
use std::sync::PoisonError;

use cobalt_core::prices::Tokens;
use cobalt_core::redact::redacted;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::answer::{AcceptedAnswer, AskError, Moderation, Question, parse_answer};
use super::client::{ClientError, OrderedJson, Target};
use super::embedding_batcher::CallUsage;
use super::models::{CacheUse, Models};
use super::single_flight::Shared;
use super::vendors::Role;
use super::{CallMeter, ModelChoice, cache};

/// How often a question is asked until the answer is usable.
const ATTEMPTS: usize = 2;

impl Models {
    /// Asks a judge. `read` parses an object from the answer, or returns what is wrong with it; then the question is asked once
    /// more, with a stricter instruction that includes the problem.
    ///
    /// After the first answer to a shared question, everyone gets that one, with or without a cache. A recorded answer takes precedence,
    /// and each trial records the answer that it got.
    pub(crate) async fn ask<T>(
        &self,
        choice: &ModelChoice,
        question: &Question,
        meter: &CallMeter,
        read: impl Fn(&Map<String, Value>) -> Result<T, String>,
    ) -> Result<T, AskError> {
        let recorded_key = |temperature| cache::recorded_question_key(question, temperature);
        if let Some(answer) = self.recorded_answer(Role::Judge, choice, recorded_key, meter)? {
            let text = answer.answer.as_str().unwrap_or_default();
            return parse_answer(text, &question.prompt, read).map_err(|problem| {
                AskError(format!("the recorded answer of `{}` is unusable: {problem}", answer.model))
            });
        }
        let target = self.resolve_for_call(Role::Judge, choice)?;
        let key = cache::question_key(&target, question);
        let usable = CacheUse::of(meter);
        let request_key = usable.request_key(&key);
        let accepts = |text: &str| parse_answer(text, &question.prompt, |object| read(object).map(drop));
        let ask = async {
            if let Some(cached) =
                self.cached_text(&key, usable).filter(|cached| accepts(&cached.text).is_ok())
            {
                log::debug!(
                    provider = target.provider,
                    model = target.model,
                    "found the judge's answer in the cache"
                );
                return Ok(cached);
            }
            log::debug!(
                provider = target.provider,
                model = target.model,
                cache = format_args!("{usable:?}"),
                "asks the judge; its answer is not in the cache"
            );
            let (text, tokens) = self.ask_until_accepted(&target, question, meter, accepts).await?;
            // The judged output may contain a key, and the answer may repeat it.
            self.cache_response(&key, redacted(&text).as_bytes(), tokens);
            Ok(AcceptedAnswer::new(&text, tokens))
        };
        let known = if question.is_shared { self.shared_answer(&request_key) } else { None };
        let given = match known {
            Some(known) => {
                log::trace!(
                    provider = target.provider,
                    model = target.model,
                    "uses the answer given to a shared question"
                );
                known
            }
            None => {
                let given = self.share_request(&target, &request_key, meter, ask).await?;
                if question.is_shared { self.keep_shared(&request_key, given) } else { given }
            }
        };
        let AcceptedAnswer { text, tokens, at, .. } = given;
        let asked = json!({ "system": question.system, "prompt": question.prompt });
        self.record_answer(&target, recorded_key, asked, (redacted(&text).into(), tokens, at), meter);
        parse_answer(&text, &question.prompt, &read).map_err(|problem| unusable_answer(&target, &problem))
    }

    /// The answer to a shared question. Only the first who asked has used tokens.
    fn shared_answer(&self, request_key: &str) -> Option<AcceptedAnswer> {
        let shared = self.shared_answers.lock().unwrap_or_else(PoisonError::into_inner);
        shared.get(request_key).map(|answer| AcceptedAnswer { tokens: Tokens::default(), ..answer.clone() })
    }

    /// Keeps an answer for all who ask later, unless there is one.
    fn keep_shared(&self, request_key: &str, given: AcceptedAnswer) -> AcceptedAnswer {
        let mut shared = self.shared_answers.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = shared.entry(request_key.to_owned()).or_insert_with(|| given.clone());
        AcceptedAnswer { tokens: given.tokens, ..kept.clone() }
    }

    /// Classifies a text with a moderation model.
    pub(crate) async fn moderate(
        &self,
        choice: &ModelChoice,
        text: &str,
        meter: &CallMeter,
    ) -> Result<Moderation, AskError> {
        let recorded_key = |_| cache::recorded_text_key("moderation", text);
        if let Some(answer) = self.recorded_answer(Role::Moderation, choice, recorded_key, meter)? {
            return serde_json::from_value(answer.answer).map_err(|error| {
                AskError(format!("the recorded answer of `{}` is unusable: {error}", answer.model))
            });
        }
        let target = self.resolve_for_call(Role::Moderation, choice)?;
        let key = cache::text_key("moderation", &target, text);
        let usable = CacheUse::of(meter);
        let ask = async {
            let is_whole = |cached: &AcceptedAnswer| serde_json::from_str::<Moderation>(&cached.text).is_ok();
            if let Some(cached) = self.cached_text(&key, usable).filter(is_whole) {
                return Ok(cached);
            }
            let found = self.call_moderation(&target, text, meter).await?;
            let text = serde_json::to_string(&found).map_err(|error| AskError(error.to_string()))?;
            self.cache_response(&key, text.as_bytes(), Tokens::default());
            Ok(AcceptedAnswer::new(&text, Tokens::default()))
        };
        let AcceptedAnswer { text: given, tokens, at, .. } =
            self.share_request(&target, &usable.request_key(&key), meter, ask).await?;
        let unusable = |error: serde_json::Error| unusable_answer(&target, &error.to_string());
        let answer: Value = serde_json::from_str(&given).map_err(unusable)?;
        let found = Moderation::deserialize(&answer).map_err(unusable)?;
        self.record_answer(&target, recorded_key, json!({ "text": text }), (answer, tokens, at), meter);
        Ok(found)
    }

    /// The result of a request that may already be in flight, with the tokens that it used for this caller.
    async fn share_request(
        &self,
        target: &Target,
        key: &str,
        meter: &CallMeter,
        ask: impl Future<Output = Result<AcceptedAnswer, AskError>>,
    ) -> Result<AcceptedAnswer, AskError> {
        let Shared { outcome, from_other_caller: shared } = self.answers.run(key, ask).await;
        let given = outcome?;
        if shared {
            log::debug!(
                provider = target.provider,
                model = target.model,
                "shares the answer to an equal question"
            );
        }
        if shared || given.from_cache {
            self.record_cache_hit(meter, target);
        }
        Ok(if shared { AcceptedAnswer { tokens: Tokens::default(), ..given } } else { given })
    }

    /// Asks until an answer is accepted, up to the limit of attempts. Returns it with the tokens of all attempts.
    async fn ask_until_accepted(
        &self,
        target: &Target,
        question: &Question,
        meter: &CallMeter,
        accepts: impl Fn(&str) -> Result<(), String>,
    ) -> Result<(String, Tokens), AskError> {
        let Question { system, prompt, schema, .. } = question;
        let mut prompt = prompt.clone();
        let mut problem = String::new();
        let mut used = Tokens::default();
        for _ in 0..ATTEMPTS {
            match self.client.chat(target, system, &prompt, schema).await {
                Ok(reply) => {
                    self.record_usage(meter, target, CallUsage::one_call(reply.tokens));
                    used += reply.tokens;
                    match accepts(&reply.text) {
                        Ok(()) => return Ok((reply.text, used)),
                        Err(wrong) => {
                            log::debug!(
                                provider = target.provider,
                                model = target.model,
                                problem = wrong,
                                "the judge's answer is unusable"
                            );
                            prompt = retry_prompt(question, &wrong);
                            problem = unusable_answer(target, &wrong).0;
                        }
                    }
                }
                Err(ClientError::Malformed { problem: wrong, tokens }) => {
                    self.record_usage(meter, target, CallUsage::one_call(tokens));
                    used += tokens;
                    prompt = retry_prompt(question, "it was empty, cut off, or in another form");
                    problem = wrong;
                }
                Err(ClientError::Failed(problem) | ClientError::Refused(problem)) => {
                    return Err(AskError(problem));
                }
            }
        }
        Err(AskError(format!("{problem} (2 attempts)")))
    }

    /// Calls a moderation model, once more if the response is unusable.
    async fn call_moderation(
        &self,
        target: &Target,
        text: &str,
        meter: &CallMeter,
    ) -> Result<Moderation, AskError> {
        let mut found = self.client.moderate(target, text).await;
        if let Err(ClientError::Malformed { tokens, .. }) = found {
            self.record_usage(meter, target, CallUsage::one_call(tokens));
            found = self.client.moderate(target, text).await;
        }
        match found {
            Ok(found) => {
                self.record_usage(meter, target, CallUsage::one_call(Tokens::default()));
                Ok(found)
            }
            Err(ClientError::Malformed { problem, tokens }) => {
                self.record_usage(meter, target, CallUsage::one_call(tokens));
                Err(AskError(format!("{problem} (2 attempts)")))
            }
            Err(ClientError::Failed(problem) | ClientError::Refused(problem)) => Err(AskError(problem)),
        }
    }

    fn cached_text(&self, key: &str, usable: CacheUse) -> Option<AcceptedAnswer> {
        let cached = self.cached(key, usable)?;
        let (text, tokens) = (String::from_utf8(cached.content).ok()?, cached.tokens.unwrap_or_default());
        Some(AcceptedAnswer { text: text.into(), from_cache: true, tokens, at: cached.at })
    }
}

/// The retry prompt after an unusable answer.
fn retry_prompt(Question { prompt, schema, .. }: &Question, wrong: &str) -> String {
    format!(
        "{prompt}\n\n---\nThis was asked before, and the answer could not be used: {wrong}. Answer with one JSON object \
         and nothing else: no text before or after it, and no fence around it. It has to match this JSON schema:\n{}",
        OrderedJson(&schema.schema).text()
    )
}

fn unusable_answer(target: &Target, problem: &str) -> AskError {
    AskError(format!("{} `{}` returned an unusable answer: {problem}", target.provider, target.model))
}
