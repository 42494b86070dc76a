//! Requests to one source: sent again after transient failures, with answers of bounded size.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cobalt_core::back_off::BackOff;
use cobalt_core::redact::{Secret, register_secret};
use cobalt_core::wording::decimal;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::terms::{FetchError, Terms};
use crate::dataset::settings::{Account, FetchSettings, Key, Platform};
use crate::http::{
    self, Answer, AttemptError, Call, Connections, Limit, Patience, Problem, Redirects, Refusal, Tries, said,
    without_key,
};

/// Looks up an environment variable.
pub type Lookup<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// Fetching from one source.
#[derive(Debug)]
pub struct Session<'a> {
    terms: &'a Terms,
    settings: &'a FetchSettings,
    variable: Variables<'a>,
    back_off: BackOff,
    connections: Connections,
    /// How many bytes were read up to now.
    read: AtomicU64,
    /// Those that were used up to now.
    secrets: Mutex<Vec<Secret>>,
}

/// Environment variables, of which an empty one counts as missing.
struct Variables<'a>(Lookup<'a>);

impl std::fmt::Debug for Variables<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Variables")
    }
}

/// A key, and where it is from.
#[derive(Clone, Debug)]
pub(super) struct FoundKey {
    pub(super) secret: Secret,
    /// As an error names it: "the key of LANGSMITH_API_KEY".
    pub(super) origin: String,
}

impl<'a> Session<'a> {
    pub(super) fn new(terms: &'a Terms, settings: &'a FetchSettings, variable: Lookup<'a>) -> Self {
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

    /// With other waits before further attempts.
    #[cfg(test)]
    pub(super) fn with_back_off(self, back_off: BackOff) -> Self {
        Self { back_off, ..self }
    }

    /// A variable that is set, and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        let value = (self.variable.0)(name)?;
        // A line break at the end comes with a key that was read from a file.
        Some(value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// How many bytes all answers may have together, and what is unpacked of them.
    pub(super) fn max_bytes(&self) -> u64 {
        self.terms.max_bytes
    }

    /// The folder of the copies.
    pub(super) fn folder(&self) -> &'a Path {
        &self.settings.folder
    }

    /// What the configuration says of a platform.
    pub(super) fn account(&self, platform: Platform) -> Option<&'a Account> {
        self.settings.accounts.get(&platform)
    }

    /// A key: that of the builder, else the configured one, else that of the first of these variables that is set. `setting`
    /// is the configured one's, in backticks.
    pub(super) fn key(
        &self,
        own: Option<&Secret>,
        configured: Option<&Key>,
        variables: &[&str],
        setting: &str,
    ) -> Result<FoundKey, FetchError> {
        let of =
            |secret: &Secret, origin: &str| FoundKey { secret: secret.clone(), origin: origin.to_owned() };
        let variable = |name: &str| {
            let secret = Secret(self.variable(name)?);
            Some(FoundKey { secret, origin: format!("the key of {name}") })
        };
        let env = format!("{}-env`", setting.trim_end_matches('`'));
        let missing = |name: &str, advice: &str| {
            FetchError::problem(format!("no key: set {name}, {advice} {env} of cobalt.toml"))
        };
        let found = match (own, configured) {
            (Some(key), _) => of(key, "the key that is given in code"),
            (None, Some(Key::Written(key))) => of(key, &format!("the key of {setting}")),
            (None, Some(Key::Variable(name))) => {
                variable(name).ok_or_else(|| missing(name, "the variable of"))?
            }
            (None, None) => variables
                .iter()
                .find_map(|name| variable(name))
                .ok_or_else(|| missing(variables[0], "or name another variable by"))?,
        };
        register_secret(setting.trim_matches('`'), &found.secret.0);
        self.hide(&found.secret.0);
        Ok(found)
    }

    /// Keeps a secret out of the errors of this session.
    pub(super) fn hide(&self, secret: &str) {
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        if !secrets.iter().any(|Secret(known)| known == secret) {
            secrets.push(Secret(secret.to_owned()));
        }
    }

    /// Keeps the query of an address out of the errors of this session, as it is sent and in its values: a key or a signature may
    /// be in it, by whatever name.
    pub(super) fn hide_query(&self, url: &Url) {
        url.query().into_iter().for_each(|query| self.hide(query));
        url.query_pairs().for_each(|(_, value)| self.hide(&value));
    }

    /// A text without the secrets of this session.
    pub(super) fn told(&self, text: &str) -> String {
        let secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        secrets.iter().fold(without_key(text, None), |text, secret| without_key(&text, Some(secret)))
    }

    /// The answer to a request, read as JSON.
    pub(super) async fn json<T: DeserializeOwned>(&self, request: &Request) -> Result<T, FetchError> {
        Ok(self.dated_json(request).await?.0)
    }

