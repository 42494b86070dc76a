//! A run as Markdown: its verdict, its metrics and its worst items.

use std::fmt::Write as _;

use cobalt_core::report::comparison::Difference;
use cobalt_core::report::{Execution, ItemResult, RunConfig, ScoreStats, ScoredEvaluation, Summary};
use cobalt_core::reporters::{
    FormattedDifference, SCORE_COLUMNS, expected_field, format_diverged, format_durations, format_score_at,
    format_traffic, format_turn_problems, score_cells, traffic_notes,
};
use cobalt_core::wording::count;
use serde_json::{Map, Value};

use super::run::RunPage;
use super::truncate::{self, size};
use crate::formats::markdown::{items_at_pass_marks, run_identity, usage};
use crate::markdown::{code, escape_cell, sentence};

/// The maximum [`size()`] of a text.
pub const MAX_TEXT: usize = 7_500;
/// The maximum for the statistics, and for the thresholds.
const MAX_METRICS: usize = 2_000;
/// The longest name, and the longest reason, in bytes.
const NAME: usize = 120;
const REASON: usize = 400;
/// The longest input, expected answer, output and other fields, in bytes.
const VALUE: usize = 200;
/// The longest line of metrics, in bytes.
const LINE: usize = 600;
/// The maximum number of evaluators of an item.
const MAX_EVALUATORS: usize = 3;

/// The run as Markdown, in about `room` bytes, up to [`MAX_TEXT`].
pub fn text(shown: &RunPage, room: usize) -> String {
    let head = &shown.head;
    let title = format!(
        "### {}: {}",
        code(&truncate::text(&head.name, NAME)),
        sentence(&truncate::text(&shown.verdict, REASON))
    );
    let mut text = format!("{title}\n\n{}\n", line_or_code(run_identity(head)));
    if let Some(place) = &head.declared_at {
        let _ = writeln!(
            text,
            "\nDeclared at {}.",
            code(&format!("{}:{}", truncate::text(&place.file, NAME), place.line))
        );
    }
    text += &origin(shown);
    text += &thresholds(shown);
    text += &summary_errors(shown);
    let figures = format!(
        "{}\n{}- time: {}\n{}{}",
        scores(shown),
        items_at_pass_marks(head),
        format_durations(&head.summary),
        usage(head).lines().map(|line| line_or_code(line.to_owned()) + "\n").collect::<String>(),
        baseline(shown)
    );
    let figures = first_lines(&figures, room / 2);
    let end = shown.rest.as_ref().map_or(String::new(), |rest| format!("\n{rest}.\n"));
    if !shown.lines.is_empty() {
        text += "\nItems, worst first:\n\n";
    }
    text += &items(&shown.lines, room.saturating_sub(size(&text) + size(&figures) + size(&end)));
    text + &end + &figures
}

/// The variant with its settings and the runs of the others, and the origin of outputs that were only scored.
fn origin(shown: &RunPage) -> String {
    let mut text = String::new();
    let short_code = |text: &str| code(&truncate::text(text, NAME));
    if let Some(variant) = &shown.head.variant {
        let _ =
            write!(text, "\nVariant {} of {}", short_code(&variant.name), short_code(&variant.experiment));
        if !variant.settings.is_null() {
            let _ =
                write!(text, ", settings {}", code(&truncate::text(&variant.settings.to_string(), REASON)));
        }
        text += ".";
        let others = shown.other_variants.iter();
        let others: Vec<_> = others
            .map(|it| format!("{} (run {})", short_code(&it.variant), short_code(&it.run_id)))
            .collect();
        if !others.is_empty() {
            let _ = write!(text, " Other variants: {}.", others.join(", "));
        }
        text += "\n";
    }
    if let Some(rescored) = &shown.head.rescored {
        let _ = writeln!(
            text,
            "\nRe-scored: the outputs, latency and agent cost are those of run {}.",
            short_code(&rescored.run)
        );
    }
    text
}

/// What was replayed of a run's model traffic and what was sent, in one line.
pub fn traffic(summary: &Summary) -> Option<String> {
    let facts =
        [format_traffic(summary)?].into_iter().chain(format_diverged(summary)).chain(traffic_notes(summary));
    Some(facts.collect::<Vec<_>>().join("; "))
}

