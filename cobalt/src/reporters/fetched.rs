//! Of when data is, as people read it.

use std::time::{Duration, SystemTime};

use super::printable;
use crate::report::Fetch;
use crate::wording::count;

/// What a data set was fetched from, and how long ago: `langfuse:support, fetched 3 days ago`.
#[must_use]
pub fn fetched(source: &str, fetch: &Fetch) -> String {
    let age = SystemTime::now().duration_since(fetch.at.time()).unwrap_or_default();
    format!("{}, fetched {}", printable(source), ago(age))
}

/// A time that has passed, in its largest unit.
fn ago(passed: Duration) -> String {
    let minutes = usize::try_from(passed.as_secs() / 60).unwrap_or(usize::MAX);
    match (minutes, minutes / 60, minutes / (24 * 60)) {
        (0, _, _) => "just now".to_owned(),
        (minutes, 0, _) => format!("{} ago", count(minutes, "minute")),
        (_, hours, 0) => format!("{} ago", count(hours, "hour")),
        (_, _, days) => format!("{} ago", count(days, "day")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamp::Timestamp;

    #[test]
    fn how_long_ago_data_was_fetched_is_told_in_the_largest_unit() {
        let told = |seconds| ago(Duration::from_secs(seconds));
        assert_eq!(
            [59, 60, 3599, 7200, 86_400, 30 * 86_400].map(told),
            ["just now", "1 minute ago", "59 minutes ago", "2 hours ago", "1 day ago", "30 days ago"]
        );
    }

    #[test]
    fn what_a_source_is_called_cannot_steer_the_terminal() {
        let fetch = Fetch { at: Timestamp::now(), version: None };
        assert!(!fetched("a\u{1b}[2J", &fetch).contains('\u{1b}'));
        assert!(fetched("langfuse:support", &fetch).ends_with(", fetched just now"));
    }
}
