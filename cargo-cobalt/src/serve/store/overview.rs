//! A run without its items, and what is to be told of all of them.

use std::collections::BTreeMap;

use cobalt::Report;
use cobalt::report::stats::describe;

use super::Store;
use super::rows::{is_in, rows};
use crate::index::Run;
use crate::serve::api::{Amounts, ApiError, ItemRow, ItemState, Neighbour, Overview, RunState, StateCounts};

/// How many equal parts a histogram has.
const PARTS: usize = 20;

impl Store {
    pub(in crate::serve) fn overview(&self, id: &str) -> Result<Overview, ApiError> {
        let report = self.report(id)?;
        let rows = rows(&report, self.settings.prices());
        let (known, _) = self.known()?;
        let (previous, next) = neighbours(&known, &report);
        Ok(Overview {
            state: RunState::Finished,
            finished_items: rows.len(),
            planned_items: rows.len(),
            histograms: histograms(&report),
            tokens: amounts(rows.iter().filter_map(|row| row.tokens.map(|tokens| tokens as f64))),
            cost: amounts(rows.iter().filter_map(|row| row.cost)),
            states: states(&rows),
            previous,
            next,
            run: report.without_items(),
        })
    }
}

fn histograms(report: &Report) -> BTreeMap<String, Vec<usize>> {
    let histogram = |name: &String| {
        let mut parts = vec![0; PARTS];
        let scores = report.items.iter().flat_map(|item| item.scores(name));
        scores.for_each(|score| parts[((score * PARTS as f64) as usize).min(PARTS - 1)] += 1);
        (name.clone(), parts)
    };
    report.summary.scores.keys().map(histogram).collect()
}

fn amounts(amounts: impl Iterator<Item = f64>) -> Option<Amounts> {
    let amounts: Vec<_> = amounts.collect();
    let d = describe(&amounts)?;
    Some(Amounts {
        count: amounts.len(),
        total: amounts.iter().sum(),
        avg: d.mean,
        min: d.min,
        p50: d.p50,
        p95: d.p95,
        p99: d.p99,
        max: d.max,
    })
}

fn states(rows: &[ItemRow]) -> StateCounts {
    let count = |state| rows.iter().filter(|row| is_in(row, state)).count();
    StateCounts {
        passed: count(ItemState::Passed),
        failing: count(ItemState::Failing),
        low: count(ItemState::Low),
        error: count(ItemState::Error),
        timeout: count(ItemState::Timeout),
        eval_error: count(ItemState::EvalError),
    }
}

/// The runs of the experiment before and after one, of which the newest is known first.
fn neighbours(known: &[Run], report: &Report) -> (Option<Neighbour>, Option<Neighbour>) {
    let timestamp = report.timestamp.to_string();
    let mut others: Vec<_> =
        known.iter().filter(|run| run.name == report.name && run.id != report.id).collect();
    others.sort_by(|one, two| one.timestamp.cmp(&two.timestamp));
    let neighbour = |run: &&Run| Neighbour { id: run.id.clone(), timestamp: run.timestamp.clone() };
    let before = others.iter().rfind(|run| run.timestamp < timestamp).map(neighbour);
    let after = others.iter().find(|run| run.timestamp >= timestamp).map(neighbour);
    (before, after)
}
