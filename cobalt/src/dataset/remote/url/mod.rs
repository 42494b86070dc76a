//! Data sets at a URL.

mod address;
mod file;

use std::fmt;

use cobalt_core::redact::{Secret, is_secret, register_address, register_secret};
use reqwest::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue};

use super::RemoteDataset;
use super::load::Source;
use super::session::{Request, Session};
use super::terms::{FetchError, Fetched};
use crate::dataset::{Dataset, Format};
use crate::http::is_harmless;
use address::Address;

/// A file at a URL.
#[derive(Clone)]
pub struct Url {
    /// As it was given.
    written: String,
    headers: Vec<Header>,
    format: Option<Format>,
}

/// A header of the request.
#[derive(Clone, Debug)]
struct Header {
    name: String,
    value: Value,
}

/// Where the value of a header is.
#[derive(Clone, Debug)]
enum Value {
    Written(Secret),
    /// In the variable of this name.
    Variable(String),
    /// In the variable of this name, behind `Bearer`.
    Bearer(String),
}

/// Without what may be a password or a key.
impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { written: _, headers, format } = self;
        let mut shown = f.debug_struct("Url");
        shown.field("url", &self.label()).field("headers", headers).field("format", format).finish()
    }
}

impl Dataset {
    /// The items of a file at an `http` or `https` URL: JSON, JSONL, CSV or TSV, also compressed by gzip or zstd; with the
    /// feature `parquet` also Parquet and Arrow.
    ///
    /// ```no_run
    /// use cobalt::Dataset;
    ///
    /// let questions = Dataset::from_url("https://data.example/support/questions.jsonl").load()?;
    /// let some = questions.sample(50);
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// A file of Hugging Face, which a private repository gives for a token. `resolve` gives the file itself, where `blob`
    /// would be a page that shows it:
    ///
    /// ```no_run
    /// # use cobalt::Dataset;
    /// let questions = Dataset::from_url("https://huggingface.co/datasets/acme/support/resolve/main/test.jsonl")
    ///     .bearer_env("HF_TOKEN")
    ///     .expect_items(120);
    /// # questions.load()?; Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// What is fetched is kept in `.cobalt/datasets/`, and that copy is used from then on, until `--refresh` or
    /// [`max_age`](RemoteDataset::max_age). The query tells data sets apart: give a stable address and a key, and not one that
    /// is signed anew each time, of which each is another data set. Its version is the answer's `ETag`, else its `Last-Modified`.
    ///
    /// The format is told by the content where it begins like no text, else by the extension (of the URL's path, also where
    /// redirects lead, or of the name in `Content-Disposition`), else by the content type, else by the looks of the content;
    /// [`format`](RemoteDataset::format) says it outright.
    ///
    /// Redirects are followed, at most 10, and never from `https` to `http`. Headers go to the server that they are meant for
    /// and to no other: where a redirect leads elsewhere, all but `Accept`, `Accept-Language` and `User-Agent` stay behind. A
    /// user and a password in the URL are sent as basic authorisation. No error, no copy and no report shows them, nor the
    /// query or the values of headers.
    ///
    /// Asked again is after 408, 409, 429 and 5xx, after a connection that broke, and after an answer that ended too early; after
    /// a wait that the server asks for, if it is at most a minute. The file is read from disk once it is whole, so that memory
    /// holds the items alone.
    pub fn from_url(url: impl Into<String>) -> RemoteDataset<Url> {
        RemoteDataset::new(Url { written: url.into(), headers: Vec::new(), format: None })
    }
}

impl RemoteDataset<Url> {
    /// Sends a header. Where the value is a secret, [`header_env`](Self::header_env) keeps it out of the code.
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with_header(name, Value::Written(Secret(value.into())))
    }

    /// Sends a header whose value is in a variable when the data set is fetched.
    pub fn header_env(self, name: impl Into<String>, variable: impl Into<String>) -> Self {
        self.with_header(name, Value::Variable(variable.into()))
    }

    /// Sends `Authorization: Bearer …` with a token that is in a variable when the data set is fetched.
    pub fn bearer_env(self, variable: impl Into<String>) -> Self {
        self.with_header(AUTHORIZATION.as_str(), Value::Bearer(variable.into()))
    }

    /// The format of the file, whatever else tells of it.
    pub fn format(mut self, format: Format) -> Self {
        self.source.format = Some(format);
        self
    }

    /// A header of the same name that was there before is gone.
    fn with_header(mut self, name: impl Into<String>, value: Value) -> Self {
        let name = name.into();
        self.source.headers.retain(|header| !header.name.eq_ignore_ascii_case(&name));
        self.source.headers.push(Header { name, value });
        self
    }
}

