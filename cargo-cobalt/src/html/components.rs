//! Building blocks of the page: verdicts, names, accessible SVG charts, and the table of items.

use cobalt_core::report::comparison::Difference;
use cobalt_core::report::{Evaluations, Execution, RunVerdict, ScoreStats, Status, WorkspaceChanges};
use cobalt_core::reporters::{
    escape_control, expected_field, explain, format_attempts, format_duration, format_faults,
    format_trial_traffic,
};
use cobalt_core::serde_skip::is_zero;
use cobalt_core::wording::{count, group_thousands};
use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use serde_json::Value;

use super::trace::{self, TraceData};
use super::transcript::TranscriptData;
use crate::results::{FinishedExperiment, LATENCY_BINS, LatencyBins, NamedItem, SCORE_BINS, ScoreBins};

/// The height of the tallest bar.
const MAX_BAR_HEIGHT: f64 = 30.0;

/// The tone of a badge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    Warning,
    Neutral,
}

impl Tone {
    pub fn from_passed(passed: bool) -> Self {
        if passed { Self::Good } else { Self::Bad }
    }

    pub fn from_verdict(verdict: RunVerdict) -> Self {
        match verdict {
            RunVerdict::Passed => Self::Good,
            RunVerdict::NotEvaluated => Self::Warning,
            RunVerdict::Failed => Self::Bad,
        }
    }

    /// The CSS class.
    pub fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Warning => "odd",
            Self::Neutral => "plain",
        }
    }

    /// The sign before the word, for readers without colours.
    fn sign(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Bad => "✕",
            Self::Warning => "!",
            Self::Neutral => "≈",
        }
    }
}

/// A verdict with its colour and sign.
pub fn badge(mark: Tone, word: &str) -> Markup {
    html! { span.badge.(mark.class()) { span aria-hidden="true" { (mark.sign()) " " } (word) } }
}

/// The verdict of a run.
pub fn verdict_badge(verdict: RunVerdict) -> Markup {
    badge(Tone::from_verdict(verdict), &verdict.to_string())
}

/// Foreign text in a monospaced font, with its own text direction.
pub fn code(text: &str) -> Markup {
    html! { code dir="auto" { (escape_control(text)) } }
}

/// A foreign name, which may wrap after `_`, `-`, `.` and `/`.
pub fn name(text: &str) -> Markup {
    let text = escape_control(text);
    let parts = text.split_inclusive(['_', '-', '.', '/']).enumerate();
    html! { bdi { @for (index, part) in parts { @if index > 0 { wbr; } (part) } } }
}

/// A mean from 0 to 1 as a bar, with its 95% CI and the pass mark.
pub fn mean_chart(stats: &ScoreStats, mark: f64) -> Markup {
    let label = format!("mean {:.3}, pass mark {mark}", stats.avg);
    html! {
        svg.mean role="img" aria-label=(label) viewBox="0 0 100 16" preserveAspectRatio="none" {
            title { (label) }
            rect.track x="0" y="4" width="100" height="8" {}
            rect.bar x="0" y="4" width=(percent(stats.avg)) height="8" {}
            @if let Some(ci) = stats.ci95 {
                line.interval x1=(percent(ci.low)) x2=(percent(ci.high)) y1="8" y2="8" {}
                @for end in [ci.low, ci.high] {
                    line.interval x1=(percent(end)) x2=(percent(end)) y1="5" y2="11" {}
                }
            }
            line.mark x1=(percent(mark)) x2=(percent(mark)) y1="0" y2="16" {}
        }
    }
}

/// A histogram of scores, with those below the pass mark highlighted.
pub fn scores_chart(scores: &ScoreBins) -> Markup {
    let bins = scores.all.iter().zip(&scores.below_pass_mark).enumerate();
    let bars = bins.map(|(place, (number, low))| {
        let edge = |place: usize| place as f64 / SCORE_BINS as f64;
        Bar { number: *number, low: *low, label: format!("{:.1} to {:.1}", edge(place), edge(place + 1)) }
    });
    histogram("scores", &bars.collect::<Vec<_>>())
}

/// A histogram of latencies in milliseconds.
pub fn latencies_chart(LatencyBins { low, high, bins }: &LatencyBins) -> Markup {
    let edge = |place: usize| format_duration(low + (high - low) * place as f64 / LATENCY_BINS as f64);
    let bars = bins.iter().enumerate().map(|(place, number)| {
        let label = format!("{} to {}", edge(place), edge(place + 1));
        Bar { number: *number, low: 0, label }
    });
    html! {
        figure.latency {
            (histogram("item latencies", &bars.collect::<Vec<_>>()))
            figcaption { span { (edge(0)) } span { "Item latency" } span { (edge(LATENCY_BINS)) } }
        }
    }
}

