//! `regression-check`: compares the newest run of each experiment with the previous one.

use std::collections::HashMap;
use std::fmt::Write as _;

use cobalt_core::experiment_name::{find_declared, matches_name};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::difference::section;
use super::text::{DATA_WARNING, MAX_PROMPT, ToolCallWriter, inline_name};
use crate::error::{Error, ErrorKind};
use crate::mcp::past_runs::{LoadedRun, PastRuns};
use crate::mcp::projects::Project;

pub const NAME: &str = "regression-check";
/// The default run A: the run before the newest.
const DEFAULT_RUN_A: &str = "latest~1";
/// The maximum number of experiments that are compared.
const MOST_EXPERIMENTS: usize = 6;
/// The maximum number of experiments that are named.
const MOST_NAMED: usize = 10;
/// The bytes reserved for the text after the comparisons.
const RESERVED: usize = 2500;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// Experiment name. Default: all with two runs.
    experiment: Option<String>,
    /// Run A, which the newest is compared with: run ID, `latest~2`, or git revision such as `main`. Default: the run before the newest.
    baseline: Option<String>,
    /// Same as `baseline`.
    baseline_run_id: Option<String>,
    /// Run B, instead of the newest run: run ID, ID prefix or another run name.
    current_run_id: Option<String>,
    /// Project name or folder. Optional if only one project is served.
    project: Option<String>,
}

impl super::text::Arguments for Arguments {
    fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    fn write(&self, project: &Project, tools: &ToolCallWriter) -> Result<String, Error> {
        let past = PastRuns::open(project)?;
        let mut text = format!(
            "# Check for regressions\n\nProject {}, in {}.\n",
            inline_name(&project.name),
            inline_name(&project.root.display().to_string())
        );
        let chosen = self.select(&past)?;
        if chosen.pairs.is_empty() {
            text += &nothing_to_compare(tools, &past);
            return Ok(text);
        }
        text += DATA_WARNING;
        for (index, [base, newest]) in chosen.pairs.iter().enumerate() {
            let room = MAX_PROMPT.saturating_sub(text.len() + RESERVED) / (chosen.pairs.len() - index);
            text += &section(&past, tools, [base, newest], room)?;
        }
        text += &left_out(&chosen);
        Ok(text + &steps(tools, &chosen.pairs))
    }
}

/// The experiments of the report.
#[derive(Debug, Default)]
struct Selection<'a> {
    /// The runs to compare: the earlier one, then the newest.
    pairs: Vec<[LoadedRun; 2]>,
    /// The experiments that do not fit.
    omitted: Vec<&'a str>,
    /// The experiments without a run to compare with.
    without_baseline: Vec<&'a str>,
}

impl Arguments {
    fn select<'a>(&self, past: &'a PastRuns) -> Result<Selection<'a>, Error> {
        let baseline = match (self.baseline.as_deref(), self.baseline_run_id.as_deref()) {
            (Some(_), Some(_)) => {
                let both = "`baseline` and `baselineRunId` mean the same: pass only one of them";
                return Err(Error::Arguments(both.to_owned()));
            }
            (baseline, run) => baseline.or(run),
        };
        if let Some(current) = &self.current_run_id {
            let Some(baseline) = baseline else {
                let needs = "`currentRunId` needs a run to compare with: pass its ID as `baselineRunId`";
                return Err(Error::Arguments(needs.to_owned()));
            };
            let pair = past.find_two([baseline, current])?;
            let newest = pair[1].report();
            let is_other = |experiment: &&String| !matches_name(experiment, &newest.name);
            if let Some(experiment) = self.experiment.as_ref().filter(is_other) {
                return Err(Error::Arguments(format!(
                    "`currentRunId`: run `{}` belongs to experiment `{}`, not to `{experiment}`; omit `experiment`",
                    newest.id, newest.name
                )));
            }
            return Ok(Selection { pairs: vec![pair], ..Selection::default() });
        }
        let counts = whole_runs(past);
        let is_alone = |typed: &str| {
            let experiment = find_declared(typed, counts.keys().copied());
            experiment.and_then(|experiment| counts.get(experiment)) == Some(&1)
        };
        let of_one = |pair| Selection { pairs: vec![pair], ..Selection::default() };
        match (&self.experiment, baseline) {
            (Some(experiment), None) if is_alone(experiment) => Ok(Selection::default()),
            (Some(experiment), baseline) => {
                pair(past, experiment, baseline.unwrap_or(DEFAULT_RUN_A)).map(of_one)
            }
            // An ID belongs to one experiment; other names may match a run of each.
            (None, Some(baseline)) if past.has_id(baseline) => {
                let experiment = past.find(baseline)?.report().name.clone();
                pair(past, &experiment, baseline).map(of_one)
            }
            (None, Some(baseline)) => pair_all(past, baseline, |_| false),
            (None, None) => pair_all(past, DEFAULT_RUN_A, is_alone),
        }
    }
}

