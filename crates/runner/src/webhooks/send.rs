//! Sends signed webhook requests when a run finishes. They are sent in parallel, retried after transient errors, limited by a
//! total timeout, and never fail the run.

use std::time::{Duration, UNIX_EPOCH};

use cobalt::command::config::{Webhook, WebhookOn};
use cobalt_core::hash::hex;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;
use tokio::runtime;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, timeout};

use super::body::{Body, CiJob, EVENT, has_regressed};
use crate::error::Error;
use crate::http_client::Endpoint;
use crate::interrupt;
use crate::results::{Output, Reporter, Results};

/// Polling interval for the deadline and Ctrl-C.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Calls the matching webhooks in parallel when a run finishes. Failures are only warnings.
pub struct Webhooks(pub Vec<Webhook>);

impl Reporter for Webhooks {
    fn finish(&mut self, results: &Results, output: &dyn Output) -> Result<(), Error> {
        // No calls for interrupted runs, or if test cases were only listed.
        if !results.is_empty() && !interrupt::was_received() {
            notify(&self.0, results, output);
        }
        Ok(())
    }
}

fn notify(webhooks: &[Webhook], results: &Results, output: &dyn Output) {
    let wanted = webhooks.iter().filter(|webhook| matches_trigger(webhook.on(), results));
    let (mut ready, mut problems) = (Vec::new(), Vec::new());
    let ci = CiJob::of(|name| std::env::var(name).ok());
    for webhook in wanted {
        match delivery(webhook, results, ci.as_ref()) {
            Ok(delivery) => ready.push(delivery),
            Err(problem) => problems.push(format!("failed to call a webhook: {problem}")),
        }
    }
    problems.extend(deliver_all(ready));
    problems.iter().for_each(|problem| output.warn(problem));
}

fn matches_trigger(on: WebhookOn, results: &Results) -> bool {
    match on {
        WebhookOn::Always => true,
        WebhookOn::Failed => results.failed(),
        WebhookOn::Regressed => results.experiments.iter().any(|finished| has_regressed(&finished.report)),
    }
}

fn delivery(webhook: &Webhook, results: &Results, ci: Option<&CiJob>) -> Result<Delivery, String> {
    let url = webhook.url().map_err(|unset| unset.to_string())?;
    let secret = webhook.secret().map_err(|unset| unset.to_string())?;
    let body = Body::of(results, ci);
    Delivery::new(url, secret, &body, webhook.timeout(), webhook.retries())
}

/// A request that is ready to be sent.
#[derive(Debug)]
struct Delivery {
    endpoint: Endpoint,
    body: Vec<u8>,
}

impl Delivery {
    fn new(
        url: &str,
        secret: Option<&str>,
        body: &Body<'_>,
        timeout: Duration,
        retries: u32,
    ) -> Result<Self, String> {
        let url = Url::parse(url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        // The message does not contain the URL, which can be secret.
        let url = url.ok_or("its URL is not an HTTP URL such as `https://example.com/hook`")?;
        let seconds = body.timestamp.time().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let text =
            serde_json::to_vec(body).map_err(|error| format!("failed to serialize its body: {error}"))?;
        let signature = secret.map(|secret| signature(secret, seconds, &text));
        let headers = headers(&body.delivery, seconds, signature)?;
        Ok(Self { endpoint: Endpoint { url, headers, timeout, retries }, body: text })
    }
}

fn headers(delivery: &str, seconds: u64, signature: Option<String>) -> Result<HeaderMap, String> {
    let value = |text: String| HeaderValue::try_from(text).map_err(|error| error.to_string());
    let mut headers = HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (HeaderName::from_static("x-cobalt-event"), HeaderValue::from_static(EVENT)),
        (HeaderName::from_static("x-cobalt-delivery"), value(delivery.to_owned())?),
        (HeaderName::from_static("x-cobalt-timestamp"), value(seconds.to_string())?),
    ]);
    if let Some(signature) = signature {
        headers.insert("x-cobalt-signature-256", value(signature)?);
    }
    Ok(headers)
}

