//! Datasets at a URL.

mod address;
mod file;

use std::fmt;

use cobalt_core::redact::{Secret, is_secret, register_address, register_secret};
use reqwest::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue};

use super::RemoteDataset;
use super::fetch_options::{FetchError, FetchedData};
use super::fetch_session::{FetchSession, Request};
use super::load::Source;
use crate::dataset::{Dataset, Format};
use crate::http::is_safe_cross_origin;
use address::ParsedUrl;

/// A file at a URL.
#[derive(Clone)]
pub struct Url {
    /// The URL as given.
    written: String,
    headers: Vec<Header>,
    format: Option<Format>,
}

/// A request header.
#[derive(Clone, Debug)]
struct Header {
    name: String,
    value: HeaderSource,
}

/// A header value, or where it is.
#[derive(Clone, Debug)]
enum HeaderSource {
    Written(Secret),
    /// In this environment variable.
    Variable(String),
    /// In this environment variable, sent after `Bearer`.
    Bearer(String),
}

/// Omits passwords and keys.
impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { written: _, headers, format } = self;
        let mut shown = f.debug_struct("Url");
        shown.field("url", &self.label()).field("headers", headers).field("format", format).finish()
    }
}

impl Dataset {
    /// Loads a file from an `http` or `https` URL: JSON, JSONL, CSV or TSV, optionally compressed with gzip or zstd; with the
    /// feature `parquet`, also Parquet and Arrow.
    ///
    /// ```no_run
    /// use cobalt::Dataset;
    ///
    /// let questions = Dataset::from_url("https://data.example/support/questions.jsonl").load()?;
    /// let some = questions.sample(50);
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// For a file on Hugging Face, use a `resolve` URL: a `blob` URL returns an HTML page. A private repository needs a
    /// token:
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let questions = Dataset::from_url("https://huggingface.co/datasets/acme/support/resolve/main/test.jsonl")
    ///     .bearer_env("HF_TOKEN")
    ///     .expect_items(120);
    /// # questions.load()?; Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// The file is cached in `.cobalt/datasets/`, and the cached copy is used until `--refresh` or
    /// [`max_age`](RemoteDataset::max_age). URLs with different queries are different datasets: use a stable URL and a key, not
    /// a URL that is signed each time. The version is the response's `ETag`, else its `Last-Modified`.
    ///
    /// The format is detected by magic bytes, else by the extension (of the URL's path, of a redirect target, or of the name in
    /// `Content-Disposition`), else by the content type, else by the content. Set it explicitly with
    /// [`format`](RemoteDataset::format).
    ///
    /// Up to 10 redirects are followed, never from `https` to `http`. Headers are only sent to the original server: on a redirect
    /// to another one, only `Accept`, `Accept-Language` and `User-Agent` are kept. A user and password in the URL are sent as
    /// basic authentication. Errors, cached copies and reports show neither them nor the query nor header values.
    ///
    /// A request is retried after status 408, 409, 429 and 5xx, a broken connection, and a truncated response. If the server asks
    /// for a wait, it is respected; a wait of more than a minute is an error. The file is downloaded to disk before it is parsed,
    /// so only the items are in memory.
    pub fn from_url(url: impl Into<String>) -> RemoteDataset<Url> {
        RemoteDataset::new(Url { written: url.into(), headers: Vec::new(), format: None })
    }
}

impl RemoteDataset<Url> {
    /// Sends a header. For a secret value, [`header_env`](Self::header_env) keeps it out of the code.
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with_header(name, HeaderSource::Written(Secret(value.into())))
    }

    /// Sends a header whose value is read from an environment variable on each fetch.
    pub fn header_env(self, name: impl Into<String>, variable: impl Into<String>) -> Self {
        self.with_header(name, HeaderSource::Variable(variable.into()))
    }

    /// Sends `Authorization: Bearer …` with a token that is read from an environment variable on each fetch.
    pub fn bearer_env(self, variable: impl Into<String>) -> Self {
        self.with_header(AUTHORIZATION.as_str(), HeaderSource::Bearer(variable.into()))
    }

    /// Sets the format of the file, overriding detection.
    pub fn format(mut self, format: Format) -> Self {
        self.source.format = Some(format);
        self
    }

    /// Sets a header, replacing one of the same name.
    fn with_header(mut self, name: impl Into<String>, value: HeaderSource) -> Self {
        let name = name.into();
        self.source.headers.retain(|header| !header.name.eq_ignore_ascii_case(&name));
        self.source.headers.push(Header { name, value });
        self
    }
}

impl Source for Url {
    fn label(&self) -> String {
        address::display_label(&self.written)
    }

