//! Sends a request within the limit of calls and the timeout, again after transient failures, and explains errors.

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
    /// One for each request that may be on its way.
    slots: Semaphore,
    timeout: Duration,
    retries: u32,
    back_off: BackOff,
    pub(super) remembered: Remembered,
}

/// Why there is no answer, while something may still be left out of the request.
#[derive(Debug)]
pub(super) enum SendError {
    Refused(Refusal),
    Failed(ClientError),
}

impl Client {
    pub(crate) fn new(settings: &ModelSettings) -> Self {
        Self::with_back_off(settings, BackOff::default())
    }

    /// With other waits before further attempts.
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

    /// Sends a request of which nothing can be left out.
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

    /// Sends a request until there is an answer, or no further attempt would help. A wait holds no slot.
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

/// The longest answer that is read.
const LONGEST: Limit<'_> =
    Limit { bytes: 16 << 20, exceeded: "the answer is longer than the 16 MiB that are read" };

/// A request, ready to be sent.
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

/// Whether there is no money left, which no wait changes.
/// Source: <https://platform.openai.com/docs/guides/error-codes>.
pub fn is_quota(refusal: &Refusal) -> bool {
    refusal.status == 429 && refusal.body.contains("insufficient_quota")
}

/// The error for a request that is refused.
pub fn refused(target: &Target, request: &Request, refusal: &Refusal) -> ClientError {
    match refusal.status {
        401 if target.api_key.is_none() => {
            let problem = "status 401: no key was sent, as none is said for this address; name the variable that \
                           holds it in `api-key-env`";
            failed(target, request, problem)
        }
        400 | 413 | 422 => ClientError::Refused(told(target, request, &said(refusal))),
        _ => failed(target, request, &said(refusal)),
    }
}

/// What a refusal says, and what to do.
pub fn said(refusal: &Refusal) -> String {
    let message = message(&refusal.body);
    let advice = match (refusal.status, &refusal.location) {
        (300..=399, Some(to)) => {
            Some(format!("the server redirects to {}; set that as the base URL", address(to)))
        }
        (401, _) => Some("the key is refused: check the variable or the setting that holds it".to_owned()),
        (403, _) => Some("the key may not use this: check its rights".to_owned()),
        (404, _) => Some("check the model and the base URL".to_owned()),
        (429, _) if is_quota(refusal) => Some("the quota is used up: check plan and billing".to_owned()),
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

/// An error of an answer, told with whom was asked.
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

/// The longest name of a tool that is shown, in characters.
const LONGEST_NAME: usize = 64;

pub const CUT_OFF: &str = "the answer was cut off by the limit of tokens";
pub const FILTERED: &str = "the answer was held back by a content filter";
pub const EMPTY: &str = "the answer holds neither a text nor a call of a tool";

/// The answer as that which it is to hold.
pub fn parsed<T: DeserializeOwned>(answer: &[u8], what: &str) -> Result<T, ClientError> {
    serde_json::from_slice(answer).map_err(|error| {
        // It may repeat a text of the answer, however long.
        let error = shown(&error.to_string());
        ClientError::malformed(format!("the answer holds no {what}: {error}"), Tokens::default())
    })
}

/// The model would not answer, and may have said why.
pub fn refused_as_useless(why: Option<&str>) -> String {
    let why = why.map(|why| format!(": {}", shown(why))).unwrap_or_default();
    format!("the model refused to answer{why}")
}

/// The model called another tool than the one that was asked for.
pub fn other_tool(called: Option<&str>, asked: &str) -> String {
    let called = cut(called.unwrap_or_default(), LONGEST_NAME);
    format!("the model called the tool `{called}`, but was asked to call `{asked}`")
}
