//! The list of runs.

use std::collections::BTreeMap;

use super::Store;
use super::known::Known;
use super::order::known_first;
use crate::history::Since;
use crate::index::{Run, RunStatus};
use crate::serve::api::{
    ApiError, Counted, Order, RunRow, RunSort, RunVerdict, Runs, RunsQuery, SkippedFile,
};

/// How long a date is, as in 2026-02-05.
const DATE: usize = 10;

impl Store {
    pub(in crate::serve) fn runs(&self, query: &RunsQuery) -> Result<Runs, ApiError> {
        let known = self.known()?;
        let wanted = Wanted::of(query)?;
        let mut found: Vec<_> = known.runs.iter().enumerate().filter(|(_, run)| wanted.has(run)).collect();
        sort(&mut found, query);
        let page = found.iter().skip(query.offset).take(query.limit.unwrap_or(usize::MAX));
        let skipped = known.skipped.iter();
        Ok(Runs {
            runs: page.map(|(place, run)| row(run, recent_scores(&known, *place, query.recent))).collect(),
            matching: found.len(),
            known: known.runs.len(),
            live: self.live.runs(),
            experiments: known
                .experiments
                .iter()
                .map(|it| Counted { name: it.name.clone(), runs: it.runs.len() })
                .collect(),
            tags: tags(&known.runs),
            skipped: skipped
                .map(|it| SkippedFile { file: it.file.clone(), reason: it.reason.clone() })
                .collect(),
        })
    }
}

fn tags(runs: &[Run]) -> Vec<Counted> {
    let mut tags: BTreeMap<&str, usize> = BTreeMap::new();
    runs.iter().flat_map(|run| &run.tags).for_each(|tag| *tags.entry(tag).or_default() += 1);
    tags.into_iter().map(|(name, runs)| Counted { name: name.to_owned(), runs }).collect()
}

/// Which runs are asked for.
struct Wanted<'a> {
    query: &'a RunsQuery,
    /// In small letters.
    search: Option<String>,
    since: Option<String>,
    until: Option<Until<'a>>,
}

/// The end of a time.
enum Until<'a> {
    /// With all of this day.
    Date(&'a str),
    Time(String),
}

impl<'a> Wanted<'a> {
    fn of(query: &'a RunsQuery) -> Result<Self, ApiError> {
        let until = query.until.as_deref().map(|text| {
            let time = moment("until", text)?;
            // Only a date is as short, and begins with a year.
            let is_date = text.len() == DATE && time.starts_with(text);
            Ok::<_, ApiError>(if is_date { Until::Date(text) } else { Until::Time(time) })
        });
        Ok(Self {
            query,
            search: query.search.as_ref().map(|text| text.to_lowercase()),
            since: query.since.as_deref().map(|text| moment("since", text)).transpose()?,
            until: until.transpose()?,
        })
    }

    fn has(&self, run: &Run) -> bool {
        let RunsQuery { experiment, tag, verdict, .. } = self.query;
        let has_text = |text: &String| {
            let texts = run.tags.iter().chain([&run.name, &run.id]).chain(&run.git_commit);
            texts.into_iter().any(|it| super::search::has_text(it, text))
        };
        let is_before = |until: &Until<'_>| match until {
            Until::Date(date) => run.timestamp.get(..DATE).is_some_and(|day| day <= *date),
            Until::Time(time) => run.timestamp <= *time,
        };
        experiment.as_ref().is_none_or(|name| run.name == *name)
            && tag.as_ref().is_none_or(|tag| run.tags.contains(tag))
            && verdict.is_none_or(|verdict| verdict == self::verdict(run))
            && self.since.as_ref().is_none_or(|since| run.timestamp >= *since)
            && self.until.as_ref().is_none_or(is_before)
            && self.search.as_ref().is_none_or(has_text)
    }
}

