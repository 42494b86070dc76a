//! Sends a request once, following redirects, and returns a response of limited size or a refusal.

use crate::log;
use std::error::Error;
use std::io::{self, Write};
use std::time::{Duration, Instant, SystemTime};

use cobalt_core::back_off::BackOff;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER,
    USER_AGENT,
};
use reqwest::{Method, Response, StatusCode, Url};

use super::connections::{CONNECT_TIMEOUT, Connections, chain, root_cause};
use super::error_body::display_url;
use super::gzip::{BodyWriter, GZIP, WriteError, take_gzip_header};
use super::tls;

/// The maximum size of an error response that is read, in bytes.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// A request that can be sent repeatedly.
#[derive(Clone, Debug)]
pub(crate) struct HttpRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// Secret values are marked as sensitive.
    pub(crate) headers: HeaderMap,
    /// Empty if there is none.
    pub(crate) body: Vec<u8>,
    pub(crate) redirects: RedirectPolicy,
}

/// Why an attempt failed.
#[derive(Debug)]
pub(crate) enum AttemptError {
    /// A transient failure, with the wait that the server asks for, if any.
    Transient { problem: Failure, wait: Option<Duration> },
    /// A permanent failure.
    Permanent(Failure),
}

impl AttemptError {
    /// A permanent failure without a response from the server.
    pub(crate) fn broken(problem: impl Into<String>) -> Self {
        Self::Permanent(Failure::Broken(problem.into()))
    }
}

/// The kind of failure.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server returned an error.
    Refused(Refusal),
    /// There was no connection, so nothing was sent. `is_late`: because of a timeout.
    Unreachable { problem: String, is_late: bool },
    /// There was no response, or only a part of one.
    Broken(String),
    /// There was a timeout.
    TimedOut(String),
}

impl Failure {
    /// What happened, for the log.
    fn reason(&self) -> String {
        match self {
            Self::Refused(refusal) => format!("status {}", refusal.status),
            Self::Unreachable { problem, .. } | Self::Broken(problem) | Self::TimedOut(problem) => {
                problem.clone()
            }
        }
    }
}

/// An error response.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) body: String,
    /// The target of a redirect.
    pub(crate) location: Option<String>,
    /// The URL after a redirect to another server, which was not sent the authorization headers.
    pub(crate) redirected_to: Option<Url>,
}

/// Sends a request once.
pub async fn attempt(
    connections: &Connections,
    call: &HttpRequest,
    patience: Timeout,
) -> Result<HttpResponse, AttemptError> {
    let mut clock = TimeoutClock::start(patience);
    let mut route = RedirectState::new(call);
    loop {
        let client = connections
            .client_for(route.url.as_str())
            .map_err(|problem| AttemptError::Permanent(Failure::Unreachable { problem, is_late: false }))?;
        let request = client.request(call.method.clone(), route.url.clone()).headers(route.headers.clone());
        let request = request.header(ACCEPT_ENCODING, GZIP);
        let request = if call.body.is_empty() { request } else { request.body(call.body.clone()) };
        let response = clock.wait(request.send()).await?;
        if route.follow_redirect(&response).map_err(AttemptError::broken)? {
            continue;
        }
        if response.status().is_success() {
            return Ok(HttpResponse::new(response, clock, route.url));
        }
        return Err(refused(response, clock, route).await);
    }
}

async fn refused(mut response: Response, mut clock: TimeoutClock, route: RedirectState<'_>) -> AttemptError {
    let wait = retry_after(response.headers(), SystemTime::now());
    let location =
        response.headers().get(LOCATION).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let refusal = Refusal {
        status: response.status().as_u16(),
        body: read_error(&mut response, &mut clock).await,
        location,
        redirected_to: route.has_left.then_some(route.url),
    };
    match is_transient(refusal.status) {
        true => AttemptError::Transient { problem: Failure::Refused(refusal), wait },
        false => AttemptError::Permanent(Failure::Refused(refusal)),
    }
}

/// Reads the text of an error response, as far as possible.
async fn read_error(response: &mut Response, clock: &mut TimeoutClock) -> String {
    let mut text = Vec::new();
    let is_gzip = take_gzip_header(response);
    let mut body =
        BodyWriter::new(TruncatingWriter { to: &mut text, most: MAX_ERROR_BYTES }, is_gzip, u64::MAX);
    while let Ok(Some(piece)) = clock.wait(response.chunk()).await
        && body.write(&piece).is_ok()
    {}
    let _ = body.finish();
    drop(body);
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes up to a limit, and fails after that.
struct TruncatingWriter<'a> {
    to: &'a mut Vec<u8>,
    most: usize,
}

