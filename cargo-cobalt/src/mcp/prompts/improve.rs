//! `improve-agent`: what failed in the newest run of an experiment, and how to go about it.

use std::fmt::Write as _;

use cobalt_core::names::is_name_of;
use cobalt_core::redact::redacted;
use cobalt_core::report::Report;
use cobalt_core::reporters::figure;
use cobalt_core::wording::count;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::agent::{Declared, declared};
use super::items::{wanting, written};
use super::text::{DATA, LONGEST, Tools, data, name};
use crate::error::Error;
use crate::formats::markdown::{origin, verdict};
use crate::index::RunStatus;
use crate::markdown::cell;
use crate::mcp::past::Past;
use crate::mcp::projects::Project;

pub const NAME: &str = "improve-agent";
/// The most bytes of the function that declares the experiment.
const LONGEST_SOURCE: usize = 3000;
/// The most rows of a table.
const MOST_ROWS: usize = 15;
/// The most other experiments that are named.
const MOST_OTHERS: usize = 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// The experiment's name; else that of the newest run that did not pass or, where all did, of the newest run.
    experiment: Option<String>,
    /// The run to go by, in place of the newest: its id or the beginning of it, `latest~2`, or a git revision.
    run_id: Option<String>,
    /// The score from 0 to 1 that every item is to reach; else the experiment's thresholds and pass marks are the aim.
    threshold: Option<String>,
    /// The project, by its name or folder; may be left out where only one is served.
    project: Option<String>,
}

impl super::text::Arguments for Arguments {
    fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    fn write(&self, project: &Project, tools: &Tools) -> Result<String, Error> {
        let aim = self.threshold.as_deref().map(aim).transpose()?;
        let past = Past::of(project)?;
        if let Some(run) = &self.run_id {
            let report = past.find(run)?.report;
            let is_other = |experiment: &&String| !is_name_of(experiment, &report.name);
            if let Some(experiment) = self.experiment.as_ref().filter(is_other) {
                return Err(Error::Arguments(format!(
                    "`runId`: run `{}` is of experiment `{}`, not of `{experiment}`; leave `experiment` out",
                    report.id, report.name
                )));
            }
            return Ok(text(project, tools, &past, &report, "The run", aim));
        }
        let Some(experiment) = self.experiment.clone().or_else(|| in_need(&past)) else {
            return Ok(without_runs(project, tools));
        };
        let report = past.find(&format!("{experiment}@latest"))?.report;
        Ok(text(project, tools, &past, &report, "Its newest whole run", aim))
    }
}

/// Reads the score that is aimed at.
fn aim(typed: &str) -> Result<f64, Error> {
    let aim = typed.trim().parse().ok().filter(|aim| (0.0..=1.0).contains(aim));
    aim.ok_or_else(|| {
        Error::Arguments(format!(
            "`threshold`: expected a score from 0 to 1, such as 0.85, and found `{typed}`"
        ))
    })
}

/// The experiment whose newest whole run did not pass, the newest of them; else that of the newest run.
fn in_need(past: &Past) -> Option<String> {
    let experiments = newest(past);
    let failed = experiments.iter().find(|(_, status)| *status != RunStatus::Passed);
    Some(failed.or_else(|| experiments.first())?.0.to_owned())
}

/// The experiments with what became of their newest whole runs, that of the newest run first.
fn newest(past: &Past) -> Vec<(&str, RunStatus)> {
    let mut newest: Vec<(&str, RunStatus)> = Vec::new();
    for run in past.whole() {
        if !newest.iter().any(|(name, _)| *name == run.name) {
            newest.push((&run.name, run.status));
        }
    }
    newest
}

/// What is said where nothing has been run.
fn without_runs(project: &Project, tools: &Tools) -> String {
    format!(
        "# Improve an agent\n\nProject {}, in {}. There is no whole run yet, so that nothing is known of its agents.\n\n\
         1. Call {} for the experiments that there are. Where there is none, `cobalt_generate` writes one for an agent.\n\
         2. Call {}.\n\
         3. Ask for this prompt again, or go on with what the run shows: the items that failed, worst first, with their reasons.\n",
        name(&project.name),
        name(&project.root.display().to_string()),
        tools.call("cobalt_list", json!({})),
        tools.call("cobalt_run", json!({})),
    )
}

/// `which` says which run of the experiment it is.
fn text(
    project: &Project,
    tools: &Tools,
    past: &Past,
    report: &Report,
    which: &str,
    aim: Option<f64>,
) -> String {
    let declared = declared(&project.root, report);
    let wanting = wanting(report, aim);
    let mut text = format!(
        "# Improve the agent of the experiment {}\n\nProject {}, in {}.\n{which}: {}; {}.\n",
        name(&report.name),
        name(&project.name),
        name(&project.root.display().to_string()),
        verdict(report),
        origin(report),
    );
    let _ = writeln!(text, "\n**Aim**: {}\n", aim_in_words(report, aim));
    text += &sources(report, declared.as_ref());
    text += &scores(report);
    text += &thresholds(report);
    let steps = steps(tools, report, declared.as_ref(), &others(past, report));
    let title = format!(
        "\n## {} of {} need work, the worst first\n\n",
        wanting.len(),
        count(report.items.len(), "item")
    );
    // What is left is said in a line.
    let room = LONGEST.saturating_sub(text.len() + title.len() + DATA.len() + steps.len() + 400);
    let (items, shown) = written(report, &wanting, room);
    if wanting.is_empty() {
        text += "\nEvery item of this run reaches the aim. Look at latency and cost, or at what the data set does not cover.\n";
    } else {
        text += &title;
        text += DATA;
        text += &items;
    }
    if shown < wanting.len() {
        let rest = tools.call("cobalt_results", json!({ "runId": report.id }));
        let _ = writeln!(
            text,
            "\n{} more are left out here: {rest} reads all items, the worst first.",
            wanting.len() - shown
        );
    }
    text + &steps
}

