//! The metrics of thresholds on traces and on single models.

use std::collections::BTreeSet;

use super::item::{Execution, ItemResult, Status};
use crate::item::model_share::{ModelShare, models};
use crate::prices::PriceTable;
use crate::trace::Trace;
use crate::wording::{self, count};

const NO_TRACE: &str =
    "no execution has a trace; `cobalt::trace` describes how model and tool calls are traced";

/// What the traces of a run show, gathered item by item.
#[derive(Debug, Default)]
pub struct TraceMetrics {
    /// Whether any execution has a trace.
    has_trace: bool,
    /// Items of which a trace had too many spans.
    incomplete: usize,
    /// The number of items with requests that could not be attributed.
    unattributed: usize,
    /// Each item's number of model calls over its trials. An execution without spans made none, if another has a trace.
    model_calls: Vec<u32>,
    /// The same of tool calls.
    tool_calls: Vec<u32>,
    pub first_tokens: FirstTokenTimes,
}

impl TraceMetrics {
    pub fn add(&mut self, item: &ItemResult) {
        self.has_trace |= item.runs.iter().any(|run| !run.trace.is_empty());
        self.incomplete += usize::from(item.runs.iter().any(|run| run.dropped_spans > 0));
        let is_unknown = |run: &Execution| run.traffic.as_deref().is_some_and(|it| it.unattributed > 0);
        self.unattributed += usize::from(item.runs.iter().any(is_unknown));
        let is_known = |run: &Execution| run.status == Status::Ok || !run.trace.is_empty();
        if item.runs.iter().any(is_known) {
            let total = |calls_in: fn(&Trace) -> usize| {
                let calls: usize = item.runs.iter().map(|run| calls_in(&run.trace)).sum();
                u32::try_from(calls).unwrap_or(u32::MAX)
            };
            self.model_calls.push(total(|trace| trace.model_calls().count()));
            self.tool_calls.push(total(|trace| trace.tool_calls().count()));
        }
        self.first_tokens.add(item);
    }

    /// Each item's number of model calls, or why it is unknown.
    pub fn model_calls(&self) -> Result<Vec<f64>, String> {
        self.complete(&self.model_calls)
    }

    /// Each item's number of tool calls, or why it is unknown.
    pub fn tool_calls(&self) -> Result<Vec<f64>, String> {
        self.complete(&self.tool_calls)
    }

    fn complete(&self, calls: &[u32]) -> Result<Vec<f64>, String> {
        if self.unattributed > 0 {
            return Err(format!(
                "the calls of {} are unknown, as requests could not be attributed to an item; give each item an address of its own \
                 with `Context::base_url`",
                count(self.unattributed, "item")
            ));
        }
        if !self.has_trace {
            return Err(NO_TRACE.to_owned());
        }
        if self.incomplete > 0 {
            let items = count(self.incomplete, "item");
            return Err(format!("the trace of {items} is incomplete, as it had too many spans"));
        }
        Ok(calls.iter().copied().map(f64::from).collect())
    }

    /// Why there is no time to the first token.
    pub fn no_first_token(&self) -> String {
        match self.has_trace {
            false => NO_TRACE.to_owned(),
            true => "no model call reports it; only streamed responses have one".to_owned(),
        }
    }
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
    fn add(&mut self, item: &ItemResult) {
        let of_trials: Vec<f64> =
            item.runs.iter().filter_map(|run| run.trace.time_to_first_token_ms()).collect();
        if of_trials.is_empty() {
            return;
        }
        if item.has_replayed_latency() || item.runs.iter().any(|run| is_replayed(&run.trace)) {
            self.replayed += 1;
        } else {
            self.live.push(of_trials.iter().sum::<f64>() / of_trials.len() as f64);
        }
    }
}

fn is_replayed(trace: &Trace) -> bool {
    trace.model_calls().any(|(_, model)| model.replayed)
}

/// What the items of a run used of one model, gathered item by item.
#[derive(Debug)]
pub struct ModelShares {
    model: String,
    /// What each item that reports its usage used, with that of retried attempts.
    shares: Vec<ModelShare>,
    unattributed: usize,
}

impl ModelShares {
    pub fn new(model: String) -> Self {
        Self { model, shares: Vec::new(), unattributed: 0 }
    }

    pub fn add(&mut self, item: &ItemResult, prices: &PriceTable) {
        let mut share = ModelShare::default();
        metadata(item).for_each(|metadata| share.add(&self.model, metadata, prices));
        if share.is_reported {
            self.unattributed += usize::from(share.is_unattributed);
            self.shares.push(share);
        }
    }
}

/// What each item that reports its usage used of a model; `used` are all models of the run.
pub fn model_shares<'m>(
    gathered: &'m [ModelShares],
    used: &BTreeSet<String>,
    model: &str,
) -> Result<&'m [ModelShare], String> {
    let unused = || match used.is_empty() {
        true => "no output reports its model; report it with `Output::model` or `Context::record`".to_owned(),
        false => {
            let used = used.iter().map(String::as_str);
            format!("no item used `{model}`; {}", wording::suggest_or_list(model, used))
        }
    };
    let known = gathered.iter().find(|shares| shares.model == model);
    let Some(ModelShares { shares, unattributed, .. }) = known else { return Err(unused()) };
    if *unattributed > 0 {
        let verb = if *unattributed == 1 { "reports" } else { "report" };
        return Err(format!(
            "{} {verb} usage without its model; report it with `Output::model` or `Context::record`",
            count(*unattributed, "item")
        ));
    }
    if !shares.iter().any(|share| share.is_used) {
        return Err(unused());
    }
    Ok(shares)
}

/// The models that an item used, with those of retried attempts.
pub fn used_models(item: &ItemResult) -> impl Iterator<Item = String> {
    metadata(item).flat_map(models)
}

/// The metadata of all attempts.
fn metadata(item: &ItemResult) -> impl Iterator<Item = &crate::item::Item> {
    item.runs.iter().flat_map(|run| {
        std::iter::once(run.metadata()).chain(run.retried.iter().map(|attempt| &attempt.metadata))
    })
}
