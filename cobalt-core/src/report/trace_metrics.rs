//! The metrics of thresholds on traces and on single models.

use std::collections::BTreeSet;

use super::item::{Execution, ItemResult, Status};
use super::metrics::RunMetrics;
use crate::item::model_share::{ModelShare, models};
use crate::trace::Trace;
use crate::wording::{self, count};

const NO_TRACE: &str =
    "no execution has a trace; `cobalt::trace` describes how model and tool calls are traced";

/// Each item's number of calls over its trials. An execution without spans made none, if another has a trace.
pub fn calls(items: &[ItemResult], calls_in: fn(&Trace) -> usize) -> Result<Vec<f64>, String> {
    if items.iter().flat_map(|item| &item.runs).all(|run| run.trace.is_empty()) {
        return Err(NO_TRACE.to_owned());
    }
    let dropped = items.iter().filter(|item| item.runs.iter().any(|run| run.dropped_spans > 0)).count();
    if dropped > 0 {
        let items = count(dropped, "item");
        return Err(format!("the trace of {items} is incomplete, as it had too many spans"));
    }
    let is_known = |run: &Execution| run.status == Status::Ok || !run.trace.is_empty();
    let known = items.iter().filter(|item| item.runs.iter().any(is_known));
    Ok(known.map(|item| item.runs.iter().map(|run| calls_in(&run.trace)).sum::<usize>() as f64).collect())
}

/// The times to the first token of a run.
#[derive(Debug, Default)]
pub struct FirstTokenTimes {
    /// Each item's mean over its trials in milliseconds, without items that were replayed.
    pub live: Vec<f64>,
    /// Items whose times are those of a recording.
    pub replayed: usize,
}

impl FirstTokenTimes {
    pub fn of(items: &[ItemResult]) -> Self {
        let mut times = Self::default();
        for item in items {
            let of_trials: Vec<f64> =
                item.runs.iter().filter_map(|run| run.trace.time_to_first_token_ms()).collect();
            if of_trials.is_empty() {
                continue;
            }
            if item.has_replayed_latency() || item.runs.iter().any(|run| is_replayed(&run.trace)) {
                times.replayed += 1;
            } else {
                times.live.push(of_trials.iter().sum::<f64>() / of_trials.len() as f64);
            }
        }
        times
    }

    /// Why there is no time.
    pub fn missing(items: &[ItemResult]) -> String {
        match items.iter().flat_map(|item| &item.runs).all(|run| run.trace.is_empty()) {
            true => NO_TRACE.to_owned(),
            false => "no model call reports it; only streamed responses have one".to_owned(),
        }
    }
}

fn is_replayed(trace: &Trace) -> bool {
    trace.model_calls().any(|(_, model)| model.replayed)
}

/// What each item that reports its usage used of a model, with that of retried attempts.
pub fn model_shares(figures: &RunMetrics<'_>, model: &str) -> Result<Vec<ModelShare>, String> {
    let of_item = |item: &ItemResult| {
        let mut share = ModelShare::default();
        metadata(item).for_each(|metadata| share.add(model, metadata, &figures.prices));
        share
    };
    let shares: Vec<_> = figures.items.iter().map(of_item).filter(|share| share.is_reported).collect();
    let unattributed = shares.iter().filter(|share| share.is_unattributed).count();
    if unattributed > 0 {
        let verb = if unattributed == 1 { "reports" } else { "report" };
        return Err(format!(
            "{} {verb} usage without its model; report it with `Output::model` or `Context::record`",
            count(unattributed, "item")
        ));
    }
    if !shares.iter().any(|share| share.is_used) {
        let used: BTreeSet<_> = figures.items.iter().flat_map(metadata).flat_map(models).collect();
        return Err(match used.is_empty() {
            true => {
                "no output reports its model; report it with `Output::model` or `Context::record`".to_owned()
            }
            false => format!(
                "no item used `{model}`; {}",
                wording::suggest_or_list(model, used.iter().map(String::as_str))
            ),
        });
    }
    Ok(shares)
}

/// The metadata of all attempts.
fn metadata(item: &ItemResult) -> impl Iterator<Item = &crate::item::Item> {
    item.runs.iter().flat_map(|run| {
        std::iter::once(run.metadata()).chain(run.retried.iter().map(|attempt| &attempt.metadata))
    })
}
