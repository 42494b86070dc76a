//! HTTP: the connections of the process, and what is common to all that is asked over them.
//!
//! A [`Call`] is sent once by [`attempt`], over [`Connections`] and by the rules of its [`Redirects`]; what comes is an
//! [`Answer`], to be read piece by piece. [`Tries`] says whether to send it again, and waits before. What servers say
//! instead of an answer is shown by [`said`], without keys by [`without_key`].

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

/// The value of a header that holds a secret.
pub fn secret(value: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        "the key holds a character that no header can, such as a line break; set it again".to_owned()
    })?;
    value.set_sensitive(true);
    Ok(value)
}