fn aim_in_words(report: &Report, aim: Option<f64>) -> String {
    match (aim, report.config.thresholds.is_empty()) {
        (Some(aim), _) => {
            format!(
                "every evaluator scores every item at {aim} or above and at its pass mark, and what passes now still does."
            )
        }
        (None, false) => "all thresholds are met, without a new low score.".to_owned(),
        (None, true) => {
            "every item reaches the pass mark of every evaluator, and none is in error.".to_owned()
        }
    }
}

/// Where the experiment and its agent are.
fn sources(report: &Report, declared: Option<&Declared>) -> String {
    let mut text = "## Where the source is\n\n".to_owned();
    match &report.declared_at {
        Some(place) => {
            let _ = writeln!(text, "- The experiment: {}", name(&format!("{}:{}", place.file, place.line)));
        }
        None => {
            text += "- The run does not tell where the experiment is declared: `cobalt_list` or a search for its name does.\n"
        }
    }
    for place in declared.into_iter().flat_map(|declared| &declared.calls) {
        let _ = writeln!(
            text,
            "- It calls {}: {}",
            name(&place.function),
            name(&format!("{}:{}", place.file, place.line))
        );
    }
    if let Some(dataset) = &report.dataset {
        let fetched = dataset.fetched.as_ref().map(|fetch| format!(", fetched at {}", fetch.at));
        let _ = writeln!(text, "- Its data set: {}{}", name(&dataset.source), fetched.unwrap_or_default());
    }
    if let Some(declared) = declared {
        let _ = write!(
            text,
            "\nThe experiment as it is now:\n\n{}",
            data(&redacted(&declared.source), LONGEST_SOURCE)
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
    // The lowest first; without a score at all, before these.
    rows.sort_by(|(.., one), (.., two)| {
        one.map_or(-1.0, |it| it.avg).total_cmp(&two.map_or(-1.0, |it| it.avg))
    });
    let mut text =
        String::from("\n## Scores\n\n| evaluator | mean | lowest | pass mark |\n|---|--:|--:|--:|\n");
    for (evaluator, mark, stats) in rows.iter().take(MOST_ROWS) {
        let [mean, lowest] =
            stats.map_or(["no score".to_owned(), String::new()], |it| [figure(it.avg), figure(it.min)]);
        let _ = writeln!(text, "| {} | {mean} | {lowest} | {mark} |", cell(&name(evaluator)));
    }
    if rows.len() > MOST_ROWS {
        let _ = writeln!(text, "\nand {} more evaluators with higher means.", rows.len() - MOST_ROWS);
    }
    text
}

/// The thresholds, those that did not pass first.
fn thresholds(report: &Report) -> String {
    let mut all: Vec<_> = report.thresholds().iter().collect();
    if all.is_empty() {
        return String::new();
    }
    all.sort_by_key(|threshold| threshold.passed);
    let mut text = String::from("\n## Thresholds\n\n| threshold | found | passed |\n|---|--:|---|\n");
    for threshold in all.iter().take(MOST_ROWS) {
        let found = threshold.figure.as_deref().unwrap_or("nothing");
        let passed = if threshold.passed { "yes" } else { "**no**" };
        let _ = writeln!(text, "| {} | {found} | {passed} |", cell(&name(&threshold.name)));
    }
    if all.len() > MOST_ROWS {
        let _ = writeln!(text, "\nand {} more.", all.len() - MOST_ROWS);
    }
    text
}

/// The other experiments, and whether they passed.
fn others(past: &Past, report: &Report) -> Vec<String> {
    let others = newest(past).into_iter().filter(|(experiment, _)| *experiment != report.name);
    others
        .take(MOST_OTHERS)
        .map(|(experiment, status)| format!("{} ({})", name(experiment), status.as_str()))
        .collect()
}

fn steps(tools: &Tools, report: &Report, declared: Option<&Declared>, others: &[String]) -> String {
    let place = declared.and_then(|declared| declared.calls.first());
    let read = match place {
        Some(place) => format!(
            "Read {} and what it calls, down to the model's prompt if there is one.",
            name(&place.file)
        ),
        None => "Read the experiment and the functions that it calls: one of them is the agent.".to_owned(),
    };
    let results = tools.call("cobalt_results", json!({ "runId": report.id }));
    let run = tools.run(&report.name);
    let compare =
        tools.call("cobalt_compare", json!({ "runA": report.id, "runB": format!("{}@latest", report.name) }));
    let others = match others {
        [] => String::new(),
        others => {
            format!("\nOther experiments of this project, which must not suffer: {}.\n", others.join(", "))
        }
    };
    format!(
        "\n## What to do\n\n\
         1. {read} {results} has the items whole, the worst first.\n\
         2. Find what the items have in common. What is in error (network, key, judge) is no low score: mend or report it first.\n\
         3. Make one change to the agent that mends the cause for all such inputs. Do not change the data set, the evaluators, pass \
         marks or thresholds to get there, and write no item's answer into the agent.\n\
         4. Call {run}. Errors of the compiler come back with file and line.\n\
         5. Call {compare}. Trust its verdicts (`better`, `worse`, `within-noise`, `inconclusive`) rather than the difference of two \
         means, and look at the items that became worse.\n\
         6. Go on until the aim is reached, or say what keeps it from being reached. Report what was changed, and the comparison of \
         the first run with the last.\n{others}"
    )
}
