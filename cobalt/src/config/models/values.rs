//! Single values of these tables, each with what it may be.

use std::time::Duration;

use serde::de::{Deserialize, Deserializer};
use serde::{Serialize, Serializer};

use crate::config::values::{Number, Text, written};
use crate::llm::Provider;
use crate::redact::looks_like_key;
use crate::report::duration;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// A name, or anything else that cannot be empty.
#[derive(Clone, Debug, Serialize)]
pub(in crate::config) struct Word(pub(in crate::config) String);

impl Word {
    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Err("the text is empty; leave the key out for what is usual".to_owned()),
            text => Ok(Self(text.to_owned())),
        }
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text { expected: "a text in quotes", read: Self::read })
    }
}

/// The name of an environment variable.
#[derive(Clone, Debug, Serialize)]
pub(in crate::config) struct KeyVariable(pub(in crate::config) String);

impl<'de> Deserialize<'de> for KeyVariable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        // Some keys are of the same letters: their form tells them apart.
        let is_name = |text: &str| !text.is_empty() && text.chars().all(is_of_name) && !looks_like_key(text);
        let read = |text: &str| match is_name(text) {
            true => Ok(Self(text.to_owned())),
            // It is not repeated: it may be the key itself.
            false => {
                Err("this is the name of the variable that holds the key, such as \"GATEWAY_API_KEY\", \
                          never the key"
                    .to_owned())
            }
        };
        deserializer.deserialize_str(Text { expected: "the name of a variable in quotes", read })
    }
}

/// The address of an API.
#[derive(Clone, Debug, Serialize)]
pub(in crate::config) struct Address(pub(in crate::config) String);

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| {
            let text = text.trim();
            let host = ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
            match host.is_some_and(|host| !host.is_empty()) {
                true => Ok(Self(text.to_owned())),
                false => Err(format!("`{text}` is no address; write it like \"https://gateway.example/v1\"")),
            }
        };
        deserializer.deserialize_str(Text { expected: "an address in quotes", read })
    }
}

/// A provider of models that judge, by its name.
#[derive(Clone, Copy, Debug, Serialize)]
pub(in crate::config) struct JudgeVendor(pub(in crate::config) Provider);

impl<'de> Deserialize<'de> for JudgeVendor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        vendor(deserializer, "models that judge", Provider::judges).map(Self)
    }
}

/// A provider of embeddings, by its name.
#[derive(Clone, Copy, Debug, Serialize)]
pub(in crate::config) struct EmbeddingVendor(pub(in crate::config) Provider);

impl<'de> Deserialize<'de> for EmbeddingVendor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        vendor(deserializer, "embeddings", Provider::embeds).map(Self)
    }
}

/// A provider that has what is wanted of it.
fn vendor<'de, D: Deserializer<'de>>(
    deserializer: D,
    wanted: &str,
    can: fn(Provider) -> bool,
) -> Result<Provider, D::Error> {
    let read = |name: &str| match name.parse::<Provider>() {
        Ok(provider) if can(provider) => Ok(provider),
        Ok(provider) => Err(provider.lacks(wanted, can)),
        Err(unknown) => Err(unknown.to_string()),
    };
    deserializer.deserialize_str(Text { expected: "the name of a provider in quotes", read })
}

/// A temperature: from 0 to 2.
#[derive(Clone, Copy, Debug, Serialize)]
pub(in crate::config) struct Temperature(pub(in crate::config) f64);

impl<'de> Deserialize<'de> for Temperature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let range = |number: &f64| (0.0..=2.0).contains(number);
        deserializer.deserialize_f64(Number { expected: "a number from 0 to 2", range }).map(Self)
    }
}

/// How often something is tried again: from 0 to 20.
#[derive(Clone, Copy, Debug, Serialize)]
pub(in crate::config) struct Retries(pub(in crate::config) u32);

impl<'de> Deserialize<'de> for Retries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let range = |number: &f64| (0.0..=20.0).contains(number) && number.fract() == 0.0;
        let number = deserializer.deserialize_f64(Number { expected: "a whole number from 0 to 20", range });
        number.map(|number| Self(number as u32))
    }
}

/// A duration that may be long: `7d` as well as `12h` or `90s`.
#[derive(Clone, Copy, Debug)]
pub(in crate::config) struct Age(pub(in crate::config) Duration);

impl Age {
    fn read(text: &str) -> Result<Self, String> {
        let days =
            text.trim().strip_suffix('d').filter(|number| number.ends_with(|c: char| c.is_ascii_digit()));
        match days {
            Some(days) => Ok(Self(duration(&format!("{days}h"))?.saturating_mul(24))),
            // Of the durations, only an age can be in days.
            None => duration(text).map(Self).map_err(|problem| {
                if problem.contains("no unit of time") {
                    format!("{problem}; of an age also `d`")
                } else {
                    problem
                }
            }),
        }
    }
}

impl<'de> Deserialize<'de> for Age {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a duration in quotes, such as \"7d\" or \"12h\"";
        deserializer.deserialize_str(Text { expected, read: Self::read })
    }
}

/// A duration that may be long, or `off`.
#[derive(Clone, Copy, Debug)]
pub(in crate::config) struct AgeOrOff(pub(in crate::config) Option<Age>);

impl<'de> Deserialize<'de> for AgeOrOff {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| match text.trim() {
            "off" => Ok(Self(None)),
            text => Age::read(text).map(|age| Self(Some(age))),
        };
        let expected = "a duration in quotes, such as \"12h\", or \"off\"";
        deserializer.deserialize_str(Text { expected, read })
    }
}

impl Serialize for AgeOrOff {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(age) => age.serialize(serializer),
            None => serializer.serialize_str("off"),
        }
    }
}

/// As it would be written in the file.
impl Serialize for Age {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_nanos().is_multiple_of(DAY.as_nanos()) {
            true => serializer.collect_str(&format_args!("{}d", self.0.as_nanos() / DAY.as_nanos())),
            false => serializer.serialize_str(&written(self.0)),
        }
    }
}
