//! `regression-check`: the newest run of each experiment against the one before it, compared already.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use cobalt_core::names::{find, is_name_of};
use cobalt_core::report::Report;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::difference::section;
use super::text::{DATA, LONGEST, Tools, name};
use crate::error::{Error, ErrorKind};
use crate::mcp::past::Past;
use crate::mcp::projects::Project;

pub const NAME: &str = "regression-check";
/// The baseline where none is named: the run before the newest.
const BEFORE: &str = "latest~1";
/// The most experiments that are gone into.
const MOST_EXPERIMENTS: usize = 6;
/// The most experiments that are named.
const MOST_NAMED: usize = 10;
/// So many bytes are kept for what comes after the comparisons.
const REST: usize = 2500;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// The experiment's name; else all that have two runs.
    experiment: Option<String>,
    /// What the newest run is held against: a run's id, `latest~2`, or a git revision such as `main`; else the run before it.
    baseline: Option<String>,
    /// The same as `baseline`: the earlier run.
    baseline_run_id: Option<String>,
    /// The run that is compared with the baseline, in place of the newest: its id or the beginning of it, or another name.
    current_run_id: Option<String>,
    /// The project, by its name or folder; may be left out where only one is served.
    project: Option<String>,
}

impl super::text::Arguments for Arguments {
    fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    fn write(&self, project: &Project, tools: &Tools) -> Result<String, Error> {
        let past = Past::of(project)?;
        let mut text = format!(
            "# Check for regressions\n\nProject {}, in {}.\n",
            name(&project.name),
            name(&project.root.display().to_string())
        );
        let chosen = self.chosen(&past)?;
        if chosen.pairs.is_empty() {
            text += &too_few(tools, &past);
            return Ok(text);
        }
        text += DATA;
        for (index, [base, newest]) in chosen.pairs.iter().enumerate() {
            let room = LONGEST.saturating_sub(text.len() + REST) / (chosen.pairs.len() - index);
            text += &section(&past, tools, base, newest, room);
        }
        text += &left_out(&chosen);
        Ok(text + &steps(tools, &chosen.pairs))
    }
}

/// The experiments that are told of.
#[derive(Debug, Default)]
struct Chosen<'a> {
    /// The runs that are compared: the earlier one, then the newest.
    pairs: Vec<[Arc<Report>; 2]>,
    /// The experiments that there is no room for.
    further: Vec<&'a str>,
    /// The experiments that have no run to be held against.
    alone: Vec<&'a str>,
}

impl Arguments {
    fn chosen<'a>(&self, past: &'a Past) -> Result<Chosen<'a>, Error> {
        let baseline = match (self.baseline.as_deref(), self.baseline_run_id.as_deref()) {
            (Some(_), Some(_)) => {
                let both = "`baseline` and `baselineRunId` are the same: give one of them";
                return Err(Error::Arguments(both.to_owned()));
            }
            (baseline, run) => baseline.or(run),
        };
        if let Some(current) = &self.current_run_id {
            let Some(baseline) = baseline else {
                let needs = "`currentRunId` is compared with another run: give its id as `baselineRunId`";
                return Err(Error::Arguments(needs.to_owned()));
            };
            let pair = past.find_two([baseline, current])?.map(|found| found.report);
            let is_other = |experiment: &&String| !is_name_of(experiment, &pair[1].name);
            if let Some(experiment) = self.experiment.as_ref().filter(is_other) {
                return Err(Error::Arguments(format!(
                    "`currentRunId`: run `{}` is of experiment `{}`, not of `{experiment}`; leave `experiment` out",
                    pair[1].id, pair[1].name
                )));
            }
            return Ok(Chosen { pairs: vec![pair], ..Chosen::default() });
        }
        let counts = whole_runs(past);
        let is_alone = |typed: &str| {
            let experiment = find(typed, counts.keys().copied());
            experiment.and_then(|experiment| counts.get(experiment)) == Some(&1)
        };
        let of_one = |pair| Chosen { pairs: vec![pair], ..Chosen::default() };
        match (&self.experiment, baseline) {
            (Some(experiment), None) if is_alone(experiment) => Ok(Chosen::default()),
            (Some(experiment), baseline) => pair(past, experiment, baseline.unwrap_or(BEFORE)).map(of_one),
            // An id is of one experiment; other names may mean a run of each.
            (None, Some(baseline)) if past.has_id(baseline) => {
                let experiment = past.find(baseline)?.report.name.clone();
                pair(past, &experiment, baseline).map(of_one)
            }
            (None, Some(baseline)) => all(past, baseline, |_| false),
            (None, None) => all(past, BEFORE, is_alone),
        }
    }
}