impl io::Write for TruncatingWriter<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let taken = piece.len().min(self.most - self.to.len());
        self.to.extend_from_slice(&piece[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Classifies a connection error: transient, unless the URL or the certificate is wrong.
pub fn classify_error(error: &reqwest::Error) -> AttemptError {
    if error.is_timeout() {
        let problem = format!("no connection within {}", humantime::format_duration(CONNECT_TIMEOUT));
        let problem = Failure::Unreachable { problem, is_late: true };
        return AttemptError::Transient { problem, wait: None };
    }
    let problem = root_cause(error);
    let problem = if error.is_builder() || error.is_connect() {
        Failure::Unreachable { problem, is_late: false }
    } else {
        Failure::Broken(problem)
    };
    if error.is_builder() || chain(error).any(is_tls_error) {
        return AttemptError::Permanent(problem);
    }
    AttemptError::Transient { problem, wait: None }
}

/// Whether this is a TLS error, possibly nested in I/O errors.
fn is_tls_error(error: &(dyn Error + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    tls::is_error(error) || inner.is_some_and(|inner| is_tls_error(inner))
}

/// The timeout of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Timeout {
    /// For the whole response.
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "only used for models"))]
    Total(Duration),
    /// Until the response starts, and between chunks; a long response may take longer.
    Idle(Duration),
}

/// The maximum size of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimit<'a> {
    /// In bytes, decompressed.
    pub(crate) bytes: u64,
    /// The error if the response is larger.
    pub(crate) exceeded: &'a str,
}

/// Enforces the timeout of a response.
#[derive(Debug)]
pub(super) struct TimeoutClock {
    timeout: Timeout,
    started: Instant,
    has_begun: bool,
}

impl TimeoutClock {
    pub(super) fn start(timeout: Timeout) -> Self {
        Self { timeout, started: Instant::now(), has_begun: false }
    }

    /// Waits for the next event, up to the timeout.
    pub(super) async fn wait<T>(
        &mut self,
        next: impl Future<Output = reqwest::Result<T>>,
    ) -> Result<T, AttemptError> {
        let (most, left) = match self.timeout {
            Timeout::Total(most) => (most, most.saturating_sub(self.started.elapsed())),
            Timeout::Idle(most) => (most, most),
        };
        match tokio::time::timeout(left, next).await {
            Ok(next) => {
                self.has_begun = true;
                next.map_err(|error| classify_error(&error))
            }
            Err(_) => {
                let most = humantime::format_duration(most);
                let problem = match (self.timeout, self.has_begun) {
                    (Timeout::Idle(_), true) => format!("the response stalled for {most}"),
                    _ => format!("no response within {most}"),
                };
                Err(AttemptError::Transient { problem: Failure::TimedOut(problem), wait: None })
            }
        }
    }
}

/// A successful response whose body is not read yet.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    response: Response,
    is_gzip: bool,
    clock: TimeoutClock,
    url: Url,
}

impl HttpResponse {
    pub(super) fn new(mut response: Response, clock: TimeoutClock, url: Url) -> Self {
        let is_gzip = take_gzip_header(&mut response);
        Self { response, is_gzip, clock, url }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The URL after redirects.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Writes the whole body, decompressed, and returns its size in bytes. A truncated response is a transient error.
    pub(crate) async fn read_into(
        &mut self,
        to: &mut impl Write,
        limit: BodyLimit<'_>,
    ) -> Result<u64, AttemptError> {
        let failed = |error| match error {
            WriteError::TooLong => AttemptError::broken(limit.exceeded),
            WriteError::Target(error) => AttemptError::broken(format!("cannot write the response: {error}")),
            WriteError::Corrupt(error) => {
                let problem = Failure::Broken(format!("cannot decompress the response: {error}"));
                AttemptError::Transient { problem, wait: None }
            }
        };
        if !self.is_gzip && self.response.content_length().is_some_and(|length| length > limit.bytes) {
            return Err(failed(WriteError::TooLong));
        }
        let mut body = BodyWriter::new(to, self.is_gzip, limit.bytes);
        while let Some(piece) = self.clock.wait(self.response.chunk()).await? {
            body.write(&piece).map_err(failed)?;
        }
        body.finish().map_err(failed)
    }
}

/// The maximum number of redirects.
const MAX_REDIRECTS: usize = 10;

/// Which redirects are followed. A POST request is only resent if the status preserves the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectPolicy {
    /// Redirects within the origin: scheme, host and port.
    SameOrigin,
    /// All redirects, except to other schemes and from https to http; other origins are not sent the authorization headers.
    AnyOrigin,
}

