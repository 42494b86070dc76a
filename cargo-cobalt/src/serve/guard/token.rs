//! The token of those whom a server lets in that more than this machine can reach.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE};
use cobalt::config::Config;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::environment::Environment;
use crate::error::{CommandError, Error};

/// The variable that gives the token.
const VARIABLE: &str = "COBALT_TOKEN";
/// How many characters a token has that somebody gives, at least.
const SHORTEST: usize = 16;
/// How many random bytes a token is made of.
const RANDOM: usize = 32;

#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    #[error(
        "COBALT_TOKEN is no token: it has at least {SHORTEST} characters, each a letter, a digit or another visible one of ASCII"
    )]
    Unfit,

    #[error("failed to make a token: {0}; set one in COBALT_TOKEN")]
    NoRandom(getrandom::Error),
}

impl CommandError for TokenError {}

/// What is known of the token: hashes, compared in constant time.
pub(crate) struct Token {
    hash: Secret,
    /// What stands in the cookie in its place, so that it may hold characters that cookies may not.
    stand_in: String,
    stand_in_hash: Secret,
    /// The cookie's name, with the port: browsers send a cookie to all ports of a host.
    cookie_name: String,
}

impl Token {
    /// The text of the token that the environment gives.
    pub(crate) fn given(settings: &Config) -> Result<Option<String>, Error> {
        let environment = Environment::read(&[settings.workspace_root()])?;
        let Some(text) = environment.get(VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
        let is_visible =
            |text: &&str| text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        text.to_str()
            .filter(is_visible)
            .map(|text| Some(text.to_owned()))
            .ok_or_else(|| TokenError::Unfit.into())
    }

    /// The text of a token that nobody can guess.
    pub(crate) fn random() -> Result<String, TokenError> {
        let mut bytes = [0; RANDOM];
        getrandom::fill(&mut bytes).map_err(TokenError::NoRandom)?;
        Ok(hex(&bytes))
    }

    /// The token of this text, for a server at this port.
    pub(crate) fn of(text: &str, port: u16) -> Self {
        let stand_in =
            hex(&code(text.as_bytes(), "the cookie of the dashboard of Cobalt").finalize().into_bytes());
        Self {
            hash: Secret::of(text),
            stand_in_hash: Secret::of(&stand_in),
            stand_in,
            cookie_name: format!("cobalt-{port}"),
        }
    }

    /// Whether a text is the token.
    pub(super) fn is(&self, text: &str) -> bool {
        self.hash.is(text)
    }

    /// Whether a request brings the token, or the cookie that stands for it.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        let texts = |name| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let is_token = |text: &str| {
            let (scheme, token) = text.split_once(' ').unwrap_or_default();
            scheme.eq_ignore_ascii_case("bearer") && self.is(token.trim())
        };
        let is_cookie = |pair: &str| {
            pair.trim()
                .split_once('=')
                .is_some_and(|(key, value)| key == self.cookie_name && self.stand_in_hash.is(value))
        };
        texts(AUTHORIZATION).any(is_token) || texts(COOKIE).flat_map(|list| list.split(';')).any(is_cookie)
    }

    /// The cookie by which a browser is let in from now on, until it is closed. No script can read it, and no other site send it.
    pub(super) fn cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name, self.stand_in)
    }
}

/// A secret text, as the code that it has by HMAC-SHA-256.
struct Secret([u8; 32]);

impl Secret {
    /// The key is no secret: it keeps these codes apart from others over the same text.
    const KEY: &[u8] = b"the token of the dashboard of Cobalt";

    fn of(text: &str) -> Self {
        Self(code(Self::KEY, text).finalize().into_bytes().into())
    }

    /// Whether this is the text. The comparison takes constant time, so that how long it takes says nothing about the secret.
    fn is(&self, text: &str) -> bool {
        code(Self::KEY, text).verify_slice(&self.0).is_ok()
    }
}

fn code(key: &[u8], text: &str) -> Hmac<Sha256> {
    Hmac::<Sha256>::new_from_slice(key).expect("a key of any length is taken").chain_update(text)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