    fn identity(&self, _session: &FetchSession<'_>) -> Vec<String> {
        let headers = self.headers.iter().map(|header| format!("header {}", header.identity()));
        let format = self.format.map(|format| format!("format: {format}"));
        [address::identity(&self.written)].into_iter().chain(headers).chain(format).collect()
    }

    async fn fetch(&self, session: &FetchSession<'_>) -> Result<FetchedData, FetchError> {
        let request = self.request(session)?;
        let download = match session.download(&request).await {
            Ok(download) => download,
            Err(error) => return Err(with_advice(error, self)),
        };
        file::read(&download, &request.url, self.format, session)
    }
}

impl Url {
    /// Whether the URL contains a user or a password.
    fn has_account(&self) -> bool {
        ParsedUrl::parse(&self.written).is_ok_and(|address| address.account.is_some())
    }

    fn request(&self, session: &FetchSession<'_>) -> Result<Request, FetchError> {
        let address = ParsedUrl::parse(&self.written).map_err(FetchError::Problem)?;
        session.register_query(&address.url);
        register_address("url", &self.written);
        let mut request = Request::get(address.url);
        if let Some((user, password)) = address.account {
            // Both may be tokens.
            [&user, &password].into_iter().for_each(|secret| session.register_secret(secret));
            if self.headers.iter().any(|header| header.name.eq_ignore_ascii_case(AUTHORIZATION.as_str())) {
                return Err(FetchError::problem(
                    "the URL contains a user, and the header `authorization` is set too; remove one of them",
                ));
            }
            request = request.basic(&user, &password)?;
        }
        for header in &self.headers {
            request.headers.push(header.resolve(session)?);
        }
        Ok(request)
    }
}

/// Adds advice to a refusal.
fn with_advice(error: FetchError, source: &Url) -> FetchError {
    let FetchError::Refused { status, message } = error else { return error };
    let variables: Vec<_> = source.headers.iter().filter_map(|header| variable(&header.value)).collect();
    let advice = match status {
        401 | 403 if !variables.is_empty() => {
            format!("the key in {} may not read this; check it and its permissions", variables.join(" and "))
        }
        401 | 403 if source.has_account() => "check the user and password in the URL".to_owned(),
        401 | 403 if !source.headers.is_empty() => "check the headers and their permissions".to_owned(),
        401 | 403 => "it may require a key: set one with `.bearer_env(\"…\")` or `.header_env(\"…\", \"…\")`"
            .to_owned(),
        404 | 410 => "check the URL; a private file may also need a key".to_owned(),
        _ => return FetchError::Refused { status, message },
    };
    let message = if message.is_empty() { advice } else { format!("{message}; {advice}") };
    FetchError::Refused { status, message }
}

fn variable(value: &HeaderSource) -> Option<&str> {
    match value {
        HeaderSource::Written(_) => None,
        HeaderSource::Variable(name) | HeaderSource::Bearer(name) => Some(name),
    }
}

impl Header {
    /// What identifies the header, without secrets.
    fn identity(&self) -> String {
        let name = self.name.to_ascii_lowercase();
        match &self.value {
            HeaderSource::Written(_) if is_secret(&name) || name == "cookie" => name,
            HeaderSource::Written(Secret(value)) => format!("{name}: {value}"),
            HeaderSource::Variable(variable) | HeaderSource::Bearer(variable) => {
                format!("{name}: {variable}")
            }
        }
    }

    fn resolve(&self, session: &FetchSession<'_>) -> Result<(HeaderName, HeaderValue), FetchError> {
        let Self { name, value } = self;
        let variable = |variable: &str| {
            session.variable(variable).ok_or_else(|| {
                FetchError::problem(format!(
                    "the header `{name}` needs the environment variable {variable}, which is not set"
                ))
            })
        };
        let value = match value {
            HeaderSource::Written(Secret(value)) => value.clone(),
            HeaderSource::Variable(name) => variable(name)?,
            HeaderSource::Bearer(name) => format!("Bearer {}", variable(name)?),
        };
        let name: HeaderName = name.parse().map_err(|_| {
            FetchError::problem(format!("`{name}` is not a valid header name; use letters, digits and `-`"))
        })?;
        let mut value: HeaderValue = value.parse().map_err(|_| {
            FetchError::problem(format!(
                "the value of the header `{name}` contains an invalid character, such as a line break or a non-ASCII \
                letter"
            ))
        })?;
        value.set_sensitive(!is_safe_cross_origin(&name));
        if is_secret(name.as_str()) || name == COOKIE {
            value.to_str().iter().for_each(|value| register_secret(&format!("header-{name}"), value));
        }
        Ok((name, value))
    }
}
