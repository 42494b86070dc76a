//! Days of the week and times of the day: the planner looks no further ahead than a week.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A day of the coming week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "they say what they are")]
pub enum Day {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl Day {
    const WEEK: [Self; 7] = [
        Self::Monday,
        Self::Tuesday,
        Self::Wednesday,
        Self::Thursday,
        Self::Friday,
        Self::Saturday,
        Self::Sunday,
    ];

    /// The day after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self::WEEK[(self as usize + 1) % Self::WEEK.len()]
    }

    /// The day of this name or abbreviation, in small letters. "Sat" and "sun" are words of their own, and no days.
    pub(crate) fn named(word: &str) -> Option<Self> {
        if word.len() < 3 || ["sat", "sun"].contains(&word) {
            return None;
        }
        Self::WEEK.into_iter().find(|day| day.to_string().to_lowercase().starts_with(word))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A time of the day, in minutes after midnight. Written `07:15`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Time(u16);

impl Time {
    /// From midnight to the end of the day; `None` where there is no such time.
    pub(crate) fn new(hour: u16, minute: u16) -> Option<Self> {
        (hour < 24 && minute < 60).then_some(Self(60 * hour + minute))
    }

    /// The minutes from an earlier time of the same day.
    pub(crate) fn minutes_since(self, earlier: Self) -> u16 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl From<Time> for String {
    fn from(time: Time) -> Self {
        time.to_string()
    }
}

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts =
            text.split_once(':').and_then(|(hour, minute)| Some((hour.parse().ok()?, minute.parse().ok()?)));
        let time = parts.and_then(|(hour, minute)| Self::new(hour, minute));
        time.ok_or_else(|| format!("`{text}` is no time of the day: expected one like `07:15`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_week_begins_again_after_sunday() {
        assert_eq!(Day::Sunday.next(), Day::Monday);
    }

    #[test]
    fn days_may_be_abbreviated_unless_that_is_a_word() {
        assert_eq!(Day::named("thurs"), Some(Day::Thursday));
        assert_eq!(Day::named("saturday"), Some(Day::Saturday));
        assert_eq!((Day::named("sat"), Day::named("sun"), Day::named("mo")), (None, None, None));
    }

    #[test]
    fn a_time_is_read_as_it_is_written() {
        let time = Time::try_from("07:05".to_owned()).unwrap();
        assert_eq!(time.to_string(), "07:05");
        assert!(Time::try_from("24:00".to_owned()).is_err());
        assert!(Time::try_from("noon".to_owned()).is_err());
    }
}
