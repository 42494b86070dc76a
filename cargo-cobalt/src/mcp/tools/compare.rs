//! `cobalt_compare`: whether one run is better or worse than another, and in which items; and which of up to eight runs is best.

use std::fmt::Write as _;
use std::sync::Arc;

use cobalt_core::prices::PriceTable;
use cobalt_core::report::comparison::{ChangedItems, Comparison, ItemChange, RunIdentity};
use cobalt_core::report::ranking::{RankInput, Ranking, rank};
use cobalt_core::report::{Measurements, TrafficSummary};
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::task::block_in_place;

use super::{ToolContext, ToolResult, define_tool};
use crate::compare::ranking_section;
use crate::compare::view::{ComparisonOutcome, ComparisonView, Headline, ItemView, Row, verdict_rank};
use crate::compare::{changed_items_of, compare_measured, markdown};
use crate::error::Error;
use crate::markdown::{code, sentence};
use crate::mcp::past_runs::{LoadedRun, PastRuns, find_project};
use crate::mcp::projects::Project;
use crate::mcp::view::{self, MAX_STRUCTURED, MAX_TEXT, keep_fitting, size, truncate};

pub const NAME: &str = "cobalt_compare";

/// The maximum size of the ranking in the text, in bytes.
const RANKING_TEXT: usize = 4_000;
/// The maximum number of runs besides run A and run B.
const MAX_OTHER_RUNS: usize = 6;
/// The maximum number of regressed items, and of improved items.
const MOST_ITEMS: usize = 25;
/// The maximum size of an item, in bytes.
const LARGEST_ITEM: usize = 3_500;
/// The maximum size of the differences, and of each list of keys and notes, in bytes.
const DIFFERENCES: usize = 10_000;
const KEYS: usize = 1_500;
/// The longest name and sentence, in bytes.
const NAME_ROOM: usize = 300;
const SENTENCE: usize = 600;
/// The longest item key in a list, in bytes.
const KEY: usize = 60;
/// The longest reason, in bytes.
const REASON: usize = 300;
/// The maximum size of metrics and items in the text, in bytes; each list has half of it.
const FIGURES: usize = 3_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Arguments {
    /// Project name or folder. Optional if only one project is served, or only one has runs with these IDs.
    project: Option<String>,
    /// Run before the change: `latest~1`, `EXPERIMENT@latest~1`, run ID or ID prefix, or git revision.
    run_a: String,
    /// Run after the change, such as `latest`.
    run_b: String,
    /// Up to six further runs, such as other variants. All runs are then ranked as well: the table, the differences beyond noise, and
    /// which is the cheapest that is not worse.
    #[serde(default)]
    other_runs: Vec<String>,
}

/// A comparison of two runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompareResult {
    /// The project of run B.
    project: Project,
    /// The project of run A, if different.
    #[serde(skip_serializing_if = "Option::is_none")]
    base_project: Option<Project>,
    finding: ComparisonOutcome,
    /// The conclusion in a sentence, with the names of the metrics that changed, including latency and agent cost.
    conclusion: String,
    #[serde(flatten)]
    comparison: Comparison,
    /// What was replayed of run A's model traffic; latency and agent cost of replayed items are those of the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    base_traffic: Option<TrafficSummary>,
    /// The same for run B.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_traffic: Option<TrafficSummary>,
    /// Regressed items, largest change first, with the outputs that show the change best.
    #[schemars(with = "Vec<ItemChange>")]
    regressed_items: Vec<Map<String, Value>>,
    /// Total number of regressed items.
    regressed_count: usize,
    /// Improved items, largest change first.
    #[schemars(with = "Vec<ItemChange>")]
    improved_items: Vec<Map<String, Value>>,
    /// Total number of improved items.
    improved_count: usize,
    /// All runs ranked, with the differences beyond noise; present if `otherRuns` were passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranking: Option<Ranking>,
    /// Notes on how the run names were resolved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choice_notes: Vec<String>,
    /// Truncated lists, with the number of missing elements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

pub fn description() -> Tool {
    define_tool::<Arguments, CompareResult>(
        NAME,
        "Compare two runs",
        "Compare two runs: whether the second is better, worse or within noise. Returns each evaluator's difference with \
         confidence interval and p-value over the items in both runs, and the items that regressed or improved. With `otherRuns`, \
         also ranks up to eight runs.",
        ToolAnnotations::new().read_only(true).open_world(false),
    )
}

