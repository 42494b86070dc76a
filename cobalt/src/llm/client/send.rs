//! Sends a request within the concurrency limit and the timeout, with retries, and explains errors.

use std::time::Duration;

use cobalt_core::back_off::BackOff;
use cobalt_core::prices::Tokens;
use cobalt_core::wording::cut;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Url};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

use super::remembered::Remembered;
use super::request::Request;
use super::{ClientError, Target};
use crate::http::said::{address, message, shown};
use crate::http::{
    self, AttemptError, Call, Connections, Limit, Patience, Problem, Redirects, Refusal, Tries, without_key,
};
use crate::llm::ModelSettings;

/// Sends the requests of this process.
#[derive(Debug)]
pub(crate) struct Client {
    connections: Connections,
    /// One permit per concurrent request.
    slots: Semaphore,
    timeout: Duration,
    retries: u32,
    back_off: BackOff,
    pub(super) remembered: Remembered,
}

/// Why a request failed. After a refusal, something may still be removed from the request.
#[derive(Debug)]
pub(super) enum SendError {
    Refused(Refusal),
    Failed(ClientError),
}

impl Client {
    pub(crate) fn new(settings: &ModelSettings) -> Self {
        Self::with_back_off(settings, BackOff::default())
    }

    /// With another back-off between attempts.
    pub(crate) fn with_back_off(settings: &ModelSettings, back_off: BackOff) -> Self {
        Self {
            connections: Connections::default(),
            slots: Semaphore::new(settings.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            timeout: settings.timeout,
            retries: settings.retries,
            back_off,
            remembered: Remembered::default(),
        }
    }

    /// Sends a request from which nothing can be removed.
    pub(super) async fn send_whole(
        &self,
        target: &Target,
        request: &Request,
    ) -> Result<Vec<u8>, ClientError> {
        self.send(target, request).await.map_err(|error| match error {
            SendError::Refused(refusal) => refused(target, request, &refusal),
            SendError::Failed(error) => error,
        })
    }

    /// Sends a request until there is a response, or retrying would not help. No slot is held while waiting.
    pub(super) async fn send(&self, target: &Target, request: &Request) -> Result<Vec<u8>, SendError> {
        let failed = |problem: &str| SendError::Failed(failed(target, request, problem));
        let call = call(request).map_err(|problem| failed(&problem))?;
        let mut tries = Tries::new(self.retries, self.back_off);
        loop {
            let slot = self.slots.acquire().await.map_err(|_| failed("the client is closed"))?;
            let (problem, wait) = match attempt(&self.connections, &call, self.timeout).await {
                Ok(answer) => return Ok(answer),
                Err(AttemptError::Final(Problem::Refused(refusal))) => {
                    return Err(SendError::Refused(refusal));
                }
                Err(AttemptError::Final(Problem::Broken(problem) | Problem::Late(problem))) => {
                    return Err(failed(&problem));
                }
                Err(AttemptError::Passing { problem, wait }) => (problem, wait),
            };
            drop(slot);
            tries.again(&problem, wait).await.map_err(|end| {
                let said = match &problem {
                    Problem::Refused(refusal) => said(refusal),
                    Problem::Broken(problem) | Problem::Late(problem) => problem.clone(),
                };
                failed(&(said + &end))
            })?;
        }
    }
}

/// The maximum size of a response.
const LONGEST: Limit<'_> = Limit { bytes: 16 << 20, exceeded: "the response exceeds 16 MiB" };

/// Builds the call to send.
pub fn call(request: &Request) -> Result<Call, String> {
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    for (name, value) in &request.headers {
        headers.insert(*name, http::secret(value)?);
    }
    Ok(Call {
        method: Method::POST,
        url: Url::parse(&request.url).map_err(|error| error.to_string())?,
        headers,
        body: request.body.clone(),
        redirects: Redirects::Within,
    })
}

/// Sends a request once.
pub async fn attempt(
    connections: &Connections,
    call: &Call,
    timeout: Duration,
) -> Result<Vec<u8>, AttemptError> {
    let mut answer =
        http::attempt(connections, call, Patience::Whole(timeout)).await.map_err(|error| match error {
            AttemptError::Passing { problem: Problem::Refused(refusal), .. } if is_quota(&refusal) => {
                AttemptError::Final(Problem::Refused(refusal))
            }
            other => other,
        })?;
    let mut body = Vec::new();
    answer.read_into(&mut body, LONGEST).await?;
    Ok(body)
}

/// Whether the quota is exhausted, which waiting does not fix.
/// Source: <https://platform.openai.com/docs/guides/error-codes>.
pub fn is_quota(refusal: &Refusal) -> bool {
    refusal.status == 429 && refusal.body.contains("insufficient_quota")
}

/// The error for a refused request.
pub fn refused(target: &Target, request: &Request, refusal: &Refusal) -> ClientError {
    match refusal.status {
        401 if target.api_key.is_none() => {
            let problem = "status 401: no key was sent, because none is configured for this URL; set `api-key-env` to \
            the variable that holds it";
            failed(target, request, problem)
        }
        400 | 413 | 422 => ClientError::Refused(told(target, request, &said(refusal))),
        _ => failed(target, request, &said(refusal)),
    }
}

/// The message of a refusal, with advice.
pub fn said(refusal: &Refusal) -> String {
    let message = message(&refusal.body);
    let advice = match (refusal.status, &refusal.location) {
        (300..=399, Some(to)) => {
            Some(format!("the server redirects to {}; use that as the base URL", address(to)))
        }
        (401, _) => Some("the key was rejected; check the variable or setting that holds it".to_owned()),
        (403, _) => Some("the key lacks permission; check its access rights".to_owned()),
        (404, _) => Some("check the model and the base URL".to_owned()),
        (429, _) if is_quota(refusal) => Some("the quota is used up; check your plan and billing".to_owned()),
        _ => None,
    };
    let what = message.map_or_else(String::new, |message| format!(": {}", message.trim_end_matches('.')));
    let advice = advice.map_or_else(String::new, |advice| format!("; {advice}"));
    format!("status {}{what}{advice}", refusal.status)
}

/// The final error for a problem.
pub fn failed(target: &Target, request: &Request, problem: &str) -> ClientError {
    ClientError::Failed(told(target, request, problem))
}

/// Adds the target to an error in a response.
pub fn of_answer(target: &Target, request: &Request, error: ClientError) -> ClientError {
    match error {
        ClientError::Failed(problem) | ClientError::Refused(problem) => failed(target, request, &problem),
        ClientError::Malformed { problem, tokens } => {
            ClientError::Malformed { problem: told(target, request, &problem), tokens }
        }
    }
}

fn told(target: &Target, request: &Request, problem: &str) -> String {
    let text = format!("{} `{}` at {}: {problem}", target.provider, target.model, address(&request.url));
    without_key(&text, target.api_key.as_ref())
}

/// The maximum displayed length of a tool name, in characters.
const LONGEST_NAME: usize = 64;

pub const CUT_OFF: &str = "the answer was truncated by the token limit";
pub const FILTERED: &str = "the answer was blocked by a content filter";
pub const EMPTY: &str = "the answer contains neither text nor a tool call";

/// Parses a response.
pub fn parsed<T: DeserializeOwned>(answer: &[u8], what: &str) -> Result<T, ClientError> {
    serde_json::from_slice(answer).map_err(|error| {
        // It may repeat a long text from the response.
        let error = shown(&error.to_string());
        ClientError::malformed(format!("the response contains no valid {what}: {error}"), Tokens::default())
    })
}

/// The problem if the model refused to answer, with its reason if it gave one.
pub fn refused_as_useless(why: Option<&str>) -> String {
    let why = why.map(|why| format!(": {}", shown(why))).unwrap_or_default();
    format!("the model refused to answer{why}")
}

/// The problem if the model called another tool than requested.
pub fn other_tool(called: Option<&str>, asked: &str) -> String {
    let called = cut(called.unwrap_or_default(), LONGEST_NAME);
    format!("the model called the tool `{called}`, but was asked to call `{asked}`")
}
