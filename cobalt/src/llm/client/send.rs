//! Sends a request within the concurrency limit and the timeout, with retries, and explains errors.

use std::time::Duration;

use cobalt_core::back_off::BackOff;
use cobalt_core::prices::{PriceTable, Tokens};
use cobalt_core::recordings::ModelResponse;
use cobalt_core::wording::truncate;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::capabilities::KnownModes;
use super::request::Request;
use super::{ClientError, Target};
use crate::budget::{self, PricedRequest};
use crate::http::error_body::{display_url, error_message, one_line};
use crate::http::{
    self, AttemptError, BodyLimit, Connections, Failure, HttpRequest, RedirectPolicy, Refusal, RetryPolicy,
    Timeout, redact_key,
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
    /// For the budget.
    prices: PriceTable,
    pub(super) remembered: KnownModes,
}

/// Why a request failed. After a refusal, something may still be removed from the request.
#[derive(Debug)]
pub(super) enum SendError {
    Refused(Refusal),
    Failed(ClientError),
}

impl Client {
    pub(crate) fn new(settings: &ModelSettings, prices: &PriceTable) -> Self {
        Self { prices: prices.clone(), ..Self::with_back_off(settings, BackOff::default()) }
    }

    /// With another back-off between attempts.
    pub(crate) fn with_back_off(settings: &ModelSettings, back_off: BackOff) -> Self {
        Self {
            connections: Connections::default(),
            slots: Semaphore::new(settings.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            timeout: settings.timeout,
            retries: settings.retries,
            back_off,
            prices: PriceTable::default(),
            remembered: KnownModes::default(),
        }
    }

    /// Sends a request from which nothing can be removed.
    pub(super) async fn send_required(
        &self,
        target: &Target,
        request: &Request,
    ) -> Result<Vec<u8>, ClientError> {
        self.send(target, request).await.map_err(|error| match error {
            SendError::Refused(refusal) => refusal_error(target, request, &refusal),
            SendError::Failed(error) => error,
        })
    }

    /// Sends a request until there is a response, or retrying would not help. No slot is held while waiting for a limit or a retry.
    pub(super) async fn send(&self, target: &Target, request: &Request) -> Result<Vec<u8>, SendError> {
        let failed = |problem: &str| SendError::Failed(permanent_error(target, request, problem));
        let call = build_call(request).map_err(|problem| failed(&problem))?;
        let body = budget::is_limited().then(|| serde_json::from_slice(&request.body).ok()).flatten();
        let mut tries = RetryPolicy::new(self.retries, self.back_off);
        loop {
            // Before the limits: others need their permits to answer what this request waits for.
            let priced = priced(&self.prices, target, request, body.as_ref());
            let mut reservation = budget::reserve(&priced).await.map_err(|refusal| failed(&refusal))?;
            #[cfg(feature = "record")]
            let permit = permit(target, request).await;
            let slot = self.slots.acquire().await.map_err(|_| failed("the client is closed"))?;
            reservation.note_sent();
            let (problem, wait) = match attempt(&self.connections, &call, self.timeout).await {
                Ok(answer) => {
                    if reservation.is_held() {
                        let tokens = ModelResponse::of(&answer).tokens;
                        reservation.settle(priced.charge(Some(&target.model), tokens));
                    }
                    #[cfg(feature = "record")]
                    permit.into_iter().for_each(|permit| permit.settle(crate::recording::tokens_of(&answer)));
                    return Ok(answer);
                }
                Err(AttemptError::Permanent(Failure::Refused(refusal))) => {
                    reservation.release();
                    return Err(SendError::Refused(refusal));
                }
                Err(AttemptError::Permanent(Failure::Unreachable { problem, .. })) => {
                    reservation.release();
                    return Err(failed(&problem));
                }
                Err(AttemptError::Permanent(Failure::Broken(problem) | Failure::TimedOut(problem))) => {
                    return Err(failed(&problem));
                }
                Err(AttemptError::Transient { problem, wait }) => {
                    if matches!(problem, Failure::Refused(_) | Failure::Unreachable { .. }) {
                        reservation.release();
                    }
                    #[cfg(feature = "record")]
                    if let (Some(permit), Failure::Refused(Refusal { status: 429 | 529, .. })) =
                        (permit, &problem)
                    {
                        permit.throttled(wait);
                    }
                    (problem, wait)
                }
            };
            drop(slot);
            tries.wait_for_retry(&problem, wait).await.map_err(|end| {
                let said = match &problem {
                    Failure::Refused(refusal) => describe_refusal(refusal),
                    Failure::Unreachable { problem, .. }
                    | Failure::Broken(problem)
                    | Failure::TimedOut(problem) => problem.clone(),
                };
                failed(&(said + &end))
            })?;
        }
    }
}

/// The request with what its cost depends on. Moderation is free of charge.
fn priced<'a>(
    prices: &'a PriceTable,
    target: &'a Target,
    request: &'a Request,
    body: Option<&'a Value>,
) -> PricedRequest<'a> {
    let is_free = request.is_free;
    PricedRequest {
        prices,
        provider: target.provider.name(),
        url: &request.url,
        model: (!is_free).then_some(&target.model),
        bytes: request.body.len(),
        body: body.filter(|_| !is_free),
    }
}

