//! One attempt to send a request: redirected as its rules have it, until there is an answer or a refusal.

use std::error::Error;
use std::io;
use std::time::{Duration, SystemTime};

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, LOCATION};
use reqwest::{Method, Response, Url};

use super::answer::Clock;
use super::connections::CONNECT_TIMEOUT;
use super::gzip::{Body, GZIP, take_encoding};
use super::redirects::Route;
use super::{Answer, Connections, Patience, Redirects, retry, tls};

/// The longest error that is read, in bytes; the rest of it is left where it is.
const LONGEST_ERROR: usize = 64 << 10;

/// A request, ready to be sent as often as needed.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// Those with a secret are marked as such.
    pub(crate) headers: HeaderMap,
    /// Empty where there is none.
    pub(crate) body: Vec<u8>,
    pub(crate) redirects: Redirects,
}

/// Why an attempt gave no answer.
#[derive(Debug)]
pub(crate) enum AttemptError {
    /// It may go better another time, after so long a wait where the server asks for one.
    Passing { problem: Problem, wait: Option<Duration> },
    /// It will not.
    Final(Problem),
}

impl AttemptError {
    /// What will not go better another time.
    pub(crate) fn broken(problem: impl Into<String>) -> Self {
        Self::Final(Problem::Broken(problem.into()))
    }
}

/// What is wrong.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The server says so.
    Refused(Refusal),
    /// There was no answer, or only a part of one.
    Broken(String),
    /// There was none in time.
    Late(String),
}

/// What a server says instead of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) body: String,
    /// Where a redirect leads.
    pub(crate) location: Option<String>,
    /// Who says so, where that is another server than was asked, which was not sent the headers for authorisation.
    pub(crate) elsewhere: Option<Url>,
}

/// Sends a request once.
pub(crate) async fn attempt(
    connections: &Connections,
    call: &Call,
    patience: Patience,
) -> Result<Answer, AttemptError> {
    let mut clock = Clock::start(patience);
    let mut route = Route::new(call);
    loop {
        let client = connections.to(route.url.as_str()).map_err(AttemptError::broken)?;
        let request = client.request(call.method.clone(), route.url.clone()).headers(route.headers.clone());
        let request = request.header(ACCEPT_ENCODING, GZIP);
        let request = if call.body.is_empty() { request } else { request.body(call.body.clone()) };
        let response = clock.wait(request.send()).await?;
        if route.leads_on(&response).map_err(AttemptError::broken)? {
            continue;
        }
        if response.status().is_success() {
            return Ok(Answer::new(response, clock, route.url));
        }
        return Err(refused(response, clock, route).await);
    }
}

async fn refused(mut response: Response, mut clock: Clock, route: Route<'_>) -> AttemptError {
    let wait = retry::asked_wait(response.headers(), SystemTime::now());
    let location =
        response.headers().get(LOCATION).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let refusal = Refusal {
        status: response.status().as_u16(),
        body: read_error(&mut response, &mut clock).await,
        location,
        elsewhere: route.has_left.then_some(route.url),
    };
    match retry::may_pass(refusal.status) {
        true => AttemptError::Passing { problem: Problem::Refused(refusal), wait },
        false => AttemptError::Final(Problem::Refused(refusal)),
    }
}

/// What is there of an error's text.
async fn read_error(response: &mut Response, clock: &mut Clock) -> String {
    let mut text = Vec::new();
    let is_gzip = take_encoding(response);
    let mut body = Body::new(Shortened { to: &mut text, most: LONGEST_ERROR }, is_gzip, u64::MAX);
    while let Ok(Some(piece)) = clock.wait(response.chunk()).await
        && body.write(&piece).is_ok()
    {}
    let _ = body.finish();
    drop(body);
    String::from_utf8_lossy(&text).into_owned()
}

/// Takes the beginning of what is written, and fails after that.
struct Shortened<'a> {
    to: &'a mut Vec<u8>,
    most: usize,
}

impl io::Write for Shortened<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let taken = piece.len().min(self.most - self.to.len());
        self.to.extend_from_slice(&piece[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a broken connection is: it may go better another time, unless the address or the certificate is wrong.
pub(super) fn broken(error: &reqwest::Error) -> AttemptError {
    if error.is_timeout() {
        let problem = format!("no connection within {}", humantime::format_duration(CONNECT_TIMEOUT));
        return AttemptError::Passing { problem: Problem::Late(problem), wait: None };
    }
    if error.is_builder() || chain(error).any(is_of_tls) {
        return AttemptError::broken(cause(error));
    }
    AttemptError::Passing { problem: Problem::Broken(cause(error)), wait: None }
}

/// What is at the bottom of an error, which says most.
pub(super) fn cause(error: &reqwest::Error) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}

/// An error with what is below it.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}

/// Whether this is an error of TLS, within as many of input and output as there are around it.
fn is_of_tls(error: &(dyn Error + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    tls::is_error(error) || inner.is_some_and(|inner| is_of_tls(inner))
}
