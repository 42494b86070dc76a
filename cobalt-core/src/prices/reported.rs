//! Token counts as providers and agents report them. A count that cannot be is unknown, never a cost.

use serde_json::Value;

use super::Tokens;

/// The most input or output tokens of one response that are plausible.
const MAX_RESPONSE_TOKENS: u64 = 1_000_000_000;
/// The most input or output tokens of all calls of a trial that are plausible.
pub(crate) const MAX_TRIAL_TOKENS: u64 = 1_000_000_000_000;
/// The count that stands for an unknown one until the whole response is read.
const UNKNOWN: u64 = u64::MAX;

/// A count in a provider's response; `None` if there is no number. One that is negative, fractional or too large gives a count that
/// [`Tokens::if_plausible`] refuses, whatever is added to it.
#[must_use]
pub fn reported_count(value: &Value) -> Option<u64> {
    let number = value.as_f64()?;
    let is_count = number >= 0.0 && number.fract() == 0.0 && number <= MAX_RESPONSE_TOKENS as f64;
    Some(if is_count { number as u64 } else { UNKNOWN })
}

/// Whether a response may have used this number of input or output tokens.
#[must_use]
pub fn is_plausible(count: u64) -> bool {
    count <= MAX_RESPONSE_TOKENS
}

impl Tokens {
    /// The tokens of one response, if all counts are plausible.
    #[must_use]
    pub fn if_plausible(self) -> Option<Self> {
        let Self { input, output, cached_input } = self;
        [input, output, cached_input].into_iter().all(is_plausible).then_some(self)
    }

    /// Whether all calls of a trial may have used these tokens.
    pub(crate) fn is_plausible_for_trial(self) -> bool {
        self.input <= MAX_TRIAL_TOKENS && self.output <= MAX_TRIAL_TOKENS
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn impossible_counts_are_unknown() {
        for odd in [json!(u64::MAX), json!(-1), json!(1.5), json!(1e30), json!(1_000_000_001)] {
            let mut tokens = Tokens::new(reported_count(&odd).unwrap(), 1);
            assert_eq!(tokens.if_plausible(), None, "{odd}");
            tokens += tokens;
            assert_eq!((tokens.if_plausible(), tokens.total()), (None, u64::MAX), "{odd}");
        }
        for (value, count) in
            [(json!(12), Some(12)), (json!(12.0), Some(12)), (json!("12"), None), (json!(null), None)]
        {
            assert_eq!(reported_count(&value), count);
        }
    }
}
