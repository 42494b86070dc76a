//! The summary of all experiments: a heading, a table, and errors and interruptions.

use std::fmt::Write as _;

use cobalt_core::prices::CostFormat;
use cobalt_core::report::{Report, RunVerdict};
use cobalt_core::wording::{count, truncate};

use super::experiment::{experiment, verdict_label};
use crate::compare::ranking_section;
use crate::markdown::{code, escape_cell, fenced, sentence};
use crate::results::{BrokenExperiment, FinishedExperiment, InterruptedRun, Results};

/// The maximum number of items per experiment.
const MAX_ITEMS: usize = 100;
/// The maximum number of evaluators per row of the table.
const MAX_MEANS: usize = 3;
/// The maximum number of failed experiments named in the heading.
const MAX_NAMES: usize = 5;
/// The maximum length of such a name, in characters.
const MAX_NAME_LEN: usize = 80;

/// The complete results.
pub fn markdown(results: &Results) -> String {
    sections(results, MAX_ITEMS).concat()
}

/// The same in sections: the conclusion, the errors, the rankings, and each experiment with at most `items` items.
pub fn sections(results: &Results, items: usize) -> Vec<String> {
    let rankings = results.rankings.iter().map(ranking_section);
    let experiments = results.failed_first().map(|finished| experiment(finished, items));
    [overview(results), problems(results)].into_iter().chain(rankings).chain(experiments).collect()
}

/// A heading with the verdict, and a table of the experiments.
pub fn overview(results: &Results) -> String {
    let mut text = format!("## {}\n", verdict(results));
    if selected_count(results) > 1 {
        text += "\n| experiment | verdict | items | mean scores | agent cost |\n|---|---|--:|---|--:|\n";
        for BrokenExperiment { name, .. } in &results.broken {
            let _ = writeln!(text, "| {} | ❌ not run | | | |", escape_cell(&code(name)));
        }
        for InterruptedRun { name, .. } in &results.interrupted {
            let _ = writeln!(text, "| {} | ❌ interrupted | | | |", escape_cell(&code(name)));
        }
        let costs = results.experiments.iter().filter_map(|finished| finished.report.summary.estimated_cost);
        let costs = CostFormat::of(costs);
        results.failed_first().for_each(|finished| text += &experiment_row(finished, costs));
    }
    for warning in &results.warnings {
        let name = warning.experiment.as_deref().map_or_else(String::new, |name| format!("{}: ", code(name)));
        let _ = writeln!(text, "\n> ⚠️ {name}{}", sentence(&warning.message));
    }
    for (name, why) in &results.still_failed {
        let _ = writeln!(text, "\n{} still fails because of earlier results: {}.", code(name), sentence(why));
    }
    for (name, variable) in &results.ignored {
        let _ = writeln!(text, "\n{} was skipped: {} is not set.", code(name), code(variable));
    }
    for (name, why) in &results.skipped {
        let _ = writeln!(text, "\nNothing to run for {}: {}.", code(name), sentence(why));
    }
    text
}

/// The overall verdict in one line, with the names of failed experiments.
fn verdict(results: &Results) -> String {
    let failed = failed_names(results);
    let all = selected_count(results);
    let counted = count(all, "experiment");
    let number = |wanted| results.with_verdict(move |verdict| verdict == wanted).count();
    let (passed, open) = (number(RunVerdict::Passed), number(RunVerdict::NotEvaluated));
    match (all, results.verdict()) {
        (0, RunVerdict::Failed) => "❌ No experiment could be run".to_owned(),
        (0, _) => "⚪ No experiment was run".to_owned(),
        (1, RunVerdict::Passed) => format!("✅ {} passed", code(&results.experiments[0].report.name)),
        (1, RunVerdict::NotEvaluated) => {
            format!("⚪ {} was not evaluated", code(&results.experiments[0].report.name))
        }
        (_, RunVerdict::Passed) => format!("✅ {counted} passed"),
        (_, RunVerdict::NotEvaluated) => format!("⚪ {open} of {counted} not evaluated, {passed} passed"),
        (_, RunVerdict::Failed) if failed.is_empty() && open == 0 => {
            format!("❌ {counted} passed, but not all could be run")
        }
        (_, RunVerdict::Failed) if failed.is_empty() => {
            format!("❌ {open} of {counted} not evaluated, {passed} passed, but not all could be run")
        }
        (1, RunVerdict::Failed) => format!("❌ {} failed", list_names(&failed)),
        (_, RunVerdict::Failed) => {
            format!("❌ {} of {counted} failed: {}", failed.len(), list_names(&failed))
        }
    }
}

