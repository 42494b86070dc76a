//! What an error says: whom was asked, what came, and what to do.

use reqwest::Url;
use serde_json::Value;

use super::redaction::without_key;
use super::request::Request;
use super::{ClientError, Target};
use crate::wording::cut;

/// How much of what a vendor says is shown, in characters.
const MOST_SHOWN: usize = 300;

/// What a server says instead of an answer.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) body: String,
    /// Where a redirect leads.
    pub(super) location: Option<String>,
}

impl Refusal {
    /// Whether there is no money left, which no wait changes.
    /// Source: <https://platform.openai.com/docs/guides/error-codes>.
    pub(super) fn is_quota(&self) -> bool {
        self.status == 429 && self.body.contains("insufficient_quota")
    }
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
        (429, _) if refusal.is_quota() => Some("the quota is used up: check plan and billing".to_owned()),
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

/// Host and path of an address, without user, password and query, where keys may be.
fn address(url: &str) -> String {
    match Url::parse(url) {
        Ok(url) => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            format!("{}{port}{}", url.host_str().unwrap_or_default(), url.path())
        }
        Err(_) => format!("`{}`", cut(url, 80)),
    }
}

/// What the body of an error says, cut short.
fn message(body: &str) -> Option<String> {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    Some(shown(vendor_message(&value).unwrap_or(body))).filter(|text| !text.is_empty())
}

/// What a vendor says in an error: `error.message` mostly, `message` (Cohere), `detail` (Voyage), and Gemini may put all
/// in a list.
pub(super) fn vendor_message(value: &Value) -> Option<&str> {
    let value = value.get(0).unwrap_or(value);
    let places = [&value["error"]["message"], &value["error"], &value["message"], &value["detail"]];
    places.into_iter().find_map(Value::as_str)
}

/// A text of someone else on one line, cut short.
pub(super) fn shown(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&text, MOST_SHOWN).into_owned()
}
