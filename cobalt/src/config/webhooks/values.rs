//! Single values of these tables, each with what it may be.

use std::time::Duration;

use serde::de::{Deserialize, Deserializer};

use super::webhook::LONGEST_WAIT;
use crate::report::duration;
use crate::settings::{Text, written};

/// An address that requests are sent to.
#[derive(Debug)]
pub(in crate::config) struct HookAddress(pub(super) String);

impl<'de> Deserialize<'de> for HookAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| match is_address(text) {
            true => Ok(Self(text.to_owned())),
            // It is not repeated, as it may hold a secret.
            false => Err("this is no address; write it like \"https://example.com/hook\"".to_owned()),
        };
        deserializer.deserialize_str(Text { expected: "an address in quotes", read })
    }
}

/// Whether a text has the form of an address of HTTP: a host and nothing that no address holds.
pub(in crate::config) fn is_address(text: &str) -> bool {
    let rest = ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let is_odd = |letter: char| letter.is_whitespace() || letter.is_control();
    rest.is_some_and(|rest| !host(rest).is_empty() && !rest.contains(is_odd))
}

/// The host, and the port if one is written, of an address without its scheme.
pub(super) fn host(rest: &str) -> &str {
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug)]
pub(in crate::config) struct HookTimeout(pub(super) Duration);

impl<'de> Deserialize<'de> for HookTimeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| match duration(text)? {
            timeout if timeout <= LONGEST_WAIT => Ok(Self(timeout)),
            _ => Err(format!(
                "`{text}` is too long: a run waits {} for its webhooks at the most",
                written(LONGEST_WAIT)
            )),
        };
        deserializer.deserialize_str(Text { expected: "a duration in quotes, such as \"10s\"", read })
    }
}