/// The number of experiments that had something to run.
fn selected_count(results: &Results) -> usize {
    let Results { experiments, broken, interrupted: cut_off, .. } = results;
    experiments.len() + broken.len() + cut_off.len() + results.only_still_failed().count()
}

/// The names of the experiments that failed, could not be run or were interrupted.
fn failed_names(results: &Results) -> Vec<&str> {
    let broken = results.broken.iter().map(|broken| &*broken.name);
    let cut_off = results.interrupted.iter().map(|run| &*run.name);
    let failed = results.with_verdict(|verdict| verdict == RunVerdict::Failed);
    let mut names: Vec<_> =
        broken.chain(cut_off).chain(failed.map(|finished| &*finished.report.name)).collect();
    names.extend(results.only_still_failed());
    names
}

/// The first of these names, and the number of further ones.
fn list_names(names: &[&str]) -> String {
    let mut listed: Vec<_> =
        names.iter().take(MAX_NAMES).map(|name| code(&truncate(name, MAX_NAME_LEN))).collect();
    if names.len() > MAX_NAMES {
        listed.push(format!("and {} more", names.len() - MAX_NAMES));
    }
    listed.join(", ")
}

fn experiment_row(finished: &FinishedExperiment, costs: CostFormat) -> String {
    let Report { name, summary, config, .. } = &finished.report;
    let averages: Vec<_> =
        config.evaluators.iter().map(|evaluator| mean_score(&finished.report, evaluator)).collect();
    let left = averages.len().saturating_sub(MAX_MEANS);
    let mut averages = averages.into_iter().take(MAX_MEANS).collect::<Vec<_>>().join(", ");
    if left > 0 {
        let _ = write!(averages, ", and {left} more");
    }
    let cost = summary.estimated_cost.map_or_else(String::new, |cost| costs.format(cost));
    format!(
        "| {} | {} | {} | {} | {cost} |\n",
        escape_cell(&code(name)),
        verdict_label(&finished.report),
        summary.total_items,
        escape_cell(&averages)
    )
}

fn mean_score(report: &Report, evaluator: &str) -> String {
    let stats = report.summary.scores.get(evaluator);
    format!(
        "{} {}",
        code(evaluator),
        match stats {
            Some(stats) => format!("{:.3}", stats.avg),
            None if report.summary.not_applicable.contains_key(evaluator) => "n/a".to_owned(),
            None => "no score".to_owned(),
        }
    )
}

/// Errors and interruptions; empty if there are none.
pub fn problems(results: &Results) -> String {
    let mut text = String::new();
    for BrokenExperiment { name, error, .. } in &results.broken {
        let _ = write!(text, "\n### {}: ❌ could not be run\n\n{}", code(name), error_text(error));
    }
    for run in &results.interrupted {
        let advice = run.resume_advice(|command| code(command).to_string());
        let name = code(&run.name);
        let _ = writeln!(text, "\n### {name}: ❌ interrupted\n\nThe run was interrupted: {advice}.");
    }
    if !results.errors.is_empty() {
        if selected_count(results) > 0 {
            text += "\n### ❌ Other errors\n";
        }
        results.errors.iter().for_each(|error| text += &format!("\n{}", error_text(error)));
    }
    text
}

/// A one-line error is inline code, so that it wraps; a code block would scroll.
fn error_text(error: &str) -> String {
    if error.contains('\n') { fenced(error) } else { format!("> {}\n", code(error)) }
}

#[cfg(test)]
mod tests {
    use cobalt_core::reporters::{Event, ExperimentFinished, NotableItems};
    use serde_json::json;

    use super::*;
    use crate::formats::fixtures::{finished, item, report};
    use crate::results::RunState;

