//! Single values of the file, each with what it may be: what is out of range is refused where it stands.

use std::fmt;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Serialize, Serializer};

use crate::report::{Threshold, duration};

/// A whole number of at least 1.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Count(pub(super) usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;

        impl Visitor<'_> for Whole {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number of at least 1")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Count, E> {
                let count = usize::try_from(number).ok().filter(|count| *count > 0);
                count.map(Count).ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
            }
        }

        deserializer.deserialize_i64(Whole)
    }
}

/// The most that there may be of something: a whole number from 0.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Limit(pub(super) usize);

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Up to here, floating-point numbers are exact.
        let range = |number: &f64| (0.0..=9e15).contains(number) && number.fract() == 0.0;
        let number =
            deserializer.deserialize_f64(Number { expected: "a whole number that is 0 or more", range });
        number.map(|number| Self(number as usize))
    }
}

/// A score: a number from 0 to 1.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Score(pub(super) f64);

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let range = |number: &f64| (0.0..=1.0).contains(number);
        deserializer.deserialize_f64(Number { expected: "a number from 0 to 1", range }).map(Self)
    }
}

/// What a part counts in a whole: a number that is 0 or more.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Weight(pub(super) f64);

impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let range = |number: &f64| number.is_finite() && *number >= 0.0;
        deserializer.deserialize_f64(Number { expected: "a number that is 0 or more", range }).map(Self)
    }
}

/// An amount of US dollars: a number that is 0 or more.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Dollars(pub(super) f64);

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let range = |number: &f64| number.is_finite() && *number >= 0.0;
        let expected = "USD per 1,000,000 tokens as a number that is 0 or more";
        deserializer.deserialize_f64(Number { expected, range }).map(Self)
    }
}

/// A duration: a number and its unit, one of `ns`, `us`, `ms`, `s`, `m` and `h`, as in `30s`, `1.5s` or `500ms`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length(pub(super) Duration);

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a duration in quotes, such as \"30s\" or \"500ms\"";
        deserializer.deserialize_str(Text { expected, read: duration }).map(Self)
    }
}

/// A threshold: `<category>.<metric> <comparison> <bound>`, as in `score.avg >= 0.8` or `latency.p95 <= 5s`.
#[derive(Clone, Debug)]
pub(super) struct Bound(pub(super) Threshold);

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| text.parse().map(Self).map_err(|error| format!("{error}"));
        deserializer
            .deserialize_str(Text { expected: "a threshold in quotes, such as \"score.avg >= 0.8\"", read })
    }
}

/// The list of thresholds; a table says how it is written as a list.
pub(super) fn bounds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Bound>>, D::Error> {
    struct Bounds;

    impl<'de> Visitor<'de> for Bounds {
        type Value = Vec<Bound>;

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
                "thresholds are a list of texts, not a table: in place of `score = { avg = 0.8 }`, `latency = { p95 = 5000 }` and \
                 `evaluators.tone = { passRate = 0.9 }`, write `thresholds = [\"score.avg >= 0.8\", \"latency.p95 <= 5s\", \
                 \"tone.pass_rate >= 0.9\"]`",
            ))
        }
    }

    deserializer.deserialize_any(Bounds).map(Some)
}

/// A test target by name, or several by a pattern with `*`, `?` or `[…]`.
#[derive(Clone, Debug)]
pub(super) struct Target(pub(super) glob::Pattern);

impl Target {
    /// What matches every target.
    pub(super) fn any() -> Self {
        Self(glob::Pattern::new("*").expect("a star is a pattern"))
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| {
            let refused = |error: glob::PatternError| format!("`{text}` is no pattern: {}", error.msg);
            glob::Pattern::new(text).map(Self).map_err(refused)
        };
        deserializer
            .deserialize_str(Text { expected: "the name of a test target, or a pattern in quotes", read })
    }
}

/// The name of an environment variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct EnvironmentName(pub(super) String);

impl EnvironmentName {
    fn read(name: &str) -> Result<Self, String> {
        match name.is_empty() || name.contains(['=', '\0']) {
            true => Err(format!("`{}` cannot be the name of a variable", name.escape_debug())),
            false => Ok(Self(name.to_owned())),
        }
    }
}

impl<'de> Deserialize<'de> for EnvironmentName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text { expected: "the name of a variable", read: Self::read })
    }
}

/// The name of an environment variable that the file may set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VariableName(pub(super) String);

impl VariableName {
    fn read(name: &str) -> Result<Self, String> {
        let EnvironmentName(name) = EnvironmentName::read(name)?;
        if name.starts_with("COBALT_") {
            return Err(format!(
                "`{name}` cannot be set here: Cobalt's own variables go before this file, and have keys in it"
            ));
        }
        if name.starts_with("CARGO_") {
            return Err(format!("`{name}` cannot be set here: cargo sets it, and this file is found by it"));
        }
        Ok(Self(name))
    }
}

impl<'de> Deserialize<'de> for VariableName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text { expected: "the name of a variable", read: Self::read })
    }
}

/// The value of an environment variable.
#[derive(Clone, Debug, Serialize)]
pub(super) struct VariableValue(pub(super) String);

impl<'de> Deserialize<'de> for VariableValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| match text.contains('\0') {
            true => Err("a variable cannot hold the character NUL".to_owned()),
            false => Ok(Self(text.to_owned())),
        };
        deserializer.deserialize_str(Text { expected: "the variable's value as text in quotes", read })
    }
}

/// A program, or one of its arguments.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Argument(pub(super) String);

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| match text.contains('\0') {
            true => Err("an argument cannot hold the character NUL".to_owned()),
            false => Ok(Self(text.to_owned())),
        };
        deserializer.deserialize_str(Text { expected: "an argument as text in quotes", read })
    }
}

/// Reads one kind of text.
pub(super) struct Text<F> {
    pub(super) expected: &'static str,
    pub(super) read: F,
}

impl<T, F: Fn(&str) -> Result<T, String>> Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).map_err(E::custom)
    }
}

/// Reads a number in a range.
pub(super) struct Number<F> {
    pub(super) expected: &'static str,
    pub(super) range: F,
}

impl<F: Fn(&f64) -> bool> Visitor<'_> for Number<F> {
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
impl Serialize for Length {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&written(self.0))
    }
}

/// As it would be written in the file.
impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// As it stands in the file.
impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

/// A duration in the largest unit of which it is a whole number.
pub(super) fn written(duration: Duration) -> String {
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