/// The 95% CI of a difference around zero; the chart covers `-largest` to `largest`.
pub fn difference_chart(difference: &Difference, class: &str, largest: f64) -> Markup {
    let Some(ci) = difference.ci95.filter(|_| largest > 0.0) else { return Markup::default() };
    let place = |value: f64| format!("{:.2}", 50.0 + 48.0 * (value / largest).clamp(-1.0, 1.0));
    html! {
        svg.difference.(class) aria-hidden="true" viewBox="0 0 100 16" preserveAspectRatio="none" {
            line.zero x1="50" x2="50" y1="0" y2="16" {}
            line.interval x1=(place(ci.low)) x2=(place(ci.high)) y1="8" y2="8" {}
            line.middle x1=(place(difference.difference)) x2=(place(difference.difference)) y1="3" y2="13" {}
        }
    }
}

/// A bar of a histogram.
struct Bar {
    number: usize,
    /// How many of them are highlighted, at the bottom.
    low: usize,
    label: String,
}

fn histogram(what: &str, bars: &[Bar]) -> Markup {
    let most = bars.iter().map(|bar| bar.number).max().unwrap_or(0);
    if most == 0 {
        return Markup::default();
    }
    let width = 100.0 / bars.len() as f64;
    // Small bins stay visible.
    let height = |number: usize| match number {
        0 => 0.0,
        number => (MAX_BAR_HEIGHT * number as f64 / most as f64).max(1.5),
    };
    let filled = bars.iter().filter(|bar| bar.number > 0);
    let words: Vec<_> = filled.map(|bar| format!("{}: {}", bar.label, bar.number)).collect();
    html! {
        svg.histogram role="img" aria-label={ "Histogram of " (what) ". " (words.join("; ")) }
            viewBox="0 0 100 32" preserveAspectRatio="none" {
            @for (place, bar) in bars.iter().enumerate() {
                @let (all, low) = (height(bar.number), height(bar.low));
                @let parts = [("bar", all - low, MAX_BAR_HEIGHT - all), ("low", low, MAX_BAR_HEIGHT - low)];
                @for (class, height, top) in parts.into_iter().filter(|(_, height, _)| *height > 0.0) {
                    rect.(class) x=(format!("{:.2}", place as f64 * width + 0.5)) y=(format!("{top:.2}"))
                        width=(format!("{:.2}", width - 1.0)) height=(format!("{height:.2}")) {
                        title { (bar.label) ": " (bar.number) }
                    }
                }
            }
            rect.track x="0" y="31" width="100" height="1" {}
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}", share.clamp(0.0, 1.0) * 100.0)
}

/// The maximum number of items shown without the script.
const MAX_NOSCRIPT_ITEMS: usize = 50;

/// The items, or why they are unavailable.
pub fn items_section(index: usize, finished: &FinishedExperiment) -> Markup {
    html! {
        h3 { "Items" }
        @if let Some(note) = finished.left_out_note() {
            p.note { (name(&note)) "." }
        }
        @if let Some(why) = &finished.without_items {
            p.note { "Item results are unavailable: " (name(why)) }
        } @else if finished.items.shown().is_empty() {
            p.note { "The run has no items." }
        } @else {
            div.items id={ "items-of-" (index) } data-items={ "items-" (index) } {}
            script type="application/json" id={ "items-" (index) } { (PreEscaped(items_json(finished))) }
            noscript { (noscript_items(finished)) }
        }
    }
}

/// Details of the items that did not pass, for readers without JavaScript.
fn noscript_items(FinishedExperiment { report, items, .. }: &FinishedExperiment) -> Markup {
    let low = items.shown().iter().map(|named| &named.item).filter(|item| !item.passed);
    let summary = &report.summary;
    let not_passed = summary.low_items + summary.items_in_error();
    html! {
        p.note {
            (count(summary.total_items, "item")) ", " (group_thousands(not_passed as u64)) " of them with errors or below a pass mark. "
            "Enable JavaScript to see all items."
            @if not_passed > MAX_NOSCRIPT_ITEMS { " Only the first " (MAX_NOSCRIPT_ITEMS) " of those are shown here." }
        }
        @for item in low.take(MAX_NOSCRIPT_ITEMS) {
            pre.explained dir="auto" { (explain(item, &report.name, &report.config)) }
        }
    }
}

/// The data of an experiment for the script.
#[derive(Serialize)]
struct ExperimentData<'a> {
    evaluators: Vec<(&'a str, f64)>,
    items: Vec<ItemData<'a>>,
}

#[derive(Serialize)]
struct ItemData<'a> {
    name: &'a str,
    passed: bool,
    /// Whether the item itself fails: in error or, in a strict experiment, below a pass mark.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
    /// Whether the agent or an evaluator failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    error: bool,
    status: Status,
    /// Whether its latency is that of a recording.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replayed: bool,
    /// Whether it diverged from the recording in some trial.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    diverged: bool,
    /// How many attempts were retried, over all trials.
    #[serde(skip_serializing_if = "is_zero")]
    retried: usize,
    input: &'a cobalt_core::item::Item,
    /// The field of the input with the expected output.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<&'static str>,
    runs: Vec<TrialData<'a>>,
}

