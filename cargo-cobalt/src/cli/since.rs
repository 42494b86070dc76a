//! `--since`: a date, a time or an age.

use std::str::FromStr;
use std::time::{Duration, SystemTime};

use cobalt::report::Timestamp;

/// The beginning of the year 10000, which no timestamp can name.
const END: Duration = Duration::from_secs(253_402_300_800);

/// The moment from which on runs are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Since(SystemTime);

#[derive(Debug, thiserror::Error)]
#[error(
    "expected a date such as 2026-02-05, a time such as 2026-02-05T14:30:00Z, or an age such as 7d or 12h"
)]
pub(crate) struct SinceError;

impl Since {
    /// The moment as a run's timestamp is written.
    pub(crate) fn timestamp(self) -> String {
        Timestamp::from(self.0).to_string()
    }

    fn parse(text: &str, now: SystemTime) -> Option<Self> {
        let time = time(text).or_else(|| time(&format!("{text}T00:00:00Z"))).or_else(|| {
            let age = humantime::parse_duration(text).ok()?;
            // What is older than time itself is as old as it.
            Some(now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH))
        });
        time.filter(|time| *time < SystemTime::UNIX_EPOCH + END).map(Self)
    }
}

impl FromStr for Since {
    type Err = SinceError;

    fn from_str(text: &str) -> Result<Self, SinceError> {
        Self::parse(text, SystemTime::now()).ok_or(SinceError)
    }
}

/// A time as in RFC 3339; without a zone it is in UTC.
fn time(text: &str) -> Option<SystemTime> {
    match offset(text) {
        Some((text, true, offset)) => humantime::parse_rfc3339_weak(text).ok()?.checked_sub(offset),
        Some((text, false, offset)) => humantime::parse_rfc3339_weak(text).ok()?.checked_add(offset),
        None => humantime::parse_rfc3339_weak(text).ok(),
    }
}

/// Splits the zone off a time, as in `+02:00`: whether its clocks are ahead of UTC, and by how much.
fn offset(text: &str) -> Option<(&str, bool, Duration)> {
    let (time, zone) = text.split_at_checked(text.len().checked_sub("+00:00".len())?)?;
    // A date has no zone, though it may look like having one.
    if !time.contains(':') {
        return None;
    }
    let is_ahead = zone.starts_with('+');
    let (hours, minutes) = zone.strip_prefix(['+', '-'])?.split_once(':')?;
    let number = |text: &str, most: u64| text.parse::<u64>().ok().filter(|number| *number <= most);
    let seconds = number(hours, 23)? * 3600 + number(minutes, 59)? * 60;
    Some((time, is_ahead, Duration::from_secs(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(text: &str) -> Option<String> {
        let now = humantime::parse_rfc3339("2026-02-05T14:30:00Z").unwrap();
        Since::parse(text, now).map(Since::timestamp)
    }

    #[test]
    fn a_date_is_its_beginning_in_utc() {
        assert_eq!(since("2026-02-01").unwrap(), "2026-02-01T00:00:00.000Z");
    }

    #[test]
    fn a_time_may_have_a_zone() {
        assert_eq!(since("2026-02-01T10:00:00.5Z").unwrap(), "2026-02-01T10:00:00.500Z");
        assert_eq!(since("2026-02-01 10:00:00").unwrap(), "2026-02-01T10:00:00.000Z");
        assert_eq!(since("2026-02-01T01:00:00+02:30").unwrap(), "2026-01-31T22:30:00.000Z");
        assert_eq!(since("2026-02-01T10:00:00-05:00").unwrap(), "2026-02-01T15:00:00.000Z");
    }

    #[test]
    fn the_last_moment_is_that_before_the_year_10000() {
        assert_eq!(since("9999-12-31T23:59:59.999Z").unwrap(), "9999-12-31T23:59:59.999Z");
        assert_eq!(since("9999-12-31T23:59:59-00:01"), None);
    }

    #[test]
    fn an_age_counts_back_from_now() {
        assert_eq!(since("7d").unwrap(), "2026-01-29T14:30:00.000Z");
        assert_eq!(since("12h").unwrap(), "2026-02-05T02:30:00.000Z");
        assert_eq!(since("9999years").unwrap(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn anything_else_is_refused() {
        for text in
            ["", "yesterday", "2026-02-30", "2026-02", "7", "-7d", "2026-02-01T10:00:00+25:00", "日本語"]
        {
            assert_eq!(since(text), None, "{text}");
        }
    }
}