/// Whether a header may be sent to another server.
pub fn is_safe_cross_origin(name: &HeaderName) -> bool {
    [ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, USER_AGENT].contains(name)
}

/// The current URL of a request, and the previous ones.
#[derive(Debug)]
pub struct RedirectState<'a> {
    call: &'a HttpRequest,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    /// Whether it has left the origin, and dropped its authorization headers.
    pub(super) has_left: bool,
    past: Vec<Url>,
}

impl<'a> RedirectState<'a> {
    pub fn new(call: &'a HttpRequest) -> Self {
        Self { call, url: call.url.clone(), headers: call.headers.clone(), has_left: false, past: Vec::new() }
    }

    /// Follows a redirect. Returns false if the response is not a redirect, or one that is not followed (a refusal).
    pub fn follow_redirect(&mut self, response: &Response) -> Result<bool, String> {
        let redirects = match response.status().as_u16() {
            307 | 308 => true,
            301..=303 => self.call.method == Method::GET,
            _ => false,
        };
        match response.headers().get(LOCATION) {
            Some(location) if redirects => self.redirect_to(&String::from_utf8_lossy(location.as_bytes())),
            _ => Ok(false),
        }
    }

    fn redirect_to(&mut self, location: &str) -> Result<bool, String> {
        let next = self
            .url
            .join(location)
            .map_err(|error| format!("the server redirects to an invalid URL: {error}"))?;
        let leaves = next.origin() != self.url.origin();
        if leaves && self.call.redirects == RedirectPolicy::SameOrigin {
            return Ok(false);
        }
        let to = || display_url(next.as_str());
        match (self.url.scheme(), next.scheme()) {
            ("https", "http") => {
                return Err(format!(
                    "the server redirects from https to http, to {}; not followed, as the data could be read and changed in transit",
                    to()
                ));
            }
            (_, "http" | "https") => {}
            (_, other) => {
                return Err(format!("the server redirects to `{other}:`, which is neither http nor https"));
            }
        }
        if self.past.len() == MAX_REDIRECTS {
            return Err(format!(
                "the server redirects more than {MAX_REDIRECTS} times, the last time to {}",
                to()
            ));
        }
        if next == self.url || self.past.contains(&next) {
            return Err(format!("the server redirects in a loop, back to {}", to()));
        }
        if leaves {
            self.has_left = true;
            let kept = self.headers.iter().filter(|(name, _)| is_safe_cross_origin(name));
            self.headers = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        }
        self.past.push(std::mem::replace(&mut self.url, next));
        Ok(true)
    }
}

/// The longest wait that a server may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Whether a status is transient: the server is busy or broken. Unsupported requests (501) are permanent.
pub fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599) && status != 501
}

/// The wait that the server asks for: OpenAI's `retry-after-ms`, else `Retry-After` in seconds or as a date.
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse().ok().filter(|number: &f64| *number >= 0.0);
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        return Some(duration(milliseconds / 1000.0));
    }
    let text = text(RETRY_AFTER.as_str())?;
    match number(text) {
        Some(seconds) => Some(duration(seconds)),
        // A date in the past means no wait.
        None => httpdate::parse_http_date(text).ok().map(|date| date.duration_since(now).unwrap_or_default()),
    }
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// How often a request is sent that times out. The server may have processed it, and charged for it, and a timeout is the
/// slowest failure, so it is reported early.
const MAX_TIMEOUTS: u32 = 2;

/// The retry policy and the attempts so far.
#[derive(Debug)]
pub struct RetryPolicy {
    retries: u32,
    back_off: BackOff,
    failed: u32,
    late: u32,
}

impl RetryPolicy {
    pub fn new(retries: u32, back_off: BackOff) -> Self {
        Self { retries, back_off, failed: 0, late: 0 }
    }

