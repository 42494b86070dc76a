//! Access control: this server's own pages, local programs, and clients with the token; and [who may write](super::writes).
//!
//! Cross-origin requests are rejected, whatever host name they use; if there is a [`Token`], every client needs it. Each response has
//! security headers.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, LOCATION, ORIGIN,
    REFERRER_POLICY, SET_COOKIE, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use cobalt::command::config::Config;
use cobalt_core::hash::hex;
use hmac::{Hmac, KeyInit, Mac};
use maud::{DOCTYPE, Markup, html};
use sha2::Sha256;
use url::form_urlencoded::{self, Serializer};

use super::error::ApiError;
use super::writes::WriteAccess;
use crate::environment::Environment;
use crate::error::{CommandError, Error};

/// What a request must satisfy.
pub struct Guard {
    names: HostNames,
    token: Option<Token>,
    writes: WriteAccess,
}

impl Guard {
    /// The guard of a server at this address; with a token, every client needs it.
    pub fn new(address: SocketAddr, token: Option<Token>, writes: WriteAccess) -> Self {
        // A cross-origin page has no token, whatever host name it uses.
        let names = if token.is_some() { HostNames::Any } else { HostNames::local(address) };
        Self { names, token, writes }
    }

    /// The response to a request that does not pass.
    fn reject(&self, request: &Request) -> Option<Response> {
        let is_api = is_api(request.uri().path());
        if let Err(refusal) = self.names.check(request, is_api) {
            return Some(refusal.into_response(is_api));
        }
        if let Some(response) = self.token.as_ref().and_then(|token| check_token(token, request, is_api)) {
            return Some(response);
        }
        // Checked here for all endpoints, so that none can miss it. `OPTIONS` changes nothing, and no endpoint has it.
        let writes = is_api && !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        let rejection = writes.then(|| self.writes.check(request).err()).flatten()?;
        Some(no_store(rejection.into_response()))
    }
}

/// Whether a path belongs to the API, whose responses are JSON.
fn is_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

/// Rejects unauthorized requests, and adds the security headers to every response.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let is_api = is_api(request.uri().path());
    let mut response = match guard.reject(&request) {
        Some(answer) => answer,
        None => next.run(request).await,
    };
    add_headers(response.headers_mut(), is_api);
    response
}

/// The query parameter with the token.
const TOKEN_PARAMETER: &str = "token";

/// The response to clients without the token or with it in a link; `None` for authenticated clients.
fn check_token(token: &Token, request: &Request, is_api: bool) -> Option<Response> {
    let uri = request.uri();
    let is_in = token.authenticates(request.headers());
    let mut parameters = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let given = parameters.find(|(name, _)| name == TOKEN_PARAMETER).filter(|_| !is_api);
    // A token has no spaces: a space is an unencoded plus.
    let is_right = given.as_ref().is_some_and(|(_, given)| token.matches(&given.replace(' ', "+")));
    match given {
        // Remove the token from the URL, which ends up in histories and bookmarks.
        Some(_) if is_right || is_in => Some(redirect_without_token(uri, is_right.then(|| token.cookie()))),
        _ if is_in => None,
        _ => Some(Rejection::no_token(&without_token(uri)).into_response(is_api)),
    }
}

/// Redirects to the same URL without the token.
fn redirect_without_token(uri: &Uri, cookie: Option<String>) -> Response {
    let head = [(LOCATION, without_token(uri)), (CACHE_CONTROL, "no-store".to_owned())];
    let mut response = (StatusCode::SEE_OTHER, head).into_response();
    if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::try_from(cookie).ok()) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// The path and query without the token, always on this server: a leading `//` would refer to another host.
fn without_token(uri: &Uri) -> String {
    let mut others = Serializer::new(String::new());
    let parameters = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    others.extend_pairs(parameters.filter(|(name, _)| name != TOKEN_PARAMETER));
    let path = uri.path().trim_start_matches(['/', '\\']);
    match others.finish() {
        others if others.is_empty() => format!("/{path}"),
        others => format!("/{path}?{others}"),
    }
}

