//! `improve-agent`: what failed in the newest run of an experiment, and how to fix it.

use std::fmt::Write as _;

use cobalt_core::experiment_name::matches_name;
use cobalt_core::redact::redacted;
use cobalt_core::report::Report;
use cobalt_core::reporters::format_score;
use cobalt_core::store::ReportFile;
use cobalt_core::wording::{count, group_thousands};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::agent::{ExperimentSource, find_experiment};
use super::failing_items::{items_below_target, render_fitting};
use super::text::{DATA_WARNING, MAX_PROMPT, ToolCallWriter, fenced_data, inline_name};
use crate::error::Error;
use crate::formats::markdown::{result_label, run_identity, verdict};
use crate::index::RunStatus;
use crate::markdown::escape_cell;
use crate::mcp::past_runs::PastRuns;
use crate::mcp::projects::Project;

pub const NAME: &str = "improve-agent";
/// The maximum size of the experiment's source, in bytes.
const LONGEST_SOURCE: usize = 3000;
/// The maximum number of rows in a table.
const MOST_ROWS: usize = 15;
/// The maximum number of other experiments.
const MOST_OTHERS: usize = 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// Experiment name. Default: the one whose newest run did not pass or, if all passed, the one run last.
    experiment: Option<String>,
    /// Run to use instead of the newest: run ID or ID prefix, `latest~2`, or git revision.
    run_id: Option<String>,
    /// Target score from 0 to 1 for every item. Default: the experiment's thresholds and pass marks.
    threshold: Option<String>,
    /// Project name or folder. Optional if only one project is served.
    project: Option<String>,
}

impl super::text::Arguments for Arguments {
    fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    fn write(&self, project: &Project, tools: &ToolCallWriter) -> Result<String, Error> {
        let aim = self.threshold.as_deref().map(parse_target_score).transpose()?;
        let past = PastRuns::open(project)?;
        if let Some(run) = &self.run_id {
            let found = past.find(run)?;
            let report = found.report();
            let is_other = |experiment: &&String| !matches_name(experiment, &report.name);
            if let Some(experiment) = self.experiment.as_ref().filter(is_other) {
                return Err(Error::Arguments(format!(
                    "`runId`: run `{}` belongs to experiment `{}`, not to `{experiment}`; omit `experiment`",
                    report.id, report.name
                )));
            }
            return text(project, tools, &past, &found.file, "The run", aim);
        }
        let Some(experiment) = self.experiment.clone().or_else(|| default_experiment(&past)) else {
            return Ok(without_runs(project, tools));
        };
        let found = past.find(&format!("{experiment}@latest"))?;
        text(project, tools, &past, &found.file, "Its newest complete run", aim)
    }
}

/// Parses the target score.
fn parse_target_score(typed: &str) -> Result<f64, Error> {
    let aim = typed.trim().parse().ok().filter(|aim| (0.0..=1.0).contains(aim));
    aim.ok_or_else(|| {
        Error::Arguments(format!("`threshold` is `{typed}`: expected a score from 0 to 1, such as 0.85"))
    })
}

/// The experiment whose newest complete run did not pass (the most recent one), or that of the newest run.
fn default_experiment(past: &PastRuns) -> Option<String> {
    let experiments = newest_statuses(past);
    let failed = experiments.iter().find(|(_, status)| *status != RunStatus::Passed);
    Some(failed.or_else(|| experiments.first())?.0.to_owned())
}

/// The experiments with the status of their newest complete run, that of the newest run first.
fn newest_statuses(past: &PastRuns) -> Vec<(&str, RunStatus)> {
    let mut newest: Vec<(&str, RunStatus)> = Vec::new();
    for run in past.whole_runs() {
        if !newest.iter().any(|(name, _)| *name == run.name) {
            newest.push((&run.name, run.status));
        }
    }
    newest
}