/// All experiments against a baseline, but for those that are known to be `alone`.
fn all<'a>(past: &'a Past, baseline: &str, alone: impl Fn(&str) -> bool) -> Result<Chosen<'a>, Error> {
    let (mut chosen, mut missing) = (Chosen::default(), None);
    for experiment in past.experiments() {
        match chosen.pairs.len() {
            _ if alone(experiment) => chosen.alone.push(experiment),
            MOST_EXPERIMENTS.. => chosen.further.push(experiment),
            _ => match pair(past, experiment, baseline) {
                Ok(pair) => chosen.pairs.push(pair),
                Err(error) if error.kind() == ErrorKind::NothingMatched => {
                    chosen.alone.push(experiment);
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

/// The run of an experiment that a baseline names, and its newest one.
fn pair(past: &Past, experiment: &str, baseline: &str) -> Result<[Arc<Report>; 2], Error> {
    Ok(past.find_two([baseline, &format!("{experiment}@latest")])?.map(|found| found.report))
}

/// How many whole runs there are of each experiment.
fn whole_runs(past: &Past) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for run in past.whole() {
        *counts.entry(&*run.name).or_default() += 1;
    }
    counts
}

/// What is said where no experiment has two runs.
fn too_few(tools: &Tools, past: &Past) -> String {
    let runs = match past.experiments().first() {
        None => "There is no whole run yet".to_owned(),
        Some(_) => "There is nothing to compare yet: an experiment needs two whole runs".to_owned(),
    };
    let before = match past.experiments().first() {
        None => format!(
            "Call {} for what the agents do now: that is what later runs are held against.",
            tools.call("cobalt_run", json!({}))
        ),
        Some(_) => "The runs that there are show what the agents did before.".to_owned(),
    };
    format!(
        "\n{runs}.\n\n1. {before}\n2. After a change, call {}.\n3. Call {} for each experiment, or ask for this prompt again.\n",
        tools.call("cobalt_run", json!({})),
        tools.call("cobalt_compare", json!({ "runA": "EXPERIMENT@latest~1", "runB": "EXPERIMENT@latest" })),
    )
}

/// What is not gone into.
fn left_out(chosen: &Chosen<'_>) -> String {
    let names = |experiments: &[&str]| {
        let more = experiments.len().saturating_sub(MOST_NAMED);
        let shown = experiments.iter().take(MOST_NAMED).map(|experiment| name(experiment));
        let shown = shown.collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    };
    let mut text = String::new();
    if !chosen.further.is_empty() {
        let further = names(&chosen.further);
        let _ = writeln!(text, "\nNot gone into here: {further}; ask for this prompt with one of them.");
    }
    if !chosen.alone.is_empty() {
        let alone = names(&chosen.alone);
        let _ = writeln!(text, "\nNot compared, as there is no run to hold them against: {alone}.");
    }
    text
}

fn steps(tools: &Tools, pairs: &[[Arc<Report>; 2]]) -> String {
    let mut runs = String::new();
    for [_, newest] in pairs {
        let compare = tools
            .call("cobalt_compare", json!({ "runA": newest.id, "runB": format!("{}@latest", newest.name) }));
        let _ = writeln!(runs, "   - {}, then {compare}", tools.run(&newest.name));
    }
    format!(
        "\n## What to do\n\n\
         1. If the source has changed since these runs, run anew, and hold the new run against the newest one that is shown here:\n{runs}\
         2. Trust the verdicts (`better`, `worse`, `within-noise`, `inconclusive`) rather than the difference of two means. Where one is \
         inconclusive, more items or more `runs` of each settle it.\n\
         3. For what is worse, find the cause: the change of the source between the two commits, as `git diff` shows it, and what the \
         items that became worse have in common.\n\
         4. Report which experiments are worse, better or unchanged, and in which items; propose a mend for each cause. Do not lower \
         thresholds, remove items or set a baseline anew to get a run to pass.\n"
    )
}
