//! Whether a baseline is so old that another one is due.

use std::time::Duration;

use crate::report::{Measurements, Timestamp};
use crate::wording::count;

const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;

/// Says that a baseline is older than it may be at a moment, as that of the run that is held against it.
#[must_use]
pub fn too_old(baseline: &Measurements, at: Timestamp, most: Duration) -> Option<String> {
    let age = at.time().duration_since(baseline.timestamp.time()).ok().filter(|age| *age > most)?;
    let hours = age.as_secs() / HOUR;
    let age = match usize::try_from(hours * HOUR / DAY).unwrap_or(usize::MAX) {
        0 => count(usize::try_from(hours).unwrap_or_default(), "hour"),
        days => count(days, "day"),
    };
    Some(format!("the baseline is {age} old; `cargo cobalt baseline set` keeps a newer run"))
}
