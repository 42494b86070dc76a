//! The age of a recording.

use std::time::SystemTime;

use cobalt_core::timestamp::Timestamp;

/// The time since a recording, in its largest unit: `3d`.
pub fn format_age(recorded: Timestamp, now: SystemTime) -> String {
    let seconds = now.duration_since(recorded.time()).unwrap_or_default().as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}min", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_age_is_given_in_its_largest_unit() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let age = |seconds: u64| format_age(Timestamp::from(now - Duration::from_secs(seconds)), now);
        assert_eq!(
            [59, 60, 3_599, 3_600, 86_399, 86_400, 40 * 86_400].map(age),
            ["59s", "1min", "59min", "1h", "23h", "1d", "40d"]
        );
        let ahead = Timestamp::from(now + Duration::from_secs(5));
        assert_eq!(format_age(ahead, now), "0s");
    }
}
