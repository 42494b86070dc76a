//! One attempt to send a request: within the timeout, and with an answer of bounded length.

use std::error::Error;
use std::io;
use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

use super::failure::Refusal;
use super::request::Request;
use super::retry;

/// The longest answer that is read, in bytes.
const LONGEST: usize = 16 << 20;
/// The longest error that is read, in bytes; the rest of it is left where it is.
const LONGEST_ERROR: usize = 64 << 10;

/// Why an attempt gave no answer.
#[derive(Debug)]
pub(super) enum AttemptError {
    /// It may go better another time, after so long a wait where the server asks for one.
    Passing { problem: Problem, wait: Option<Duration> },
    /// It will not.
    Final(Problem),
}

/// What is wrong.
#[derive(Debug)]
pub(super) enum Problem {
    /// The server says so.
    Refused(Refusal),
    /// There was no answer, or only a part of one.
    Broken(String),
    /// There was none in time.
    Late(String),
}

/// Sends a request once.
pub(super) async fn attempt(
    client: &reqwest::Client,
    request: &Request,
    timeout: Duration,
) -> Result<Vec<u8>, AttemptError> {
    let headers = headers(request).map_err(|problem| AttemptError::Final(Problem::Broken(problem)))?;
    let sent =
        client.post(&request.url).headers(headers).body(request.body.clone()).timeout(timeout).send().await;
    let mut response = sent.map_err(|error| broken(&error, timeout))?;
    let status = response.status();
    if !status.is_success() {
        let wait = retry::asked_wait(response.headers(), SystemTime::now());
        let location =
            response.headers().get("location").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = read_error(&mut response).await;
        let refusal = Refusal { status: status.as_u16(), body, location };
        return Err(match retry::may_pass(refusal.status) && !refusal.is_quota() {
            true => AttemptError::Passing { problem: Problem::Refused(refusal), wait },
            false => AttemptError::Final(Problem::Refused(refusal)),
        });
    }
    read(&mut response, timeout).await
}

fn headers(request: &Request) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    for (name, value) in &request.headers {
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            "the key holds a character that no header can, such as a line break; set it again".to_owned()
        })?;
        value.set_sensitive(true);
        headers.insert(*name, value);
    }
    Ok(headers)
}

/// The whole answer, as long as it is not too long.
async fn read(response: &mut reqwest::Response, timeout: Duration) -> Result<Vec<u8>, AttemptError> {
    let too_long = || {
        let most = LONGEST >> 20;
        AttemptError::Final(Problem::Broken(format!(
            "the answer is longer than the {most} MiB that are read"
        )))
    };
    if response.content_length().is_some_and(|length| length > LONGEST as u64) {
        return Err(too_long());
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| broken(&error, timeout))? {
        if body.len() + piece.len() > LONGEST {
            return Err(too_long());
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// What is there of an error's text.
async fn read_error(response: &mut reqwest::Response) -> String {
    let mut body = Vec::new();
    while body.len() < LONGEST_ERROR
        && let Ok(Some(piece)) = response.chunk().await
    {
        body.extend_from_slice(&piece);
    }
    body.truncate(LONGEST_ERROR);
    String::from_utf8_lossy(&body).into_owned()
}

/// What a broken connection is: it may go better another time, unless the address or the certificate is wrong.
fn broken(error: &reqwest::Error, timeout: Duration) -> AttemptError {
    if error.is_timeout() {
        let problem = format!("no answer within {}", humantime::format_duration(timeout));
        return AttemptError::Passing { problem: Problem::Late(problem), wait: None };
    }
    let problem = Problem::Broken(cause(error));
    if error.is_builder() || chain(error).any(is_of_tls) {
        return AttemptError::Final(problem);
    }
    AttemptError::Passing { problem, wait: None }
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}

/// Whether this is an error of TLS, within as many of input and output as there are around it.
fn is_of_tls(error: &(dyn Error + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    error.is::<rustls::Error>() || inner.is_some_and(|inner| is_of_tls(inner))
}

/// What is at the bottom of an error, which says most.
pub(super) fn cause(error: &reqwest::Error) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}
