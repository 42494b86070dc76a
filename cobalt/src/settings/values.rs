//! Single values of tables, each validated: errors carry the location.

use std::fmt;
use std::time::Duration;

use cobalt_core::redact::looks_like_key;
use cobalt_core::report::{Threshold, parse_duration};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Serialize, Serializer};

use crate::llm::Provider;

/// The default time limit per trial, and per evaluator and output.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum number of trials per item.
pub const MAX_RUNS: usize = 10_000;

/// The maximum time limit per trial: 720 hours.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(720 * 60 * 60);

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Implements `Deserialize` from a string, with the expected value for errors.
macro_rules! deserialize_from_str {
    ($type:ident: $expected:literal, |$text:ident| $read:expr) => {
        impl $type {
            fn read($text: &str) -> Result<Self, String> {
                $read
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer
                    .deserialize_str(crate::settings::StringVisitor { expected: $expected, read: Self::read })
            }
        }
    };
}

pub(crate) use deserialize_from_str;

/// Implements `Deserialize` from a number in a range, with the expected value for errors.
macro_rules! deserialize_from_number {
    ($type:ident: $expected:literal, |$number:ident| $is_in_range:expr) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let range = |number: &f64| {
                    let $number = *number;
                    $is_in_range
                };
                let number = deserializer.deserialize_f64(NumberVisitor { expected: $expected, range });
                number.map(|number| Self(number as _))
            }
        }
    };
}

/// A whole number of at least 1.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PositiveInt(pub(crate) usize);

impl PositiveInt {
    /// The number, or the largest that fits.
    #[cfg(feature = "judge")]
    pub fn to_u32(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

impl<'de> Deserialize<'de> for PositiveInt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;

        impl Visitor<'_> for Whole {
            type Value = PositiveInt;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number of at least 1")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<PositiveInt, E> {
                let count = usize::try_from(number).ok().filter(|count| *count > 0);
                count.map(PositiveInt).ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
            }
        }

        deserializer.deserialize_i64(Whole)
    }
}

/// A maximum count: a whole number from 0.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NonNegativeInt(pub(crate) usize);

deserialize_from_number! {
    // Up to here, floating-point numbers are exact.
    NonNegativeInt: "a whole number of at least 0", |number| (0.0..=9e15).contains(&number) && number.fract() == 0.0
}

/// A score: a number from 0 to 1.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ScoreValue(pub(crate) f64);

deserialize_from_number! { ScoreValue: "a number from 0 to 1", |number| (0.0..=1.0).contains(&number) }

/// The weight of a part: a number of at least 0.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Weight(pub(crate) f64);

deserialize_from_number! { Weight: "a number of at least 0", |number| number.is_finite() && number >= 0.0 }

/// An amount in US dollars: a number of at least 0.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Dollars(pub(crate) f64);

deserialize_from_number! {
    Dollars: "a number of at least 0 (USD per 1,000,000 tokens)", |number| number.is_finite() && number >= 0.0
}

/// A duration: a number and its unit, one of `ns`, `us`, `ms`, `s`, `m` and `h`, as in `30s`, `1.5s` or `500ms`.
#[derive(Clone, Copy, Debug)]
pub struct DurationValue(pub(crate) Duration);

deserialize_from_str! { DurationValue: "a duration in quotes, such as \"30s\" or \"500ms\"", |text| parse_duration(text).map(Self) }

/// A threshold: `<category>.<metric> <comparison> <bound>`, as in `score.avg >= 0.8` or `latency.p95 <= 5s`.
#[derive(Clone, Debug)]
pub struct ThresholdExpr(pub(crate) Threshold);

deserialize_from_str! {
    ThresholdExpr: "a threshold in quotes, such as \"score.avg >= 0.8\"",
    |text| text.parse().map(Self).map_err(|error| format!("{error}"))
}

