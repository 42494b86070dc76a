//! What a call came to, as Markdown of GitHub's dialect, in sections that other formats share.

mod conclusion;
mod experiment;
mod items;
mod regressed;
mod thresholds;

pub(crate) use self::conclusion::{conclusion, troubles};
pub(crate) use self::experiment::{at_marks, experiment, origin, usage, verdict};
pub(crate) use self::items::title;
pub(crate) use self::regressed::regressed;
use crate::results::Results;

/// The most items of an experiment that are told of in a report.
const MOST_ITEMS: usize = 100;

/// All that a call came to.
pub(crate) fn markdown(results: &Results) -> String {
    sections(results, MOST_ITEMS).concat()
}

/// The same in sections: the conclusion, what went wrong, and each experiment with at most so many items.
pub(crate) fn sections(results: &Results, items: usize) -> Vec<String> {
    let experiments = results.failed_first().map(|finished| experiment(finished, items));
    [conclusion(results), troubles(results)].into_iter().chain(experiments).collect()
}
