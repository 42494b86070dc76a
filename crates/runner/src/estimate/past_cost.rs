//! What earlier runs of an experiment cost, for each trial.

use std::fmt;

use cobalt_core::prices::JudgeUsage;
use cobalt_core::report::Report;
use cobalt_core::store::{Layout, ReportFile, StoreError, result_files};

/// The latest known costs of an experiment. Those of the parts may be of different runs.
#[derive(Debug, Default, PartialEq)]
pub struct PastCost {
    pub agent: Option<PartCost>,
    pub judges: Option<PartCost>,
    /// Of simulated users.
    pub users: Option<PartCost>,
}

/// The cost of a part of an experiment in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct PartCost {
    /// The mean, in USD.
    pub per_trial: f64,
    /// The run and its start.
    pub run: String,
}

impl PastCost {
    /// Searches the result files, the newest first. `evaluators` are the names of those that would score now.
    pub fn search(layout: &Layout, experiment: &str, evaluators: &[String]) -> Result<Self, StoreError> {
        let files = result_files(layout, experiment)?;
        // A file that cannot be read, or that belongs to another experiment of a similar name, tells nothing.
        let reports =
            files.iter().filter_map(|(_, path)| ReportFile::open(path).ok().map(ReportFile::into_head));
        Ok(Self::of(reports.filter(|report| report.name == experiment), evaluators))
    }

    fn of(reports: impl IntoIterator<Item = Report>, evaluators: &[String]) -> Self {
        let mut known = Self::default();
        for report in reports {
            let trials = (report.summary.total_items * report.config.runs.max(1)).max(1) as f64;
            let part = |cost: f64| PartCost {
                per_trial: cost / trials,
                run: format!("run {} ({} UTC)", report.id, report.timestamp.to_minute()),
            };
            known.agent = known.agent.or_else(|| agent_cost(&report).map(part));
            known.judges = known.judges.or_else(|| judge_cost(&report, evaluators).map(part));
            known.users = known.users.or_else(|| user_cost(&report).map(part));
            if known.agent.is_some() && known.judges.is_some() && known.users.is_some() {
                break;
            }
        }
        known
    }

    /// The runs from which the costs of agent and judges are known, each once.
    fn runs(&self) -> Vec<&str> {
        let mut runs: Vec<_> =
            [&self.agent, &self.judges].into_iter().flatten().map(|part| &*part.run).collect();
        runs.dedup();
        runs
    }
}

/// `run 0123456789ab (2026-11-21 14:30 UTC)`; two runs if the agent's and the judges' costs are of different ones.
impl fmt::Display for PastCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.runs() {
            [] => f.write_str("no earlier run with known costs"),
            [run] => f.write_str(run),
            [agent, judges, ..] => write!(f, "agent: {agent}, judges: {judges}"),
        }
    }
}

/// The agent cost of a run; `None` if it is not known for all items.
fn agent_cost(report: &Report) -> Option<f64> {
    // The agent of a run that was scored again was not called.
    let cost = report.summary.estimated_cost.filter(|_| report.rescored.is_none());
    cost.filter(|_| report.summary.unpriced_items == 0)
}

/// What the judges of a run would cost without a cache; `None` if the run does not tell.
fn judge_cost(report: &Report, evaluators: &[String]) -> Option<f64> {
    let summary = &report.summary;
    // Copied scores have no cost.
    if report
        .rescored
        .as_ref()
        .is_some_and(|run| evaluators.iter().any(|name| !run.evaluators.contains(name)))
    {
        return None;
    }
    let Some(calls) = summary.judge_calls else {
        return has_no_judges(report, evaluators).then_some(0.0);
    };
    let is_unpriced = |model: &String| summary.unpriced_models.contains(model);
    let cost = summary.judge_cost.filter(|_| !summary.judge_models.iter().any(is_unpriced))?;
    let replayed = (summary.judge_replayed.unwrap_or(0), summary.judge_replayed_cost.unwrap_or(0.0));
    without_cache(cost, calls, replayed, summary.judge_cached.unwrap_or(0))
}