    /// Waits before the next attempt after a transient failure. If there is no further attempt, the error says why, to be appended
    /// to the message.
    pub async fn wait_for_retry(&mut self, problem: &Failure, wait: Option<Duration>) -> Result<(), String> {
        if let Some(wait) = wait.filter(|wait| *wait > MAX_RETRY_AFTER) {
            let wait = humantime::format_duration(Duration::from_secs(wait.as_secs()));
            log::warn!(reason = problem.reason(), asked = wait, "does not wait as long as the server asks");
            return Err(format!("; the server asks to wait {wait}; try again after that"));
        }
        let is_late = matches!(problem, Failure::TimedOut(_) | Failure::Unreachable { is_late: true, .. });
        self.late += u32::from(is_late);
        if self.failed == self.retries || self.late == MAX_TIMEOUTS {
            let attempts = self.failed.saturating_add(1);
            log::warn!(reason = problem.reason(), attempts = attempts, "gives up on the request");
            return Err(if attempts == 1 { String::new() } else { format!("; tried {attempts} times") });
        }
        let pause = self.back_off.wait(self.failed, wait);
        self.failed += 1;
        log::debug!(
            reason = problem.reason(),
            attempt = self.failed,
            pause = humantime::format_duration(pause),
            "retries the request"
        );
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn call(url: &str, redirects: RedirectPolicy) -> HttpRequest {
        let names = ["authorization", "x-api-key", "cookie", "accept"];
        let headers = names.map(|name| (HeaderName::from_static(name), HeaderValue::from_static("value")));
        HttpRequest {
            method: Method::GET,
            url: url.parse().unwrap(),
            headers: HeaderMap::from_iter(headers),
            body: Vec::new(),
            redirects,
        }
    }

    /// The final URL of a request with these redirects, and the number of headers sent there.
    fn route(from: &str, to: &[&str]) -> Result<(String, usize), String> {
        let call = call(from, RedirectPolicy::AnyOrigin);
        let mut route = RedirectState::new(&call);
        for to in to {
            assert!(route.redirect_to(to)?);
        }
        Ok((route.url.into(), route.headers.len()))
    }

    #[test]
    fn the_headers_stay_with_their_origin() {
        let ends = |from: &str, to: &str| route(from, &[to]).unwrap();
        assert_eq!(ends("https://a.test/x", "/y"), ("https://a.test/y".to_owned(), 4));
        assert_eq!(ends("https://a.test/x", "https://a.test:443/y"), ("https://a.test/y".to_owned(), 4));
        for other in ["https://b.test/y", "https://a.test:8443/y", "//cdn.a.test/y"] {
            assert_eq!(ends("https://a.test/x", other).1, 1, "{other}");
        }
        assert_eq!(ends("http://a.test/x", "https://a.test/x").1, 1);
    }

    #[test]
    fn headers_that_were_left_behind_do_not_come_back() {
        let back = ["https://b.test/y", "https://a.test/z"];
        assert_eq!(route("https://a.test/x", &back).unwrap(), ("https://a.test/z".to_owned(), 1));
    }

    #[test]
    fn tls_is_never_left() {
        let error = route("https://a.test/x", &["http://a.test/x?token=hidden"]).unwrap_err();
        assert_eq!(
            error,
            "the server redirects from https to http, to a.test/x; not followed, as the data could be read and changed in transit"
        );
        assert!(route("http://a.test/x", &["https://a.test/x", "http://a.test/y"]).is_err());
    }

    #[test]
    fn only_http_is_followed() {
        for to in ["file:///etc/passwd", "ftp://a.test/x", "data:text/csv,a"] {
            let error = route("http://a.test/x", &[to]).unwrap_err();
            assert!(error.ends_with(", which is neither http nor https"), "{error}");
        }
        assert!(route("http://a.test/x", &["http://"]).unwrap_err().contains("to an invalid URL"));
    }

    #[test]
    fn a_loop_and_too_many_are_told() {
        let error = route("http://a.test/x", &["/y", "/x"]).unwrap_err();
        assert_eq!(error, "the server redirects in a loop, back to a.test/x");
        let many: Vec<_> = (0..11).map(|n| format!("/{n}")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert!(route("http://a.test/x", &many[..10]).is_ok());
        let error = route("http://a.test/x", &many).unwrap_err();
        assert_eq!(error, "the server redirects more than 10 times, the last time to a.test/10");
    }

    #[test]
    fn a_request_that_is_to_stay_with_its_origin_goes_to_no_other() {
        let call = call("https://a.test/x", RedirectPolicy::SameOrigin);
        let mut route = RedirectState::new(&call);
        assert_eq!(route.redirect_to("https://b.test/x"), Ok(false));
        assert_eq!(route.redirect_to("http://a.test/x"), Ok(false));
        assert_eq!(route.redirect_to("/y"), Ok(true));
    }

    fn asked(name: &'static str, value: &'static str) -> Option<Duration> {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        retry_after(&HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]), now)
    }

    #[test]
    fn a_wait_is_read_in_seconds_in_milliseconds_or_as_a_date() {
        assert_eq!(asked("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(asked("retry-after", "0.25"), Some(Duration::from_millis(250)));
        assert_eq!(asked("retry-after-ms", "40"), Some(Duration::from_millis(40)));
        assert_eq!(asked("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"), Some(Duration::from_secs(10)));
        assert_eq!(asked("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
    }

    #[test]
    fn a_wait_that_cannot_be_read_is_none() {
        for value in ["soon", "-1", "NaN", ""] {
            assert_eq!(asked("retry-after", value), None, "{value}");
        }
    }
}
