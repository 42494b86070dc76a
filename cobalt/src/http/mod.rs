//! HTTP: the connections of the process, and what all requests have in common.
//!
//! A [`Call`] is sent once by [`attempt`], over [`Connections`], following its [`Redirects`]. The response is an [`Answer`],
//! which is read in chunks. [`Tries`] decides whether to retry, and waits before it. Error responses are formatted by
//! [`said`], and keys are redacted by [`without_key`].

mod attempt;
mod connections;
mod gzip;
mod redaction;
pub mod said;
#[cfg(test)]
pub mod test_server;
#[cfg_attr(not(any(feature = "aws-lc-rs", feature = "ring")), path = "without_tls.rs")]
mod tls;

use reqwest::header::HeaderValue;

pub(crate) use attempt::{
    Answer, AttemptError, Call, Limit, Patience, Problem, Redirects, Refusal, Tries, attempt, is_harmless,
};
pub(crate) use connections::Connections;
pub(crate) use redaction::without_key;

/// A header value that is a secret.
pub fn secret(value: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        "the key contains a character that is invalid in a header, such as a line break; set it again"
            .to_owned()
    })?;
    value.set_sensitive(true);
    Ok(value)
}
