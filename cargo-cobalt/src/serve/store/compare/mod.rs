//! Runs held against each other, item by item.

mod matched;
mod shown;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::convert::Infallible;
use std::sync::Arc;

use cobalt::Report;
use cobalt::report::comparison::{self, Comparison};

pub(super) use self::matched::Matched;
use self::matched::matched;
pub(in crate::serve) use self::shown::Comparing;
use super::Store;
use super::items::evaluator_of;
use super::loaded::{FileProblem, LoadedRun};
use crate::serve::api::{
    ApiError, Changed, CompareQuery, CompareSort, Compared, ComparedItem, ComparedRun, ScoreDiffs,
};

type Runs = [Arc<LoadedRun>];

impl Store {
    /// Compares runs. The items are not read yet: they may be many.
    pub(in crate::serve) fn compare(&self, query: &CompareQuery) -> Result<Comparing, ApiError> {
        self.of_runs(&ids(query).collect::<Vec<_>>(), |runs| self.comparing(runs, query))
    }

    /// The same with its items.
    pub(in crate::serve) fn compare_whole(&self, query: &CompareQuery) -> Result<Compared, ApiError> {
        self.of_runs(&ids(query).collect::<Vec<_>>(), |runs| {
            let comparing = self.comparing(runs, query)?;
            let mut items: Vec<ComparedItem> = Vec::with_capacity(comparing.len());
            comparing.each(|item| {
                items.push(item);
                Ok(())
            })?;
            Ok(Compared { items, ..comparing.head })
        })
    }

    fn comparing(&self, runs: &Runs, query: &CompareQuery) -> Result<Comparing, FileProblem> {
        let evaluator = query.evaluator.as_deref();
        if let Some(name) = evaluator.filter(|name| runs.iter().all(|run| run.evaluator(name).is_none())) {
            evaluator_of(&runs[runs.len() - 1], name)?;
        }
        let comparisons = self.statistics(runs);
        let matches = self.matches(runs, evaluator);
        // So many such lists at a time, however many ask.
        let _pass = self.comparers.pass();
        let mut items: Vec<&Matched> = matches.iter().collect();
        let total = items.len();
        if let Some(text) = query.search.as_deref().filter(|text| !text.is_empty()) {
            self.keep_found(runs, &mut items, text)?;
        }
        let found = items.len();
        let count = |is: fn(&Matched) -> bool| items.iter().filter(|item| is(item)).count();
        let (changed, regressed, improved) =
            (count(Matched::is_changed), count(Matched::is_worse), count(Matched::is_better));
        items.retain(|item| match query.only {
            Changed::All => true,
            Changed::Changed => item.is_changed(),
            Changed::Regressed => item.is_worse(),
            Changed::Improved => item.is_better(),
        });
        items.sort_by(|one, two| in_order(one, two, query.sort));
        let matching = items.len();
        let item_at =
            query.item.as_deref().and_then(|key| items.iter().position(|item| item.key(runs) == Some(key)));
        let page = items.into_iter().skip(query.offset).take(query.limit.unwrap_or(usize::MAX));
        let page = page.cloned().collect();
        let head = Compared {
            runs: runs.iter().map(|run| compared_run(&run.head)).collect(),
            score_diffs: score_diffs(runs),
            comparisons: comparisons.to_vec(),
            matching,
            item_at,
            total,
            found,
            changed,
            regressed,
            improved,
            items: Vec::new(),
        };
        Ok(Comparing { head, runs: runs.to_vec(), items: page, evaluator: query.evaluator.clone() })
    }

    /// Leaves the items that have a text in one of the runs.
    fn keep_found(&self, runs: &Runs, items: &mut Vec<&Matched>, text: &str) -> Result<(), FileProblem> {
        let found = runs.iter().map(|run| self.found(run, text)).collect::<Result<Vec<_>, _>>()?;
        let found: Vec<HashSet<_>> = found.iter().map(|found| found.iter().copied().collect()).collect();
        items.retain(|item| {
            item.places
                .iter()
                .zip(&found)
                .any(|(place, found)| place.is_some_and(|place| found.contains(&place)))
        });
        Ok(())
    }