/// The items. If the failed ones do not all fit in full, the first are in full, and the others have a line.
fn items(lines: &[String], room: usize) -> String {
    let failed = lines.iter().filter(|line| line.contains('\n'));
    let has_room = failed.map(|line| size(line) + 1).sum::<usize>() + NAME <= room;
    let mut left = if has_room { room } else { room / 4 * 3 };
    let lines = lines.iter().map(|line| match left.checked_sub(size(line) + 1) {
        Some(rest) => {
            left = rest;
            line.clone()
        }
        None => line.lines().next().unwrap_or_default().to_owned(),
    });
    fit_lines(lines.collect::<Vec<_>>().into_iter(), room, "item")
}

/// The first lines of a text that fit.
pub fn first_lines(text: &str, room: usize) -> String {
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        if size(&kept) + size(line) > room {
            kept += "…\n";
            break;
        }
        kept += line;
    }
    kept
}

/// The differences from the baseline. They come last: failed items are more useful.
fn baseline(shown: &RunPage) -> String {
    let Some(comparison) = &shown.head.baseline else { return String::new() };
    let line = |difference: &Difference| {
        let FormattedDifference { base, other, .. } = difference.into();
        format!(
            "- {}: {base} → {other}, {}",
            code(&truncate::text(difference.label(), NAME)),
            difference.verdict
        )
    };
    let lines = comparison.evaluators.iter().chain(&comparison.amounts).map(line);
    format!(
        "\nChange vs. baseline (run {}, started {} UTC):\n\n{}",
        code(&truncate::text(&comparison.base.id, NAME)),
        comparison.base.timestamp.to_minute(),
        fit_lines(lines.collect::<Vec<_>>().into_iter(), MAX_METRICS, "metric")
    )
}

/// A line of Markdown; if it is too long, its start as code, since a cut could leave code spans open.
fn line_or_code(line: String) -> String {
    if size(&line) <= LINE { line } else { code(&truncate::text(&line, LINE)) }
}

/// The lines that fit, and the number of others.
pub fn fit_lines(lines: impl ExactSizeIterator<Item = String>, room: usize, what: &str) -> String {
    let (all, mut text, mut taken) = (lines.len(), String::new(), 0);
    let mut left = room.saturating_sub(NAME);
    for line in lines {
        let Some(rest) = left.checked_sub(size(&line) + 1) else { break };
        left = rest;
        taken += 1;
        text.extend([&line, "\n"]);
    }
    if taken < all {
        let _ = writeln!(
            text,
            "- and {}; see the structured content",
            count(all - taken, &format!("more {what}"))
        );
    }
    text
}

fn scores(shown: &RunPage) -> String {
    let scores = &shown.head.summary.scores;
    if scores.is_empty() {
        return String::new();
    }
    let row = |(name, stats): (&String, &ScoreStats)| {
        format!(
            "| {} | {} |",
            escape_cell(&code(&truncate::text(name, NAME))),
            score_cells(stats).join(" | ")
        )
    };
    let rows = fit_lines(scores.iter().map(row), MAX_METRICS, "evaluator");
    format!(
        "\n| score | {} |\n|---|{}\n{rows}",
        SCORE_COLUMNS.join(" | "),
        "--:|".repeat(SCORE_COLUMNS.len())
    )
}

/// The thresholds that were missed, and differences from earlier runs of the commit.
fn thresholds(shown: &RunPage) -> String {
    let line = |message: &String| format!("- {}", sentence(&truncate::text(message, REASON)));
    let missed = shown.head.ci_status.iter().flat_map(|status| &status.violations);
    let missed: Vec<_> = missed.map(|violation| line(&violation.message)).collect();
    let drift: Vec<_> = shown.head.drift().iter().map(|drift| line(&drift.message)).collect();
    let list = |title: &str, lines: Vec<String>, noun| match lines.is_empty() {
        true => String::new(),
        false => format!("\n{title}:\n\n{}", fit_lines(lines.into_iter(), MAX_METRICS, noun)),
    };
    list("Missed", missed, "threshold") + &list("Drift", drift, "evaluator")
}

/// The summary functions that failed.
fn summary_errors(shown: &RunPage) -> String {
    let errors = &shown.head.summary.summary_errors;
    if errors.is_empty() {
        return String::new();
    }
    let line = |(name, error): (&String, &String)| {
        let name = code(&truncate::text(name, NAME));
        format!("- {name}: {}", code(&truncate::text(error, REASON)))
    };
    format!(
        "\nFailed summary functions:\n\n{}",
        fit_lines(errors.iter().map(line), MAX_METRICS / 2, "summary function")
    )
}

