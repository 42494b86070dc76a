//! The parts of a line of text: scores, times, usage, and colors.

use std::collections::BTreeSet;
use std::fmt::Display;

use super::conversation::format_user_usage;
use super::traffic::replay_suffix;
use crate::prices::format_cost_precise;
use crate::report::Summary;
use crate::wording::{self, count, escape_control, format_decimal, group_thousands};

/// A score rounded to three decimals, or to as many as it takes not to show a score below 1 as 1.
#[must_use]
pub fn format_score(score: f64) -> String {
    format_score_at(score, 1.0)
}

/// A score rounded to three decimals, or to as many as it takes not to show one below the pass mark, or below 1, as if it
/// reached it.
#[must_use]
pub fn format_score_at(score: f64, pass_mark: f64) -> String {
    let keeps_its_side = |text: &String| {
        let shown: f64 = text.parse().unwrap_or(score);
        [pass_mark, 1.0].into_iter().all(|bound| (shown >= bound) == (score >= bound))
    };
    let shown = (3..=9).map(|decimals| format_decimal(score, decimals)).find(keeps_its_side);
    shown.unwrap_or_else(|| score.to_string())
}

/// The agent's tokens and cost in one line, marked if items were replayed; `None` if neither was reported.
#[must_use]
pub fn format_agent_usage(summary: &Summary) -> Option<String> {
    let mut parts = match summary.total_tokens {
        Some(tokens) => vec![group_thousands(tokens)],
        None if summary.estimated_cost.is_some() => vec!["not reported".to_owned()],
        None => return None,
    };
    if let Some(cost) = summary.estimated_cost {
        parts.push(format!("agent cost {}", format_cost_precise(cost)));
    }
    if summary.unpriced_items > 0 {
        parts.push(format!("agent cost unknown for {}", count(summary.unpriced_items, "item")));
    }
    Some(parts.join(", ") + &replay_suffix(summary))
}

/// The judges' calls, tokens and cost in one line, marked if answers were replayed; `None` if no judge answered.
#[must_use]
pub fn format_judge_usage(summary: &Summary) -> Option<String> {
    let calls = summary.judge_calls?;
    let mut parts = vec![format!("{} call{}", group_thousands(calls), if calls == 1 { "" } else { "s" })];
    match summary.judge_cached {
        None | Some(0) => {}
        Some(hits) => parts.push(format!("{} cached", group_thousands(hits))),
    }
    parts.extend(summary.judge_replayed.map(|replayed| format!("{} replayed", group_thousands(replayed))));
    match summary.judge_tokens {
        None | Some(0) => {}
        Some(tokens) => parts.push(format!("{} tokens", group_thousands(tokens))),
    }
    parts.push(format!(
        "judge cost {}",
        summary.judge_cost.map_or_else(|| "unknown".to_owned(), format_cost_precise)
    ));
    let models: Vec<_> = summary.judge_models.iter().map(|model| escape_control(model)).collect();
    let models = (!models.is_empty()).then(|| models.join(", "));
    let notes: Vec<_> = judge_replay_mark(summary).into_iter().chain(models).collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    Some(parts.join(", ") + &notes)
}

/// The calls, tokens and cost of simulated users in one line; `None` if there were none.
#[must_use]
pub fn format_simulated_users(summary: &Summary) -> Option<String> {
    Some(format_user_usage(summary.simulated_users.as_deref()?))
}

/// The mark of the judge cost if answers were replayed, which did not cost it again: `as recorded`, or `of which $0.04 as recorded`.
/// `None` if none was, or the cost is unknown.
fn judge_replay_mark(summary: &Summary) -> Option<String> {
    summary.judge_replayed.filter(|replayed| *replayed > 0)?;
    summary.judge_cost?;
    Some(match (summary.judge_calls, summary.judge_replayed_cost) {
        (None | Some(0), _) => "as recorded".to_owned(),
        (Some(_), Some(cost)) => format!("of which {} as recorded", format_cost_precise(cost)),
        (Some(_), None) => "as recorded in part".to_owned(),
    })
}

/// Names the models without a price, each once, and says what to do; `None` without any.
#[must_use]
pub fn unpriced_note<'a>(models: impl IntoIterator<Item = &'a String>) -> Option<String> {
    let models: BTreeSet<_> = models.into_iter().map(String::as_str).collect();
    if models.is_empty() {
        return None;
    }
    let models = wording::join_quoted(models);
    Some(format!(
        "note: no price for {}; tokens are counted, but not their cost. Add prices under `[prices]` in cobalt.toml",
        escape_control(&models)
    ))
}