/// The origin relation that browsers send.
pub const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// The default port of HTTP, which browsers omit.
const DEFAULT_HTTP_PORT: u16 = 80;

/// The host names that the server accepts.
#[derive(Debug)]
enum HostNames {
    /// These, each with the port; the first one is shown in messages.
    Known(Vec<String>),
    /// Any: the token decides.
    Any,
}

impl HostNames {
    /// The local names of a server at this address.
    fn local(address: SocketAddr) -> Self {
        let port = address.port();
        let hosts = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("{host}:{port}"));
        let mut names: Vec<_> = std::iter::once(address.to_string()).chain(hosts).collect();
        if port == DEFAULT_HTTP_PORT {
            let bare: Vec<_> =
                names.iter().filter_map(|name| Some(name.rsplit_once(':')?.0.to_owned())).collect();
            names.extend(bare);
        }
        Self::Known(names)
    }

    /// Rejects requests with another host name, and cross-origin requests.
    fn check(&self, request: &Request, is_api: bool) -> Result<(), Rejection> {
        let host = self.host(request)?;
        let header = |name| request.headers().get(name).map(|value| value.to_str().unwrap_or_default());
        let is_own = |origin: &str| {
            let (scheme, name) = origin.split_once("://").unwrap_or_default();
            matches!(scheme, "http" | "https") && name.eq_ignore_ascii_case(host)
        };
        // Links from anywhere may open a page, which then sends its own requests.
        let is_near = |site: &str| !is_api || matches!(site, "same-origin" | "none");
        match header(ORIGIN).is_none_or(is_own) && header(FETCH_SITE).is_none_or(is_near) {
            true => Ok(()),
            false => {
                Err(Rejection::forbidden("cross-origin requests are rejected; open the dashboard itself"))
            }
        }
    }

    /// The host name of a request.
    fn host<'a>(&self, request: &'a Request) -> Result<&'a str, Rejection> {
        let mut hosts = request.headers().get_all(HOST).iter().map(|host| host.to_str().unwrap_or_default());
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Rejection::bad_request("expected exactly one `Host` header"));
        };
        // In a request with an absolute URL, as to a proxy, the URL takes precedence over the header.
        let is_other = |authority: &Authority| !authority.as_str().eq_ignore_ascii_case(host);
        if request.uri().authority().is_some_and(is_other) {
            return Err(Rejection::bad_request(
                "the request URL and the `Host` header name different servers",
            ));
        }
        match self {
            Self::Any if host.parse::<Authority>().is_ok() => Ok(host),
            Self::Any => Err(Rejection::bad_request("the `Host` header is invalid")),
            Self::Known(names) if names.iter().any(|name| name.eq_ignore_ascii_case(host)) => Ok(host),
            Self::Known(names) => Err(Rejection::forbidden(format!(
                "`{host}` is not a name of this server; open http://{} (a tunnel has to use the same port)",
                names[0]
            ))),
        }
    }
}

/// The content security policy: only resources of this server.
const PAGE_CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      media-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The headers of every response.
const SECURITY_HEADERS: [(HeaderName, &str); 5] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    // A URL may reveal what an experiment is about.
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Adds missing headers to a response.
fn add_headers(headers: &mut HeaderMap, is_api: bool) {
    for (name, value) in SECURITY_HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(PAGE_CSP));
    if is_api {
        headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
    }
}