/// The signature of a body: HMAC-SHA-256 over the time in seconds, a dot, and the body.
///
/// The time is signed, too, to prevent replays.
fn signature(secret: &str, seconds: u64, body: &[u8]) -> String {
    let code = hmac(secret.as_bytes(), &[format!("{seconds}.").as_bytes(), body]);
    format!("sha256={}", hex(&code))
}

/// HMAC-SHA-256 over concatenated parts.
fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length is taken");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// Sends requests and returns their errors. Ctrl-C aborts immediately.
fn deliver_all(deliveries: Vec<Delivery>) -> Vec<String> {
    if deliveries.is_empty() {
        return Vec::new();
    }
    let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return vec![format!("failed to call the webhooks: {error}")],
    };
    let problems = runtime.block_on(deliver_concurrently(deliveries));
    // Do not wait for pending DNS lookups.
    runtime.shutdown_background();
    problems
}

async fn deliver_concurrently(deliveries: Vec<Delivery>) -> Vec<String> {
    let deadline = Instant::now() + Webhook::MAX_WAIT;
    let mut tasks = JoinSet::new();
    let mut under_way = Vec::new();
    for delivery in deliveries {
        let host = delivery.endpoint.host();
        under_way.push((tasks.spawn(deliver(delivery, deadline)).id(), host));
    }
    let mut problems = Vec::new();
    while !tasks.is_empty() && Instant::now() < deadline && !interrupt::was_received() {
        let Ok(Some(ended)) = timeout(POLL_INTERVAL, tasks.join_next_with_id()).await else { continue };
        let (id, result) = ended.unwrap_or_else(|error| (error.id(), Err(error.to_string())));
        let host = remove_pending(&mut under_way, id);
        problems.extend(result.err().map(|problem| failure_message(&host, &problem)));
    }
    let why = match interrupt::was_received() {
        true => "interrupted".to_owned(),
        false => {
            let longest = humantime::format_duration(Webhook::MAX_WAIT);
            format!("no response within {longest}, the longest that a run waits for webhooks")
        }
    };
    problems.extend(under_way.iter().map(|(_, host)| failure_message(host, &why)));
    problems
}

/// Removes a finished request and returns its host.
fn remove_pending(under_way: &mut Vec<(Id, String)>, id: Id) -> String {
    let place = under_way.iter().position(|(other, _)| *other == id);
    place.map_or_else(String::new, |place| under_way.swap_remove(place).1)
}

fn failure_message(host: &str, why: &str) -> String {
    format!("failed to call the webhook at {host}: {why}")
}

/// Sends a request. Only the status of the response counts.
async fn deliver(delivery: Delivery, deadline: Instant) -> Result<(), String> {
    let client = delivery.endpoint.client()?;
    delivery.endpoint.deliver(&client, &delivery.body, deadline).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases 1, 2 and 7 of RFC 4231: key, text, HMAC-SHA-256.
    #[test]
    fn signatures_are_those_of_rfc_4231() {
        let long = "This is a test using a larger than block-size key and a larger than block-size data. The key \
                    needs to be hashed before being used by the HMAC algorithm.";
        let cases: [(&[u8], &[u8], &str); 3] = [
            (&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                &[0xaa; 131],
                long.as_bytes(),
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
            ),
        ];
        for (key, text, expected) in cases {
            assert_eq!(hex(&hmac(key, &[text])), expected);
        }
    }

    #[test]
    fn time_and_body_are_signed() {
        let whole = hmac(b"key", &[b"1770301800.{\"schema\":1}"]);
        assert_eq!(signature("key", 1_770_301_800, b"{\"schema\":1}"), format!("sha256={}", hex(&whole)));
        for (seconds, body) in [(1_770_301_801, "{\"schema\":1}"), (1_770_301_800, "{\"schema\":2}")] {
            assert_ne!(
                signature("key", seconds, body.as_bytes()),
                signature("key", 1_770_301_800, b"{\"schema\":1}")
            );
        }
    }
}