impl Source for Url {
    fn label(&self) -> String {
        address::label(&self.written)
    }

    fn identity(&self, _session: &Session<'_>) -> Vec<String> {
        let headers = self.headers.iter().map(|header| format!("header {}", header.identity()));
        let format = self.format.map(|format| format!("format: {format}"));
        [address::identity(&self.written)].into_iter().chain(headers).chain(format).collect()
    }

    async fn fetch(&self, session: &Session<'_>) -> Result<Fetched, FetchError> {
        let request = self.request(session)?;
        let download = match session.download(&request).await {
            Ok(download) => download,
            Err(error) => return Err(advised(error, self)),
        };
        file::read(&download, &request.url, self.format, session)
    }
}

impl Url {
    /// Whether the address has a user or a password.
    fn has_account(&self) -> bool {
        Address::parse(&self.written).is_ok_and(|address| address.account.is_some())
    }

    fn request(&self, session: &Session<'_>) -> Result<Request, FetchError> {
        let address = Address::parse(&self.written).map_err(FetchError::Problem)?;
        session.hide_query(&address.url);
        register_address("url", &self.written);
        let mut request = Request::get(address.url);
        if let Some((user, password)) = address.account {
            // Either may be a token.
            [&user, &password].into_iter().for_each(|secret| session.hide(secret));
            if self.headers.iter().any(|header| header.name.eq_ignore_ascii_case(AUTHORIZATION.as_str())) {
                return Err(FetchError::problem(
                    "the URL has a user, and there is a header `authorization` besides: leave out one of them",
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

/// A refusal with what to do about it.
fn advised(error: FetchError, source: &Url) -> FetchError {
    let FetchError::Refused { status, message } = error else { return error };
    let variables: Vec<_> = source.headers.iter().filter_map(|header| variable(&header.value)).collect();
    let advice = match status {
        401 | 403 if !variables.is_empty() => {
            format!("what {} holds may not read this: check it, and its rights", variables.join(" and "))
        }
        401 | 403 if source.has_account() => "check the user and the password of the address".to_owned(),
        401 | 403 if !source.headers.is_empty() => {
            "check the headers, and the rights that they give".to_owned()
        }
        401 | 403 => {
            "it may ask for a key: give one by `.bearer_env(\"…\")` or `.header_env(\"…\", \"…\")`".to_owned()
        }
        404 | 410 => {
            "check the address; a private file may also be hidden so from who gives no key".to_owned()
        }
        _ => return FetchError::Refused { status, message },
    };
    let message = if message.is_empty() { advice } else { format!("{message}; {advice}") };
    FetchError::Refused { status, message }
}

fn variable(value: &Value) -> Option<&str> {
    match value {
        Value::Written(_) => None,
        Value::Variable(name) | Value::Bearer(name) => Some(name),
    }
}

impl Header {
    /// What tells it from others, without a secret.
    fn identity(&self) -> String {
        let name = self.name.to_ascii_lowercase();
        match &self.value {
            Value::Written(_) if is_secret(&name) || name == "cookie" => name,
            Value::Written(Secret(value)) => format!("{name}: {value}"),
            Value::Variable(variable) | Value::Bearer(variable) => format!("{name}: {variable}"),
        }
    }

    fn resolve(&self, session: &Session<'_>) -> Result<(HeaderName, HeaderValue), FetchError> {
        let Self { name, value } = self;
        let variable = |variable: &str| {
            session.variable(variable).ok_or_else(|| {
                FetchError::problem(format!("the header `{name}` is in {variable}, which is not set: set it"))
            })
        };
        let value = match value {
            Value::Written(Secret(value)) => value.clone(),
            Value::Variable(name) => variable(name)?,
            Value::Bearer(name) => format!("Bearer {}", variable(name)?),
        };
        let name: HeaderName = name.parse().map_err(|_| {
            FetchError::problem(format!(
                "`{name}` cannot be the name of a header: use letters, digits and `-`"
            ))
        })?;
        let mut value: HeaderValue = value.parse().map_err(|_| {
            FetchError::problem(format!(
                "the value of the header `{name}` holds a character that no header can, such as a line break or a letter \
                 beyond ASCII: correct it"
            ))
        })?;
        value.set_sensitive(!is_harmless(&name));
        if is_secret(name.as_str()) || name == COOKIE {
            value.to_str().iter().for_each(|value| register_secret(&format!("header-{name}"), value));
        }
        Ok((name, value))
    }
}
