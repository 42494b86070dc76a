//! Whether a baseline is so old that another one is due.

use std::time::Duration;

use crate::report::Measurements;
use crate::timestamp::Timestamp;
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

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use serde_json::json;

    use super::*;

    fn age_of(hours: u64) -> Option<String> {
        let at = |hours| Timestamp::from(SystemTime::UNIX_EPOCH + Duration::from_secs(hours * HOUR));
        let baseline = json!({
            "measurements": 1, "id": "a", "name": "desk", "timestamp": at(0), "runs": 1, "evaluators": [], "items": [],
        });
        let baseline: Measurements = serde_json::from_value(baseline).unwrap();
        too_old(&baseline, at(hours), Duration::from_secs(12 * HOUR))
    }

    #[test]
    fn a_baseline_is_old_only_beyond_its_age() {
        assert_eq!(age_of(12), None);
        let said = age_of(13).unwrap();
        assert_eq!(said, "the baseline is 13 hours old; `cargo cobalt baseline set` keeps a newer run");
        assert!(age_of(49).unwrap().contains(" 2 days old"));
    }
}
