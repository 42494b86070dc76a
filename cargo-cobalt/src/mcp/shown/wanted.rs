//! Which items of a run are wanted, and which of them come first.

use cobalt::report::ItemResult;
use cobalt::{Report, suggest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A state of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ItemStatus {
    /// It is at or above every pass mark in every trial, without an error.
    Passed,
    /// It is below a pass mark, or in error.
    Failed,
    /// The agent failed or took too long, or an evaluator gave no score.
    Error,
    /// Some score is below its evaluator's pass mark, whether or not that fails the item.
    Low,
}

/// Which items are wanted; all of them by default.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Wanted {
    pub(crate) status: Option<ItemStatus>,
    /// Those that this evaluator was asked about.
    pub(crate) evaluator: Option<String>,
    /// Those whose score is at most this, by that evaluator or, where none is named, by any.
    pub(crate) max_score: Option<f64>,
    /// The most items to show; as many as have room, where it is not given.
    #[serde(skip)]
    pub(crate) limit: Option<usize>,
}

impl Wanted {
    /// The places of the items that are wanted, the worst first: those in error, then those below a pass mark by their lowest score, then the
    /// others by theirs.
    pub(super) fn of(&self, report: &Report) -> Result<Vec<usize>, Error> {
        self.check(report)?;
        let is_wanted =
            |(_, item): &(usize, &ItemResult)| self.has_status(report, item) && self.has_score(report, item);
        let wanted = report.items.iter().enumerate().filter(is_wanted);
        let ranked = wanted.map(|(place, item)| (self.rank(report, item), (item.index, place)));
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_by(|((one, low), first), ((two, lowest), second)| {
            one.cmp(two).then(low.total_cmp(lowest)).then(first.cmp(second))
        });
        Ok(ranked.into_iter().map(|(_, (_, place))| place).collect())
    }

    fn check(&self, report: &Report) -> Result<(), Error> {
        let names = || report.config.evaluators.iter().map(String::as_str);
        if let Some(name) = self.evaluator.as_deref().filter(|name| names().all(|known| known != *name)) {
            let instead = match names().next() {
                Some(_) => suggest::instead(name, names()),
                None => "it has none".to_owned(),
            };
            return Err(Error::Arguments(format!(
                "run `{}` has no evaluator `{name}`; {instead}",
                report.id
            )));
        }
        if self.max_score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
            return Err(Error::Arguments("`maxScore` is a score: give a number from 0 to 1".to_owned()));
        }
        Ok(())
    }

    fn has_status(&self, report: &Report, item: &ItemResult) -> bool {
        match self.status {
            None => true,
            Some(ItemStatus::Passed) => item.passed,
            Some(ItemStatus::Failed) => !item.passed,
            Some(ItemStatus::Error) => item.is_in_error(),
            Some(ItemStatus::Low) => report.config.low_scores(item).next().is_some(),
        }
    }

    fn has_score(&self, report: &Report, item: &ItemResult) -> bool {
        let is_asked = |name: &str| item.runs.iter().any(|run| run.evaluations.get(name).is_some());
        self.evaluator.as_deref().is_none_or(is_asked)
            && self.max_score.is_none_or(|most| self.lowest(report, item).is_some_and(|score| score <= most))
    }

    /// How bad an item is: its kind, then its lowest score, which those in error are not sorted by.
    fn rank(&self, report: &Report, item: &ItemResult) -> (u8, f64) {
        let lowest = || self.lowest(report, item).unwrap_or(f64::INFINITY);
        match item.passed {
            _ if item.is_in_error() => (0, 0.0),
            false => (1, lowest()),
            true => (2, lowest()),
        }
    }

    /// The lowest of an item's scores, of the evaluator that is named or of all, each the mean over the item's runs.
    fn lowest(&self, report: &Report, item: &ItemResult) -> Option<f64> {
        match self.evaluator.as_deref() {
            Some(name) => mean(item, name),
            None => report.config.evaluators.iter().filter_map(|name| mean(item, name)).reduce(f64::min),
        }
    }
}

/// The mean of an evaluator's scores over the runs of an item.
pub(super) fn mean(item: &ItemResult, evaluator: &str) -> Option<f64> {
    let (count, sum) =
        item.scores(evaluator).fold((0_u32, 0.0), |(count, sum), score| (count + 1, sum + score));
    (count > 0).then(|| sum / f64::from(count))
}
