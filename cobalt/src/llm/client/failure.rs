//! What an error says: whom was asked, what came, and what to do.

use super::request::Request;
use super::{ClientError, Target};
use crate::http::said::{address, message};
use crate::http::{Refusal, without_key};

/// Whether there is no money left, which no wait changes.
/// Source: <https://platform.openai.com/docs/guides/error-codes>.
pub(super) fn is_quota(refusal: &Refusal) -> bool {
    refusal.status == 429 && refusal.body.contains("insufficient_quota")
}

/// The error for a request that is refused.
pub(super) fn refused(target: &Target, request: &Request, refusal: &Refusal) -> ClientError {
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
pub(super) fn said(refusal: &Refusal) -> String {
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
pub(super) fn failed(target: &Target, request: &Request, problem: &str) -> ClientError {
    ClientError::Failed(told(target, request, problem))
}

/// An error of an answer, told with whom was asked.
pub(super) fn of_answer(target: &Target, request: &Request, error: ClientError) -> ClientError {
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
