//! The token of those whom a server lets in that more than this machine can reach.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE};
use cobalt::config::Config;
use hmac_sha256::{HMAC, Hash};

use crate::environment::Environment;
use crate::error::Error;
use crate::serve::project::hex;

/// The variable that gives the token.
const VARIABLE: &str = "COBALT_TOKEN";
/// How many characters a token has that somebody gives, at least.
const SHORTEST: usize = 16;
/// How many random bytes a token is made of.
const RANDOM: usize = 32;

/// What is known of the token: hashes, which are compared in a time that tells nothing.
pub(in crate::serve) struct Token {
    hash: [u8; 32],
    /// What stands in the cookie in its place, so that it may hold characters that cookies may not.
    stand_in: String,
    stand_in_hash: [u8; 32],
    /// The cookie's name, with the port: browsers send a cookie to all ports of a host.
    cookie_name: String,
}

impl Token {
    /// The text of the token that the environment gives.
    pub(in crate::serve) fn given(settings: &Config) -> Result<Option<String>, Error> {
        let environment = Environment::read(&[settings.workspace_root()])?;
        let Some(text) = environment.get(VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
        let is_visible =
            |text: &&str| text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        text.to_str().filter(is_visible).map(|text| Some(text.to_owned())).ok_or(Error::Token(SHORTEST))
    }

    /// The text of a token that nobody can guess.
    pub(in crate::serve) fn random() -> Result<String, Error> {
        let mut bytes = [0; RANDOM];
        getrandom::fill(&mut bytes).map_err(Error::NoToken)?;
        Ok(hex(&bytes))
    }

    /// The token of this text, for a server at this port.
    pub(in crate::serve) fn of(text: &str, port: u16) -> Self {
        let stand_in = hex(&HMAC::mac("the cookie of the dashboard of Cobalt", text));
        Self {
            hash: Hash::hash(text.as_bytes()),
            stand_in_hash: Hash::hash(stand_in.as_bytes()),
            stand_in,
            cookie_name: format!("cobalt-{port}"),
        }
    }

    /// Whether a text is the token.
    pub(super) fn is(&self, text: &str) -> bool {
        Hash::verify(text, &self.hash)
    }

    /// Whether a request brings the token, or the cookie that stands for it.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        let texts = |name| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let is_token = |text: &str| {
            let (scheme, token) = text.split_once(' ').unwrap_or_default();
            scheme.eq_ignore_ascii_case("bearer") && self.is(token.trim())
        };
        let is_cookie = |pair: &str| {
            pair.trim().split_once('=').is_some_and(|(key, value)| {
                key == self.cookie_name && Hash::verify(value, &self.stand_in_hash)
            })
        };
        texts(AUTHORIZATION).any(is_token) || texts(COOKIE).flat_map(|list| list.split(';')).any(is_cookie)
    }

    /// The cookie by which a browser is let in from now on, until it is closed. No script can read it, and no other site send it.
    pub(super) fn cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name, self.stand_in)
    }
}
