//! Runs held against each other, item by item.

use std::collections::{BTreeMap, HashMap};

use cobalt::Report;
use cobalt::report::comparison::{self, most_changed};
use cobalt::report::{ItemResult, Measurements};

use super::Store;
use super::rows::rows;
use crate::serve::api::{
    ApiError, Changed, CompareQuery, CompareSort, Compared, ComparedItem, ComparedOutput, ComparedRun,
    ScoreDiffs,
};

impl Store {
    pub(in crate::serve) fn compare(&self, query: &CompareQuery) -> Result<Compared, ApiError> {
        let ids = [Some(&query.a), Some(&query.b), query.c.as_ref()];
        let reports = ids.into_iter().flatten().map(|id| self.report(id)).collect::<Result<Vec<_>, _>>()?;
        let prices = self.settings.prices();
        let measured: Vec<_> = reports.iter().map(|report| Measurements::of(report, prices)).collect();
        let (base, others) = measured.split_first().expect("two runs at least are asked for");
        let comparisons = comparison::compare(base, &others.iter().collect::<Vec<_>>());
        let items = compared_items(&reports, &measured);
        let is =
            |item: &ComparedItem, is: &dyn Fn(f64) -> bool| item.changes.iter().flatten().any(|it| is(*it));
        let (regressed, improved) = (
            items.iter().filter(|item| is(item, &|change| change < 0.0)).count(),
            items.iter().filter(|item| is(item, &|change| change > 0.0)).count(),
        );
        let total = items.len();
        let mut items: Vec<_> = items
            .into_iter()
            .filter(|item| match query.only {
                Changed::All => true,
                Changed::Changed => is(item, &|change| change != 0.0),
                Changed::Regressed => is(item, &|change| change < 0.0),
                Changed::Improved => is(item, &|change| change > 0.0),
            })
            .collect();
        let change = |item: &ComparedItem, worst: bool| {
            let changes = item.changes.iter().flatten().copied();
            if worst { changes.fold(0.0, f64::min) } else { changes.fold(0.0, f64::max) }
        };
        let size = |item: &ComparedItem| change(item, true).abs().max(change(item, false));
        match query.sort {
            CompareSort::Index => items.sort_by_key(|item| item.index),
            CompareSort::Change => items.sort_by(|one, two| size(two).total_cmp(&size(one))),
            CompareSort::Worst => items.sort_by(|one, two| change(one, true).total_cmp(&change(two, true))),
            CompareSort::Best => items.sort_by(|one, two| change(two, false).total_cmp(&change(one, false))),
        }
        Ok(Compared {
            score_diffs: score_diffs(&reports),
            runs: reports.into_iter().map(run).collect(),
            matching: items.len(),
            items: items.into_iter().skip(query.offset).take(query.limit.unwrap_or(usize::MAX)).collect(),
            comparisons,
            total,
            regressed,
            improved,
        })
    }
}

fn run(report: Report) -> ComparedRun {
    ComparedRun {
        timestamp: report.timestamp.to_string(),
        git_commit: report.git.map(|git| git.commit),
        id: report.id,
        name: report.name,
        summary: report.summary,
        passed: report.passed,
        partial: report.partial,
        tags: report.tags,
    }
}

fn score_diffs(reports: &[Report]) -> BTreeMap<String, ScoreDiffs> {
    let names: std::collections::BTreeSet<_> =
        reports.iter().flat_map(|report| report.summary.scores.keys()).collect();
    let diffs = |name: &String| {
        let scores: Vec<_> =
            reports.iter().map(|report| report.summary.scores.get(name).map(|stats| stats.avg)).collect();
        let diffs = scores.iter().map(|score| Some((*score)? - scores[0]?)).collect();
        (name.clone(), ScoreDiffs { scores, diffs })
    };
    names.into_iter().map(diffs).collect()
}

fn compared_items(reports: &[Report], measured: &[Measurements]) -> Vec<ComparedItem> {
    let prices = cobalt::llm::prices::PriceTable::default();
    let changes: Vec<HashMap<String, _>> = reports[1..]
        .iter()
        .map(|other| {
            let changes = most_changed(&reports[0], other, usize::MAX);
            changes.into_iter().map(|change| (change.key.clone(), change)).collect()
        })
        .collect();
    let mut places: BTreeMap<String, Vec<Option<(usize, usize)>>> = BTreeMap::new();
    for (run, measured) in measured.iter().enumerate() {
        for (place, item) in measured.items.iter().enumerate() {
            places.entry(item.key.clone()).or_insert_with(|| vec![None; reports.len()])[run] =
                Some((run, place));
        }
    }
    let rows: Vec<_> = reports.iter().map(|report| rows(report, &prices)).collect();
    let item = |(key, places): (String, Vec<Option<(usize, usize)>>)| {
        let (run, place) = places.iter().rev().flatten().next().copied()?;
        let newest = &reports[run].items[place];
        let of = |place: &Option<(usize, usize)>| {
            place.map(|(run, place)| output(&reports[run].items[place], rows[run][place].scores.clone()))
        };
        let change = |(index, changes): (usize, &HashMap<String, comparison::ItemChange>)| {
            places[0].and(places[index + 1])?;
            Some(changes.get(&key).map_or(0.0, |change| change.change))
        };
        Some(ComparedItem {
            index: newest.index,
            input: (*newest.input).clone(),
            outputs: places.iter().map(of).collect(),
            changes: changes.iter().enumerate().map(change).collect(),
            score_changes: changes
                .iter()
                .map(|changes| changes.get(&key).map_or(Vec::new(), |change| change.scores.clone()))
                .collect(),
            content_changed: changes
                .iter()
                .any(|changes| changes.get(&key).is_some_and(|it| it.content_changed)),
            key,
        })
    };
    places.into_iter().filter_map(item).collect()
}

fn output(item: &ItemResult, scores: BTreeMap<String, f64>) -> ComparedOutput {
    let first = item.first();
    ComparedOutput {
        output: first.output.clone(),
        latency_ms: item.latency_ms(),
        evaluations: first.evaluations.clone(),
        error: item.error().map(str::to_owned),
        status: item.status(),
        passed: item.passed,
        runs: item.runs.len(),
        scores,
    }
}