pub async fn call(call: ToolContext<'_>, arguments: Arguments) -> Result<ToolResult<CompareResult>, Error> {
    // This reads files, and some are large.
    block_in_place(|| compare(call, &arguments))
}

fn compare(call: ToolContext<'_>, arguments: &Arguments) -> Result<ToolResult<CompareResult>, Error> {
    let Arguments { run_a, run_b, other_runs, .. } = arguments;
    if other_runs.len() > MAX_OTHER_RUNS {
        return Err(Error::Arguments(format!(
            "`otherRuns` has {} runs: pass up to {MAX_OTHER_RUNS}, as at most eight runs are ranked",
            other_runs.len()
        )));
    }
    let [(base_project, base_past), (project, past)] = projects(call, arguments)?;
    let [base, other] = match base_project == project {
        true => past.find_two([run_a, run_b])?,
        false => [base_past.find(run_a)?, past.find(run_b)?],
    };
    let others = other_runs.iter().map(|run| past.find(run)).collect::<Result<Vec<_>, _>>()?;
    let measured = [&base, &other].map(|found| found.file.measurements(past.prices()));
    let [before, after] = measured;
    let (before, after) = (before?, after?);
    let mut comparison = compare_measured(&before, &after)?;
    shorten_names(&mut comparison);
    let changed = changed_items_of((&base.file, &before), (&other.file, &after), MOST_ITEMS)?;
    let view = ComparisonView::of(&comparison);
    let (finding, conclusion) = (view.outcome, conclusion(&view));
    let traffic = [&base, &other].map(|found| view::traffic(&found.report().summary));
    let text = text(&view, &conclusion, &traffic, &comparison, &changed);
    let found: Vec<_> = [&base, &other].into_iter().chain(&others).collect();
    let choice_notes: Vec<_> = found.iter().filter_map(|found| found.note.clone()).collect();
    let mut left_out = Vec::new();
    let ranking = match others.is_empty() {
        true => None,
        false => {
            let ranking = rank_reports(&found, [before, after], past.prices())?;
            Some(view::compact_ranking(ranking, &mut left_out))
        }
    };
    let text = match &ranking {
        Some(ranking) => {
            view::first_lines(ranking_section(ranking).trim_start(), RANKING_TEXT) + "\n" + &text
        }
        None => text,
    };
    let base_project = (base_project != project).then(|| (*base_project).clone());
    let structured = CompareResult {
        base_project,
        base_traffic: base.report().summary.traffic.clone(),
        other_traffic: other.report().summary.traffic.clone(),
        ..build_result(
            (*project).clone(),
            (finding, conclusion),
            comparison,
            changed,
            choice_notes,
            (ranking, left_out),
        )
    };
    Ok(ToolResult { structured, text, is_error: false })
}

/// The projects to search for the runs. A name such as `latest` is resolved in the project of the other run.
fn projects(call: ToolContext<'_>, arguments: &Arguments) -> Result<[(Arc<Project>, PastRuns); 2], Error> {
    let Arguments { project, run_a, run_b, .. } = arguments;
    let of = |run: &str| find_project(call.projects, project.as_deref(), run);
    let again = |(project, _): &(Arc<Project>, PastRuns)| {
        Ok::<_, Error>((Arc::clone(project), PastRuns::open(project)?))
    };
    match [of(run_a), of(run_b)] {
        [Ok(base), Ok(other)] => Ok([base, other]),
        [Ok(base), Err(_)] => Ok([again(&base)?, base]),
        [Err(_), Ok(other)] => Ok([again(&other)?, other]),
        [Err(error), Err(_)] => Err(error),
    }
}

/// The comparison, with the items that fit.
fn build_result(
    project: Project,
    (finding, conclusion): (ComparisonOutcome, String),
    mut comparison: Comparison,
    changed: ChangedItems,
    choice_notes: Vec<String>,
    (ranking, mut left_out): (Option<Ranking>, Vec<String>),
) -> CompareResult {
    cut_lists(&mut comparison, &mut left_out);
    let taken = size(&comparison) + size(&conclusion) + size(&ranking);
    let room = MAX_STRUCTURED.saturating_sub(taken + 2_000);
    let regressed_items = items(&changed.regressed, room / 3 * 2);
    let improved_items = items(&changed.improved, room.saturating_sub(size(&regressed_items)));
    CompareResult {
        project,
        base_project: None,
        finding,
        conclusion,
        comparison,
        base_traffic: None,
        other_traffic: None,
        regressed_items,
        regressed_count: changed.regressed_count,
        improved_items,
        improved_count: changed.improved_count,
        ranking,
        choice_notes: choice_notes.iter().map(|note| truncate::text(note, SENTENCE)).collect(),
        left_out,
    }
}