/// A moment as timestamps of runs are written.
pub(super) fn moment(name: &str, text: &str) -> Result<String, ApiError> {
    let moment: Result<Since, _> = text.parse();
    moment.map(Since::timestamp).map_err(|error| ApiError::bad_request(format!("`{name}={text}`: {error}")))
}

pub(super) fn verdict(run: &Run) -> RunVerdict {
    match run.status {
        _ if run.partial => RunVerdict::Partial,
        RunStatus::Passed => RunVerdict::Passed,
        RunStatus::Failed => RunVerdict::Failed,
        RunStatus::Error => RunVerdict::Error,
    }
}

/// Sorts runs, of which the newest is the first: that remains among equals.
fn sort(runs: &mut [(usize, &Run)], query: &RunsQuery) {
    let is_descending = match query.order {
        Some(order) => order == Order::Desc,
        None => query.sort != RunSort::Name,
    };
    match query.sort {
        RunSort::Timestamp if is_descending => {}
        RunSort::Timestamp => runs.sort_by(|(_, one), (_, two)| one.timestamp.cmp(&two.timestamp)),
        RunSort::Name if is_descending => runs.sort_by(|(_, one), (_, two)| two.name.cmp(&one.name)),
        RunSort::Name => runs.sort_by(|(_, one), (_, two)| one.name.cmp(&two.name)),
        _ => runs.sort_by(|(_, one), (_, two)| {
            known_first(figure(one, query.sort), figure(two, query.sort), is_descending)
        }),
    }
}

fn figure(run: &Run, sort: RunSort) -> Option<f64> {
    let integer = |number: i64| Some(number as f64);
    match sort {
        RunSort::Timestamp | RunSort::Name => None,
        RunSort::Verdict => Some(match verdict(run) {
            RunVerdict::Passed => 0.0,
            RunVerdict::Partial => 1.0,
            RunVerdict::Failed => 2.0,
            RunVerdict::Error => 3.0,
        }),
        RunSort::Score => {
            let total = run.scores.values().sum::<f64>();
            (!run.scores.is_empty()).then(|| total / run.scores.len() as f64)
        }
        RunSort::Items => integer(run.total_items),
        RunSort::Errors => integer(run.failed_items.saturating_add(run.eval_errors)),
        RunSort::Duration => integer(run.duration_ms),
        RunSort::Latency => Some(run.avg_latency_ms),
        RunSort::Tokens => run.total_tokens.and_then(integer),
        RunSort::Cost => match (run.cost, run.judge_cost) {
            (None, None) => None,
            (agents, judges) => Some(agents.unwrap_or(0.0) + judges.unwrap_or(0.0)),
        },
    }
}

/// Each evaluator's means in so many runs of an experiment, of which the last is the one at this place.
fn recent_scores(known: &Known, place: usize, recent: usize) -> BTreeMap<String, Vec<Option<f64>>> {
    if recent == 0 {
        return BTreeMap::new();
    }
    let mut runs: Vec<_> = known.before(place).take(recent).collect();
    runs.reverse();
    let names = known.runs[place].scores.keys();
    names.map(|name| (name.clone(), runs.iter().map(|run| run.scores.get(name).copied()).collect())).collect()
}

fn row(run: &Run, recent_scores: BTreeMap<String, Vec<Option<f64>>>) -> RunRow {
    let run = run.clone();
    RunRow {
        recent_scores,
        verdict: verdict(&run),
        id: run.id,
        name: run.name,
        timestamp: run.timestamp,
        tags: run.tags,
        avg_scores: run.scores,
        total_items: run.total_items,
        duration_ms: run.duration_ms,
        status: run.status,
        failed_items: run.failed_items,
        eval_errors: run.eval_errors,
        avg_latency_ms: run.avg_latency_ms,
        total_tokens: run.total_tokens,
        cost: run.cost,
        judge_cost: run.judge_cost,
        git_commit: run.git_commit,
        git_dirty: run.git_dirty,
        dataset_hash: run.dataset_hash,
    }
}