/// A response that is not kept by browsers.
fn no_store(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Why a request is rejected, and what to do.
#[derive(Debug)]
struct Rejection {
    status: StatusCode,
    message: String,
    /// The URL to continue to after authentication.
    continue_to: Option<String>,
}

impl Rejection {
    fn bad_request(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into(), continue_to: None }
    }

    fn forbidden(message: impl Into<String>) -> Self {
        Self { status: StatusCode::FORBIDDEN, message: message.into(), continue_to: None }
    }

    /// The client has no token. A link from another site sets the cookie, but the browser withholds it (`SameSite=Strict`) until the
    /// user continues from a page of this server.
    fn no_token(path: &str) -> Self {
        let message = "this dashboard requires a token: open the link printed by `cargo cobalt serve`, or append `?token=` and the \
                       value of COBALT_TOKEN to the URL; programs send it in the header `Authorization: Bearer`";
        Self { status: StatusCode::UNAUTHORIZED, message: message.into(), continue_to: Some(path.to_owned()) }
    }

    fn into_response(self, is_api: bool) -> Response {
        let status = self.status;
        let mut response = match is_api {
            true => ApiError::new(status, self.message).into_response(),
            false => (status, Html(self.page().into_string())).into_response(),
        };
        response = no_store(response);
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }

    fn page(&self) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width";
                    title { "Cobalt: " (self.status) }
                }
                body {
                    h1 { (self.status.canonical_reason().unwrap_or("Refused")) }
                    p { (self.message) }
                    @if let Some(path) = &self.continue_to {
                        p { "If you just followed that link, " a href=(path) { "continue" } "." }
                    }
                }
            }
        }
    }
}

/// The variable with the token.
const TOKEN_VARIABLE: &str = "COBALT_TOKEN";
/// The minimum length of a given token.
const MIN_TOKEN_LEN: usize = 16;
/// The length of a random token in bytes.
const RANDOM_TOKEN_BYTES: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error(
        "COBALT_TOKEN is not a valid token: use at least {MIN_TOKEN_LEN} characters, all visible ASCII and no spaces"
    )]
    Invalid,

    #[error("failed to generate a token: {0}; set one in COBALT_TOKEN")]
    NoRandom(getrandom::Error),
}

impl CommandError for TokenError {}

/// The hashes of the token, compared in constant time.
pub struct Token {
    hash: Secret,
    /// The cookie's value in place of the token, which may have characters that cookies do not allow.
    cookie_value: String,
    cookie_hash: Secret,
    /// The cookie's name, with the port: browsers send a cookie to all ports of a host.
    cookie_name: String,
}

impl Token {
    /// The token from the environment.
    pub fn from_environment(settings: &Config) -> Result<Option<String>, Error> {
        let environment = Environment::read(&[settings.workspace_root()])?;
        let Some(text) = environment.get(TOKEN_VARIABLE).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let is_visible =
            |text: &&str| text.len() >= MIN_TOKEN_LEN && text.bytes().all(|byte| byte.is_ascii_graphic());
        text.to_str()
            .filter(is_visible)
            .map(|text| Some(text.to_owned()))
            .ok_or_else(|| TokenError::Invalid.into())
    }

    /// A random token.
    pub fn random() -> Result<String, TokenError> {
        let mut bytes = [0; RANDOM_TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(TokenError::NoRandom)?;
        Ok(hex(&bytes))
    }

    /// Hashes a token for a server at this port.
    pub fn new(text: &str, port: u16) -> Self {
        let cookie_value = hex(&compute_mac(text.as_bytes(), "the cookie of the dashboard of Cobalt")
            .finalize()
            .into_bytes());
        Self {
            hash: Secret::new(text),
            cookie_hash: Secret::new(&cookie_value),
            cookie_value,
            cookie_name: format!("cobalt-{port}"),
        }
    }

    /// Whether a text is the token.
    pub fn matches(&self, text: &str) -> bool {
        self.hash.matches(text)
    }

    /// Whether a request has the token or its cookie.
    pub fn authenticates(&self, headers: &HeaderMap) -> bool {
        let texts = |name| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let is_token = |text: &str| {
            let (scheme, token) = text.split_once(' ').unwrap_or_default();
            scheme.eq_ignore_ascii_case("bearer") && self.matches(token.trim())
        };
        let is_cookie = |pair: &str| {
            pair.trim()
                .split_once('=')
                .is_some_and(|(key, value)| key == self.cookie_name && self.cookie_hash.matches(value))
        };
        texts(AUTHORIZATION).any(is_token) || texts(COOKIE).flat_map(|list| list.split(';')).any(is_cookie)
    }

    /// The session cookie that authenticates a browser. Scripts cannot read it, and other sites cannot send it.
    fn cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name, self.cookie_value)
    }
}

