//! Single values of these tables, each with what it may be.

use std::time::Duration;

use serde::de::{Deserialize, Deserializer};

use super::webhook::LONGEST_WAIT;
use crate::report::duration;
use crate::settings::{Text, is_address, written};

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
