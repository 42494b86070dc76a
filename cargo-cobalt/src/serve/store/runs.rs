//! The list of runs.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use cobalt::name::is_name_of;

use super::Store;
use super::known::Known;
use super::order::known_first;
use crate::cli::Since;
use crate::index::{Run, RunStatus};
use crate::serve::api::{
    ApiError, Counted, Order, RunFacts, RunRow, RunSort, RunVerdict, Runs, RunsQuery, SkippedFile,
};

/// How long a date is, as in 2026-02-05.
const DATE: usize = 10;

impl Store {
    pub(in crate::serve) fn runs(&self, query: &RunsQuery) -> Result<Runs, ApiError> {
        let known = self.known()?;
        let wanted = Wanted::of(query)?;
        let all = Listed::all(&known);
        let mut found: Vec<_> = all.iter().filter(|listed| wanted.has(listed)).collect();
        sort(&mut found, query);
        let page = found.iter().skip(query.offset).take(query.limit.unwrap_or(usize::MAX));
        let skipped = known.skipped.iter();
        Ok(Runs {
            runs: page.map(|listed| row(listed, recent_scores(&known, listed.run, query.recent))).collect(),
            matching: found.len(),
            known: all.len(),
            live: self.live.runs(),
            experiments: experiments(&all),
            tags: tags(&all),
            skipped: skipped
                .map(|it| SkippedFile { file: it.file.clone(), reason: it.reason.clone() })
                .collect(),
        })
    }
}

/// A run as the list has it.
#[derive(Clone, Copy)]
struct Listed<'a> {
    run: &'a Run,
    verdict: RunVerdict,
}

impl<'a> Listed<'a> {
    /// All runs, the newest first.
    fn all(known: &'a Known) -> Vec<Self> {
        let whole = known.runs.iter().map(|run| Self { run, verdict: verdict(run.status) });
        let partial = known.partial.iter().map(|run| Self { run, verdict: RunVerdict::Partial });
        let mut runs: Vec<_> = whole.chain(partial).collect();
        runs.sort_by(|one, two| two.run.timestamp.cmp(&one.run.timestamp));
        runs
    }
}

/// The experiments, that of the newest run first.
fn experiments(runs: &[Listed<'_>]) -> Vec<Counted> {
    let (mut experiments, mut places) = (Vec::<Counted>::new(), HashMap::new());
    for Listed { run, .. } in runs {
        let place = *places.entry(&run.name).or_insert(experiments.len());
        match experiments.get_mut(place) {
            Some(experiment) => experiment.runs += 1,
            None => experiments.push(Counted { name: run.name.clone(), runs: 1 }),
        }
    }
    experiments
}

fn tags(runs: &[Listed<'_>]) -> Vec<Counted> {
    let mut tags: BTreeMap<&str, usize> = BTreeMap::new();
    runs.iter().flat_map(|it| &it.run.tags).for_each(|tag| *tags.entry(tag).or_default() += 1);
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

    fn has(&self, listed: &Listed<'_>) -> bool {
        let run = listed.run;
        let RunsQuery { experiment, tag, tags, verdict, .. } = self.query;
        let has_one = |tags: &String| {
            let mut tags = tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()).peekable();
            tags.peek().is_none() || tags.any(|tag| run.tags.iter().any(|has| has == tag))
        };
        let has_text = |text: &String| {
            let texts = run.tags.iter().chain([&run.name, &run.id]).chain(&run.git_commit);
            texts.into_iter().any(|it| super::search::has_text(it, text))
        };
        let is_before = |until: &Until<'_>| match until {
            Until::Date(date) => run.timestamp.get(..DATE).is_some_and(|day| day <= *date),
            Until::Time(time) => run.timestamp <= *time,
        };
        experiment.as_ref().is_none_or(|typed| is_name_of(typed, &run.name))
            && tag.as_ref().is_none_or(|tag| run.tags.contains(tag))
            && tags.as_ref().is_none_or(has_one)
            && verdict.is_none_or(|verdict| verdict == listed.verdict)
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

pub(super) fn verdict(status: RunStatus) -> RunVerdict {
    match status {
        RunStatus::Passed => RunVerdict::Passed,
        // Only runs of some of the items are not evaluated.
        RunStatus::NotEvaluated => RunVerdict::Partial,
        RunStatus::Failed => RunVerdict::Failed,
        RunStatus::Error => RunVerdict::Error,
    }
}

/// Sorts runs, of which the newest is the first: that remains among equals.
fn sort(runs: &mut [&Listed<'_>], query: &RunsQuery) {
    let is_descending = match query.order {
        Some(order) => order == Order::Desc,
        None => query.sort != RunSort::Name,
    };
    let turned = |order: Ordering| if is_descending { order.reverse() } else { order };
    runs.sort_by(|one, two| match query.sort {
        RunSort::Timestamp => turned(one.run.timestamp.cmp(&two.run.timestamp)),
        RunSort::Name => turned(one.run.name.cmp(&two.run.name)),
        RunSort::Verdict => turned(one.verdict.cmp(&two.verdict)),
        sort => known_first(figure(one.run, sort), figure(two.run, sort), is_descending),
    });
}

fn figure(run: &Run, sort: RunSort) -> Option<f64> {
    let integer = |number: i64| Some(number as f64);
    match sort {
        RunSort::Timestamp | RunSort::Name | RunSort::Verdict => None,
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

/// Each evaluator's means in so many runs of an experiment up to this one.
fn recent_scores(known: &Known, run: &Run, recent: usize) -> BTreeMap<String, Vec<Option<f64>>> {
    if recent == 0 {
        return BTreeMap::new();
    }
    let mut runs: Vec<_> = known.up_to(run).take(recent).collect();
    runs.reverse();
    let names = run.scores.keys();
    names.map(|name| (name.clone(), runs.iter().map(|run| run.scores.get(name).copied()).collect())).collect()
}

fn row(listed: &Listed<'_>, recent_scores: BTreeMap<String, Vec<Option<f64>>>) -> RunRow {
    let run = listed.run;
    RunRow {
        facts: RunFacts::of(run, listed.verdict),
        name: run.name.clone(),
        avg_scores: run.scores.clone(),
        status: run.status,
        passed_items: run.passed_items,
        low_items: run.low_items,
        failed_items: run.failed_items,
        eval_errors: run.eval_errors,
        recent_scores,
    }
}
