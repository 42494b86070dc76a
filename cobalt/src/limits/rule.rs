//! A rule: the requests that a limit applies to, and its numbers.

use cobalt_core::hash::sha256_hex;
use glob::{MatchOptions, Pattern};

/// A limit for all requests that match its patterns, taken together. At least one of its numbers is set; numbers are at least 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitRule {
    /// The providers, by name; all if not set.
    pub provider: Option<Pattern>,
    /// The models, by name; all if not set, also requests that name no model.
    pub model: Option<Pattern>,
    /// Requests a minute.
    pub requests_per_minute: Option<u64>,
    /// Tokens a minute, input and output together.
    pub tokens_per_minute: Option<u64>,
    /// Requests at a time.
    pub concurrent_requests: Option<usize>,
    /// How often a request is retried after a transient failure; may be 0.
    pub retries: Option<u32>,
}

impl LimitRule {
    /// Whether the rule applies to a request. Case does not matter; a pattern has to match the whole name.
    pub fn matches(&self, provider: &str, model: Option<&str>) -> bool {
        let options = MatchOptions { case_sensitive: false, ..MatchOptions::new() };
        let matches = |pattern: &Option<Pattern>, name| {
            pattern.as_ref().is_none_or(|pattern| pattern.matches_with(name, options))
        };
        matches(&self.provider, provider) && matches(&self.model, model.unwrap_or_default())
    }

    /// Whether the rule limits anything, and does not only set the number of retries.
    pub fn has_limit(&self) -> bool {
        self.requests_per_minute.is_some()
            || self.tokens_per_minute.is_some()
            || self.concurrent_requests.is_some()
    }

    /// A name for the rule's files: the same in each process that has the same rule.
    pub fn file_name(&self) -> String {
        let pattern = |pattern: &Option<Pattern>| format!("{:?}", pattern.as_ref().map(Pattern::as_str));
        let numbers = (self.requests_per_minute, self.tokens_per_minute, self.concurrent_requests);
        let mut name = sha256_hex(&[pattern(&self.provider), pattern(&self.model), format!("{numbers:?}")]);
        name.truncate(16);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(provider: Option<&str>, model: Option<&str>) -> LimitRule {
        let pattern = |text| Pattern::new(text).unwrap();
        LimitRule { provider: provider.map(pattern), model: model.map(pattern), ..LimitRule::default() }
    }

    #[test]
    fn a_rule_applies_where_both_patterns_match_the_whole_name() {
        let both = rule(Some("openai"), Some("gpt-4o*"));
        assert!(both.matches("openai", Some("gpt-4o-mini")));
        assert!(both.matches("OpenAI", Some("GPT-4o")));
        assert!(!both.matches("azure", Some("gpt-4o")));
        assert!(!both.matches("openai", Some("my-gpt-4o")));
        assert!(!both.matches("openai", None));
    }

    #[test]
    fn a_rule_without_patterns_applies_to_everything() {
        assert!(rule(None, None).matches("openai", None));
        assert!(rule(Some("openai"), Some("*")).matches("openai", None));
        assert!(rule(None, Some("*/llama-3")).matches("openrouter", Some("meta/llama-3")));
    }

    #[test]
    fn only_another_limit_has_another_file() {
        let limit = LimitRule { requests_per_minute: Some(5), ..rule(Some("a"), None) };
        assert_eq!(limit.file_name(), LimitRule { retries: Some(1), ..limit.clone() }.file_name());
        let others = [
            LimitRule { provider: None, model: limit.provider.clone(), ..limit.clone() },
            LimitRule { requests_per_minute: None, tokens_per_minute: Some(5), ..limit.clone() },
            LimitRule { requests_per_minute: Some(6), ..limit.clone() },
        ];
        for other in others {
            assert_ne!(other.file_name(), limit.file_name(), "{other:?}");
        }
    }
}
