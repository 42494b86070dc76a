//! One attempt to send a request, with its redirects, up to an answer of bounded size or a refusal.

use std::error::Error;
use std::io::{self, Write};
use std::time::{Duration, Instant, SystemTime};

use cobalt_core::back_off::BackOff;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER,
    USER_AGENT,
};
use reqwest::{Method, Response, StatusCode, Url};

use super::connections::{CONNECT_TIMEOUT, Connections, cause, chain};
use super::gzip::{Body, GZIP, WriteError, take_encoding};
use super::said::address;
use super::tls;

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
pub async fn attempt(
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
    let wait = asked_wait(response.headers(), SystemTime::now());
    let location =
        response.headers().get(LOCATION).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let refusal = Refusal {
        status: response.status().as_u16(),
        body: read_error(&mut response, &mut clock).await,
        location,
        elsewhere: route.has_left.then_some(route.url),
    };
    match may_pass(refusal.status) {
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
pub fn broken(error: &reqwest::Error) -> AttemptError {
    if error.is_timeout() {
        let problem = format!("no connection within {}", humantime::format_duration(CONNECT_TIMEOUT));
        return AttemptError::Passing { problem: Problem::Late(problem), wait: None };
    }
    if error.is_builder() || chain(error).any(is_of_tls) {
        return AttemptError::broken(cause(error));
    }
    AttemptError::Passing { problem: Problem::Broken(cause(error)), wait: None }
}

/// Whether this is an error of TLS, within as many of input and output as there are around it.
fn is_of_tls(error: &(dyn Error + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    tls::is_error(error) || inner.is_some_and(|inner| is_of_tls(inner))
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Patience {
    /// As a whole.
    #[cfg_attr(
        not(feature = "judge"),
        expect(dead_code, reason = "only models are to answer within a time, of whatever length")
    )]
    Whole(Duration),
    /// Until it begins, and then between one piece and the next: a long one may take its time.
    Silence(Duration),
}

/// How much is read of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit<'a> {
    /// The most bytes, decompressed.
    pub(crate) bytes: u64,
    /// What is told where there are more.
    pub(crate) exceeded: &'a str,
}

/// Measures how long an answer takes.
#[derive(Debug)]
pub(super) struct Clock {
    patience: Patience,
    started: Instant,
    has_begun: bool,
}

impl Clock {
    pub(super) fn start(patience: Patience) -> Self {
        Self { patience, started: Instant::now(), has_begun: false }
    }

    /// The next thing that comes, in time.
    pub(super) async fn wait<T>(
        &mut self,
        next: impl Future<Output = reqwest::Result<T>>,
    ) -> Result<T, AttemptError> {
        let (most, left) = match self.patience {
            Patience::Whole(most) => (most, most.saturating_sub(self.started.elapsed())),
            Patience::Silence(most) => (most, most),
        };
        match tokio::time::timeout(left, next).await {
            Ok(next) => {
                self.has_begun = true;
                next.map_err(|error| broken(&error))
            }
            Err(_) => {
                let most = humantime::format_duration(most);
                let problem = match (self.patience, self.has_begun) {
                    (Patience::Silence(_), true) => format!("the answer stood still for {most}"),
                    _ => format!("no answer within {most}"),
                };
                Err(AttemptError::Passing { problem: Problem::Late(problem), wait: None })
            }
        }
    }
}

/// An answer that has begun, with a status of success.
#[derive(Debug)]
pub(crate) struct Answer {
    response: Response,
    is_gzip: bool,
    clock: Clock,
    url: Url,
}

impl Answer {
    pub(super) fn new(mut response: Response, clock: Clock, url: Url) -> Self {
        let is_gzip = take_encoding(&mut response);
        Self { response, is_gzip, clock, url }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Where it is from, after redirects.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Writes the whole of it, decompressed, to somewhere else, and says how many bytes that were. An answer that ends too early
    /// is an error that may pass.
    pub(crate) async fn read_into(
        &mut self,
        to: &mut impl Write,
        limit: Limit<'_>,
    ) -> Result<u64, AttemptError> {
        let failed = |error| match error {
            WriteError::TooLong => AttemptError::broken(limit.exceeded),
            WriteError::Target(error) => {
                AttemptError::broken(format!("the answer cannot be written: {error}"))
            }
            WriteError::Damaged(error) => {
                let problem = Problem::Broken(format!("the answer cannot be decompressed: {error}"));
                AttemptError::Passing { problem, wait: None }
            }
        };
        if !self.is_gzip && self.response.content_length().is_some_and(|length| length > limit.bytes) {
            return Err(failed(WriteError::TooLong));
        }
        let mut body = Body::new(to, self.is_gzip, limit.bytes);
        while let Some(piece) = self.clock.wait(self.response.chunk()).await? {
            body.write(&piece).map_err(failed)?;
        }
        body.finish().map_err(failed)
    }
}

/// How often a redirect is followed.
const MOST: usize = 10;

/// Which redirects of a request are followed. One by POST is only sent again where the server says that it is to stay one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redirects {
    /// Those that stay with the origin: scheme, host and port.
    Within,
    /// All that lead to HTTP and do not leave TLS; other origins are not sent the headers for authorisation.
    Anywhere,
}

/// Whether a header holds nothing that is only for the server that it is meant for.
pub fn is_harmless(name: &HeaderName) -> bool {
    [ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, USER_AGENT].contains(name)
}

/// Where a request is, and where it was before.
#[derive(Debug)]
pub struct Route<'a> {
    call: &'a Call,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    /// Whether it has left the origin, and its headers for authorisation there.
    pub(super) has_left: bool,
    past: Vec<Url>,
}

