//! The page as a whole: the verdict of everything, what went wrong beside, and the experiments.

use cobalt::report::RunVerdict;
use cobalt::reporters::printable;
use cobalt::wording::count;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::policy::{SCRIPT, STYLE, policy};
use super::words::{Mark, badge, code, name};
use super::{experiment, overview};
use crate::results::Results;

/// What a call came to, as a page.
pub(crate) fn html(results: &Results) -> String {
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
                    @if results.experiments.len() > 1 { (overview::table(&results.experiments)) }
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
