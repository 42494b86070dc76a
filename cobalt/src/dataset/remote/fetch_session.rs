//! Requests to one source, with retries after transient failures and a limit on the size of responses.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cobalt_core::back_off::BackOff;
use cobalt_core::redact::{Secret, register_secret};
use cobalt_core::wording::format_decimal;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::fetch_options::{FetchError, FetchOptions};
use crate::dataset::settings::{Account, FetchSettings, Key, Platform};
use crate::http::{
    self, AttemptError, BodyLimit, Connections, Failure, HttpRequest, HttpResponse, RedirectPolicy, Refusal,
    RetryPolicy, Timeout, error_body, redact_key,
};

/// Looks up an environment variable.
pub type Lookup<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// The state of a fetch from one source.
#[derive(Debug)]
pub struct FetchSession<'a> {
    terms: &'a FetchOptions,
    settings: &'a FetchSettings,
    variable: Variables<'a>,
    back_off: BackOff,
    connections: Connections,
    /// The bytes read so far.
    read: AtomicU64,
    /// The secrets used so far.
    secrets: Mutex<Vec<Secret>>,
}

/// Environment variables; empty ones count as unset.
struct Variables<'a>(Lookup<'a>);

impl std::fmt::Debug for Variables<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Variables")
    }
}

/// A key, and where it comes from.
#[derive(Clone, Debug)]
pub(super) struct ApiKey {
    pub(super) secret: Secret,
    /// For messages: "the key in LANGSMITH_API_KEY".
    pub(super) origin: String,
}

impl<'a> FetchSession<'a> {
    pub(super) fn new(terms: &'a FetchOptions, settings: &'a FetchSettings, variable: Lookup<'a>) -> Self {
        Self {
            terms,
            settings,
            variable: Variables(variable),
            back_off: BackOff::default(),
            connections: Connections::default(),
            read: AtomicU64::new(0),
            secrets: Mutex::default(),
        }
    }

    /// With another back-off between attempts.
    #[cfg(test)]
    pub(super) fn with_back_off(self, back_off: BackOff) -> Self {
        Self { back_off, ..self }
    }

    /// The value of a variable, unless it is unset or empty.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        let value = (self.variable.0)(name)?;
        // A key read from a file ends with a line break.
        Some(value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// The maximum total size of all responses, also after decompression.
    pub(super) fn max_bytes(&self) -> u64 {
        self.terms.max_bytes
    }

    /// The folder of cached copies.
    pub(super) fn folder(&self) -> &'a Path {
        &self.settings.folder
    }