#[derive(Serialize)]
struct TrialData<'a> {
    #[serde(skip_serializing_if = "is_ok")]
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a cobalt_core::item::Item>,
    /// In milliseconds, rounded to microseconds.
    latency: f64,
    evaluations: &'a Evaluations,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// How many attempts it took, and why, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<String>,
    /// The faults that were injected into calls of tools, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    faults: Option<String>,
    /// The metrics that the agent recorded, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metrics: Vec<(&'a str, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<TraceData>,
    /// What the agent changed in its workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<&'a WorkspaceChanges>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<String>,
    /// What was replayed and what was sent, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    traffic: Option<String>,
    /// Where it diverged from the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    diverged: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript: Option<TranscriptData<'a>>,
}

fn is_ok(status: &Status) -> bool {
    *status == Status::Ok
}

/// The items as JSON that is safe inside a `script` element.
fn items_json(FinishedExperiment { report, items, .. }: &FinishedExperiment) -> String {
    let rooms = trace::span_shares(items.shown().iter().map(|named| &named.item));
    let items = items.shown().iter().zip(rooms).map(|(NamedItem { case, item, .. }, mut spans)| ItemData {
        name: case,
        passed: item.passed,
        failed: report.config.fails(item),
        error: item.is_in_error(),
        status: item.status(),
        replayed: item.is_replayed(),
        diverged: item.runs.iter().any(|run| diverged(run).is_some()),
        retried: item.retried_attempts(),
        input: &item.input,
        expected: expected_field(&item.input),
        runs: item.runs.iter().map(|run| TrialData::of(run, &mut spans)).collect(),
    });
    let data = ExperimentData { evaluators: report.config.evaluators().collect(), items: items.collect() };
    let json =
        serde_json::to_string(&data).expect("strings, numbers and maps with string keys are valid JSON");
    // Outside strings, JSON has no `<`.
    json.replace('<', "\\u003c")
}

impl<'a> TrialData<'a> {
    /// `spans` is the number of spans that may be shown.
    fn of(run: &'a Execution, spans: &mut usize) -> Self {
        let metadata = Some(run.metadata()).filter(|it| !it.is_empty());
        Self {
            status: run.status,
            output: run.output.as_ref().map(cobalt_core::item::Output::value),
            metadata,
            latency: (run.latency_ms * 1000.0).round() / 1000.0,
            evaluations: &run.evaluations,
            error: run.error.as_deref(),
            attempts: format_attempts(run),
            faults: format_faults(run),
            metrics: trace::metrics(run),
            trace: trace::trace(run, spans),
            workspace: run.workspace.as_deref(),
            changes: run.workspace.as_ref().map(|changes| changes.summary()),
            traffic: run.traffic.as_deref().and_then(format_trial_traffic),
            diverged: diverged(run),
            transcript: run.transcript.as_deref().map(TranscriptData::of),
        }
    }
}

/// Where a trial diverged from the recording.
fn diverged(run: &Execution) -> Option<&str> {
    run.traffic.as_ref()?.diverged.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_below_the_pass_mark_are_set_off() {
        let chart = |below| {
            let (mut all, mut below_pass_mark) = ([0; SCORE_BINS], [0; SCORE_BINS]);
            (all[9], below_pass_mark[9]) = (2, below);
            scores_chart(&ScoreBins { pass_mark: 0.95, all, below_pass_mark }).into_string()
        };
        assert!(!chart(0).contains("\"low\""));
        let chart = chart(1);
        assert!(chart.contains("class=\"low\"") && chart.contains("class=\"bar\""), "{chart}");
    }

    #[test]
    fn latencies_have_the_edges_of_their_bins() {
        let mut bins = [0; LATENCY_BINS];
        (bins[0], bins[23]) = (1, 1);
        let chart = latencies_chart(&LatencyBins { low: 5.0, high: 6.0, bins }).into_string();
        assert!(chart.contains("5 ms to 5 ms: 1; "), "{chart}");
    }
}
