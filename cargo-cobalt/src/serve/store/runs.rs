//! The list of runs.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::Store;
use crate::index::{Run, RunStatus};
use crate::serve::api::{
    ApiError, Counted, Order, RunRow, RunSort, RunVerdict, Runs, RunsQuery, SkippedFile,
};

impl Store {
    pub(in crate::serve) fn runs(&self, query: &RunsQuery) -> Result<Runs, ApiError> {
        let (known, skipped) = self.known()?;
        let mut experiments: Vec<Counted> = Vec::new();
        let mut tags: BTreeMap<String, usize> = BTreeMap::new();
        for run in &known {
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
            runs: page.map(|run| row(run, &known, query.recent)).collect(),
            matching: found.len(),
            known: known.len(),
            live: self.live.runs(),
            experiments,
            tags: tags.into_iter().map(|(name, runs)| Counted { name, runs }).collect(),
            skipped: skipped.into_iter().map(|it| SkippedFile { file: it.file, reason: it.reason }).collect(),
        })
    }
}

fn is_meant(run: &Run, query: &RunsQuery) -> bool {
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
        && query.verdict.is_none_or(|verdict| verdict == self::verdict(run.status))
}

pub(super) fn verdict(status: RunStatus) -> RunVerdict {
    match status {
        RunStatus::Passed => RunVerdict::Passed,
        RunStatus::Failed => RunVerdict::Failed,
        RunStatus::Error => RunVerdict::Error,
    }
}

fn in_order(one: &Run, two: &Run, query: &RunsQuery) -> Ordering {
    let by = |figure: &dyn Fn(&Run) -> f64| figure(one).total_cmp(&figure(two));
    let errors = |run: &Run| (run.failed_items + run.eval_errors) as f64;
    let score = |run: &Run| run.scores.values().sum::<f64>() / run.scores.len().max(1) as f64;
    let order = match query.sort {
        RunSort::Timestamp => one.timestamp.cmp(&two.timestamp),
        RunSort::Name => two.name.cmp(&one.name),
        RunSort::Verdict => one.status.as_str().cmp(two.status.as_str()),
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

fn row(run: &Run, known: &[Run], recent: usize) -> RunRow {
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
        verdict: verdict(run.status),
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