/// The prompt if nothing has been run.
fn without_runs(project: &Project, tools: &ToolCallWriter) -> String {
    format!(
        "# Improve an agent\n\nProject {}, in {}. There is no complete run yet, so nothing is known about its agents.\n\n\
         1. Call {} for the existing experiments. If there are none, `cobalt_generate` writes one for an agent.\n\
         2. Call {}.\n\
         3. Request this prompt again, or continue with the run's failed items, worst first, and their reasons.\n",
        inline_name(&project.name),
        inline_name(&project.root.display().to_string()),
        tools.call("cobalt_list", json!({})),
        tools.call("cobalt_run", json!({})),
    )
}

/// `which` describes the run.
fn text(
    project: &Project,
    tools: &ToolCallWriter,
    past: &PastRuns,
    file: &ReportFile,
    which: &str,
    aim: Option<f64>,
) -> Result<String, Error> {
    let report = file.report();
    let declared = find_experiment(&project.root, report);
    let wanting = items_below_target(file, aim)?;
    let mut text = format!(
        "# Improve the agent of the experiment {}\n\nProject {}, in {}.\n{which}: {}; {}.\n",
        inline_name(&report.name),
        inline_name(&project.name),
        inline_name(&project.root.display().to_string()),
        verdict(report),
        run_identity(report),
    );
    let _ = writeln!(text, "\n**Goal**: {}\n", goal(report, aim));
    text += &sources(report, declared.as_ref());
    text += &scores(report);
    text += &thresholds(report);
    let steps = steps(tools, report, declared.as_ref(), &others(past, report));
    let title = format!(
        "\n## {} of {} need work, worst first\n\n",
        group_thousands(wanting.len() as u64),
        count(file.item_count(), "item")
    );
    // Reserve room for the line on the remaining items.
    let room = MAX_PROMPT.saturating_sub(text.len() + title.len() + DATA_WARNING.len() + steps.len() + 400);
    let (items, shown) = render_fitting(file, &wanting, aim, room)?;
    if wanting.is_empty() {
        text += "\nEvery item of this run reaches the goal. Look at latency and agent cost, or at what the dataset does not cover.\n";
    } else {
        text += &title;
        text += DATA_WARNING;
        text += &items;
    }
    if shown < wanting.len() {
        let rest = tools.call("cobalt_results", json!({ "runId": report.id }));
        let _ = writeln!(
            text,
            "\n{} more not shown; to read all items, worst first: {rest}.",
            wanting.len() - shown
        );
    }
    Ok(text + &steps)
}

fn goal(report: &Report, aim: Option<f64>) -> String {
    match (aim, report.config.thresholds.is_empty()) {
        (Some(aim), _) => {
            format!(
                "every item scores at least {aim} with every evaluator and reaches every pass mark, and what passes now still does."
            )
        }
        (None, false) => "all thresholds are met, and no new score is below a pass mark.".to_owned(),
        (None, true) => {
            "every item reaches the pass mark of every evaluator, and none is in error.".to_owned()
        }
    }
}

/// The locations of the experiment and its agent.
fn sources(report: &Report, declared: Option<&ExperimentSource>) -> String {
    let mut text = "## Source\n\n".to_owned();
    match &report.declared_at {
        Some(place) => {
            let _ =
                writeln!(text, "- Experiment: {}", inline_name(&format!("{}:{}", place.file, place.line)));
        }
        None => {
            text += "- The run does not record where the experiment is declared: use `cobalt_list` or search for its name.\n"
        }
    }
    for place in declared.into_iter().flat_map(|declared| &declared.calls) {
        let _ = writeln!(
            text,
            "- Calls {}: {}",
            inline_name(&place.function),
            inline_name(&format!("{}:{}", place.file, place.line))
        );
    }
    if let Some(dataset) = &report.dataset {
        let fetched = dataset.fetched.as_ref().map(|fetch| format!(", fetched at {}", fetch.at));
        let _ = writeln!(text, "- Dataset: {}{}", inline_name(&dataset.source), fetched.unwrap_or_default());
    }
    if let Some(declared) = declared {
        let _ = write!(
            text,
            "\nCurrent source of the experiment:\n\n{}",
            fenced_data(&redacted(&declared.source), LONGEST_SOURCE)
        );
    }
    text
}