/// Styles text for a terminal, or leaves it plain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// No styling.
    #[default]
    Plain,
    /// ANSI escape sequences. They use the terminal's own palette, which is readable on light and dark backgrounds.
    Ansi,
}

impl Style {
    /// Green, for success.
    pub fn success(self, text: impl Display) -> String {
        self.with("32", text)
    }

    /// Red, for failures.
    pub fn error(self, text: impl Display) -> String {
        self.with("31", text)
    }

    /// Yellow, for warnings.
    pub fn warning(self, text: impl Display) -> String {
        self.with("33", text)
    }

    /// Bold, for headings.
    pub fn bold(self, text: impl Display) -> String {
        self.with("1", text)
    }

    /// Faint, for secondary text.
    pub fn faint(self, text: impl Display) -> String {
        self.with("2", text)
    }

    fn with(self, code: &str, text: impl Display) -> String {
        match self {
            Self::Plain => text.to_string(),
            Self::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_score_is_not_rounded_up_to_a_good_one() {
        assert_eq!(
            [0.0, 0.29, 0.1239, 0.9999, 0.999_96, 1.0].map(format_score),
            ["0", "0.29", "0.124", "0.9999", "0.99996", "1"]
        );
        assert_eq!(
            [0.4999, 0.499_99, 0.5].map(|score| format_score_at(score, 0.5)),
            ["0.4999", "0.49999", "0.5"]
        );
    }

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
        let expected = "42 calls, 158 cached, 12,400 tokens, judge cost $0.030 (gpt-6-luna)";
        assert_eq!(format_judge_usage(&asked).unwrap(), expected);
        let cached =
            Summary { judge_calls: Some(0), judge_tokens: Some(0), judge_cost: Some(0.0), ..asked.clone() };
        assert_eq!(
            format_judge_usage(&cached).unwrap(),
            "0 calls, 158 cached, judge cost $0.00 (gpt-6-luna)"
        );
        let unpriced = Summary { judge_calls: Some(1), judge_cached: Some(0), judge_cost: None, ..asked };
        assert_eq!(
            format_judge_usage(&unpriced).unwrap(),
            "1 call, 12,400 tokens, judge cost unknown (gpt-6-luna)"
        );
        assert_eq!(format_judge_usage(&Summary::default()), None);
    }

    #[test]
    fn the_line_on_judges_says_what_was_replayed_and_not_paid() {
        let replayed = Summary {
            judge_calls: Some(0),
            judge_cached: Some(0),
            judge_replayed: Some(45),
            judge_tokens: Some(12_400),
            judge_cost: Some(0.05),
            judge_replayed_cost: Some(0.05),
            judge_models: vec!["gpt-6-luna".to_owned()],
            ..Summary::default()
        };
        assert_eq!(
            format_judge_usage(&replayed).unwrap(),
            "0 calls, 45 replayed, 12,400 tokens, judge cost $0.050 (as recorded; gpt-6-luna)"
        );
        let in_part = Summary {
            judge_calls: Some(5),
            judge_cached: Some(2),
            judge_cost: Some(0.06),
            judge_models: Vec::new(),
            ..replayed.clone()
        };
        assert_eq!(
            format_judge_usage(&in_part).unwrap(),
            "5 calls, 2 cached, 45 replayed, 12,400 tokens, judge cost $0.060 (of which $0.050 as recorded)"
        );
        let mark = |summary: Summary| judge_replay_mark(&summary);
        let unpriced = Summary { judge_replayed_cost: None, ..in_part };
        assert_eq!(mark(unpriced.clone()).unwrap(), "as recorded in part");
        assert_eq!(mark(Summary { judge_cost: None, ..unpriced }), None);
        assert_eq!(mark(Summary { judge_replayed: None, ..replayed }), None);
    }

    #[test]
    fn a_known_cost_is_shown_without_tokens() {
        let spent = Summary { estimated_cost: Some(0.25), ..Summary::default() };
        assert_eq!(format_agent_usage(&spent).unwrap(), "not reported, agent cost $0.25");
        assert_eq!(format_agent_usage(&Summary::default()), None);
    }
}