/// Ranks the runs, of which the first two are measured already.
fn rank_reports(
    found: &[&LoadedRun],
    first: [Measurements; 2],
    prices: &PriceTable,
) -> Result<Ranking, Error> {
    let others = found.iter().skip(first.len()).map(|found| found.file.measurements(prices));
    let measured = first.into_iter().map(Ok).chain(others).collect::<Result<Vec<_>, _>>()?;
    let runs = found.iter().zip(&measured);
    let runs: Vec<_> =
        runs.map(|(found, measurements)| RankInput { report: found.report(), measurements }).collect();
    Ok(rank(&runs))
}

fn items(changes: &[ItemChange], room: usize) -> Vec<Map<String, Value>> {
    let mut left = room.saturating_sub(2);
    let items = changes.iter().map(|change| view::change(change, LARGEST_ITEM));
    let fits = |item: &Map<String, Value>| match left.checked_sub(size(item) + 1) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    items.take_while(fits).collect()
}

/// Shortens the names of the runs and metrics.
fn shorten_names(comparison: &mut Comparison) {
    let Comparison { base, other, evaluators, amounts, .. } = comparison;
    for RunIdentity { id, name, git, .. } in [base, other] {
        let commit = git.as_mut().map(|git| &mut git.commit);
        [id, name].into_iter().chain(commit).for_each(|name| *name = truncate::text(name, NAME_ROOM));
    }
    evaluators.iter_mut().chain(amounts).for_each(|it| it.name = truncate::text(&it.name, NAME_ROOM));
}

/// Shortens long lists. Differences beyond noise are kept first.
fn cut_lists(comparison: &mut Comparison, left_out: &mut Vec<String>) {
    // `regressedItems` has more detail.
    comparison.regressed.clear();
    let Comparison { items, notes, asked, evaluators, .. } = comparison;
    let shorten = |texts: &mut Vec<String>, what: &str, left_out: &mut Vec<String>| {
        texts.iter_mut().take(KEYS).for_each(|text| *text = truncate::text(text, SENTENCE));
        keep_fitting(texts, KEYS, what, left_out);
    };
    for (keys, unlisted, what) in [
        (&mut items.changed, &mut items.changed_unlisted, "items.changed"),
        (&mut items.added, &mut items.added_unlisted, "items.added"),
        (&mut items.removed, &mut items.removed_unlisted, "items.removed"),
    ] {
        let all = keys.len() + *unlisted;
        shorten(keys, what, &mut Vec::new());
        *unlisted = all - keys.len();
        if *unlisted > 0 {
            left_out.push(format!("{what}: {unlisted} of {all}"));
        }
    }
    shorten(notes, "notes", left_out);
    if let Some(asked) = asked {
        let all = asked.diverged_count();
        asked.diverged.iter_mut().for_each(|item| item.key = truncate::text(&item.key, SENTENCE));
        // The list may be incomplete already.
        keep_fitting(&mut asked.diverged, KEYS, "", &mut Vec::new());
        let missing = all.saturating_sub(asked.diverged.len());
        if missing > 0 {
            left_out.push(format!("asked.diverged: {missing} of {all}"));
        }
    }
    if size(evaluators) > DIFFERENCES {
        evaluators.sort_by_key(|difference| verdict_rank(difference.verdict));
        keep_fitting(evaluators, DIFFERENCES, "evaluators", left_out);
    }
}

/// The verdicts, each with its metrics.
fn conclusion(view: &ComparisonView<'_>) -> String {
    let unknown = view.scores.is_empty().then(|| "no evaluator has scores in both runs".to_owned());
    let said = match &view.headline {
        Headline::Nothing(nothing) => unknown.is_none().then(|| (*nothing).to_owned()).into_iter().collect(),
        Headline::Verdicts(verdicts) => {
            let said = verdicts.iter().map(|(verdict, names)| format!("{verdict} in {}", names.join(", ")));
            said.map(|said| truncate::text(&said, SENTENCE)).collect::<Vec<_>>()
        }
    };
    unknown.into_iter().chain(said).collect::<Vec<_>>().join("; ")
}

