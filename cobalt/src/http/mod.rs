//! HTTP: the connections of the process, and what all requests have in common.
//!
//! A [`HttpRequest`] is sent once by [`attempt`], over [`Connections`], following its [`RedirectPolicy`]. The response is an [`HttpResponse`],
//! which is read in chunks. [`RetryPolicy`] decides whether to retry, and waits before it. Error responses are formatted by
//! [`error_body`], and keys are redacted by [`redact_key`].

mod attempt;
mod connections;
pub mod error_body;
mod gzip;
mod redaction;
#[cfg(test)]
pub mod test_server;
#[cfg_attr(not(any(feature = "aws-lc-rs", feature = "ring")), path = "tls_disabled.rs")]
mod tls;

use reqwest::header::HeaderValue;

pub(crate) use attempt::{
    AttemptError, BodyLimit, Failure, HttpRequest, HttpResponse, RedirectPolicy, Refusal, RetryPolicy,
    Timeout, attempt, is_safe_cross_origin,
};
#[cfg(feature = "record")]
pub(crate) use attempt::{is_transient, retry_after};
pub(crate) use connections::Connections;
#[cfg(feature = "record")]
pub(crate) use connections::root_cause;
pub(crate) use redaction::redact_key;

/// A header value that is a secret.
pub fn secret_header(value: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        "the key contains a character that is invalid in a header, such as a line break; set it again"
            .to_owned()
    })?;
    value.set_sensitive(true);
    Ok(value)
}