/// Waits for the limits that agents' requests have too; they are in force if the gateway runs.
#[cfg(feature = "record")]
async fn permit(target: &Target, request: &Request) -> Option<crate::limits::Permit> {
    let gateway = crate::recording::Gateway::running()?;
    let tokens = request.body.len() as u64 / 4;
    Some(gateway.limits().acquire(target.provider.name(), Some(&target.model), tokens).await)
}

/// The maximum size of a response.
const RESPONSE_LIMIT: BodyLimit<'_> = BodyLimit { bytes: 16 << 20, exceeded: "the response exceeds 16 MiB" };

/// Builds the call to send.
pub fn build_call(request: &Request) -> Result<HttpRequest, String> {
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    for (name, value) in &request.headers {
        headers.insert(*name, http::secret_header(value)?);
    }
    Ok(HttpRequest {
        method: Method::POST,
        url: Url::parse(&request.url).map_err(|error| error.to_string())?,
        headers,
        body: request.body.clone(),
        redirects: RedirectPolicy::SameOrigin,
    })
}

/// Sends a request once.
pub async fn attempt(
    connections: &Connections,
    call: &HttpRequest,
    timeout: Duration,
) -> Result<Vec<u8>, AttemptError> {
    let mut answer =
        http::attempt(connections, call, Timeout::Total(timeout)).await.map_err(|error| match error {
            AttemptError::Transient { problem: Failure::Refused(refusal), .. } if is_quota(&refusal) => {
                AttemptError::Permanent(Failure::Refused(refusal))
            }
            other => other,
        })?;
    let mut body = Vec::new();
    answer.read_into(&mut body, RESPONSE_LIMIT).await?;
    Ok(body)
}

/// Whether the quota is exhausted, which waiting does not fix.
/// Source: <https://platform.openai.com/docs/guides/error-codes>.
pub fn is_quota(refusal: &Refusal) -> bool {
    refusal.status == 429 && refusal.body.contains("insufficient_quota")
}

/// The error for a refused request.
pub fn refusal_error(target: &Target, request: &Request, refusal: &Refusal) -> ClientError {
    match refusal.status {
        401 if target.api_key.is_none() => {
            let problem = "status 401: no key was sent, because none is configured for this URL; set `api-key-env` to \
            the variable that holds it";
            permanent_error(target, request, problem)
        }
        400 | 413 | 422 => ClientError::Refused(with_target(target, request, &describe_refusal(refusal))),
        _ => permanent_error(target, request, &describe_refusal(refusal)),
    }
}

/// The message of a refusal, with advice.
pub fn describe_refusal(refusal: &Refusal) -> String {
    let message = error_message(&refusal.body);
    let advice = match (refusal.status, &refusal.location) {
        (300..=399, Some(to)) => {
            Some(format!("the server redirects to {}; use that as the base URL", display_url(to)))
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
pub fn permanent_error(target: &Target, request: &Request, problem: &str) -> ClientError {
    ClientError::Failed(with_target(target, request, problem))
}

/// Adds the target to an error in a response.
pub fn response_error(target: &Target, request: &Request, error: ClientError) -> ClientError {
    match error {
        ClientError::Failed(problem) | ClientError::Refused(problem) => {
            permanent_error(target, request, &problem)
        }
        ClientError::Malformed { problem, tokens } => {
            ClientError::Malformed { problem: with_target(target, request, &problem), tokens }
        }
    }
}

fn with_target(target: &Target, request: &Request, problem: &str) -> String {
    let text = format!("{} `{}` at {}: {problem}", target.provider, target.model, display_url(&request.url));
    redact_key(&text, target.api_key.as_ref())
}

/// The maximum displayed length of a tool name, in characters.
const MAX_NAME_CHARS: usize = 64;

pub const TRUNCATED: &str = "the answer was truncated by the token limit";
pub const FILTERED: &str = "the answer was blocked by a content filter";
pub const EMPTY: &str = "the answer contains neither text nor a tool call";

/// Parses a response.
pub fn parse_json<T: DeserializeOwned>(answer: &[u8], what: &str) -> Result<T, ClientError> {
    serde_json::from_slice(answer).map_err(|error| {
        // It may repeat a long text from the response.
        let error = one_line(&error.to_string());
        ClientError::malformed(format!("the response contains no valid {what}: {error}"), Tokens::default())
    })
}

/// The problem if the model refused to answer, with its reason if it gave one.
pub fn model_refused(why: Option<&str>) -> String {
    let why = why.map(|why| format!(": {}", one_line(why))).unwrap_or_default();
    format!("the model refused to answer{why}")
}

/// The problem if the model called another tool than requested.
pub fn wrong_tool(called: Option<&str>, asked: &str) -> String {
    let called = truncate(called.unwrap_or_default(), MAX_NAME_CHARS);
    format!("the model called the tool `{called}`, but was asked to call `{asked}`")
}
