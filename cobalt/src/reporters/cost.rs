//! What models cost, in words: the agent's tokens, and what judges were asked.

use std::collections::BTreeSet;

use crate::prices::format_cost;
use crate::report::Summary;
use crate::suggest;
use crate::wording::printable;
use crate::wording::{count, thousands};

/// The agent's tokens and what they cost, in a line; `None` where neither was reported.
#[must_use]
pub fn agent_usage(summary: &Summary) -> Option<String> {
    let mut parts = match summary.total_tokens {
        Some(tokens) => vec![thousands(tokens)],
        None if summary.estimated_cost.is_some() => vec!["not reported".to_owned()],
        None => return None,
    };
    if let Some(cost) = summary.estimated_cost {
        parts.push(format!("cost {}", dollars(cost)));
    }
    if summary.unpriced_items > 0 {
        parts.push(format!("{} of unknown cost", count(summary.unpriced_items, "item")));
    }
    Some(parts.join(", "))
}

/// What judges were asked and what that cost, in a line; `None` where no judge answered.
#[must_use]
pub fn judge_usage(summary: &Summary) -> Option<String> {
    let calls = summary.judge_calls?;
    let mut parts = vec![format!("{} call{}", thousands(calls), if calls == 1 { "" } else { "s" })];
    match summary.judge_cached {
        None | Some(0) => {}
        Some(hits) => parts.push(format!("{} from the cache", thousands(hits))),
    }
    match summary.judge_tokens {
        None | Some(0) => {}
        Some(tokens) => parts.push(format!("{} tokens", thousands(tokens))),
    }
    parts.push(summary.judge_cost.map_or_else(|| "unknown cost".to_owned(), dollars));
    let models: Vec<_> = summary.judge_models.iter().map(|model| printable(model)).collect();
    let models = if models.is_empty() { String::new() } else { format!(" ({})", models.join(", ")) };
    Some(parts.join(", ") + &models)
}

/// An amount as [`format_cost`] writes it; one below a cent with its first two digits.
fn dollars(usd: f64) -> String {
    if usd >= 0.01 {
        return format_cost(usd);
    }
    if usd <= 0.0 {
        return format_cost(0.0);
    }
    // How many zeros stand between the point and the first digit.
    let zeros = (-usd.log10().floor() - 1.0).clamp(0.0, 12.0) as usize;
    format!("${usd:.0$}", zeros + 2)
}

/// What to do about models that have no price, in a line that names each of them once; `None` where there are none.
#[must_use]
pub fn unpriced<'a>(models: impl IntoIterator<Item = &'a String>) -> Option<String> {
    let models: BTreeSet<_> = models.into_iter().map(String::as_str).collect();
    if models.is_empty() {
        return None;
    }
    let models = suggest::list(models);
    Some(format!(
        "note: no price is known of {}; tokens are counted, their cost is not: add prices under `[prices]` in cobalt.toml",
        printable(&models)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_on_judges_has_what_there_is() {
        let asked = Summary {
            judge_calls: Some(42),
            judge_cached: Some(158),
            judge_tokens: Some(12_400),
            judge_cost: Some(0.03),
            judge_models: vec!["gpt-6-luna".to_owned()],
            ..Summary::default()
        };
        let expected = "42 calls, 158 from the cache, 12,400 tokens, $0.03 (gpt-6-luna)";
        assert_eq!(judge_usage(&asked).unwrap(), expected);
        let cached =
            Summary { judge_calls: Some(0), judge_tokens: Some(0), judge_cost: Some(0.0), ..asked.clone() };
        assert_eq!(judge_usage(&cached).unwrap(), "0 calls, 158 from the cache, $0.00 (gpt-6-luna)");
        let unpriced = Summary { judge_calls: Some(1), judge_cached: Some(0), judge_cost: None, ..asked };
        assert_eq!(judge_usage(&unpriced).unwrap(), "1 call, 12,400 tokens, unknown cost (gpt-6-luna)");
        assert_eq!(judge_usage(&Summary::default()), None);
    }

    #[test]
    fn a_known_cost_is_shown_without_tokens() {
        let spent = Summary { estimated_cost: Some(0.25), ..Summary::default() };
        assert_eq!(agent_usage(&spent).unwrap(), "not reported, cost $0.25");
        assert_eq!(agent_usage(&Summary::default()), None);
    }

    #[test]
    fn a_small_amount_keeps_two_digits() {
        let shown = [0.0, 0.000_001_23, 0.000_1, 0.002_149, 0.009_99, 0.01, 1.5].map(dollars);
        assert_eq!(shown, ["$0.00", "$0.0000012", "$0.00010", "$0.0021", "$0.0100", "$0.01", "$1.50"]);
    }
}