    /// The answer to a request, read as JSON, and the time by the clock of the server, to the second, if it says so.
    pub(super) async fn dated_json<T: DeserializeOwned>(
        &self,
        request: &Request,
    ) -> Result<(T, Option<SystemTime>), FetchError> {
        let call = request.call(Redirects::Within);
        let (bytes, date) = self
            .send(&call, async |mut answer, limit| {
                let date = answer.headers().get(DATE).and_then(|date| date.to_str().ok());
                let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
                let mut bytes = Vec::new();
                answer.read_into(&mut bytes, limit).await?;
                Ok((bytes, date))
            })
            .await?;
        self.count(bytes.len() as u64);
        let mut deserializer = serde_json::Deserializer::from_slice(&bytes);
        let answer = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let problem = match said::html_page(&String::from_utf8_lossy(&bytes)) {
                Some(page) => format!("the answer is {page}, and no JSON: check the address of the API"),
                None => {
                    format!("the answer is not of the expected form: {}", said::shown(&error.to_string()))
                }
            };
            FetchError::Problem(self.told(&problem))
        })?;
        Ok((answer, date))
    }

    /// Sends a request until its answer is read, or no further attempt would help.
    pub(super) async fn send<T>(
        &self,
        call: &Call,
        read: impl AsyncFn(Answer, Limit<'_>) -> Result<T, AttemptError>,
    ) -> Result<T, FetchError> {
        self.hide_all_of(call);
        let most = self.terms.max_bytes;
        let exceeded = format!(
            "it has more than the {} that `max_bytes` (in cobalt.toml `max-bytes`) allows",
            size(most)
        );
        let mut tries = Tries::new(self.terms.retries, self.back_off);
        loop {
            let bytes = most.saturating_sub(self.read.load(Ordering::Relaxed));
            let limit = Limit { bytes, exceeded: &exceeded };
            let attempt = async {
                let answer =
                    http::attempt(&self.connections, call, Patience::Silence(self.terms.timeout)).await?;
                read(answer, limit).await
            };
            let (problem, wait) = match attempt.await {
                Ok(read) => return Ok(read),
                Err(AttemptError::Final(problem)) => return Err(self.failed(problem, "")),
                Err(AttemptError::Passing { problem, wait }) => (problem, wait),
            };
            if let Err(end) = tries.again(&problem, wait).await {
                return Err(self.failed(problem, &end));
            }
        }
    }

    /// Counts bytes that were read, of which there is a limit.
    pub(super) fn count(&self, bytes: u64) {
        self.read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Keeps the secrets of a request out of errors.
    fn hide_all_of(&self, call: &Call) {
        for value in call.headers.values().filter(|value| value.is_sensitive()) {
            let value = String::from_utf8_lossy(value.as_bytes());
            // `Bearer …` has a secret behind a scheme, and a cookie several, each with a name.
            for part in value.split([' ', ';']).filter(|part| !part.is_empty()) {
                self.hide(part);
                self.hide(part.split_once('=').map_or("", |(_, secret)| secret));
            }
        }
    }

    /// The error for a problem, with an end to its sentence.
    fn failed(&self, problem: Problem, end: &str) -> FetchError {
        match problem {
            Problem::Refused(refusal) => {
                let status = refusal.status;
                refusal.elsewhere.iter().for_each(|url| self.hide_query(url));
                let message = self.told(&refused(&refusal)) + end;
                let message = message.trim_start_matches("; ").to_owned();
                let refused = FetchError::Refused { status, message };
                // What a refusal means is known of the server that was asked.
                match refusal.elsewhere {
                    Some(_) => FetchError::Problem(refused.to_string()),
                    None => refused,
                }
            }
            Problem::Broken(problem) | Problem::Late(problem) => {
                FetchError::Problem(self.told(&problem) + end)
            }
        }
    }
}

/// What a refusal says, on one line.
fn refused(refusal: &Refusal) -> String {
    let redirect = refusal.location.as_ref().filter(|_| (300..400).contains(&refusal.status));
    let parts = [
        said::message(&refusal.body),
        redirect.map(|to| format!("the server redirects to {}; set that as the address", said::address(to))),
        refusal.elsewhere.as_ref().map(|url| {
            let at = said::address(url.as_str());
            format!(
                "so says {at}, to which it was redirected, without headers that are meant for another server: if it wants \
                 them, give that address"
            )
        }),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// A number of bytes as people read it: `1 GiB`, `1.5 KiB`.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["bytes", "KiB", "MiB", "GiB"];
    let step = (1..UNITS.len()).rev().find(|step| bytes >> (10 * step) > 0).unwrap_or(0);
    let number = decimal(bytes as f64 / (1_u64 << (10 * step)) as f64, 1);
    format!("{number} {}", UNITS[step])
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    /// Those with a secret are marked as such.
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

    /// With a header that holds a secret.
    pub(super) fn secret(mut self, name: &'static str, value: &str) -> Result<Self, FetchError> {
        let value = http::secret(value).map_err(FetchError::Problem)?;
        self.headers.push((HeaderName::from_static(name), value));
        Ok(self)
    }

    /// With a user and a password, or a public key and a secret one.
    pub(super) fn basic(self, user: &str, password: &str) -> Result<Self, FetchError> {
        let pair = BASE64_STANDARD.encode(format!("{user}:{password}"));
        self.secret(AUTHORIZATION.as_str(), &format!("Basic {pair}"))
    }

    /// The same, ready to be sent.
    pub(super) fn call(&self, redirects: Redirects) -> Call {
        let mut headers: HeaderMap = self.headers.iter().cloned().collect();
        if self.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let body = self.body.as_ref().map(|body| body.to_string().into_bytes()).unwrap_or_default();
        Call { method: self.method.clone(), url: self.url.clone(), headers, body, redirects }
    }
}