/// A secret, stored as its HMAC-SHA-256.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// The key is not secret: it separates these codes from others over the same text.
    const KEY: &[u8] = b"the token of the dashboard of Cobalt";

    pub fn new(text: &str) -> Self {
        Self(compute_mac(Self::KEY, text).finalize().into_bytes().into())
    }

    /// Whether this is the secret, compared in constant time.
    pub fn matches(&self, text: &str) -> bool {
        compute_mac(Self::KEY, text).verify_slice(&self.0).is_ok()
    }
}

fn compute_mac(key: &[u8], text: &str) -> Hmac<Sha256> {
    Hmac::<Sha256>::new_from_slice(key).expect("HMAC accepts keys of any length").chain_update(text)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::{without_token, *};

    #[test]
    fn only_the_token_is_taken_from_an_address_and_it_stays_one_of_this_server() {
        for (address, expected) in [
            ("/?token=abc", "/"),
            ("/runs?q=a%20b&token=abc&sort=name", "/runs?q=a+b&sort=name"),
            ("//evil.example/?token=abc", "/evil.example/"),
            ("/\\evil.example?token=abc", "/evil.example"),
        ] {
            let uri = address.parse().unwrap();
            assert_eq!(without_token(&uri), expected, "{address}");
        }
    }

    fn request(headers: &[(&str, &str)]) -> Request {
        let builder = axum::http::Request::builder().uri("/api/runs");
        let builder = headers.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
        builder.body(Body::empty()).unwrap()
    }

    fn passes(names: &HostNames, headers: &[(&str, &str)]) -> bool {
        names.check(&request(headers), true).is_ok()
    }

    #[test]
    fn the_port_is_part_of_a_name_unless_it_is_that_of_the_web() {
        let names = HostNames::local("127.0.0.1:4000".parse().unwrap());
        for known in ["localhost:4000", "LocalHost:4000", "127.0.0.1:4000", "[::1]:4000"] {
            assert!(passes(&names, &[("host", known)]), "{known}");
        }
        for other in [
            "localhost",
            "localhost:4001",
            "127.0.0.1",
            "evil.example:4000",
            "localhost.evil.example:4000",
            "",
        ] {
            assert!(!passes(&names, &[("host", other)]), "{other}");
        }
        let names = HostNames::local("127.0.0.1:80".parse().unwrap());
        assert!(passes(&names, &[("host", "localhost")]) && passes(&names, &[("host", "[::1]:80")]));
        assert!(!passes(&names, &[("host", "evil.example")]));
    }

    #[test]
    fn a_page_of_another_server_is_refused_whoever_it_says_it_is() {
        let names = HostNames::local("127.0.0.1:4000".parse().unwrap());
        let host = ("host", "127.0.0.1:4000");
        assert!(passes(
            &names,
            &[host, ("origin", "http://127.0.0.1:4000"), ("sec-fetch-site", "same-origin")]
        ));
        assert!(passes(&names, &[host, ("sec-fetch-site", "none")]));
        for origin in ["null", "", "http://evil.example", "http://127.0.0.1:5173", "file://127.0.0.1:4000"] {
            assert!(!passes(&names, &[host, ("origin", origin)]), "{origin}");
        }
        for site in ["cross-site", "same-site", "strange"] {
            assert!(!passes(&names, &[host, ("sec-fetch-site", site)]), "{site}");
            assert!(
                names.check(&request(&[host, ("sec-fetch-site", site)]), false).is_ok(),
                "a link to a page"
            );
        }
    }

    #[test]
    fn two_names_are_none() {
        let names = HostNames::local("127.0.0.1:4000".parse().unwrap());
        assert!(!passes(&names, &[]));
        assert!(!passes(&names, &[("host", "127.0.0.1:4000"), ("host", "evil.example")]));
        let mut request = request(&[("host", "127.0.0.1:4000")]);
        *request.uri_mut() = "http://evil.example/api/runs".parse().unwrap();
        assert!(names.check(&request, true).is_err());
    }
}