/// The comparison as Markdown: its conclusion, its metrics and the items that changed most.
fn text(
    view: &ComparisonView<'_>,
    conclusion: &str,
    traffic: &[Option<String>; 2],
    comparison: &Comparison,
    changed: &ChangedItems,
) -> String {
    let experiments = code(&truncate::text(&view.title, NAME_ROOM));
    let mut text = format!("### {experiments}: {}\n\n", sentence(conclusion));
    text += &markdown::runs(view);
    for (run, traffic) in view.runs.iter().zip(traffic) {
        if let Some(traffic) = traffic {
            let _ = writeln!(text, "\nModel traffic of {}: {traffic}.", run.label);
        }
    }
    let _ = writeln!(text, "\nItems: {}.", view.matching(|key| code(&truncate::text(key, KEY))));
    for note in view.notes.iter().take(3) {
        let _ = writeln!(text, "\n> {}", sentence(&truncate::text(note, REASON)));
    }
    text += "\n";
    text += &view::fit_lines(view.by_weight().into_iter().map(row), FIGURES / 2, "metric");
    for (changes, count, what) in [
        (&changed.regressed, changed.regressed_count, "Regressions"),
        (&changed.improved, changed.improved_count, "Improvements"),
    ] {
        if count > 0 {
            let _ = writeln!(text, "\n{what}: {count}\n");
            let room = (MAX_TEXT.saturating_sub(size(&text))).min(FIGURES / 2);
            let items = changes.iter().map(|change| item(ItemView::of(comparison, change)));
            text += &view::fit_lines(items, room, "item");
        }
    }
    text
}

/// A metric in a line.
fn row(row: &Row<'_>) -> String {
    let [base, other, change, interval, p, _, verdict] = &row.cells;
    let interval = if interval.is_empty() { String::new() } else { format!(", 95% CI {interval}") };
    let p = if p.is_empty() { String::new() } else { format!(", p {p}") };
    let name = code(&truncate::text(row.name(), NAME_ROOM / 3));
    format!("- {name} {verdict}: {base} → {other}, {change}{interval}{p}; {}", row.explained())
}

/// An item in a line.
fn item(item: ItemView<'_>) -> String {
    let item = item.with_scores(3);
    let scores = item.scores(|name| code(&truncate::text(name, NAME_ROOM / 5)));
    let key = code(&truncate::text(item.key(), NAME_ROOM / 3));
    let why = item.reason().map_or(String::new(), |why| format!(": {}", code(&truncate::text(&why, REASON))));
    format!("- {key} {scores}{why}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn diverged_items_are_cut_and_all_are_counted() {
        let cut = |diverged: usize, same: usize, key: &str| {
            let listed: Vec<_> = (0..diverged.min(1000))
                .map(|index| json!({ "key": format!("{key}{index}"), "message": 1 }))
                .collect();
            let run = json!({ "id": "a", "name": "desk", "timestamp": "2026-11-21T00:00:00Z", "items": 0, "runs": 1 });
            let mut comparison: Comparison = serde_json::from_value(json!({
                "base": run, "other": run, "items": { "matched": 0, "changed": [], "added": [], "removed": [] }, "notes": [],
                "asked": { "items": diverged + same, "same": same, "diverged": listed }, "evaluators": [], "amounts": [],
            }))
            .unwrap();
            let mut left_out = Vec::new();
            cut_lists(&mut comparison, &mut left_out);
            let asked = comparison.asked.unwrap();
            assert!(size(&asked) < KEYS + 100, "{}", size(&asked));
            assert_eq!((asked.items, asked.same), (diverged + same, same));
            (asked.diverged.len(), left_out)
        };
        assert_eq!(cut(2, 38, "item-"), (2, vec![]));
        let (listed, left_out) = cut(1207, 3, "item-");
        assert!(listed > 10, "{listed}");
        assert_eq!(left_out, [format!("asked.diverged: {} of 1207", 1207 - listed)]);
        let (listed, left_out) = cut(4, 0, &"long".repeat(1000));
        assert_eq!((listed, left_out), (2, vec!["asked.diverged: 2 of 4".to_owned()]));
    }
}
