//! HTTP: the connections of the process, and what is common to all that is asked over them.
//!
//! A [`Call`] is sent once by [`attempt`], over [`Connections`] and by the rules of its [`Redirects`]; what comes is an
//! [`Answer`], to be read piece by piece. [`Tries`] says whether to send it again, and waits before. What servers say
//! instead of an answer is shown by [`said`], without keys by [`without_key`].

mod answer;
mod attempt;
mod connections;
mod gzip;
mod redaction;
mod redirects;
mod retry;
pub(crate) mod said;
#[cfg(test)]
pub(crate) mod test_server;
#[cfg_attr(not(any(feature = "aws-lc-rs", feature = "ring")), path = "without_tls.rs")]
mod tls;
mod tries;

use reqwest::header::HeaderValue;

pub(crate) use answer::{Answer, Limit, Patience};
pub(crate) use attempt::{AttemptError, Call, Problem, Refusal, attempt};
pub(crate) use connections::Connections;
pub(crate) use redaction::without_key;
pub(crate) use redirects::{Redirects, is_harmless};
pub(crate) use tries::Tries;

/// The value of a header that holds a secret.
pub(crate) fn secret(value: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        "the key holds a character that no header can, such as a line break; set it again".to_owned()
    })?;
    value.set_sensitive(true);
    Ok(value)
}