    /// The items of the runs, matched once for all who compare these runs.
    fn matches(&self, runs: &Runs, evaluator: Option<&str>) -> Arc<Vec<Matched>> {
        let files = runs.iter().map(|run| run.file.clone()).collect();
        let size = |items: &Vec<Matched>| items.iter().map(Matched::size).sum();
        let found = self.matches.get(&(files, evaluator.map(str::to_owned)), size, || {
            let _pass = self.comparers.pass();
            Ok::<_, Infallible>(matched(runs, evaluator))
        });
        match found {
            Ok(items) => items,
            Err(never) => match never {},
        }
    }

    /// What is to be said of all items together, which takes long to work out.
    fn statistics(&self, runs: &Runs) -> Arc<Vec<Comparison>> {
        let files: Vec<_> = runs.iter().map(|run| run.file.clone()).collect();
        let compare = || {
            let _pass = self.loaders.pass();
            let measured: Vec<_> = runs.iter().map(|run| run.measurements()).collect();
            let (base, others) = measured.split_first().expect("at least two runs are compared");
            Ok::<_, Infallible>(comparison::compare(base, &others.iter().collect::<Vec<_>>()))
        };
        match self.comparisons.get(&files, |comparisons| comparisons.iter().map(size).sum(), compare) {
            Ok(comparisons) => comparisons,
            Err(never) => match never {},
        }
    }
}

/// The runs that are asked for, the base first.
fn ids(query: &CompareQuery) -> impl Iterator<Item = &str> {
    [Some(&query.a), Some(&query.b), query.c.as_ref()].into_iter().flatten().map(String::as_str)
}

/// Of equal items, the data set's order remains.
fn in_order(one: &Matched, two: &Matched, sort: CompareSort) -> Ordering {
    let (worst, best) = (|item: &Matched| item.worst, |item: &Matched| item.best);
    let size = |item: &Matched| item.best.max(-item.worst);
    let order = match sort {
        CompareSort::Index => Ordering::Equal,
        CompareSort::Change => size(two).total_cmp(&size(one)).then(worst(one).total_cmp(&worst(two))),
        CompareSort::Worst => worst(one).total_cmp(&worst(two)),
        CompareSort::Best => best(two).total_cmp(&best(one)),
    };
    order.then(one.index.cmp(&two.index))
}

/// About how many bytes of memory a comparison takes.
fn size(comparison: &Comparison) -> usize {
    /// All but the keys of items.
    const FIGURES: usize = 16 << 10;
    let items = &comparison.items;
    let keys = [&items.changed, &items.added, &items.removed].into_iter().flatten();
    FIGURES + keys.map(|key| size_of::<String>() + key.len()).sum::<usize>()
}

fn compared_run(report: &Report) -> ComparedRun {
    ComparedRun {
        id: report.id.clone(),
        name: report.name.clone(),
        timestamp: report.timestamp.to_string(),
        summary: report.summary.clone(),
        passed: report.passed,
        partial: report.partial,
        tags: report.tags.clone(),
        git_commit: report.git.as_ref().map(|git| git.commit.clone()),
    }
}

fn score_diffs(runs: &Runs) -> BTreeMap<String, ScoreDiffs> {
    let names: BTreeSet<_> = runs.iter().flat_map(|run| run.head.summary.scores.keys()).collect();
    let diffs = |name: &String| {
        let scores: Vec<_> =
            runs.iter().map(|run| run.head.summary.scores.get(name).map(|stats| stats.avg)).collect();
        let diffs = scores.iter().map(|score| Some((*score)? - scores[0]?)).collect();
        (name.clone(), ScoreDiffs { scores, diffs })
    };
    names.into_iter().map(diffs).collect()
}
