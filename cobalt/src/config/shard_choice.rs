//! The values of `--shard` and `--shard-group`.

use std::fmt;
use std::str::FromStr;

use cobalt_core::report::Shard;

/// The shard to run: a given one, or that of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardChoice {
    /// The shard that the CI system or the cluster assigns to this job.
    Auto,
    /// This shard.
    Given(Shard),
}

impl FromStr for ShardChoice {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = |_| "expected `auto` or a shard such as `2/4`: its number (from 1), a slash, and the number of shards";
        if text == "auto" { Ok(Self::Auto) } else { text.parse().map(Self::Given).map_err(expected) }
    }
}

impl fmt::Display for ShardChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Given(shard) => shard.fmt(f),
        }
    }
}

/// The name of a shard group, whose shards are merged together: those of one pipeline, for example. It becomes part of the names of
/// files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardGroup(String);

impl ShardGroup {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ShardGroup {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_allowed = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
        match text {
            _ if text.starts_with('.')
                || !(1..=100).contains(&text.len())
                || !text.bytes().all(is_allowed) =>
            {
                Err("expected up to 100 letters, digits, `-`, `_` and `.`, such as `nightly-7`")
            }
            _ => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for ShardGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_a_name_without_separators() {
        assert_eq!("nightly-7".parse::<ShardGroup>().unwrap().as_str(), "nightly-7");
        for text in ["", ".", "../x", "a/b", "é", &"a".repeat(101)] {
            assert!(text.parse::<ShardGroup>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_choice_is_auto_or_a_shard() {
        for text in ["auto", "2/4"] {
            assert_eq!(text.parse::<ShardChoice>().unwrap().to_string(), text);
        }
        assert!("5/4".parse::<ShardChoice>().unwrap_err().starts_with("expected `auto` or a shard"));
    }
}
