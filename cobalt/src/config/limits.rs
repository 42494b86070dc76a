//! The tables `[[limits]]`: how many requests are sent to models, and how often they are retried. Without the feature `record`, they are
//! only checked and listed.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[cfg(feature = "record")]
use crate::limits::LimitRule;
use crate::settings::{PositiveInt, Retries, deserialize_from_str};

/// A limit for requests to models, for all that it matches together: over all experiments of a call.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Limit", extend("anyOf" = require_one_number())))]
#[serde(
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "a table with a limit, such as `requests-per-minute`"
)]
pub struct LimitTable {
    /// The provider whose requests count, by name or by a pattern with `*`, `?` or `[…]`; default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<NamePattern>,
    /// The model whose requests count, by name or by a pattern with `*`, `?` or `[…]`; default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<NamePattern>,
    /// Maximum requests a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_per_minute: Option<PositiveInt>,
    /// Maximum tokens a minute, input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_per_minute: Option<PositiveInt>,
    /// Maximum requests at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrent_requests: Option<PositiveInt>,
    /// Retries of a request after a transient failure; default 4. If several tables match, the smallest number applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    retries: Option<Retries>,
}

/// A validated table: it has at least one number.
#[derive(Debug, Deserialize, Serialize)]
#[serde(try_from = "LimitTable", expecting = "a table with a limit, such as `requests-per-minute`")]
pub struct LimitConfig(LimitTable);

impl TryFrom<LimitTable> for LimitConfig {
    type Error = &'static str;

    fn try_from(table: LimitTable) -> Result<Self, Self::Error> {
        let limits = [table.requests_per_minute, table.tokens_per_minute, table.concurrent_requests];
        match limits.iter().all(Option::is_none) && table.retries.is_none() {
            true => Err(
                "the table limits nothing: set `requests-per-minute`, `tokens-per-minute`, `concurrent-requests` or \
                         `retries`",
            ),
            false => Ok(Self(table)),
        }
    }
}

/// Deserializes the tables. Errors show how to write them.
pub fn limit_list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<LimitConfig>>, D::Error> {
    struct Tables;

    impl<'de> Visitor<'de> for Tables {
        type Value = Vec<LimitConfig>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of tables, each beginning with `[[limits]]`")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut tables = Vec::new();
            while let Some(table) = list.next_element()? {
                tables.push(table);
            }
            Ok(tables)
        }
    }

    deserializer.deserialize_seq(Tables).map(Some)
}

/// Requires at least one number, as a schema.
#[cfg(feature = "schema")]
fn require_one_number() -> serde_json::Value {
    let keys = ["requests-per-minute", "tokens-per-minute", "concurrent-requests", "retries"];
    keys.map(|key| serde_json::json!({ "required": [key] })).to_vec().into()
}

/// The name of a provider or model, or a pattern for several.
#[derive(Debug)]
struct NamePattern(glob::Pattern);

deserialize_from_str! {
    NamePattern: "a name in quotes, or a pattern such as \"gpt-4o*\"",
    |text| match text.trim() {
        "" => Err("the name is empty; remove the key to match all".to_owned()),
        text => glob::Pattern::new(text)
            .map(Self)
            .map_err(|error| format!("invalid pattern `{text}`: {}; write a literal `[` as `[[]`", error.msg)),
    }
}

/// As written in the file.
impl Serialize for NamePattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

#[cfg(feature = "schema")]
crate::settings::inline_schemas! {
    NamePattern: { "type": "string", "pattern": "\\S", "examples": ["openai", "gpt-4o*"] },
}

#[cfg(feature = "record")]
impl From<LimitConfig> for LimitRule {
    fn from(LimitConfig(table): LimitConfig) -> Self {
        let per_minute = |number: Option<PositiveInt>| number.map(|PositiveInt(number)| number as u64);
        Self {
            provider: table.provider.map(|NamePattern(pattern)| pattern),
            model: table.model.map(|NamePattern(pattern)| pattern),
            requests_per_minute: per_minute(table.requests_per_minute),
            tokens_per_minute: per_minute(table.tokens_per_minute),
            concurrent_requests: table.concurrent_requests.map(|PositiveInt(number)| number),
            retries: table.retries.map(|Retries(number)| number),
        }
    }
}
