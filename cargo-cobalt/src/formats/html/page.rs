//! The page as a whole: the verdict of everything, what went wrong beside, and the experiments; and what the page may do: show itself
//! and run its own script. Whatever an agent wrote is never run, and nothing is fetched.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cobalt_core::prices::format_cost;
use cobalt_core::report::{Report, RunVerdict};
use cobalt_core::reporters::{printable, time};
use cobalt_core::wording::count;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::experiment;
use super::parts::{Mark, badge, code, name, verdict_badge};
use crate::results::{Finished, Results};

/// The style of the page.
pub const STYLE: &str = concat!(include_str!("page.css"), include_str!("items.css"));
/// The script of the page.
pub const SCRIPT: &str =
    concat!(include_str!("values.js"), include_str!("detail.js"), include_str!("table.js"));

/// What a call came to, as a page.
pub fn html(results: &Results) -> String {
    let title = title(results);
    let word = verdict(results).1;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="referrer" content="no-referrer";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "cobalt " (env!("CARGO_PKG_VERSION")) };
                title { (title) " " (word) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { (heading(results, &title)) }
                main {
                    (troubles(results))
                    @if results.experiments.len() > 1 { (overview(&results.experiments)) }
                    @for (index, finished) in results.experiments.iter().enumerate() {
                        (experiment::section(index, finished, results))
                    }
                }
                footer { "Made by Cobalt " (env!("CARGO_PKG_VERSION")) ". All times are in UTC." }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// The one experiment's name, or how many there are.
fn title(results: &Results) -> String {
    let names = results.experiments.iter().map(|finished| &finished.report.name);
    let broken = results.broken.iter().map(|broken| &broken.name);
    let cut_off = results.cut_off.iter().map(|cut_off| &cut_off.name);
    let mut names: Vec<_> = names.chain(broken).chain(cut_off).collect();
    names.dedup();
    match names[..] {
        [name] => printable(name).into_owned(),
        _ => count(names.len(), "experiment"),
    }
}

/// The verdict of everything. A call in which nothing was run has none.
fn verdict(results: &Results) -> (Mark, &'static str) {
    match results.verdict() {
        RunVerdict::Failed => (Mark::Bad, "failed"),
        _ if results.experiments.is_empty() => (Mark::None, "not run"),
        RunVerdict::NotEvaluated => (Mark::Odd, "not evaluated"),
        RunVerdict::Passed => (Mark::Good, "passed"),
    }
}

fn heading(results: &Results, title: &str) -> Markup {
    let (mark, word) = verdict(results);
    html! {
        h1 { bdi { (title) } " " (badge(mark, word)) }
        p.counts { (counts(results)) }
    }
}

/// How many experiments came to what.
fn counts(results: &Results) -> String {
    let number = |wanted| results.with_verdict(move |verdict| verdict == wanted).count();
    let counts = [
        (number(RunVerdict::Passed), "passed"),
        (number(RunVerdict::NotEvaluated), "not evaluated"),
        (number(RunVerdict::Failed), "failed"),
        (results.only_still_failed().count(), "still failed by earlier results"),
        (results.broken.len(), "could not be run"),
        (results.cut_off.len(), "stopped before the end"),
        (results.ignored.len(), "ignored"),
        (results.skipped.len(), "with nothing to run"),
    ];
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    let counts: Vec<_> = counts.map(|(number, what)| format!("{number} {what}")).collect();
    if counts.is_empty() { "no experiment was run".to_owned() } else { counts.join(", ") }
}

/// What kept experiments from having a report.
fn troubles(results: &Results) -> Markup {
    html! {
        @for error in &results.errors {
            div.trouble.bad role="note" { h2 { "Error" } pre dir="auto" { (printable(error)) } }
        }
        @for broken in &results.broken {
            div.trouble.bad role="note" {
                h2 { (name(&broken.name)) " could not be run" }
                pre dir="auto" { (printable(&broken.error)) }
                @if let Some(place) = &broken.declared_at {
                    p { "Declared at " (code(&format!("{}:{}", place.file, place.line))) }
                }
            }
        }
        @for cut_off in &results.cut_off {
            div.trouble.bad role="note" {
                h2 { (name(&cut_off.name)) " was stopped before its end" }
                @if cut_off.kept {
                    p { "Resume with " (code(&cut_off.resume())) }
                } @else {
                    p { "No item was finished; run it again." }
                }
            }
        }
        @for (failed, why) in &results.still_failed {
            div.trouble.bad role="note" {
                h2 { (name(failed)) " is still failed by earlier results" }
                p { (name(why)) }
            }
        }
        @for (ignored, variable) in &results.ignored {
            p.note { (name(ignored)) " was ignored, as " (code(variable)) " is not set." }
        }
        @for (skipped, why) in &results.skipped {
            p.note { (name(skipped)) ": nothing to run: " (name(why)) }
        }
    }
}

/// The table, whose names lead to the sections.
fn overview(experiments: &[Finished]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Experiments" {
            table {
                thead {
                    tr {
                        @for title in ["Experiment", "Verdict"] { th scope="col" { (title) } }
                        th.number scope="col" { "Items" }
                        th scope="col" { "Mean scores" }
                        @for title in ["Cost", "Time"] { th.number scope="col" { (title) } }
                    }
                }
                tbody {
                    @for (index, finished) in experiments.iter().enumerate() { (overview_row(index, &finished.report)) }
                }
            }
        }
    }
}

fn overview_row(index: usize, report: &Report) -> Markup {
    let summary = &report.summary;
    let scores = report.config.evaluators.iter().filter_map(|it| Some((it, summary.scores.get(it)?.avg)));
    html! {
        tr {
            th scope="row" { a href={ "#experiment-" (index) } { (name(&report.name)) } }
            td { (verdict_badge(report.verdict)) }
            td.number { (summary.total_items) }
            td {
                @for (index, (evaluator, avg)) in scores.enumerate() {
                    @if index > 0 { ", " }
                    (name(evaluator)) " " span.figure { (format!("{avg:.3}")) }
                }
            }
            td.number { @if let Some(cost) = summary.estimated_cost { (format_cost(cost)) } }
            td.number { (time(summary.total_duration_ms as f64)) }
        }
    }
}

/// The content security policy: this style, this script, and nothing else.
pub fn policy() -> String {
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        source(STYLE),
        source(SCRIPT)
    )
}

/// A text in the page as a policy names it: by its SHA-256.
fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}