    /// The configured account of a platform.
    pub(super) fn account(&self, platform: Platform) -> Option<&'a Account> {
        self.settings.accounts.get(&platform)
    }

    /// A key: from the builder, else from the configuration, else from the first of these variables that is set. `setting` is
    /// its name in the configuration, in backticks.
    pub(super) fn key(
        &self,
        own: Option<&Secret>,
        configured: Option<&Key>,
        variables: &[&str],
        setting: &str,
    ) -> Result<ApiKey, FetchError> {
        let of = |secret: &Secret, origin: &str| ApiKey { secret: secret.clone(), origin: origin.to_owned() };
        let variable = |name: &str| {
            let secret = Secret(self.variable(name)?);
            Some(ApiKey { secret, origin: format!("the key in {name}") })
        };
        let env = format!("{}-env`", setting.trim_end_matches('`'));
        let missing = |name: &str, advice: &str| {
            FetchError::problem(format!("no key: set {name}, {advice} {env} in cobalt.toml"))
        };
        let found = match (own, configured) {
            (Some(key), _) => of(key, "the key set in code"),
            (None, Some(Key::Written(key))) => of(key, &format!("the key in {setting}")),
            (None, Some(Key::Variable(name))) => {
                variable(name).ok_or_else(|| missing(name, "the variable named by"))?
            }
            (None, None) => variables
                .iter()
                .find_map(|name| variable(name))
                .ok_or_else(|| missing(variables[0], "or name another variable with"))?,
        };
        register_secret(setting.trim_matches('`'), &found.secret.0);
        self.register_secret(&found.secret.0);
        Ok(found)
    }

    /// Registers a secret to be redacted in errors of this session.
    pub(super) fn register_secret(&self, secret: &str) {
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        if !secrets.iter().any(|Secret(known)| known == secret) {
            secrets.push(Secret(secret.to_owned()));
        }
    }

    /// Redacts the query of a URL in errors of this session, both as a whole and its decoded values: any parameter may be a key
    /// or a signature.
    pub(super) fn register_query(&self, url: &Url) {
        url.query().into_iter().for_each(|query| self.register_secret(query));
        url.query_pairs().for_each(|(_, value)| self.register_secret(&value));
    }

    /// A text with the secrets of this session redacted.
    pub(super) fn redact(&self, text: &str) -> String {
        let secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        secrets.iter().fold(redact_key(text, None), |text, secret| redact_key(&text, Some(secret)))
    }

    /// Sends a request and parses the response as JSON.
    pub(super) async fn json<T: DeserializeOwned>(&self, request: &Request) -> Result<T, FetchError> {
        Ok(self.json_with_date(request).await?.0)
    }

    /// Sends a request and parses the response as JSON. Also returns the server's time, to the second, if it sends one.
    pub(super) async fn json_with_date<T: DeserializeOwned>(
        &self,
        request: &Request,
    ) -> Result<(T, Option<SystemTime>), FetchError> {
        let call = request.to_call(RedirectPolicy::SameOrigin);
        let (bytes, date) = self
            .send(&call, async |mut answer, limit| {
                let date = answer.headers().get(DATE).and_then(|date| date.to_str().ok());
                let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
                let mut bytes = Vec::new();
                answer.read_into(&mut bytes, limit).await?;
                Ok((bytes, date))
            })
            .await?;
        self.count_bytes(bytes.len() as u64);
        let mut deserializer = serde_json::Deserializer::from_slice(&bytes);
        let answer = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let problem = match error_body::describe_html_page(&String::from_utf8_lossy(&bytes)) {
                Some(page) => format!("the response is {page}, not JSON; check the URL of the API"),
                None => {
                    format!(
                        "the response has an unexpected format: {}",
                        error_body::one_line(&error.to_string())
                    )
                }
            };
            FetchError::Problem(self.redact(&problem))
        })?;
        Ok((answer, date))
    }

    /// Sends a request until a response is read, or retrying would not help.
    pub(super) async fn send<T>(
        &self,
        call: &HttpRequest,
        read: impl AsyncFn(HttpResponse, BodyLimit<'_>) -> Result<T, AttemptError>,
    ) -> Result<T, FetchError> {
        self.register_headers(call);
        let most = self.terms.max_bytes;
        let exceeded = format!(
            "it exceeds the limit of {} set by `max_bytes` (`max-bytes` in cobalt.toml)",
            format_size(most)
        );
        let mut tries = RetryPolicy::new(self.terms.retries, self.back_off);
        loop {
            let bytes = most.saturating_sub(self.read.load(Ordering::Relaxed));
            let limit = BodyLimit { bytes, exceeded: &exceeded };
            let attempt = async {
                let answer =
                    http::attempt(&self.connections, call, Timeout::Idle(self.terms.timeout)).await?;
                read(answer, limit).await
            };
            let (problem, wait) = match attempt.await {
                Ok(read) => return Ok(read),
                Err(AttemptError::Permanent(problem)) => return Err(self.to_fetch_error(problem, "")),
                Err(AttemptError::Transient { problem, wait }) => (problem, wait),
            };
            if let Err(end) = tries.wait_for_retry(&problem, wait).await {
                return Err(self.to_fetch_error(problem, &end));
            }
        }
    }

    /// Counts bytes towards the limit.
    pub(super) fn count_bytes(&self, bytes: u64) {
        self.read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Registers the secrets of a request to be redacted in errors.
    fn register_headers(&self, call: &HttpRequest) {
        for value in call.headers.values().filter(|value| value.is_sensitive()) {
            let value = String::from_utf8_lossy(value.as_bytes());
            // `Bearer …` has a secret after the scheme; a cookie has several, each with a name.
            for part in value.split([' ', ';']).filter(|part| !part.is_empty()) {
                self.register_secret(part);
                self.register_secret(part.split_once('=').map_or("", |(_, secret)| secret));
            }
        }
    }

    /// The error for a problem; `end` is appended to the message.
    fn to_fetch_error(&self, problem: Failure, end: &str) -> FetchError {
        match problem {
            Failure::Refused(refusal) => {
                let status = refusal.status;
                refusal.redirected_to.iter().for_each(|url| self.register_query(url));
                let message = self.redact(&describe_refusal(&refusal)) + end;
                let message = message.trim_start_matches("; ").to_owned();
                let refused = FetchError::Refused { status, message };
                // A refusal can only be explained for the original server.
                match refusal.redirected_to {
                    Some(_) => FetchError::Problem(refused.to_string()),
                    None => refused,
                }
            }
            Failure::Unreachable { problem, .. } | Failure::Broken(problem) | Failure::TimedOut(problem) => {
                FetchError::Problem(self.redact(&problem) + end)
            }
        }
    }
}

/// The message of a refusal, on one line.
fn describe_refusal(refusal: &Refusal) -> String {
    let redirect = refusal.location.as_ref().filter(|_| (300..400).contains(&refusal.status));
    let parts = [
        error_body::error_message(&refusal.body),
        redirect.map(|to| format!("the server redirects to {}; use that URL", error_body::display_url(to))),
        refusal.redirected_to.as_ref().map(|url| {
            let at = error_body::display_url(url.as_str());
            format!(
                "this is the response of {at}, after a redirect that drops the authorization headers; if that server needs \
                them, use its URL"
            )
        }),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// A size for display: `1 GiB`, `1.5 KiB`.
fn format_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["bytes", "KiB", "MiB", "GiB"];
    let step = (1..UNITS.len()).rev().find(|step| bytes >> (10 * step) > 0).unwrap_or(0);
    let number = format_decimal(bytes as f64 / (1_u64 << (10 * step)) as f64, 1);
    format!("{number} {}", UNITS[step])
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    /// Secret values are marked as sensitive.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// Sent as JSON.
    pub(super) body: Option<Value>,
}

impl Request {
    pub(super) fn get(url: Url) -> Self {
        Self { method: Method::GET, url, headers: Vec::new(), body: None }
    }

    pub(super) fn post(url: Url, body: Value) -> Self {
        Self { method: Method::POST, url, headers: Vec::new(), body: Some(body) }
    }

    /// Adds a header with a secret value.
    pub(super) fn secret_header(mut self, name: &'static str, value: &str) -> Result<Self, FetchError> {
        let value = http::secret_header(value).map_err(FetchError::Problem)?;
        self.headers.push((HeaderName::from_static(name), value));
        Ok(self)
    }

    /// Adds basic authentication: a user and a password, or a public and a secret key.
    pub(super) fn basic(self, user: &str, password: &str) -> Result<Self, FetchError> {
        let pair = BASE64_STANDARD.encode(format!("{user}:{password}"));
        self.secret_header(AUTHORIZATION.as_str(), &format!("Basic {pair}"))
    }

    /// Builds the call to send.
    pub(super) fn to_call(&self, redirects: RedirectPolicy) -> HttpRequest {
        let mut headers: HeaderMap = self.headers.iter().cloned().collect();
        if self.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let body = self.body.as_ref().map(|body| body.to_string().into_bytes()).unwrap_or_default();
        HttpRequest { method: self.method.clone(), url: self.url.clone(), headers, body, redirects }
    }
}
