//! Explains why an item failed, how a run compares with its baseline, and how old fetched data is.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::conversation::{format_conversation, format_turn_problems};
use super::custom_metrics::format_metrics;
use super::faults::format_faults;
use super::format::{Style, format_score_at};
use super::format_difference::FormattedDifference;
use super::retried::format_attempts;
use super::traffic::format_replayed;
use super::workspaces::format_changes;
use crate::item::Item;
use crate::report::comparison::{Comparison, Difference, ItemMatching, RunIdentity, Verdict};
use crate::report::{Execution, Fetch, ItemResult, RunConfig, ScoredEvaluation, Status};
use crate::wording::{count, escape_control, format_decimal, group_thousands, truncate};

/// The maximum length of a value, in characters.
const MAX_VALUE_LENGTH: usize = 600;
/// The maximum number of metadata values next to a score below the pass mark.
const MAX_METADATA_VALUES: usize = 8;
/// Dataset fields that hold the expected answer.
const EXPECTED_FIELDS: [&str; 6] =
    ["expectedOutput", "expected_output", "expected", "reference", "target", "answer"];

/// Why an item failed: a line with its name, then indented lines with its input, the expected answer, its output, and each
/// evaluator's result. `experiment` is the experiment's name.
#[must_use]
pub fn explain(item: &ItemResult, experiment: &str, config: &RunConfig) -> String {
    let mut text = match &*item.key {
        // A file of the original tool.
        "" => format!("item {} of `{experiment}`", item.index),
        key => format!("item {key} of `{experiment}`"),
    };
    // Keys and names may contain anything.
    text = text.replace('\n', "\\n");
    if let Some(input) = item.input.get("input") {
        write_value(&mut text, "input", input);
    }
    if let Some(field) = expected_field(&item.input) {
        write_value(&mut text, "expected", &item.input[field]);
    }
    for (runs, told) in group_equal_trials(item, config) {
        if item.runs.len() > 1 {
            let _ = write!(text, "\n  {} of {}", trial_numbers(&runs), item.runs.len());
        }
        text.push_str(&told);
    }
    escape_control(&text).into_owned()
}

/// Groups equal trials: each text once, with the numbers of its trials.
fn group_equal_trials(item: &ItemResult, config: &RunConfig) -> Vec<(Vec<usize>, String)> {
    let mut told: Vec<(Vec<usize>, String)> = Vec::new();
    for (index, run) in item.runs.iter().enumerate() {
        let mut text = String::new();
        write_execution(&mut text, run, config);
        match told.iter_mut().find(|(_, known)| *known == text) {
            Some((runs, _)) => runs.push(index + 1),
            None => told.push((vec![index + 1], text)),
        }
    }
    told
}

/// Names trials by their numbers, in ascending order: `trials 1 to 3, 5`.
fn trial_numbers(runs: &[usize]) -> String {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for run in runs {
        match stretches.last_mut() {
            Some((_, last)) if *last + 1 == *run => *last = *run,
            _ => stretches.push((*run, *run)),
        }
    }
    let stretch = |(first, last): &(usize, usize)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    };
    let stretches: Vec<_> = stretches.iter().map(stretch).collect();
    format!("{} {}", if runs.len() == 1 { "trial" } else { "trials" }, stretches.join(", "))
}