/// Deserializes a list of thresholds; a table is refused with the syntax of the list.
pub fn threshold_list<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<ThresholdExpr>>, D::Error> {
    struct Bounds;

    impl<'de> Visitor<'de> for Bounds {
        type Value = Vec<ThresholdExpr>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(
                "a list of thresholds in quotes, such as [\"score.avg >= 0.8\", \"latency.p95 <= 5s\"]",
            )
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut bounds = Vec::new();
            while let Some(bound) = list.next_element()? {
                bounds.push(bound);
            }
            Ok(bounds)
        }

        fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
            Err(A::Error::custom(
                "thresholds are a list of strings, not a table: instead of `score = { avg = 0.8 }`, `latency = { p95 = 5000 }` and \
                 `evaluators.tone = { passRate = 0.9 }`, write `thresholds = [\"score.avg >= 0.8\", \"latency.p95 <= 5s\", \
                 \"tone.pass_rate >= 0.9\"]`",
            ))
        }
    }

    deserializer.deserialize_any(Bounds).map(Some)
}

/// Deserializes a non-empty list.
pub fn non_empty_list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let list = Vec::deserialize(deserializer)?;
    match list.is_empty() {
        true => Err(Error::custom("the list is empty; add an entry or remove the key")),
        false => Ok(Some(list)),
    }
}

/// A test target by name, or several by a pattern with `*`, `?` or `[…]`.
#[derive(Clone, Debug)]
pub(crate) struct TargetPattern(pub(crate) glob::Pattern);

impl TargetPattern {
    /// Matches every target.
    pub(crate) fn any() -> Self {
        Self(glob::Pattern::new("*").expect("a star is a pattern"))
    }
}

deserialize_from_str! {
    TargetPattern: "the name of a test target, or a pattern in quotes",
    |text| glob::Pattern::new(text).map(Self).map_err(|error| format!("invalid pattern `{text}`: {}", error.msg))
}

/// The name of an environment variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct EnvironmentName(pub(crate) String);

deserialize_from_str! {
    EnvironmentName: "the name of a variable",
    |name| match name.is_empty() || name.contains(['=', '\0']) {
        true => Err(format!("`{}` is not a valid variable name", name.escape_debug())),
        false => Ok(Self(name.to_owned())),
    }
}

/// The name of an environment variable that the file is allowed to set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VariableName(pub(crate) String);

deserialize_from_str! {
    VariableName: "the name of a variable",
    |name| {
        let EnvironmentName(name) = EnvironmentName::read(name)?;
        if name.starts_with("COBALT_") {
            return Err(format!(
                "`{name}` cannot be set here: Cobalt's own variables override this file; use the corresponding key instead"
            ));
        }
        if name.starts_with("CARGO_") {
            return Err(format!("`{name}` cannot be set here: Cargo sets it, and Cobalt needs it to find this file"));
        }
        Ok(Self(name))
    }
}

/// The value of an environment variable.
#[derive(Clone, Debug, Serialize)]
pub struct VariableValue(pub(crate) String);

deserialize_from_str! {
    VariableValue: "the variable's value as a string in quotes",
    |text| match text.contains('\0') {
        true => Err("a variable cannot contain a NUL character".to_owned()),
        false => Ok(Self(text.to_owned())),
    }
}

/// A program, or one of its arguments.
#[derive(Clone, Debug, Serialize)]
pub struct Argument(pub(crate) String);

deserialize_from_str! {
    Argument: "an argument as a string in quotes",
    |text| match text.contains('\0') {
        true => Err("an argument cannot contain a NUL character".to_owned()),
        false => Ok(Self(text.to_owned())),
    }
}

/// A visitor that parses a string.
pub struct StringVisitor<F> {
    pub(crate) expected: &'static str,
    pub(crate) read: F,
}

impl<T, F: Fn(&str) -> Result<T, String>> Visitor<'_> for StringVisitor<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).map_err(E::custom)
    }
}

/// A visitor for a number in a range.
pub struct NumberVisitor<F> {
    pub(crate) expected: &'static str,
    pub(crate) range: F,
}

