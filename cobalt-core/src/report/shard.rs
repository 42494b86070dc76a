//! A shard of an experiment's items, to split a run across machines.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::hash::sha256_prefix;

/// One of several shards that together contain all items of an experiment: `2/4` is the second of four.
///
/// Unless the latencies of an earlier run balance the shards, an item's shard depends only on its key: take the first eight bytes of
/// the key's SHA-256 as a big-endian number; its remainder modulo the number of shards, plus one, is the shard's number. It is
/// therefore the same on every machine, regardless of the order of the items and of other items.
///
/// ```
/// use cobalt::report::Shard;
///
/// let shards: Vec<Shard> = ["1/2", "2/2"].iter().map(|shard| shard.parse()).collect::<Result<_, _>>()?;
/// assert_eq!(shards.iter().filter(|shard| shard.contains("capital-of-france")).count(), 1);
/// assert!("0/2".parse::<Shard>().is_err() && "3/2".parse::<Shard>().is_err());
/// # Ok::<(), &'static str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "UncheckedShard")]
pub struct Shard {
    index: u16,
    of: u16,
}

/// A shard from a file, not validated yet.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct UncheckedShard {
    index: u16,
    of: u16,
}

const EXPECTED: &str =
    "expected a shard such as `2/4`: its number (from 1), a slash, and the number of shards";

impl Shard {
    /// The shard with this number, from 1; `None` if there are fewer shards.
    #[must_use]
    pub fn new(index: u16, of: u16) -> Option<Self> {
        (1..=of).contains(&index).then_some(Self { index, of })
    }

    /// The shard's number, from 1.
    #[must_use]
    pub fn index(self) -> u16 {
        self.index
    }

    /// The number of shards.
    #[must_use]
    pub fn total(self) -> u16 {
        self.of
    }

    /// All shards of the split, including this one.
    #[doc(hidden)]
    pub fn siblings(self) -> impl Iterator<Item = Self> {
        (1..=self.of).map(move |index| Self { index, of: self.of })
    }

    /// Whether the item with this key is in the shard.
    #[must_use]
    pub fn contains(self, key: &str) -> bool {
        sha256_prefix(key) % u64::from(self.of) == u64::from(self.index - 1)
    }
}

impl TryFrom<UncheckedShard> for Shard {
    type Error = &'static str;

    fn try_from(UncheckedShard { index, of }: UncheckedShard) -> Result<Self, &'static str> {
        Self::new(index, of).ok_or(EXPECTED)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        // Rust would parse `+2`.
        let number = |digits: &str| {
            let digits = Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
            digits.and_then(|digits| digits.parse().ok())
        };
        let (index, of) = text.split_once('/').ok_or(EXPECTED)?;
        let (index, of) = number(index).zip(number(of)).ok_or(EXPECTED)?;
        UncheckedShard { index, of }.try_into()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_in_the_same_shard_on_every_machine() {
        // The first 16 digits of `printf %s rome | sha256sum`.
        for (key, shard) in [("paris", 350), ("rome", 289), ("質問", 984)] {
            let of_key: Vec<_> =
                (1..=1009).filter(|index| Shard { index: *index, of: 1009 }.contains(key)).collect();
            assert_eq!(of_key, [shard], "{key}");
        }
    }

    #[test]
    fn shards_are_of_about_one_size() {
        for index in 1..=4 {
            let shard = Shard { index, of: 4 };
            let items = (0..4000).filter(|number| shard.contains(&format!("item-{number}"))).count();
            assert!((900..1100).contains(&items), "{shard} has {items}");
        }
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        for text in ["", "1", "0/2", "3/2", "1/0", "+1/2", "-1/2", "1/2/3", "1 / 2", "a/b", "1/65536"] {
            assert_eq!(text.parse::<Shard>(), Err(EXPECTED), "{text}");
        }
        assert_eq!("2/4".parse::<Shard>().unwrap().to_string(), "2/4");
        let file = serde_json::from_str::<Shard>(r#"{"index": 3, "of": 2}"#).unwrap_err().to_string();
        assert!(file.contains("expected a shard"), "{file}");
    }
}