fn write_execution(text: &mut String, run: &Execution, config: &RunConfig) {
    if let Some(output) = &run.output {
        write_value(text, "output", output.value());
    }
    if let Some(error) = &run.error {
        let what = if run.status == Status::Timeout { "timeout" } else { "error" };
        let _ = write!(text, "\n  {what}: {}", indent_continuation(&truncate_value(error)));
    }
    if let Some(transcript) = &run.transcript {
        let parts = [Some(format_conversation(transcript)), format_turn_problems(transcript)];
        let conversation = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let _ = write!(text, "\n  conversation: {}", indent_continuation(&truncate_value(&conversation)));
    }
    if let Some(attempts) = format_attempts(run) {
        let _ = write!(text, "\n  attempts: {}", indent_continuation(&truncate_value(&attempts)));
    }
    if let Some(faults) = format_faults(run) {
        let _ = write!(text, "\n  faults: {}", indent_continuation(&truncate_value(&faults)));
    }
    if !run.metrics.is_empty() {
        let metrics = format_metrics(&run.metrics);
        let _ = write!(text, "\n  metrics: {}", indent_continuation(&truncate_value(&metrics)));
    }
    if let Some(changes) = &run.workspace {
        let changes = format_changes(changes);
        let _ = write!(text, "\n  workspace: {}", indent_continuation(&truncate_value(&changes)));
    }
    if let Some(traffic) = &run.traffic {
        if let Some(replayed) = format_replayed(traffic) {
            let _ = write!(text, "\n  traffic: {replayed}");
        }
        if let Some(difference) = &traffic.diverged {
            let _ = write!(text, "\n  diverged: {}", indent_continuation(&truncate_value(difference)));
        }
    }
    for (name, pass_mark) in config.evaluators() {
        let Some(evaluation) = run.evaluations.get(name) else { continue };
        let _ = write!(text, "\n  {name}: ");
        self::write_evaluation(text, evaluation, pass_mark);
    }
}

fn write_evaluation(text: &mut String, evaluation: &ScoredEvaluation, pass_mark: f64) {
    match (evaluation.score, &evaluation.error) {
        (Some(score), _) => {
            text.push_str(&format_score_at(score, pass_mark));
            if score < pass_mark {
                let _ = write!(text, ", below the pass mark of {pass_mark}");
                if evaluation.reason.is_none() {
                    text.push_str(&metadata_values(&evaluation.metadata));
                }
            }
        }
        (None, _) if evaluation.not_applicable => text.push_str("n/a"),
        (None, error) => {
            let error = error.as_deref().unwrap_or("no reason given");
            let _ = write!(text, "no score: {}", indent_continuation(error));
        }
    }
    if let Some(reason) = &evaluation.reason {
        let _ = write!(text, " ({})", indent_continuation(&truncate_value(reason)));
    }
}

/// The numbers in an evaluation's metadata, shown if it has no reason.
fn metadata_values(metadata: &Item) -> String {
    let numbers = metadata.iter().filter_map(|(name, value)| Some((name, value.as_f64()?)));
    let parts = numbers
        .take(MAX_METADATA_VALUES)
        .map(|(name, number)| format!("{name} {}", format_decimal(number, 3)));
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() { String::new() } else { format!(" [{}]", parts.join(", ")) }
}

/// The field of an item that holds the expected answer, if it has one of the usual names. Fields that are null or empty come
/// last.
#[must_use]
pub fn expected_field(item: &Item) -> Option<&'static str> {
    let says_something = |value: &Value| !value.is_null() && value.as_str() != Some("");
    let there = || EXPECTED_FIELDS.into_iter().filter(|field| item.contains_key(*field));
    there().find(|field| says_something(&item[*field])).or_else(|| there().next())
}

fn write_value(text: &mut String, name: &str, value: &Value) {
    let _ = write!(text, "\n  {name}: {}", truncate_value(&value.to_string()));
}

/// Indents the continuation lines of a text.
fn indent_continuation(text: &str) -> String {
    text.replace('\n', "\n    ")
}

fn truncate_value(text: &str) -> Cow<'_, str> {
    match truncate(text, MAX_VALUE_LENGTH) {
        Cow::Owned(beginning) => {
            format!("{beginning} ({} characters)", group_thousands(text.chars().count() as u64)).into()
        }
        whole => whole,
    }
}

