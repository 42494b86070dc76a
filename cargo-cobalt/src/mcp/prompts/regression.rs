//! `regression-check`: the newest run of each experiment against the one before it, compared already.

use std::fmt::Write as _;

use cobalt::Report;
use cobalt::config::Config;
use cobalt::report::Measurements;
use cobalt::report::comparison::{Comparison, Difference, RegressedItem, Verdict, compare};
use cobalt::reporters::figure;
use cobalt::wording::{count, cut};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::items::known;
use super::text::{DATA, LONGEST, Tools, name};
use crate::compare::markdown::{headline, table};
use crate::error::Error;
use crate::markdown::sentence;
use crate::mcp::past::Past;
use crate::mcp::projects::Project;

pub(super) const NAME: &str = "regression-check";
/// The most experiments that are gone into.
const MOST_EXPERIMENTS: usize = 6;
/// The most rows of a table of differences.
const MOST_ROWS: usize = 10;
/// The most regressed items of an experiment that are named.
const MOST_NAMED: usize = 10;
/// The most bytes of what one run made of an item.
const LONGEST_SIDE: usize = 1000;
/// The longest note on a comparison, in characters.
const LONGEST_NOTE: usize = 300;
/// So many bytes are kept for what comes after the comparisons.
const REST: usize = 2500;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// The experiment's name; else all that have two runs.
    experiment: Option<String>,
    /// What the newest run is held against: a run's id, `latest~2`, or a git revision such as `main`; else the run before it.
    baseline: Option<String>,
    /// The project, by its name or folder; may be left out where only one is served.
    project: Option<String>,
}

impl super::Arguments for Arguments {
    fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    fn write(&self, project: &Project, tools: &Tools) -> Result<String, Error> {
        let (past, settings) = (Past::of(project)?, project.settings()?);
        let mut text = format!(
            "# Check for regressions\n\nProject {}, in {}.\n",
            name(&project.name),
            name(&project.root.display().to_string())
        );
        let pairs = self.pairs(&past)?;
        if pairs.is_empty() {
            text += &too_few(tools, &past);
            return Ok(text);
        }
        text += DATA;
        let mut without: Vec<&str> = past.experiments();
        without.retain(|experiment| !pairs.iter().any(|[_, newest]| newest.name == **experiment));
        let shown = pairs.iter().take(MOST_EXPERIMENTS);
        for (index, [base, newest]) in shown.clone().enumerate() {
            let room = LONGEST.saturating_sub(text.len() + REST) / (shown.len() - index);
            text += &section(&settings, tools, base, newest, room);
        }
        text += &left_out(&pairs[shown.len()..], if self.experiment.is_some() { &[] } else { &without });
        Ok(text + &steps(tools, &pairs))
    }
}

impl Arguments {
    /// The runs that are held against each other: the earlier one, then the newest.
    fn pairs(&self, past: &Past) -> Result<Vec<[Report; 2]>, Error> {
        let baseline = self.baseline.as_deref();
        match (&self.experiment, baseline) {
            (Some(experiment), baseline) => {
                let newest = past.find(&format!("{experiment}@latest"))?.report;
                let Some(base) = earlier(past, experiment, baseline)? else { return Ok(Vec::new()) };
                Ok(vec![[base, newest]])
            }
            (None, Some(baseline)) => {
                let base = past.find(baseline)?.report;
                let newest = past.find(&format!("{}@latest", base.name))?.report;
                Ok(vec![[base, newest]])
            }
            (None, None) => {
                let mut pairs = Vec::new();
                for experiment in past.experiments() {
                    if let Some(base) = earlier(past, experiment, None)? {
                        pairs.push([base, past.find(&format!("{experiment}@latest"))?.report]);
                    }
                }
                Ok(pairs)
            }
        }
    }
}

