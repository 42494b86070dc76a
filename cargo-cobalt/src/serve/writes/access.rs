//! Which clients may change things, and what each of their requests must have.
//!
//! A server that any local client can read hands out its write token only in the link that it prints: other users of the machine can
//! read, but not write. A server whose clients have the access token hands it to them, if it was started with `--allow-writes`.

use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, ORIGIN};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;

use crate::serve::error::ApiError;
use crate::serve::guard::{FETCH_SITE, Secret, Token, TokenError};

/// The header with the write token.
pub const TOKEN_HEADER: HeaderName = HeaderName::from_static("x-cobalt-token");
/// The largest body of a write request in bytes.
pub const MAX_BODY: usize = 64 << 10;

/// Why a client may only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReadOnlyReason {
    /// It does not have the write token of the printed link.
    NoToken,
    /// The server was started with `--read-only`.
    ReadOnly,
    /// Clients need an access token, and the server was started without `--allow-writes`.
    WritesNotAllowed,
    /// The server shows the runs of a remote store.
    RemoteStore,
}

impl ReadOnlyReason {
    fn message(self) -> &'static str {
        match self {
            Self::NoToken => {
                "changes need this server's write token: open the link printed by `cargo cobalt serve`; programs send it in the \
                 header `X-Cobalt-Token`"
            }
            Self::RemoteStore => {
                "this dashboard is read-only: it shows the runs of a remote store; to make changes, pull a run with `cargo cobalt pull` \
                 and start `cargo cobalt serve` without `--remote`"
            }
            Self::ReadOnly => "this dashboard is read-only: it was started with `--read-only`",
            Self::WritesNotAllowed => {
                "this dashboard is read-only: to change things from other machines or with COBALT_TOKEN, restart \
                 `cargo cobalt serve` with `--allow-writes`"
            }
        }
    }
}

/// The flags about writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteMode {
    /// Allowed on a server that only this machine can reach, without an access token.
    #[default]
    Local,
    /// `--allow-writes`
    Allowed,
    /// `--read-only`
    ReadOnly,
    /// `--remote`
    Remote,
}

/// Who may write.
#[derive(Clone, Debug)]
pub enum WriteAccess {
    /// Nobody, for this reason.
    Nobody(ReadOnlyReason),
    /// Clients with this token.
    Token {
        secret: Secret,
        text: String,
        /// Whether authenticated clients can request it.
        is_handed_out: bool,
    },
}

impl WriteAccess {
    /// `is_open`: clients need no access token to read.
    pub fn new(mode: WriteMode, is_open: bool) -> Result<Self, TokenError> {
        match mode {
            WriteMode::Remote => Ok(Self::Nobody(ReadOnlyReason::RemoteStore)),
            WriteMode::ReadOnly => Ok(Self::Nobody(ReadOnlyReason::ReadOnly)),
            WriteMode::Local if !is_open => Ok(Self::Nobody(ReadOnlyReason::WritesNotAllowed)),
            WriteMode::Local | WriteMode::Allowed => {
                let text = Token::random()?;
                Ok(Self::Token { secret: Secret::new(&text), text, is_handed_out: !is_open })
            }
        }
    }

    /// The token for the printed link.
    pub fn link_token(&self) -> Option<&str> {
        match self {
            Self::Token { text, is_handed_out: false, .. } => Some(text),
            _ => None,
        }
    }

    /// Whether a request has the token.
    fn authenticates(&self, headers: &HeaderMap) -> bool {
        let Self::Token { secret, .. } = self else { return false };
        let mut given = headers.get_all(TOKEN_HEADER).iter();
        let (Some(token), None) = (given.next(), given.next()) else { return false };
        token.to_str().is_ok_and(|token| secret.matches(token))
    }

