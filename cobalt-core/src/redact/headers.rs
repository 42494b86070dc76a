//! Credentials in the values of `Authorization` and `Cookie`.

use std::ops::Range;

use super::assignments::is_placeholder;
use super::key_formats::{entropy, is_mixed, is_odd, is_password, is_random};

/// The most parts of a value that are read.
const MOST_PARTS: usize = 64;
/// The minimum number of letters and digits of a cookie's value.
const SHORTEST_COOKIE: usize = 12;

/// The credentials in the value of an `Authorization` header: its scheme, and the names of its parameters, stay.
pub fn credentials(value: &[u8]) -> Vec<Range<usize>> {
    let is_separator = |byte: u8| b" ,;\t\"'\\".contains(&byte);
    let parts = parts(value, is_separator).map(|part| match equals(&value[part.clone()]) {
        Some(at) => part.start + at + 1..part.end,
        None => part,
    });
    parts.filter(|part| is_credential(&value[part.clone()])).collect()
}

/// The secret values of a `Cookie` or `Set-Cookie` header.
pub fn cookies(value: &[u8]) -> Vec<Range<usize>> {
    let is_separator = |byte: u8| b"; \t,\"'\\".contains(&byte);
    let values = parts(value, is_separator)
        .filter_map(|part| equals(&value[part.clone()]).map(|at| part.start + at + 1..part.end));
    let is_secret = |part: &Range<usize>| {
        let part = &value[part.clone()];
        part.len() >= SHORTEST_COOKIE && !is_placeholder(part) && is_random(part, SHORTEST_COOKIE)
    };
    values.filter(is_secret).collect()
}

/// The end of a parameter's name, unless the `=` pads base64.
fn equals(part: &[u8]) -> Option<usize> {
    let at = memchr::memchr(b'=', part)?;
    part[at..].iter().any(|byte| *byte != b'=').then_some(at)
}

fn parts(value: &[u8], is_separator: impl Fn(u8) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    let parts = std::iter::from_fn(move || {
        let start = at + value.get(at..)?.iter().position(|byte| !is_separator(*byte))?;
        let length = value[start..].iter().position(|byte| is_separator(*byte));
        at = length.map_or(value.len(), |length| start + length);
        Some(start..at)
    });
    parts.take(MOST_PARTS)
}

fn is_credential(part: &[u8]) -> bool {
    let is_short_key = || {
        part.iter().any(u8::is_ascii_digit)
            && part.split(|byte| !byte.is_ascii_alphanumeric()).any(is_odd)
            && entropy(part) >= 2.5
            && is_password(part)
    };
    part.len() >= 8
        && !is_placeholder(part)
        && (is_random(part, 12) || part.len() >= 20 && is_mixed(part) || is_short_key())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_schemes_are_no_credentials() {
        for value in ["Bearer", "required", "OAuth2", "Digest username=\"ada\", realm=\"api\"", "see RFC6749"]
        {
            assert!(credentials(value.as_bytes()).is_empty(), "{value}");
        }
        for value in ["theme=dark; Path=/; Max-Age=31536000", "consent=accepted-2024-01-01", "a"] {
            assert!(cookies(value.as_bytes()).is_empty(), "{value}");
        }
    }
}