/// An item: what is wrong with it, and why. For a failed item, indented lines have its input, the expected answer, and its output.
pub fn item_line(item: &ItemResult, key: &str, config: &RunConfig) -> String {
    let name = code(&truncate::text(key, NAME));
    if let Some(error) = item.first_error() {
        let run = item.runs.iter().find(|run| run.is_in_error());
        return format!(
            "- {name} in error: {}{}",
            code(&truncate::text(&error, REASON)),
            item_details(item, run)
        );
    }
    let mut low: Vec<_> = config.scores_below_pass_mark(item).collect();
    let word = match (low.is_empty(), config.strict) {
        (true, _) => "passed, lowest",
        (false, false) => "below pass mark",
        (false, true) => "failed",
    };
    let is_low = !low.is_empty();
    if low.is_empty() {
        let scores = config.evaluators.iter();
        low = scores.filter_map(|name| Some((&**name, item.scores(name).reduce(f64::min)?))).collect();
    }
    low.sort_by(|(_, one), (_, two)| one.total_cmp(two));
    let mark =
        |name: &str| config.evaluators().find(|(known, _)| *known == name).map_or(1.0, |(_, mark)| mark);
    let scores = low.iter().take(MAX_EVALUATORS).map(|(name, score)| {
        format!("{} {}", code(&truncate::text(name, NAME)), format_score_at(*score, mark(name)))
    });
    let scores = scores.collect::<Vec<_>>().join(", ");
    let run = low.first().and_then(|(name, score)| trial_with_score(item, name, *score));
    let reason = run.and_then(|(_, evaluation)| evaluation.reason.as_deref());
    let reason =
        reason.map_or(String::new(), |reason| format!(": {}", code(&truncate::text(reason, REASON))));
    let given = if is_low { item_details(item, run.map(|(run, _)| run)) } else { String::new() };
    if scores.is_empty() {
        format!("- {name}")
    } else {
        format!("- {name} {word} in {scores}{reason}{given}")
    }
}

/// The item's input, its expected answer, the output of this trial, what went wrong in which turn of its conversation, and where it
/// diverged from its recording.
fn item_details(item: &ItemResult, run: Option<&Execution>) -> String {
    let input = item.input.get("input").map(|input| ("input", input));
    let expected = expected_field(&item.input);
    let is_other = |field: &str| !["input", "id", "cluster"].contains(&field) && Some(field) != expected;
    let others = item.input.iter().filter(|(field, _)| is_other(field));
    let others: Map<_, _> = others.map(|(field, value)| (field.clone(), value.clone())).collect();
    let others = (!others.is_empty()).then(|| Value::Object(others));
    let others = others.iter().map(|others| (if input.is_some() { "other fields" } else { "input" }, others));
    let expected = expected.map(|field| ("expected", &item.input[field]));
    let output = run.and_then(|run| run.output.as_ref()).map(|output| ("output", output.value()));
    let line = |(what, value): (&str, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("\n  - {what}: {}", code(&truncate::text(&value, VALUE)))
    };
    let turns = run.and_then(|run| format_turn_problems(run.transcript.as_deref()?));
    let turns = turns.map(|turns| format!("\n  - conversation: {}", code(&truncate::text(&turns, VALUE))));
    let diverged = run.and_then(|run| run.traffic.as_ref()?.diverged.as_ref());
    let diverged = diverged.map(|difference| {
        format!("\n  - diverged from the recording: {}", code(&truncate::text(difference, VALUE)))
    });
    input
        .into_iter()
        .chain(others)
        .chain(expected)
        .chain(output)
        .map(line)
        .chain(turns)
        .chain(diverged)
        .collect()
}

/// The trial in which an evaluator returned a score.
fn trial_with_score<'a>(
    item: &'a ItemResult,
    evaluator: &str,
    score: f64,
) -> Option<(&'a Execution, &'a ScoredEvaluation)> {
    let evaluations = item.runs.iter().filter_map(|run| Some((run, run.evaluations.get(evaluator)?)));
    evaluations.into_iter().find(|(_, evaluation)| evaluation.score == Some(score))
}