    /// Checks a request that is not `GET` or `HEAD`. Its host name and, if present, its origin are checked already.
    ///
    /// # Errors
    ///
    /// Why it is rejected, and what to do.
    pub fn check(&self, request: &Request) -> Result<(), ApiError> {
        let headers = request.headers();
        if let Self::Nobody(reason) = self {
            return Err(ApiError::new(StatusCode::FORBIDDEN, reason.message()));
        }
        let is_same_origin = |site: &axum::http::HeaderValue| site == "same-origin";
        if headers.get_all(ORIGIN).iter().count() != 1 || !headers.get(FETCH_SITE).is_none_or(is_same_origin)
        {
            let message = "changes are accepted from the dashboard's own page; programs send its URL in the header `Origin`";
            return Err(ApiError::new(StatusCode::FORBIDDEN, message));
        }
        if !self.authenticates(headers) {
            return Err(ApiError::new(StatusCode::UNAUTHORIZED, ReadOnlyReason::NoToken.message()));
        }
        if !is_json(headers) {
            let message = "expected a JSON body; send the header `Content-Type: application/json`";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        if content_length(headers).is_some_and(|length| length > MAX_BODY as u64) {
            return Err(body_too_large());
        }
        Ok(())
    }

    /// What a client may do.
    pub fn session(&self, headers: &HeaderMap) -> Session {
        match self {
            Self::Nobody(reason) => Session { can_write: false, reason: Some(*reason), token: None },
            Self::Token { .. } if self.authenticates(headers) => {
                Session { can_write: true, reason: None, token: None }
            }
            // Not for the address bar of a browser, whose content ends up in histories and screenshots.
            Self::Token { text, is_handed_out: true, .. }
                if headers.get(FETCH_SITE).is_none_or(|site| site == "same-origin") =>
            {
                Session { can_write: true, reason: None, token: Some(text.clone()) }
            }
            Self::Token { .. } => {
                Session { can_write: false, reason: Some(ReadOnlyReason::NoToken), token: None }
            }
        }
    }
}

/// The error for a body beyond the limit.
pub fn body_too_large() -> ApiError {
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {} kB", MAX_BODY >> 10))
}

fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter().map(|value| value.to_str().unwrap_or_default());
    let (Some(value), None) = (types.next(), types.next()) else { return false };
    let (essence, _) = value.split_once(';').unwrap_or((value, ""));
    essence.trim().eq_ignore_ascii_case("application/json")
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// What a client may do.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Whether the client may change things, with the token in `X-Cobalt-Token`.
    can_write: bool,
    /// Why it may not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<ReadOnlyReason>,
    /// The write token: only for clients that authenticated with the access token, on a server with `--allow-writes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn request(headers: &[(&str, &str)]) -> Request {
        let builder = axum::http::Request::builder().method("POST").uri("/api/jobs");
        let builder = headers.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
        builder.body(Body::empty()).unwrap()
    }

    const ORIGIN: (&str, &str) = ("origin", "http://127.0.0.1:4000");
    const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");

    fn status(access: &WriteAccess, headers: &[(&str, &str)]) -> Option<StatusCode> {
        access.check(&request(headers)).err().map(|error| error.status())
    }

    #[test]
    fn a_write_needs_an_origin_the_token_and_json() {
        let access = WriteAccess::new(WriteMode::Local, true).unwrap();
        let text = access.link_token().unwrap().to_owned();
        let token = ("x-cobalt-token", &*text);
        assert_eq!(status(&access, &[ORIGIN, token, JSON]), None);
        assert_eq!(status(&access, &[ORIGIN, token, JSON, ("sec-fetch-site", "same-origin")]), None);
        for (headers, expected) in [
            (&[token, JSON][..], 403),
            (&[ORIGIN, ORIGIN, token, JSON], 403),
            (&[ORIGIN, token, JSON, ("sec-fetch-site", "none")], 403),
            (&[ORIGIN, token, JSON, ("sec-fetch-site", "same-site")], 403),
            (&[ORIGIN, JSON], 401),
            (&[ORIGIN, ("x-cobalt-token", ""), JSON], 401),
            (&[ORIGIN, ("x-cobalt-token", &text[1..]), JSON], 401),
            (&[ORIGIN, token, token, JSON], 401),
            (&[ORIGIN, ("authorization", &format!("Bearer {text}")), JSON], 401),
            (&[ORIGIN, token], 415),
            (&[ORIGIN, token, ("content-type", "text/plain")], 415),
            (&[ORIGIN, token, ("content-type", "application/x-www-form-urlencoded")], 415),
            (&[ORIGIN, token, ("content-type", "multipart/form-data; boundary=application/json")], 415),
            (&[ORIGIN, token, JSON, JSON], 415),
            (&[ORIGIN, token, JSON, ("content-length", "65537")], 413),
        ] {
            let status = status(&access, headers).map(|status| status.as_u16());
            assert_eq!(status, Some(expected), "{headers:?}");
        }
    }

    #[test]
    fn two_servers_have_different_tokens() {
        let token = || WriteAccess::new(WriteMode::Local, true).unwrap().link_token().unwrap().to_owned();
        assert_ne!(token(), token());
    }

    #[test]
    fn the_token_is_handed_out_only_where_clients_have_authenticated_and_writes_are_allowed() {
        let session = |mode, is_open, headers: &[(&str, &str)]| {
            let access = WriteAccess::new(mode, is_open).unwrap();
            let Session { can_write, reason, token } = access.session(request(headers).headers());
            assert_eq!(reason.is_none(), can_write);
            (can_write, token.is_some())
        };
        for headers in [&[][..], &[("sec-fetch-site", "same-origin")]] {
            assert_eq!(session(WriteMode::Local, true, headers), (false, false));
            assert_eq!(session(WriteMode::Allowed, true, headers), (false, false));
            assert_eq!(session(WriteMode::Local, false, headers), (false, false));
            assert_eq!(session(WriteMode::ReadOnly, false, headers), (false, false));
            assert_eq!(session(WriteMode::Allowed, false, headers), (true, true));
        }
        let typed = [("sec-fetch-site", "none")];
        assert_eq!(session(WriteMode::Allowed, false, &typed), (false, false));
    }

    #[test]
    fn without_a_token_nobody_writes() {
        for (mode, is_open) in [(WriteMode::ReadOnly, true), (WriteMode::Local, false)] {
            let access = WriteAccess::new(mode, is_open).unwrap();
            assert!(access.link_token().is_none());
            assert_eq!(status(&access, &[ORIGIN, ("x-cobalt-token", ""), JSON]), Some(StatusCode::FORBIDDEN));
        }
    }
}