fn scores(report: &Report) -> String {
    let mut rows: Vec<_> = report
        .config
        .evaluators()
        .map(|(name, mark)| (name, mark, report.summary.scores.get(name)))
        .collect();
    // Evaluators without a score first, then the lowest mean.
    rows.sort_by(|(.., one), (.., two)| {
        one.map_or(-1.0, |it| it.avg).total_cmp(&two.map_or(-1.0, |it| it.avg))
    });
    let mut text =
        String::from("\n## Scores\n\n| evaluator | mean | lowest | pass mark |\n|---|--:|--:|--:|\n");
    for (evaluator, mark, stats) in rows.iter().take(MOST_ROWS) {
        let [mean, lowest] = stats.map_or(["no score".to_owned(), String::new()], |it| {
            [format_score(it.avg), format_score(it.min)]
        });
        let _ = writeln!(text, "| {} | {mean} | {lowest} | {mark} |", escape_cell(&inline_name(evaluator)));
    }
    if rows.len() > MOST_ROWS {
        let _ = writeln!(text, "\nand {} more evaluators with higher means.", rows.len() - MOST_ROWS);
    }
    text
}

/// The thresholds, missed ones first.
fn thresholds(report: &Report) -> String {
    let mut all: Vec<_> = report.thresholds().iter().collect();
    if all.is_empty() {
        return String::new();
    }
    all.sort_by_key(|threshold| threshold.passed);
    let mut text = String::from("\n## Thresholds\n\n| threshold | actual | result |\n|---|--:|---|\n");
    for threshold in all.iter().take(MOST_ROWS) {
        let found = threshold.figure.as_deref().unwrap_or("none");
        let name = escape_cell(&inline_name(&threshold.name));
        let _ = writeln!(text, "| {name} | {found} | {} |", result_label(threshold));
    }
    if all.len() > MOST_ROWS {
        let _ = writeln!(text, "\nand {} more.", all.len() - MOST_ROWS);
    }
    text
}

/// The other experiments, and whether they passed.
fn others(past: &PastRuns, report: &Report) -> Vec<String> {
    let others = newest_statuses(past).into_iter().filter(|(experiment, _)| *experiment != report.name);
    others
        .take(MOST_OTHERS)
        .map(|(experiment, status)| format!("{} ({})", inline_name(experiment), status.as_str()))
        .collect()
}

fn steps(
    tools: &ToolCallWriter,
    report: &Report,
    declared: Option<&ExperimentSource>,
    others: &[String],
) -> String {
    let place = declared.and_then(|declared| declared.calls.first());
    let read = match place {
        Some(place) => format!(
            "Read {} and what it calls, down to the model's prompt if there is one.",
            inline_name(&place.file)
        ),
        None => "Read the experiment and the functions it calls: one of them is the agent.".to_owned(),
    };
    let results = tools.call("cobalt_results", json!({ "runId": report.id }));
    let run = tools.run(&report.name);
    let compare =
        tools.call("cobalt_compare", json!({ "runA": report.id, "runB": format!("{}@latest", report.name) }));
    let others = match others {
        [] => String::new(),
        others => {
            format!("\nOther experiments of this project, which must not get worse: {}.\n", others.join(", "))
        }
    };
    format!(
        "\n## What to do\n\n\
         1. {read} To read the items in full, worst first: {results}.\n\
         2. Find what the items have in common. An error (network, key, judge) is not a low score: fix or report it first.\n\
         3. Make one change to the agent that fixes the cause for all such inputs. Do not change the dataset, the evaluators, pass \
         marks or thresholds to get there, and do not write any item's answer into the agent.\n\
         4. Call {run}. It returns compiler errors with file and line.\n\
         5. Call {compare}. Trust its verdicts (`better`, `worse`, `within-noise`, `inconclusive`) rather than the difference of two \
         means, and look at the items that regressed.\n\
         6. Continue until the goal is reached, or say what prevents it. Report what you changed, and the comparison of the first run \
         with the last.\n{others}"
    )
}