    /// Results of runs with these names and verdicts.
    fn results(runs: &[(&str, bool)]) -> Results {
        let run = |(name, passed): &(&str, bool)| {
            let mut report = report(&[item(0, &json!("a"), 1.0)]);
            (report["name"], report["passed"]) = (json!(name), json!(passed));
            finished(report)
        };
        Results::of(runs.iter().map(run).collect())
    }

    #[test]
    fn the_heading_names_what_failed() {
        assert_eq!(verdict(&results(&[("desk", false)])), "❌ `desk` failed");
        assert_eq!(verdict(&results(&[("desk", true)])), "✅ `desk` passed");
        let mut some = results(&[("desk", true), ("a`b", false)]);
        assert_eq!(verdict(&some), "❌ 1 of 2 experiments failed: ``a`b``");
        some.errors = vec!["it broke".to_owned()];
        let broken =
            |name: &str| BrokenExperiment { name: name.to_owned(), error: String::new(), declared_at: None };
        some.broken = ["b", "c", "d", "e", "f"].map(broken).into();
        let expected = "❌ 6 of 7 experiments failed: `b`, `c`, `d`, `e`, `f`, and 1 more";
        assert_eq!(verdict(&some), expected);
        let beside = Results { errors: some.errors, ..results(&[("desk", true)]) };
        assert_eq!(verdict(&beside), "❌ 1 experiment passed, but not all could be run");
    }

    #[test]
    fn a_run_without_evaluated_thresholds_neither_passed_nor_failed() {
        let partial = || {
            let mut report = report(&[item(0, &json!("a"), 0.0), item(1, &json!("b"), 1.0)]);
            report["config"]["thresholds"] = json!(["right.avg>=0.8"]);
            report["partial"] = json!(true);
            finished(report)
        };
        let alone = Results::of(vec![partial()]);
        assert_eq!(verdict(&alone), "⚪ `desk` was not evaluated");
        let text = markdown(&alone);
        assert!(text.contains("### `desk`: ⚪ not evaluated, partial run\n"), "{text}");
        assert!(text.contains("- items: 1 at pass marks, 1 below\n"), "{text}");
        let mut beside = results(&[("good", true)]);
        beside.experiments.push(partial());
        assert_eq!(verdict(&beside), "⚪ 1 of 2 experiments not evaluated, 1 passed");
        beside.experiments.extend(results(&[("bad", false)]).experiments);
        assert_eq!(verdict(&beside), "❌ 1 of 3 experiments failed: `bad`");
    }

    #[test]
    fn earlier_results_that_fail_an_experiment_fail_the_call() {
        let still_failed = vec![("desk".to_owned(), "1 item in error in run `a` (x)".to_owned())];
        let results = Results { still_failed, ..Results::default() };
        assert_eq!(verdict(&results), "❌ `desk` failed");
        let text = markdown(&results);
        assert!(text.contains("`desk` still fails because of earlier results: "), "{text}");
    }

    #[test]
    fn a_run_whose_results_could_not_be_kept_did_not_pass() {
        let FinishedExperiment { report, .. } = finished(report(&[item(0, &json!("a"), 1.0)]));
        let notable = NotableItems::of(&report, |index| index.to_string());
        let told = ExperimentFinished::of(0, &report, &notable, None);
        let told = ExperimentFinished { unsaved: Some("the disk is full".to_owned()), ..told };
        let experiments = vec![FinishedExperiment::read(&told)];
        let mut state = RunState::default();
        state.apply(&Event::ExperimentFinished(Box::new(told)));
        let results = state.into_results(experiments);
        assert_eq!(verdict(&results), "❌ 1 experiment passed, but not all could be run");
        assert_eq!(results.errors, ["the disk is full"]);
    }

    #[test]
    fn what_failed_comes_first() {
        let text = markdown(&results(&[("good", true), ("bad", false), ("fine", true)]));
        let headings: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("### `")).collect();
        let names: Vec<_> = headings.iter().filter_map(|line| line.split('`').next()).collect();
        assert_eq!(names, ["bad", "good", "fine"]);
    }

    #[test]
    fn an_error_in_a_line_is_wrapped_and_one_in_several_keeps_them() {
        assert_eq!(error_text("it `broke`"), "> `` it `broke` ``\n");
        assert_eq!(error_text("a\nb"), "```text\na\nb\n```\n");
    }
}