/// What the simulated users of a run would cost without a cache; `None` if the run does not tell.
fn user_cost(report: &Report) -> Option<f64> {
    if report.rescored.is_some() {
        return None;
    }
    let Some(usage) = &report.summary.simulated_users else { return Some(0.0) };
    let JudgeUsage { calls, cached, replayed, replayed_cost, .. } = **usage;
    let cost = usage.unpriced.is_empty().then_some(usage.cost)?;
    without_cache(cost, calls, (replayed, replayed_cost), cached)
}

/// What answers would have cost if none had come from the cache; `None` if none was paid. `replayed` are answers and their cost.
fn without_cache(cost: f64, calls: u64, replayed: (u64, f64), cached: u64) -> Option<f64> {
    // Recorded answers add what they cost when they were recorded: nothing if they came from the cache even then.
    let (replayed, replayed_cost) = replayed;
    let paid = calls.saturating_add(if replayed_cost > 0.0 { replayed } else { 0 });
    // Answers from the cache were free, and may not be there the next time.
    (paid > 0).then(|| cost * (paid as f64 + cached as f64) / paid as f64)
}

/// Whether the evaluators that would score now have scored in a run and called no judge. Files of the original tool do not tell.
fn has_no_judges(report: &Report, evaluators: &[String]) -> bool {
    let Report { summary, config, .. } = report;
    config.evaluators == evaluators
        && config.evaluator_hashes.len() == evaluators.len()
        && summary.successful_items > 0
        && summary.eval_errors == 0
}

#[cfg(test)]
mod tests {
    use cobalt_core::report::Summary;
    use serde_json::json;

    use super::*;

    /// A run of 10 items.
    fn report(id: &str, summary: Summary) -> Report {
        let report = json!({
            "schema": 1, "id": id, "name": "desk", "timestamp": "2026-02-05T14:30:00.000Z",
            "config": { "runs": 1, "concurrency": 1, "timeout": 1, "evaluators": ["tone"], "evaluatorHashes": ["1"] },
            "summary": {},
        });
        let summary = Summary { total_items: 10, successful_items: 10, ..summary };
        Report { summary, ..serde_json::from_value(report).unwrap() }
    }

    fn judged(calls: u64, cached: u64, replayed: u64, (cost, recorded): (f64, f64)) -> Summary {
        Summary {
            judge_calls: Some(calls),
            judge_cached: Some(cached),
            judge_replayed: (replayed > 0).then_some(replayed),
            judge_cost: Some(cost),
            judge_replayed_cost: (replayed > 0).then_some(recorded),
            judge_models: vec!["m".to_owned()],
            ..Summary::default()
        }
    }

    /// The costs of 10 trials, and the runs from which they are known.
    fn known(summaries: Vec<Summary>) -> (Option<f64>, Option<f64>, Vec<String>) {
        let reports = summaries.into_iter().enumerate().map(|(at, summary)| report(&at.to_string(), summary));
        let known = PastCost::of(reports, &["tone".to_owned()]);
        let rounded =
            |part: &Option<PartCost>| part.as_ref().map(|part| (part.per_trial * 10.0 * 1e6).round() / 1e6);
        let runs = known.runs().into_iter().map(|run| run["run ".len()..][..1].to_owned());
        (rounded(&known.agent), rounded(&known.judges), runs.collect())
    }

    fn judges(summaries: Vec<Summary>) -> Option<f64> {
        known(summaries).1
    }

    #[test]
    fn answers_from_the_cache_count_like_paid_ones_and_replayed_ones_as_recorded() {
        assert_eq!(judges(vec![judged(10, 0, 0, (0.5, 0.0))]), Some(0.5));
        assert_eq!(judges(vec![judged(10, 90, 0, (0.5, 0.0))]), Some(5.0));
        assert_eq!(judges(vec![judged(10, 0, 90, (5.0, 4.5))]), Some(5.0));
        assert_eq!(judges(vec![judged(0, 0, 100, (5.0, 5.0))]), Some(5.0));
    }

