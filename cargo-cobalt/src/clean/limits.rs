//! How old, and how many.

use std::time::{Duration, SystemTime};

use crate::cli::Clean;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What stays of what is named.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    now: SystemTime,
    /// What is younger stays.
    age: Option<Duration>,
    /// So many of the newest whole runs of each experiment stay.
    pub(super) keep: Option<usize>,
}

impl Limits {
    pub(super) fn of(arguments: &Clean) -> Self {
        let days = arguments.days.map(|days| u32::try_from(days.get()).unwrap_or(u32::MAX));
        Self {
            now: SystemTime::now(),
            age: days.map(|days| DAY * days),
            keep: arguments.keep.map(usize::from),
        }
    }

    /// Whether what is of this time is old enough to go.
    pub(super) fn is_old(&self, time: SystemTime) -> bool {
        self.age.is_none_or(|age| self.is_older(time, age))
    }

    /// Whether what is of this time is older than that. What is of the future is not.
    pub(super) fn is_older(&self, time: SystemTime, age: Duration) -> bool {
        self.now.duration_since(time).is_ok_and(|passed| passed > age)
    }
}
