//! Which runs are listed, and where the next page of them begins.

use cobalt::hash::sha256_hex;
use cobalt::{name, suggest};
use serde::Serialize;

use super::NAME;
use super::row::verdict;
use crate::error::Error;
use crate::mcp::past::{Past, PastRun};
use crate::mcp::shown::{cursor, cut};
use crate::mcp::tools::Status;

/// How many digits of a hash a cursor has.
const DIGITS: usize = 16;

/// Which runs are wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(in crate::mcp) struct WantedRuns {
    pub(in crate::mcp) experiment: Option<String>,
    pub(in crate::mcp) status: Option<Status>,
}

impl WantedRuns {
    /// Checks that there are runs of the experiment, be they partial or unfinished.
    pub(super) fn check(&self, past: &Past) -> Result<(), Error> {
        let Some(experiment) = &self.experiment else { return Ok(()) };
        let (runs, unfinished) = (past.runs(), past.unfinished());
        let mut names: Vec<_> = runs.iter().map(|run| &*run.run.name).collect();
        names.extend(unfinished.iter().map(|run| &*run.experiment));
        names.sort_unstable();
        names.dedup();
        if names.is_empty() || name::find(experiment, names.iter().copied()).is_some() {
            return Ok(());
        }
        let instead = suggest::instead(experiment, names);
        Err(Error::Arguments(format!(
            "no experiment named `{experiment}` has a run; {}",
            cut::text(&instead, NAME)
        )))
    }

    pub(super) fn has(&self, run: &PastRun<'_>) -> bool {
        self.experiment.as_ref().is_none_or(|typed| name::is_name_of(typed, &run.run.name))
            && self.status.is_none_or(|status| status == verdict(run))
    }

    /// The cursor of the page after a run.
    pub(super) fn cursor(&self, run: PastRun<'_>) -> String {
        format!("{}-{}", self.choice(), run.run.id)
    }

    /// The place after the run of a cursor: newer runs that were made meanwhile shift nothing.
    pub(super) fn place_after(&self, matching: &[PastRun<'_>], cursor: &str) -> Result<usize, Error> {
        let (choice, id) = cursor
            .split_once('-')
            .filter(|(choice, _)| choice.len() == DIGITS)
            .ok_or_else(cursor::malformed)?;
        if choice != self.choice() {
            return Err(Error::Arguments(
                "`cursor` is one of other `experiment` or `status`: give those of the answer that it came with, or leave \
                 `cursor` out to begin with the newest run"
                    .to_owned(),
            ));
        }
        let place = matching.iter().position(|run| run.run.id == id).map(|place| place + 1);
        place.ok_or_else(|| {
            Error::Arguments(format!(
                "the run `{id}` is gone, at which the page before ended: leave `cursor` out to begin with the newest run"
            ))
        })
    }

    /// A hash of what a cursor is good for.
    fn choice(&self) -> String {
        // Writing plain texts cannot fail.
        let wanted = serde_json::to_string(self).unwrap_or_default();
        sha256_hex(&[wanted])[..DIGITS].to_owned()
    }
}