/// The run of an experiment that the newest one is held against; none where it has one run alone.
fn earlier(past: &Past, experiment: &str, baseline: Option<&str>) -> Result<Option<Report>, Error> {
    let Some(baseline) = baseline else {
        let runs = past.runs();
        let runs = runs.iter().filter(|run| !run.is_partial && run.run.name == experiment).count();
        return if runs < 2 {
            Ok(None)
        } else {
            Ok(Some(past.find(&format!("{experiment}@latest~1"))?.report))
        };
    };
    // A count or a revision may be meant, of this experiment; an id is of one already.
    let of_it = past.find(&format!("{experiment}@{baseline}"));
    Ok(Some(of_it.or_else(|error| past.find(baseline).map_err(|_| error))?.report))
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

/// What became of an experiment, in so many bytes as far as items go.
fn section(settings: &Config, tools: &Tools, base: &Report, newest: &Report, room: usize) -> String {
    let [before, after] = [base, newest].map(|report| Measurements::of(report, settings.prices()));
    let Some(comparison) = compare(&before, &[&after]).pop() else { return String::new() };
    let mut text = format!("\n## {}\n\n", name(&newest.name));
    let of = |report: &Report| {
        format!("run {} of {}", name(&report.id), &report.timestamp.to_string()[..16].replace('T', " "))
    };
    let _ = writeln!(
        text,
        "{} against {}: {} in both.",
        of(newest),
        of(base),
        count(comparison.items.matched, "item")
    );
    if base.id == newest.id {
        text += "\nThe baseline is the newest run itself: run anew first.\n";
        return text;
    }
    if comparison.items.matched == 0 {
        text += "\nThe runs have no item in common, and cannot be compared.\n";
        return text;
    }
    let _ = writeln!(text, "\n**{}**", bounded_headline(&comparison));
    for note in comparison.notes.iter().take(3) {
        let _ = writeln!(text, "\n> {}", sentence(&cut(note, LONGEST_NOTE)));
    }
    text += &differences(&comparison);
    text += &regressed(tools, [base, newest], &comparison, room.saturating_sub(text.len()));
    text
}

fn bounded_headline(comparison: &Comparison) -> String {
    if comparison.evaluators.len() > MOST_ROWS {
        let of = |verdict| comparison.evaluators.iter().filter(|it| it.verdict == verdict).count();
        return format!(
            "{} evaluators are worse, {} better, {} inconclusive",
            of(Verdict::Worse),
            of(Verdict::Better),
            of(Verdict::Inconclusive)
        );
    }
    headline(comparison)
}

/// The differences, those that matter most first.
fn differences(comparison: &Comparison) -> String {
    let rank = |difference: &&Difference| match difference.verdict {
        Verdict::Worse => 0,
        Verdict::Better => 1,
        Verdict::Inconclusive => 2,
        Verdict::WithinNoise => 3,
    };
    let mut all: Vec<_> = comparison.evaluators.iter().chain(&comparison.amounts).collect();
    all.sort_by_key(rank);
    let more = all.len().saturating_sub(MOST_ROWS);
    let mut text = table("figure", all.into_iter().take(MOST_ROWS));
    if more > 0 {
        let _ = writeln!(text, "\nand {more} more, of which none is worse than these.");
    }
    text
}

/// The items that became worse, with what both runs made of them as far as there is room.
fn regressed(tools: &Tools, [base, newest]: [&Report; 2], comparison: &Comparison, room: usize) -> String {
    if comparison.regressed.is_empty() {
        return "\nNo item became worse.\n".to_owned();
    }
    let items = tools.call("cobalt_compare", json!({ "runA": base.id, "runB": newest.id }));
    let mut text = format!("\nItems that became worse, the worst first ({items} has all):\n\n");
    for item in comparison.regressed.iter().take(MOST_NAMED) {
        let _ = writeln!(text, "- {}: {}", name(&item.key), change(item));
    }
    for item in comparison.regressed.iter().take(MOST_NAMED) {
        let sides =
            [base, newest].map(|report| Some((report, report.items.iter().find(|it| it.key == item.key)?)));
        let [Some((base, before)), Some((newest, after))] = sides else { continue };
        let next = format!(
            "\n### {}\n\nbefore:\n\n{}\nnow:\n\n{}",
            name(&item.key),
            known(base, before, LONGEST_SIDE),
            known(newest, after, LONGEST_SIDE)
        );
        if text.len() + next.len() > room {
            break;
        }
        text += &next;
    }
    text
}

/// How an item became worse.
fn change(item: &RegressedItem) -> String {
    let score = |score: Option<f64>| score.map_or("no score".to_owned(), figure);
    let fallen = item
        .scores
        .iter()
        .take(3)
        .map(|it| format!("{} {} → {}", name(&it.evaluator), score(it.base), score(it.other)));
    let failed = item.failed.then(|| "in error now".to_owned());
    failed.into_iter().chain(fallen).collect::<Vec<_>>().join(", ")
}

/// What is not gone into.
fn left_out(pairs: &[[Report; 2]], without: &[&str]) -> String {
    let mut text = String::new();
    let names = |names: Vec<String>| {
        let more = names.len().saturating_sub(MOST_NAMED);
        let shown = names.into_iter().take(MOST_NAMED).collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    };
    if !pairs.is_empty() {
        let all = pairs.iter().map(|[_, newest]| name(&newest.name)).collect();
        let _ = writeln!(text, "\nNot gone into here: {}; ask for this prompt with one of them.", names(all));
    }
    if !without.is_empty() {
        let all = without.iter().map(|experiment| name(experiment)).collect();
        let _ = writeln!(text, "\nOf one whole run alone, with nothing to be held against: {}.", names(all));
    }
    text
}

fn steps(tools: &Tools, pairs: &[[Report; 2]]) -> String {
    let mut runs = String::new();
    for [_, newest] in pairs.iter().take(MOST_EXPERIMENTS) {
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