impl<'a> Route<'a> {
    pub fn new(call: &'a Call) -> Self {
        Self { call, url: call.url.clone(), headers: call.headers.clone(), has_left: false, past: Vec::new() }
    }

    /// Goes on to where an answer redirects. False where it does not, or is not followed and so is a refusal.
    pub fn leads_on(&mut self, response: &Response) -> Result<bool, String> {
        let redirects = match response.status().as_u16() {
            307 | 308 => true,
            301..=303 => self.call.method == Method::GET,
            _ => false,
        };
        match response.headers().get(LOCATION) {
            Some(location) if redirects => self.go_on(&String::from_utf8_lossy(location.as_bytes())),
            _ => Ok(false),
        }
    }

    fn go_on(&mut self, location: &str) -> Result<bool, String> {
        let next = self
            .url
            .join(location)
            .map_err(|error| format!("the server redirects to no address: {error}"))?;
        let leaves = next.origin() != self.url.origin();
        if leaves && self.call.redirects == Redirects::Within {
            return Ok(false);
        }
        let to = || address(next.as_str());
        match (self.url.scheme(), next.scheme()) {
            ("https", "http") => {
                return Err(format!(
                    "the server redirects from https to http, to {}, where anybody on the way could read and change it",
                    to()
                ));
            }
            (_, "http" | "https") => {}
            (_, other) => {
                return Err(format!("the server redirects to `{other}:`, which is neither http nor https"));
            }
        }
        if self.past.len() == MOST {
            return Err(format!("the server redirects more than {MOST} times, the last time to {}", to()));
        }
        if next == self.url || self.past.contains(&next) {
            return Err(format!("the server redirects in a loop, back to {}", to()));
        }
        if leaves {
            self.has_left = true;
            let kept = self.headers.iter().filter(|(name, _)| is_harmless(name));
            self.headers = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        }
        self.past.push(std::mem::replace(&mut self.url, next));
        Ok(true)
    }
}

/// The longest time that a server may ask to wait.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Whether what the server says may pass: it is too busy, or broken. What it cannot do at all does not pass.
pub fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599) && status != 501
}

/// How long the server asks to wait: `retry-after-ms` as OpenAI has it, else `Retry-After` in seconds or as a date.
pub fn asked_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse().ok().filter(|number: &f64| *number >= 0.0);
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        return Some(duration(milliseconds / 1000.0));
    }
    let text = text(RETRY_AFTER.as_str())?;
    match number(text) {
        Some(seconds) => Some(duration(seconds)),
        // A date that has passed asks for no wait.
        None => httpdate::parse_http_date(text).ok().map(|date| date.duration_since(now).unwrap_or_default()),
    }
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// How often a request is sent that is not answered in time. The server may well have worked on it, a model for money, and it
/// is the longest of all failures: whoever waits for a server that is silent is to be told.
const MOST_LATE: u32 = 2;

/// How often a request was sent, and may be sent again.
#[derive(Debug)]
pub struct Tries {
    retries: u32,
    back_off: BackOff,
    failed: u32,
    late: u32,
}

impl Tries {
    pub fn new(retries: u32, back_off: BackOff) -> Self {
        Self { retries, back_off, failed: 0, late: 0 }
    }

    /// Waits before a further attempt, after a problem that may pass. Where there is to be none, the error says why, as the end
    /// of a sentence on the problem.
    pub async fn again(&mut self, problem: &Problem, wait: Option<Duration>) -> Result<(), String> {
        if let Some(wait) = wait.filter(|wait| *wait > LONGEST_WAIT) {
            let wait = humantime::format_duration(Duration::from_secs(wait.as_secs()));
            return Err(format!("; the server asks to wait {wait}, try again after that"));
        }
        self.late += u32::from(matches!(problem, Problem::Late(_)));
        if self.failed == self.retries || self.late == MOST_LATE {
            let attempts = self.failed.saturating_add(1);
            return Err(if attempts == 1 { String::new() } else { format!("; tried {attempts} times") });
        }
        tokio::time::sleep(self.back_off.wait(self.failed, wait)).await;
        self.failed += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn call(url: &str, redirects: Redirects) -> Call {
        let names = ["authorization", "x-api-key", "cookie", "accept"];
        let headers = names.map(|name| (HeaderName::from_static(name), HeaderValue::from_static("value")));
        Call {
            method: Method::GET,
            url: url.parse().unwrap(),
            headers: HeaderMap::from_iter(headers),
            body: Vec::new(),
            redirects,
        }
    }

    /// Where a request ends that is redirected to these, one after another, and the headers that it has there.
    fn route(from: &str, to: &[&str]) -> Result<(String, usize), String> {
        let call = call(from, Redirects::Anywhere);
        let mut route = Route::new(&call);
        for to in to {
            assert!(route.go_on(to)?);
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
            "the server redirects from https to http, to a.test/x, where anybody on the way could read and change it"
        );
        assert!(route("http://a.test/x", &["https://a.test/x", "http://a.test/y"]).is_err());
    }

    #[test]
    fn only_http_is_followed() {
        for to in ["file:///etc/passwd", "ftp://a.test/x", "data:text/csv,a"] {
            let error = route("http://a.test/x", &[to]).unwrap_err();
            assert!(error.ends_with(", which is neither http nor https"), "{error}");
        }
        assert!(route("http://a.test/x", &["http://"]).unwrap_err().contains("to no address"));
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
        let call = call("https://a.test/x", Redirects::Within);
        let mut route = Route::new(&call);
        assert_eq!(route.go_on("https://b.test/x"), Ok(false));
        assert_eq!(route.go_on("http://a.test/x"), Ok(false));
        assert_eq!(route.go_on("/y"), Ok(true));
    }

    fn asked(name: &'static str, value: &'static str) -> Option<Duration> {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        asked_wait(&HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]), now)
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
