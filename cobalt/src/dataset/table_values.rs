//! Values of dataset tables in `cobalt.toml`, with their validation.

use std::fmt;

use cobalt_core::hash::is_hash_prefix;
use cobalt_core::redact::REDACTED;
use cobalt_core::wording;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde::{Serialize, Serializer};

use super::Format;
use crate::settings::{NumberVisitor, StringVisitor, is_http_url};

/// Size units, in bytes.
const UNITS: [(&str, u64); 9] = [
    ("B", 1),
    ("kB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// A size in bytes: a positive integer, or a string such as `200 MB`.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Bytes(pub(crate) u64);

impl Bytes {
    fn parse(text: &str) -> Result<Self, String> {
        let refused = || format!("expected a size such as \"200 MB\" or \"1.5 GiB\", not `{text}`");
        let (size, unit) = text.split_at(text.find(char::is_alphabetic).unwrap_or(text.len()));
        let size: f64 = size.trim().replace('_', "").parse().map_err(|_| refused())?;
        let unit = unit.trim();
        if unit.is_empty() {
            return Err(format!("a size needs a unit; write `{size} MB` or `{size} kB`"));
        }
        let known = UNITS.iter().find(|(known, _)| known.eq_ignore_ascii_case(unit));
        let (_, bytes) = known.ok_or_else(|| {
            let units = wording::join_quoted(UNITS.map(|(unit, _)| unit));
            format!("unknown size unit `{unit}`; units: {units}")
        })?;
        match size * *bytes as f64 {
            bytes if bytes.is_sign_negative() => Err(refused()),
            bytes if bytes < 1.0 => Err("a size must be at least one byte".to_owned()),
            // Sizes beyond `u64::MAX` saturate.
            bytes => Ok(Self(bytes as u64)),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Size;

        impl Visitor<'_> for Size {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a positive number of bytes, or a size in quotes, such as \"200 MB\"")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Bytes, E> {
                let bytes = u64::try_from(number).ok().filter(|bytes| *bytes > 0);
                bytes.map(Bytes).ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
                Bytes::parse(text).map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Size)
    }
}

/// The number of items requested per page: from 1 to 100.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct PageSize(pub(crate) u32);

impl<'de> Deserialize<'de> for PageSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let range = |number: &f64| (1.0..=100.0).contains(number) && number.fract() == 0.0;
        let number =
            deserializer.deserialize_f64(NumberVisitor { expected: "a whole number from 1 to 100", range });
        number.map(|number| Self(number as u32))
    }
}

/// A hash prefix.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HashPrefix(pub(crate) String);

impl<'de> Deserialize<'de> for HashPrefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| match is_hash_prefix(text) {
            true => Ok(Self(text.to_ascii_lowercase())),
            false => Err(format!(
                "`{text}` is not a dataset hash or hash prefix; expected 8 to 64 hexadecimal digits"
            )),
        };
        deserializer.deserialize_str(StringVisitor { expected: "a hash in quotes", read })
    }
}

/// The URL of a file. It is displayed without user, password and query, which may contain keys.
#[derive(Clone)]
pub(crate) struct FileUrl(pub(crate) String);

impl<'de> Deserialize<'de> for FileUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| match is_http_url(text) {
            true => Ok(Self(text.to_owned())),
            // Not repeated in the message, as it may contain a secret.
            false => Err("not a URL; write it like \"https://example.com/support.jsonl\"".to_owned()),
        };
        deserializer.deserialize_str(StringVisitor { expected: "a URL in quotes", read })
    }
}

impl fmt::Display for FileUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or_default();
        let (place, query) = match rest.find(['?', '#']) {
            Some(at) => (&rest[..at], REDACTED),
            None => (rest, ""),
        };
        let authority = place.find('/').unwrap_or(place.len());
        if authority == place.len() && rest[place.len()..].contains('@') {
            // The `?` or `#` may be part of a password.
            return write!(f, "{scheme}://{REDACTED}");
        }
        let user = place[..authority].rfind('@').map_or(0, |at| at + 1);
        let separator = if query.is_empty() { "" } else { "?" };
        let secret = if user == 0 { "" } else { "[redacted]@" };
        write!(f, "{scheme}://{secret}{}{separator}{query}", &place[user..])
    }
}

impl fmt::Debug for FileUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for FileUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A header name: a token as defined by RFC 9110.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct HeaderName(pub(crate) String);

impl<'de> Deserialize<'de> for HeaderName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let is_of_token = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
        let read = |text: &str| match !text.is_empty() && text.chars().all(is_of_token) {
            true => Ok(Self(text.to_owned())),
            false => Err(format!("`{}` is not a valid header name", text.escape_debug())),
        };
        deserializer.deserialize_str(StringVisitor { expected: "a header name in quotes", read })
    }
}

/// A header value. It is never displayed, as any value may be a secret.
#[derive(Clone)]
#[cfg_attr(
    not(feature = "remote"),
    expect(dead_code, reason = "without the feature `remote` no header is sent")
)]
pub(crate) struct HeaderValue(pub(crate) String);

impl<'de> Deserialize<'de> for HeaderValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| match text.contains(|letter: char| letter.is_control() || !letter.is_ascii())
        {
            true => Err("a header value cannot contain line breaks or non-ASCII characters".to_owned()),
            false => Ok(Self(text.to_owned())),
        };
        deserializer.deserialize_str(StringVisitor { expected: "a header value in quotes", read })
    }
}

impl fmt::Debug for HeaderValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl Serialize for HeaderValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(REDACTED)
    }
}

/// A format name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormatName(pub(crate) Format);

impl<'de> Deserialize<'de> for FormatName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |name: &str| name.parse().map(Self).map_err(|unknown| format!("{unknown}"));
        deserializer.deserialize_str(StringVisitor { expected: "a format name in quotes", read })
    }
}

impl Serialize for FormatName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
