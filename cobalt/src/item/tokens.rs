//! How many tokens an agent reports, as far as what it reports can be read.

use serde_json::Value;

use super::{Item, usage};
use crate::prices::Tokens;

/// How many tokens an answer took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenCount {
    /// Tokens read and written.
    pub total: u64,
    /// Tokens read and tokens written, where both are known apart.
    pub split: Option<(u64, u64)>,
    /// Those of the tokens read that were in the vendor's cache; never more than were read.
    pub cached_input: u64,
}

impl TokenCount {
    /// The tokens that metadata reports: in `tokens`, else by model in `usage`.
    pub(crate) fn of(metadata: &Item) -> Option<Self> {
        let of_usage = || {
            let Tokens { input, output, cached_input } = usage::tokens(&usage::read(metadata)?)?;
            Some(Self { total: input.saturating_add(output), split: Some((input, output)), cached_input })
        };
        metadata.get("tokens").and_then(Self::read).or_else(of_usage)
    }

    fn read(tokens: &Value) -> Option<Self> {
        if let Some(total) = count(tokens) {
            return Some(Self { total, split: None, cached_input: 0 });
        }
        let sides = tokens.as_object()?;
        let (input, output) = (sides.get("input").and_then(count), sides.get("output").and_then(count));
        if input.is_none() && output.is_none() {
            return None;
        }
        let (input, output) = (input.unwrap_or(0), output.unwrap_or(0));
        let cached_input = sides.get("cachedInput").and_then(count).unwrap_or(0).min(input);
        Some(Self { total: input.saturating_add(output), split: Some((input, output)), cached_input })
    }

    /// The tokens as prices are applied to them; `None` where only their sum is known.
    #[must_use]
    pub fn to_price(self) -> Option<Tokens> {
        let (input, output) = self.split.or((self.total == 0).then_some((0, 0)))?;
        Some(Tokens { input, output, cached_input: self.cached_input })
    }
}

/// A whole number that is not negative, however it is written (`12`, `12.0`).
fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (number >= 0.0 && number.fract() == 0.0 && number < 9e15).then_some(number as u64)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::item::Output;

    fn tokens(value: Value) -> Option<TokenCount> {
        Output::new("").metadata("tokens", value).token_count()
    }

    #[test]
    fn tokens_are_read_as_one_number_or_as_two() {
        assert_eq!(tokens(json!(12)), Some(TokenCount { total: 12, split: None, cached_input: 0 }));
        assert_eq!(
            tokens(json!({"input": 10, "output": 2})),
            Some(TokenCount { total: 12, split: Some((10, 2)), cached_input: 0 })
        );
    }

    #[test]
    fn a_side_of_zero_tokens_or_none_keeps_the_other() {
        assert_eq!(tokens(json!({"input": 10, "output": 0})).unwrap().split, Some((10, 0)));
        assert_eq!(tokens(json!({"output": 7})).unwrap().total, 7);
    }

    #[test]
    fn cached_tokens_are_kept_beside_the_others_in_either_order() {
        let tokens = json!({"input": 10, "output": 2, "cachedInput": 7});
        for output in
            [Output::new("").tokens(10, 2).cached_tokens(7), Output::new("").cached_tokens(7).tokens(10, 2)]
        {
            assert_eq!(output.all_metadata()["tokens"], tokens);
            assert_eq!(output.token_count().unwrap().cached_input, 7);
        }
        assert_eq!(Output::new("").cached_tokens(7).token_count(), None, "of how many is not known");
    }

    #[test]
    fn cached_tokens_are_read_as_far_as_they_can_be() {
        for (cached, expected) in
            [(json!(4.0), 4), (json!(11), 10), (json!("4"), 0), (json!(-4), 0), (json!(null), 0)]
        {
            let count = tokens(json!({"input": 10, "output": 2, "cachedInput": cached})).unwrap();
            assert_eq!((count.cached_input, count.total), (expected, 12), "{cached}");
        }
    }

    #[test]
    fn what_is_no_count_of_tokens_is_left_out() {
        for odd in [json!(-1), json!(1.5), json!("12"), json!({}), json!(null), json!({"input": "many"})] {
            assert_eq!(tokens(odd.clone()), None, "{odd}");
        }
    }
}
