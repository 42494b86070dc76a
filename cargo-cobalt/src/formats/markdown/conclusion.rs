//! What all experiments of a call came to: a heading, a table, and whatever kept some of them from an end.

use std::fmt::Write as _;

use cobalt::Report;
use cobalt::llm::prices::format_cost;
use cobalt::wording::count;

use crate::markdown::{cell, code, fenced, sentence};
use crate::reporters::{Broken, CutOff, Finished, Results};

/// The most evaluators whose averages stand in the table of experiments.
const MOST_AVERAGES: usize = 3;

/// A heading with the verdict, and a table of the experiments.
pub(crate) fn conclusion(results: &Results) -> String {
    let mut text = format!("## {}\n", verdict(results));
    if results.experiments.len() + results.broken.len() + results.cut_off.len() > 1 {
        text += "\n| experiment | verdict | items | average scores | cost |\n|---|---|--:|---|--:|\n";
        results.experiments.iter().for_each(|finished| text += &row(finished));
        for Broken { name, .. } in &results.broken {
            let _ = writeln!(text, "| {} | ❌ not run | | | |", cell(&code(name)));
        }
        for CutOff { name, .. } in &results.cut_off {
            let _ = writeln!(text, "| {} | ❌ stopped before its end | | | |", cell(&code(name)));
        }
    }
    for (name, variable) in &results.ignored {
        let _ = writeln!(text, "\n{} was not run, as {} is not set.", code(name), code(variable));
    }
    for (name, why) in &results.skipped {
        let _ = writeln!(text, "\nThere was nothing to run of {}: {}.", code(name), sentence(why));
    }
    text
}

/// The verdict of a whole call in a line.
fn verdict(results: &Results) -> String {
    let passed = results.experiments.iter().filter(|finished| finished.report.passed).count();
    let all = results.experiments.len() + results.broken.len() + results.cut_off.len();
    let counted = count(all, "experiment");
    match (all, results.passed()) {
        (0, true) => "⚪ No experiment was run".to_owned(),
        (0, false) => "❌ No experiment could be run".to_owned(),
        (1, true) => format!("✅ {} passed", code(&results.experiments[0].report.name)),
        (_, true) => format!("✅ {counted} passed"),
        (_, false) if passed == all => format!("❌ {counted} passed, but not all could be run"),
        (1, false) => match results.experiments.first() {
            Some(finished) => format!("❌ {} failed", code(&finished.report.name)),
            None => format!("❌ {counted} failed"),
        },
        (_, false) => format!("❌ {} of {counted} failed", all - passed),
    }
}

fn row(finished: &Finished) -> String {
    let Report { name, summary, config, .. } = &finished.report;
    let averages: Vec<_> =
        config.evaluators.iter().map(|evaluator| average(&finished.report, evaluator)).collect();
    let left = averages.len().saturating_sub(MOST_AVERAGES);
    let mut averages = averages.into_iter().take(MOST_AVERAGES).collect::<Vec<_>>().join(", ");
    if left > 0 {
        let _ = write!(averages, ", and {left} more");
    }
    let cost = summary.estimated_cost.map_or_else(String::new, format_cost);
    format!(
        "| {} | {} | {} | {} | {cost} |\n",
        cell(&code(name)),
        word(&finished.report),
        summary.total_items,
        cell(&averages)
    )
}

/// A run's verdict in a word.
pub(super) fn word(report: &Report) -> &'static str {
    if report.passed { "✅ passed" } else { "❌ failed" }
}

fn average(report: &Report, evaluator: &str) -> String {
    let stats = report.summary.scores.get(evaluator);
    format!(
        "{} {}",
        code(evaluator),
        stats.map_or("no score".to_owned(), |stats| format!("{:.3}", stats.avg))
    )
}

/// What kept experiments from their end; empty where nothing did.
pub(crate) fn troubles(results: &Results) -> String {
    let mut text = String::new();
    for Broken { name, error, .. } in &results.broken {
        let _ = write!(text, "\n### {}: ❌ could not be run\n\n{}", code(name), fenced(error));
    }
    for CutOff { name, id, .. } in &results.cut_off {
        let resume = code(&format!("cargo cobalt run --resume {id}"));
        let _ = writeln!(
            text,
            "\n### {}: ❌ stopped before its end\n\nWhat is finished is kept; {resume} runs the rest.",
            code(name)
        );
    }
    if !results.errors.is_empty() {
        text += "\n### ❌ What went wrong beside\n";
        results.errors.iter().for_each(|error| text += &format!("\n{}", fenced(error)));
    }
    text
}