    #[test]
    fn a_run_in_which_nothing_was_paid_leaves_the_judge_cost_to_an_earlier_one() {
        let (cached, paid) = (judged(0, 10, 0, (0.0, 0.0)), judged(10, 0, 0, (0.5, 0.0)));
        let replayed_from_cache = judged(0, 0, 10, (0.0, 0.0));
        assert_eq!(judges(vec![cached.clone(), replayed_from_cache.clone(), paid]), Some(0.5));
        assert_eq!(judges(vec![cached, replayed_from_cache]), None);
        let local = judged(10, 0, 0, (0.0, 0.0));
        assert_eq!(judges(vec![local]), Some(0.0), "a model may be free");
    }

    #[test]
    fn a_cost_that_is_known_only_in_part_is_unknown() {
        let unpriced = Summary { unpriced_models: vec!["m".to_owned()], ..judged(10, 0, 0, (0.5, 0.0)) };
        assert_eq!(judges(vec![unpriced]), None);
        let of_agent = Summary { unpriced_models: vec!["agent".to_owned()], ..judged(10, 0, 0, (0.5, 0.0)) };
        assert_eq!(judges(vec![of_agent]), Some(0.5));
        let agent = Summary { estimated_cost: Some(1.0), unpriced_items: 1, ..Summary::default() };
        assert_eq!(known(vec![agent]).0, None);
    }

    #[test]
    fn simulated_users_cost_what_they_would_without_a_cache_and_nothing_without_conversations() {
        let users = |usage: JudgeUsage| {
            let summary = Summary { simulated_users: Some(Box::new(usage)), ..Summary::default() };
            let known = PastCost::of([report("0", summary)], &[]);
            known.users.map(|part| (part.per_trial * 10.0 * 1e6).round() / 1e6)
        };
        let paid = JudgeUsage { calls: 10, cost: 0.5, ..JudgeUsage::default() };
        assert_eq!(users(JudgeUsage { cached: 90, ..paid.clone() }), Some(5.0));
        assert_eq!(users(JudgeUsage { unpriced: vec!["m".to_owned()], ..paid }), None);
        assert_eq!(PastCost::of([report("0", Summary::default())], &[]).users.unwrap().per_trial, 0.0);
    }

    #[test]
    fn each_part_is_that_of_the_latest_run_that_knows_it() {
        let agent = |cost| Summary { estimated_cost: Some(cost), eval_errors: 10, ..Summary::default() };
        let both = Summary { estimated_cost: Some(2.0), ..judged(10, 0, 0, (0.5, 0.0)) };
        assert_eq!(
            known(vec![agent(3.0), both.clone()]),
            (Some(3.0), Some(0.5), vec!["0".to_owned(), "1".to_owned()])
        );
        assert_eq!(known(vec![both, agent(3.0)]), (Some(2.0), Some(0.5), vec!["0".to_owned()]));
        assert_eq!(known(Vec::new()), (None, None, Vec::new()));
    }

    #[test]
    fn only_the_same_evaluators_without_an_error_tell_that_there_are_no_judges() {
        assert_eq!(judges(vec![Summary::default()]), Some(0.0));
        assert_eq!(judges(vec![Summary { eval_errors: 1, ..Summary::default() }]), None);
        let run = || report("0", Summary::default());
        let others = ["tone".to_owned(), "judge".to_owned()];
        assert_eq!(PastCost::of([run()], &others).judges, None);
        let failed = Report { summary: Summary { successful_items: 0, ..run().summary }, ..run() };
        assert_eq!(PastCost::of([failed], &others[..1]).judges, None);
        let mut imported = run();
        imported.config.evaluator_hashes.clear();
        assert_eq!(PastCost::of([imported], &others[..1]).judges, None);
    }
}
