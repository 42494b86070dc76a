//! The list of runs.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::Store;
use super::known::Known;
use crate::index::{Run, RunStatus};
use crate::serve::api::{
    ApiError, Counted, Order, RunRow, RunSort, RunVerdict, Runs, RunsQuery, SkippedFile,
};

impl Store {
    pub(in crate::serve) fn runs(&self, query: &RunsQuery) -> Result<Runs, ApiError> {
        let all = self.known()?;
        let known: Vec<_> = Listed::all(&all);
        let mut experiments: Vec<Counted> = Vec::new();
        let mut tags: BTreeMap<String, usize> = BTreeMap::new();
        for Listed { run, .. } in &known {
            match experiments.iter_mut().find(|counted| counted.name == run.name) {
                Some(counted) => counted.runs += 1,
                None => experiments.push(Counted { name: run.name.clone(), runs: 1 }),
            }
            run.tags.iter().for_each(|tag| *tags.entry(tag.clone()).or_default() += 1);
        }
        let mut found: Vec<_> = known.iter().filter(|run| is_meant(run, query)).collect();
        found.sort_by(|one, two| in_order(one, two, query));
        let page = found.iter().skip(query.offset).take(query.limit.unwrap_or(usize::MAX));
        Ok(Runs {
            runs: page.map(|listed| row(listed, &all.runs, query.recent)).collect(),
            matching: found.len(),
            known: known.len(),
            live: self.live.runs(),
            experiments,
            tags: tags.into_iter().map(|(name, runs)| Counted { name, runs }).collect(),
            skipped: all
                .skipped
                .iter()
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

fn is_meant(&Listed { run, verdict }: &Listed<'_>, query: &RunsQuery) -> bool {
    let is = |wanted: &Option<String>, is: &dyn Fn(&str) -> bool| wanted.as_deref().is_none_or(is);
    let has_text = |text: &str| {
        let text = text.to_lowercase();
        let texts = run.tags.iter().chain([&run.name, &run.id]).chain(&run.git_commit);
        texts.into_iter().any(|it| it.to_lowercase().contains(&text))
    };
    is(&query.experiment, &|name| run.name == name)
        && is(&query.tag, &|tag| run.tags.iter().any(|known| known == tag))
        && is(&query.search, &has_text)
        && is(&query.since, &|since| &*run.timestamp >= since)
        && is(&query.until, &|until| run.timestamp.get(..until.len()).is_some_and(|start| start <= until))
        && query.verdict.is_none_or(|wanted| wanted == verdict)
}

pub(super) fn verdict(status: RunStatus) -> RunVerdict {
    match status {
        RunStatus::Passed => RunVerdict::Passed,
        RunStatus::Failed => RunVerdict::Failed,
        RunStatus::Error => RunVerdict::Error,
    }
}

fn in_order(one: &Listed<'_>, two: &Listed<'_>, query: &RunsQuery) -> Ordering {
    let verdicts = (one.verdict, two.verdict);
    let (one, two) = (one.run, two.run);
    let by = |figure: &dyn Fn(&Run) -> f64| figure(one).total_cmp(&figure(two));
    let errors = |run: &Run| (run.failed_items + run.eval_errors) as f64;
    let score = |run: &Run| run.scores.values().sum::<f64>() / run.scores.len().max(1) as f64;
    let order = match query.sort {
        RunSort::Timestamp => one.timestamp.cmp(&two.timestamp),
        RunSort::Name => two.name.cmp(&one.name),
        RunSort::Verdict => verdicts.0.cmp(&verdicts.1),
        RunSort::Score => by(&score),
        RunSort::Items => one.total_items.cmp(&two.total_items),
        RunSort::Errors => by(&errors),
        RunSort::Duration => one.duration_ms.cmp(&two.duration_ms),
        RunSort::Latency => by(&|run| run.avg_latency_ms),
        RunSort::Tokens => one.total_tokens.cmp(&two.total_tokens),
        RunSort::Cost => by(&|run| run.cost.unwrap_or(0.0) + run.judge_cost.unwrap_or(0.0)),
    };
    if query.order == Some(Order::Asc) { order } else { order.reverse() }
}

/// A row of the list, with what the whole runs of its experiment came to.
fn row(&Listed { run, verdict }: &Listed<'_>, known: &[Run], recent: usize) -> RunRow {
    let run = run.clone();
    let of_experiment = known.iter().filter(|it| it.name == run.name && it.timestamp <= run.timestamp);
    let mut before: Vec<_> = of_experiment.take(recent).collect();
    before.reverse();
    let recent_scores = run
        .scores
        .keys()
        .filter(|_| recent > 0)
        .map(|name| (name.clone(), before.iter().map(|run| run.scores.get(name).copied()).collect()));
    RunRow {
        recent_scores: recent_scores.collect(),
        verdict,
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
