//! What may pass, and how long a server asks to wait.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The longest time that a server may ask to wait.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Whether what the server says may pass: it is too busy, or broken. What it cannot do at all does not pass.
pub(super) fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599) && status != 501
}

/// How long the server asks to wait: `retry-after-ms` as OpenAI has it, else `Retry-After` in seconds or as a date.
pub(super) fn asked_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse().ok().filter(|number: &f64| *number >= 0.0);
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        return Some(duration(milliseconds / 1000.0));
    }
    let text = text(RETRY_AFTER.as_str())?;
    match number(text) {
        Some(seconds) => Some(duration(seconds)),
        // A date that has passed asks for no wait.
        None => httpdate::parse_http_date(text).ok().map(|date| date.duration_since(now).unwrap_or_default()),
    }
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &'static str, value: &'static str) -> Option<Duration> {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        asked_wait(&HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]), now)
    }

    #[test]
    fn a_wait_is_read_in_seconds_in_milliseconds_or_as_a_date() {
        assert_eq!(asked("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(asked("retry-after", "0.25"), Some(Duration::from_millis(250)));
        assert_eq!(asked("retry-after-ms", "40"), Some(Duration::from_millis(40)));
        assert_eq!(asked("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"), Some(Duration::from_secs(10)));
        assert_eq!(asked("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
    }

    #[test]
    fn a_wait_that_cannot_be_read_is_none() {
        for value in ["soon", "-1", "NaN", ""] {
            assert_eq!(asked("retry-after", value), None, "{value}");
        }
    }
}