impl<F: Fn(&f64) -> bool> Visitor<'_> for NumberVisitor<F> {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
        match (self.range)(&(number as f64)) {
            true => Ok(number as f64),
            false => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<f64, E> {
        match (self.range)(&number) {
            true => Ok(number),
            false => Err(E::invalid_value(Unexpected::Float(number), &self)),
        }
    }
}

/// As it would be written in the file.
impl Serialize for DurationValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_duration(self.0))
    }
}

/// As it would be written in the file.
impl Serialize for ThresholdExpr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// As written in the file.
impl Serialize for TargetPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

/// Formats a duration in the largest unit that gives a whole number.
pub fn format_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    let units = [
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1000),
    ];
    match units.into_iter().find(|(_, length)| nanos.is_multiple_of(*length)) {
        Some((unit, length)) => format!("{}{unit}", nanos / length),
        None => format!("{nanos}ns"),
    }
}

/// A name, or any other string that cannot be empty.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct NonEmptyString(pub(crate) String);

deserialize_from_str! {
    NonEmptyString: "a string in quotes",
    |text| match text.trim() {
        "" => Err("the string is empty; remove the key to use the default".to_owned()),
        text => Ok(Self(text.to_owned())),
    }
}

/// The name of an environment variable that holds a secret.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SecretVariable(pub(crate) String);

deserialize_from_str! {
    SecretVariable: "the name of a variable in quotes",
    |text| {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        // Some keys consist of the same characters: their form reveals them.
        match !text.is_empty() && text.chars().all(is_of_name) && !looks_like_key(text) {
            true => Ok(Self(text.to_owned())),
            // The error does not repeat it: it may be the key itself.
            false => Err(String::from(
                "expected the name of the variable that holds the key, such as \"GATEWAY_API_KEY\", not the key itself",
            )),
        }
    }
}

/// The base URL of an API.
#[derive(Clone, Debug, Serialize)]
pub struct BaseUrl(pub(crate) String);

deserialize_from_str! {
    BaseUrl: "a URL in quotes",
    |text| {
        let text = text.trim();
        let host = ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        match host.is_some_and(|host| !host.is_empty()) {
            true => Ok(Self(text.to_owned())),
            false => Err(format!("`{text}` is not a URL; write it like \"https://gateway.example/v1\"")),
        }
    }
}

/// A provider of judge models, by name.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct JudgeProvider(pub(crate) Provider);

deserialize_from_str! {
    JudgeProvider: "the name of a provider in quotes",
    |name| parse_provider(name, "judge models", Provider::has_judge_models).map(Self)
}

/// A provider of embeddings, by name.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EmbeddingProvider(pub(crate) Provider);

deserialize_from_str! {
    EmbeddingProvider: "the name of a provider in quotes", |name| parse_provider(name, "embeddings", Provider::has_embeddings).map(Self)
}

/// Parses a provider that has the required kind of model.
fn parse_provider(name: &str, wanted: &str, can: fn(Provider) -> bool) -> Result<Provider, String> {
    match name.parse::<Provider>() {
        Ok(provider) if can(provider) => Ok(provider),
        Ok(provider) => Err(provider.missing_capability(wanted, can)),
        Err(unknown) => Err(unknown.to_string()),
    }
}

/// A temperature: from 0 to 2.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Temperature(pub(crate) f64);

deserialize_from_number! { Temperature: "a number from 0 to 2", |number| (0.0..=2.0).contains(&number) }

/// A number of retries: from 0 to 20.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Retries(pub(crate) u32);

deserialize_from_number! {
    Retries: "a whole number from 0 to 20", |number| (0.0..=20.0).contains(&number) && number.fract() == 0.0
}

/// A duration, also in days: `7d` as well as `12h` or `90s`.
#[derive(Clone, Copy, Debug)]
pub struct Age(pub(crate) Duration);