/// Pairs all experiments with a baseline, except those known to be `alone`.
fn pair_all<'a>(
    past: &'a PastRuns,
    baseline: &str,
    alone: impl Fn(&str) -> bool,
) -> Result<Selection<'a>, Error> {
    let (mut chosen, mut missing) = (Selection::default(), None);
    for experiment in past.experiments() {
        match chosen.pairs.len() {
            _ if alone(experiment) => chosen.without_baseline.push(experiment),
            MOST_EXPERIMENTS.. => chosen.omitted.push(experiment),
            _ => match pair(past, experiment, baseline) {
                Ok(pair) => chosen.pairs.push(pair),
                Err(error) if error.kind() == ErrorKind::NothingMatched => {
                    chosen.without_baseline.push(experiment);
                    missing = missing.or(Some(error));
                }
                Err(error) => return Err(error),
            },
        }
    }
    match missing {
        Some(error) if chosen.pairs.is_empty() => Err(error),
        _ => Ok(chosen),
    }
}

/// An experiment's baseline run, and its newest run.
fn pair(past: &PastRuns, experiment: &str, baseline: &str) -> Result<[LoadedRun; 2], Error> {
    past.find_two([baseline, &format!("{experiment}@latest")])
}

/// The number of complete runs of each experiment.
fn whole_runs(past: &PastRuns) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for run in past.whole_runs() {
        *counts.entry(&*run.name).or_default() += 1;
    }
    counts
}

/// The text if no experiment has two runs.
fn nothing_to_compare(tools: &ToolCallWriter, past: &PastRuns) -> String {
    let runs = match past.experiments().first() {
        None => "There is no complete run yet".to_owned(),
        Some(_) => "There is nothing to compare yet: an experiment needs two complete runs".to_owned(),
    };
    let before = match past.experiments().first() {
        None => format!(
            "Call {} to record the current behaviour; later runs are compared with it.",
            tools.call("cobalt_run", json!({}))
        ),
        Some(_) => "The existing runs show the previous behaviour.".to_owned(),
    };
    format!(
        "\n{runs}.\n\n1. {before}\n2. After a change, call {}.\n3. Call {} for each experiment, or request this prompt again.\n",
        tools.call("cobalt_run", json!({})),
        tools.call("cobalt_compare", json!({ "runA": "EXPERIMENT@latest~1", "runB": "EXPERIMENT@latest" })),
    )
}

/// The experiments that were not compared.
fn left_out(chosen: &Selection<'_>) -> String {
    let names = |experiments: &[&str]| {
        let more = experiments.len().saturating_sub(MOST_NAMED);
        let shown = experiments.iter().take(MOST_NAMED).map(|experiment| inline_name(experiment));
        let shown = shown.collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    };
    let mut text = String::new();
    if !chosen.omitted.is_empty() {
        let further = names(&chosen.omitted);
        let _ =
            writeln!(text, "\nNot shown: {further}; request this prompt with one of them as `experiment`.");
    }
    if !chosen.without_baseline.is_empty() {
        let alone = names(&chosen.without_baseline);
        let _ = writeln!(text, "\nNot compared, as they have no earlier run: {alone}.");
    }
    text
}

fn steps(tools: &ToolCallWriter, pairs: &[[LoadedRun; 2]]) -> String {
    let mut runs = String::new();
    for [_, newest] in pairs {
        let newest = newest.report();
        let compare = tools
            .call("cobalt_compare", json!({ "runA": newest.id, "runB": format!("{}@latest", newest.name) }));
        let _ = writeln!(runs, "   - {}, then {compare}", tools.run(&newest.name));
    }
    format!(
        "\n## What to do\n\n\
         1. If the source has changed since these runs, run again and compare the new run with the newest one shown here:\n{runs}\
         2. Trust the verdicts (`better`, `worse`, `within-noise`, `inconclusive`) rather than the difference of two means. If one is \
         inconclusive, add items or raise `runs` (trials per item).\n\
         3. For each regression, find the cause: the source changes between the two commits (`git diff`), and what the regressed items \
         have in common.\n\
         4. Report which experiments are worse, better or unchanged, and in which items. Propose a fix for each cause. Do not lower \
         thresholds, remove items or update a baseline to make a run pass.\n"
    )
}
