//! Timestamps in files and file names.

use std::fmt;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time, in UTC with millisecond precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(SystemTime);

impl Timestamp {
    /// The current time.
    #[must_use]
    pub fn now() -> Self {
        Self::from(SystemTime::now())
    }

    /// As a [`SystemTime`].
    #[must_use]
    pub fn time(self) -> SystemTime {
        self.0
    }

    /// For people: `2026-02-05 14:30`, in UTC.
    #[must_use]
    pub fn to_minute(self) -> String {
        self.to_string()[..16].replace('T', " ")
    }

    /// The form used in file names: `2026-02-05T14-30-00`.
    #[must_use]
    pub fn for_file_name(self) -> String {
        self.to_string()[..19].replace(':', "-")
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let nanos = u64::from(since.subsec_millis()) * 1_000_000;
        Self(SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs()) + Duration::from_nanos(nanos))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_rfc3339_millis(self.0).fmt(f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        humantime::parse_rfc3339_weak(&text).map(Self::from).map_err(|error| {
            serde::de::Error::custom(format!(
                "`{text}` is not a UTC time such as 2026-02-05T14:30:00.000Z: {error}"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_written_in_utc_with_milliseconds() {
        let time = Timestamp::from(SystemTime::UNIX_EPOCH + Duration::from_micros(1_770_301_800_123_456));
        assert_eq!(time.to_string(), "2026-02-05T14:30:00.123Z");
        assert_eq!(time.for_file_name(), "2026-02-05T14-30-00");
        let text = serde_json::to_string(&time).unwrap();
        assert_eq!(serde_json::from_str::<Timestamp>(&text).unwrap(), time);
    }
}