deserialize_from_str! {
    Age: "a duration in quotes, such as \"7d\" or \"12h\"",
    |text| {
        let days =
            text.trim().strip_suffix('d').filter(|number| number.ends_with(|c: char| c.is_ascii_digit()));
        match days {
            Some(days) => Ok(Self(parse_duration(&format!("{days}h"))?.saturating_mul(24))),
            // Only ages can be in days.
            None => parse_duration(text).map(Self).map_err(|problem| {
                if problem.contains("unknown time unit") {
                    format!("{problem}; `d` is also allowed here")
                } else {
                    problem
                }
            }),
        }
    }
}

/// A duration, also in days, or `off`.
#[derive(Clone, Copy, Debug)]
pub struct AgeOrOff(pub(crate) Option<Age>);

deserialize_from_str! {
    AgeOrOff: "a duration in quotes, such as \"12h\", or \"off\"",
    |text| match text.trim() {
        "off" => Ok(Self(None)),
        text => Age::read(text).map(|age| Self(Some(age))),
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
            false => serializer.serialize_str(&format_duration(self.0)),
        }
    }
}

#[cfg(feature = "schema")]
super::schema::inline_schemas! {
    PositiveInt: { "type": "integer", "minimum": 1 },
    NonNegativeInt: { "type": "integer", "minimum": 0 },
    ScoreValue: { "type": "number", "minimum": 0, "maximum": 1 },
    Dollars: { "type": "number", "minimum": 0 },
    Weight: { "type": "number", "minimum": 0 },
    DurationValue: {
        "type": "string",
        "pattern": "^(?=.*[1-9])\\s*[0-9.][0-9._]*\\s*(ns|us|ms|s|m|h)\\s*$",
        "examples": ["30s", "500ms", "1.5s", "2m"],
    },
    Age: {
        "type": "string",
        "pattern": "^(?=.*[1-9])\\s*[0-9.][0-9._]*\\s*(ns|us|ms|s|m|h|d)\\s*$",
        "examples": ["7d", "12h"],
    },
    AgeOrOff: {
        "type": "string",
        "pattern": "^\\s*off\\s*$|^(?=.*[1-9])\\s*[0-9.][0-9._]*\\s*(ns|us|ms|s|m|h|d)\\s*$",
        "examples": ["12h", "off"],
    },
    NonEmptyString: { "type": "string", "pattern": "\\S" },
    JudgeProvider: { "type": "string", "enum": Provider::names(Provider::has_judge_models) },
    EmbeddingProvider: { "type": "string", "enum": Provider::names(Provider::has_embeddings) },
    SecretVariable: { "type": "string", "pattern": "^[A-Za-z0-9_]+$", "examples": ["GATEWAY_API_KEY"] },
    BaseUrl: { "type": "string", "pattern": "^https?://.+", "examples": ["http://localhost:11434/v1"] },
    Temperature: { "type": "number", "minimum": 0, "maximum": 2 },
    Retries: { "type": "integer", "minimum": 0, "maximum": 20 },
    ThresholdExpr: {
        "type": "string",
        "pattern": "^.+\\.\\s*(avg|min|max|p50|p95|p99|total|drop|rise|ratio|pass_rate\\s*(\\(.+\\))?)\\s*[<>]=?\\s*[0-9.].*$",
        "examples": ["score.avg >= 0.8", "latency.p95 <= 5s", "right.pass_rate >= 0.95", "vs_baseline.score.drop <= 0.02"],
    },
    TargetPattern: { "type": "string", "examples": ["evals", "evals-*"] },
    Argument: { "type": "string" },
    EnvironmentName: { "type": "string", "pattern": "^[^=]+$" },
    VariableName: { "type": "string", "pattern": "^(?!COBALT_|CARGO_)[^=]+$" },
    VariableValue: { "type": "string" },
}

/// Whether a string looks like an HTTP URL: it has a host, and no whitespace or control characters.
pub fn is_http_url(text: &str) -> bool {
    let rest = ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let is_odd = |letter: char| letter.is_whitespace() || letter.is_control();
    rest.is_some_and(|rest| !host(rest).is_empty() && !rest.contains(is_odd))
}

/// The host, and the port if given, of a URL without its scheme.
pub fn host(rest: &str) -> &str {
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}