/// The comparison with a baseline: a line with the baseline, one per metric, and the notes.
pub fn comparison_lines(comparison: &Comparison, paint: Style) -> Vec<String> {
    let figures = comparison.evaluators.iter().chain(&comparison.amounts);
    let rows: Vec<_> = figures.map(|difference| difference_row(difference, paint)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [name, change, interval] = [0, 1, 2].map(width);
    let rows =
        rows.iter().map(|[a, b, c, verdict]| format!("{a:name$}  {b:change$}  {c:interval$}  {verdict}"));
    let notes = comparison.notes.iter().map(|note| format!("note: {}", escape_control(note)));
    [baseline_line(&comparison.base, &comparison.items)].into_iter().chain(rows).chain(notes).collect()
}

fn baseline_line(base: &RunIdentity, items: &ItemMatching) -> String {
    let start = base.timestamp.to_minute();
    let commit = base.git.as_ref().map(|git| {
        let dirty = if git.dirty { " with uncommitted changes" } else { "" };
        format!(", commit {}{dirty}", git.commit.get(..7).unwrap_or(&git.commit))
    });
    format!(
        "vs. baseline {} ({start} UTC){}, {} in common",
        escape_control(&base.id),
        commit.unwrap_or_default(),
        count(items.matched, "item")
    )
}

/// A metric's name, its two values, the difference with its 95% CI, and the verdict.
fn difference_row(difference: &Difference, paint: Style) -> [String; 4] {
    let FormattedDifference { base, other, difference: change, ci95, .. } =
        FormattedDifference::from(difference);
    // If no item differs, the interval may have no width.
    let has_width = difference.ci95.is_some_and(|ci| ci.low < ci.high);
    let interval =
        ci95.filter(|_| has_width).map(|interval| format!(" (95% CI {interval})")).unwrap_or_default();
    let verdict = difference.verdict.to_string();
    [
        escape_control(difference.label()).into_owned(),
        format!("{base} → {other}"),
        format!("{change}{interval}"),
        match difference.verdict {
            Verdict::Better => paint.success(verdict),
            Verdict::Worse => paint.error(verdict),
            Verdict::Inconclusive => paint.warning(verdict),
            Verdict::Changed | Verdict::WithinNoise => verdict,
        },
    ]
}

/// A dataset's source and age: `langfuse:support, fetched 3 days ago`.
#[must_use]
pub fn format_fetch(source: &str, fetch: &Fetch) -> String {
    let age = SystemTime::now().duration_since(fetch.at.time()).unwrap_or_default();
    format!("{}, fetched {}", escape_control(source), format_age(age))
}

/// An elapsed time in its largest unit.
fn format_age(passed: Duration) -> String {
    let minutes = usize::try_from(passed.as_secs() / 60).unwrap_or(usize::MAX);
    match (minutes, minutes / 60, minutes / (24 * 60)) {
        (0, _, _) => "just now".to_owned(),
        (minutes, 0, _) => format!("{} ago", count(minutes, "minute")),
        (_, hours, 0) => format!("{} ago", count(hours, "hour")),
        (_, _, days) => format!("{} ago", count(days, "day")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::report::{Report, Timestamp};

    #[test]
    fn an_item_is_named_on_the_first_line_whatever_its_name() {
        let report: Report = serde_json::from_value(json!({
            "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "passed": true,
            "config": { "runs": 1, "concurrency": 1, "timeout": 1, "evaluators": [] },
            "summary": { "totalItems": 1 },
            "items": [{ "index": 0, "key": "a\n::error::b", "input": {}, "latencyMs": 1.0, "output": { "output": "x" } }],
        }))
        .unwrap();
        let told = explain(&report.items[0], "desk", &report.config);
        assert_eq!(told.lines().next(), Some(r"item a\n::error::b of `desk`"));
    }

    #[test]
    fn runs_that_are_equal_are_told_once() {
        let run = |output: &str| serde_json::json!({ "output": { "output": output }, "latencyMs": 1.0, "evaluations": { "e": { "score": 0.0 } } });
        let runs = ["a", "a", "b", "a", "c"].map(run);
        let report: Report = serde_json::from_value(json!({
            "schema": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "passed": false,
            "config": { "runs": 5, "concurrency": 1, "timeout": 1, "evaluators": ["e"], "passMarks": [0.5] },
            "summary": { "totalItems": 1 },
            "items": [{ "index": 0, "key": "k", "input": {}, "latencyMs": 1.0, "runs": runs }],
        }))
        .unwrap();
        let told = explain(&report.items[0], "desk", &report.config);
        let heads: Vec<_> = told.lines().filter(|line| line.starts_with("  trial")).collect();
        assert_eq!(heads, ["  trials 1, 2, 4 of 5", "  trial 3 of 5", "  trial 5 of 5"], "{told}");
        assert_eq!(told.matches("output: \"a\"").count(), 1, "{told}");
        assert_eq!(trial_numbers(&[1, 2, 3, 5]), "trials 1 to 3, 5");
    }

    #[test]
    fn a_failed_item_says_what_its_agent_measured() {
        let report: Report = serde_json::from_value(json!({
            "schema": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "passed": false,
            "config": { "runs": 1, "concurrency": 1, "timeout": 1, "evaluators": [] }, "summary": { "totalItems": 1 },
            "items": [{
                "index": 0, "key": "k", "input": {}, "latencyMs": 1.0, "status": "error", "error": "no answer",
                "metrics": { "retrieved": { "value": 7, "unit": "documents" }, "recall": { "value": 0.84444 } },
            }],
        }))
        .unwrap();
        let explained = explain(&report.items[0], "desk", &report.config);
        let expected = "item k of `desk`\n  error: no answer\n  metrics: recall 0.844, retrieved 7 documents";
        assert_eq!(explained, expected);
    }

    #[test]
    fn a_conversation_says_how_it_ended_and_in_which_turn_something_went_wrong() {
        let report: Report = serde_json::from_value(json!({
            "schema": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "passed": false,
            "config": { "runs": 1, "concurrency": 1, "timeout": 1, "evaluators": [] }, "summary": { "totalItems": 1 },
            "items": [{
                "index": 0, "key": "k", "input": {}, "latencyMs": 1.0, "status": "error", "error": "no seats",
                "transcript": {
                    "turns": [
                        { "message": "Hello", "reply": "Hi", "checks": [{ "expected": "contains \"York\"", "passed": false }] },
                        { "message": "Book it", "error": "no seats" },
                    ],
                    "end": "error",
                },
            }],
        }))
        .unwrap();
        let expected = "item k of `desk`\n  error: no seats\n  \
                        conversation: 2 turns, error; turn 1 missed contains \"York\"; turn 2 failed";
        assert_eq!(explain(&report.items[0], "desk", &report.config), expected);
    }

    #[test]
    fn a_failed_item_says_how_many_attempts_were_made_and_which_faults_were_injected() {
        let attempt = |error: &str| json!({ "error": error, "latencyMs": 1.0 });
        let report: Report = serde_json::from_value(json!({
            "schema": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z", "passed": false,
            "config": { "runs": 1, "retries": 2, "concurrency": 1, "timeout": 1, "evaluators": [] },
            "summary": { "totalItems": 1 },
            "items": [{
                "index": 0, "key": "k", "input": {}, "latencyMs": 1.0, "status": "error", "error": "the model is busy",
                "retried": [attempt("the model is busy"), attempt("connection reset\nby peer")],
                "faults": [{ "tool": "search", "call": 2, "fault": "timeout" }],
            }],
        }))
        .unwrap();
        let explained = explain(&report.items[0], "desk", &report.config);
        let expected = "item k of `desk`\n  error: the model is busy\n  \
                        attempts: 3, retried after: the model is busy; connection reset\n    by peer\n  \
                        faults: search#2: timeout";
        assert_eq!(explained, expected);
    }

    #[test]
    fn an_item_says_that_it_was_replayed_and_where_it_diverged() {
        let recorded = "2026-11-21T09:00:00.000Z";
        let run = |traffic: Value| json!({ "output": { "output": "x" }, "latencyMs": 1.0, "evaluations": {}, "traffic": traffic });
        let report: Report = serde_json::from_value(json!({
            "schema": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-11-22T14:30:00.000Z",
            "config": { "runs": 4, "concurrency": 1, "timeout": 1, "evaluators": [] }, "summary": { "totalItems": 1 },
            "items": [{ "index": 0, "key": "k", "input": {}, "latencyMs": 1.0, "runs": [
                run(json!({ "replayed": 2, "recordedAt": recorded })),
                run(json!({ "replayed": 1, "recordedAt": recorded })),
                run(json!({ "replayed": 1, "live": 1, "recordedAt": recorded, "diverged": "`messages[1]`: recorded `a`, now `b`" })),
                run(json!({ "live": 2 })),
            ] }],
        }))
        .unwrap();
        let expected = "item k of `desk`\n  trials 1, 2 of 4\n  output: \"x\"\n  traffic: replayed (recorded 2026-11-21)\n  \
                        trial 3 of 4\n  output: \"x\"\n  traffic: replayed in part (recorded 2026-11-21)\n  \
                        diverged: `messages[1]`: recorded `a`, now `b`\n  trial 4 of 4\n  output: \"x\"";
        assert_eq!(explain(&report.items[0], "desk", &report.config), expected);
    }

    #[test]
    fn a_low_score_is_shown_with_the_numbers_that_it_was_made_of() {
        let metadata = json!({ "min": 0.25, "max": 1.0, "stddev": 0.333_333, "judges": ["a", "b"], "n": 10 });
        assert_eq!(metadata_values(metadata.as_object().unwrap()), " [min 0.25, max 1, stddev 0.333, n 10]");
        assert_eq!(metadata_values(json!({ "choice": "A" }).as_object().unwrap()), "");
    }

    #[test]
    fn a_score_is_rounded_and_further_lines_of_a_reason_are_set_off() {
        let explained = |evaluated: Value| {
            let mut text = String::new();
            write_evaluation(&mut text, &serde_json::from_value(evaluated).unwrap(), 0.5);
            text
        };
        let score = 0.4615384615;
        let told = explained(json!({ "score": score, "metadata": { "hits": 3 } }));
        assert_eq!(told, "0.462, below the pass mark of 0.5 [hits 3]");
        let told =
            explained(json!({ "score": score, "reason": "3 of 7\nare right", "metadata": { "hits": 3 } }));
        assert_eq!(told, "0.462, below the pass mark of 0.5 (3 of 7\n    are right)");
        assert_eq!(explained(json!({ "score": 2.0 / 3.0, "metadata": { "hits": 2 } })), "0.667");
        assert_eq!(explained(json!({ "score": 0.4999 })), "0.4999, below the pass mark of 0.5");
        assert_eq!(explained(json!({ "score": 0.9999 })), "0.9999");
    }

    #[test]
    fn further_lines_of_an_error_are_set_off_and_all_of_them_are_shown() {
        let error = format!("the program ended\n{}", "x".repeat(MAX_VALUE_LENGTH));
        let mut text = String::new();
        write_evaluation(
            &mut text,
            &ScoredEvaluation { error: Some(error), ..ScoredEvaluation::default() },
            0.5,
        );
        assert_eq!(text, format!("no score: the program ended\n    {}", "x".repeat(MAX_VALUE_LENGTH)));
    }

    #[test]
    fn how_long_ago_data_was_fetched_is_told_in_the_largest_unit() {
        let told = |seconds| format_age(Duration::from_secs(seconds));
        assert_eq!(
            [59, 60, 3599, 7200, 86_400, 30 * 86_400].map(told),
            ["just now", "1 minute ago", "59 minutes ago", "2 hours ago", "1 day ago", "30 days ago"]
        );
    }

    #[test]
    fn what_a_source_is_called_cannot_steer_the_terminal() {
        let fetch = Fetch { at: Timestamp::now(), version: None };
        assert!(!format_fetch("a\u{1b}[2J", &fetch).contains('\u{1b}'));
        assert!(format_fetch("langfuse:support", &fetch).ends_with(", fetched just now"));
    }
}
