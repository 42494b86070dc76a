//! Argument types: a run name, an experiment name, and the time of `--since`.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use cobalt_core::experiment_name;
use cobalt_core::pattern::{Pattern, PatternError};
use cobalt_core::report::Timestamp;

/// Names the latest run.
const LATEST: &str = "latest";
/// Names the target branch of the pull request.
const TARGET: &str = "target";
/// Begins the name of a branch.
const BRANCH: &str = "branch:";

/// A run as given by the user; `KnownRuns` resolves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunName {
    typed: String,
    pub meaning: RunSelector,
}

/// What a name refers to, as far as that is clear without looking at the runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunSelector {
    /// The `back`-th run before the latest one, of one experiment or of any.
    Latest { experiment: Option<String>, back: usize },
    /// The latest run on a branch, of one experiment or of each.
    Branch { experiment: Option<String>, branch: String },
    /// The latest run on the target branch of the pull request, of one experiment or of each.
    Target { experiment: Option<String> },
    /// A file, an ID, an ID prefix, a git revision, or a name that a user gave to a run.
    Lookup,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunNameError {
    #[error("expected a whole number after `latest~`, e.g. `latest~1` for the run before the latest")]
    Count,
    #[error("expected the name of a branch after `branch:`, e.g. `branch:main`")]
    Branch,
}

/// The number of hexadecimal digits of a run ID.
const ID_DIGITS: usize = 12;

/// Whether a text has the form of a run ID.
pub fn is_run_id(text: &str) -> bool {
    text.len() == ID_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl RunName {
    pub fn as_str(&self) -> &str {
        &self.typed
    }

    /// The latest run of an experiment.
    pub fn latest_of(experiment: &str) -> Self {
        Self {
            typed: format!("{experiment}@{LATEST}"),
            meaning: RunSelector::Latest { experiment: Some(experiment.to_owned()), back: 0 },
        }
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.typed)
    }
}

impl FromStr for RunName {
    type Err = RunNameError;

    fn from_str(typed: &str) -> Result<Self, RunNameError> {
        if let Some((experiment, branch)) = split_branch(typed) {
            if branch.is_empty() {
                return Err(RunNameError::Branch);
            }
            let (experiment, branch) = (experiment.map(str::to_owned), branch.to_owned());
            return Ok(Self { typed: typed.to_owned(), meaning: RunSelector::Branch { experiment, branch } });
        }
        let (experiment, last) = match typed.rsplit_once('@') {
            Some((experiment, last)) if !experiment.is_empty() => (Some(experiment.to_owned()), last),
            _ => (None, typed),
        };
        let back = match last.strip_prefix(LATEST) {
            Some("") => Some(0),
            // As in git, `~` alone means `~1`.
            Some("~") => Some(1),
            Some(rest) if rest.starts_with('~') => Some(rest[1..].parse().map_err(|_| RunNameError::Count)?),
            _ => None,
        };
        let meaning = match back {
            Some(back) => RunSelector::Latest { experiment, back },
            None if last == TARGET => RunSelector::Target { experiment },
            None => RunSelector::Lookup,
        };
        Ok(Self { typed: typed.to_owned(), meaning })
    }
}

/// The experiment, if one is named, and the branch of `branch:main` and `help-desk@branch:main`. A branch's name may contain `@`.
fn split_branch(typed: &str) -> Option<(Option<&str>, &str)> {
    if let Some(branch) = typed.strip_prefix(BRANCH) {
        return Some((None, branch));
    }
    let (at, _) = typed.match_indices('@').find(|(at, _)| *at > 0 && typed[at + 1..].starts_with(BRANCH))?;
    Some((Some(&typed[..at]), &typed[at + 1 + BRANCH.len()..]))
}

/// A full experiment name, as declared or as in test cases, or a pattern of such names with `*`, `?` or `[…]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExperimentName {
    Whole(String),
    /// The text is kept, as a name can itself contain brackets.
    Pattern(Pattern, String),
}

impl ExperimentName {
    pub fn matches(&self, declared: &str) -> bool {
        match self {
            Self::Whole(typed) => experiment_name::matches_name(typed, declared),
            Self::Pattern(pattern, typed) => {
                experiment_name::matches(pattern, declared) || experiment_name::matches_name(typed, declared)
            }
        }
    }
}

impl FromStr for ExperimentName {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        match text.contains(['*', '?', '[']) {
            true => Ok(Self::Pattern(text.parse()?, text.to_owned())),
            false => Ok(Self::Whole(text.to_owned())),
        }
    }
}

/// Displays the name as given.
impl fmt::Display for ExperimentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(typed) | Self::Pattern(_, typed) => f.write_str(typed),
        }
    }
}

/// The start of the year 10000, which timestamps cannot represent.
const YEAR_10000: Duration = Duration::from_secs(253_402_300_800);

/// The time from which on runs are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since(SystemTime);

#[derive(Debug, thiserror::Error)]
#[error(
    "expected a date such as 2026-02-05, a time such as 2026-02-05T14:30:00Z, or an age such as 7d or 12h"
)]
pub struct SinceError;

impl Since {
    /// In the format of a run's timestamp.
    pub fn timestamp(self) -> String {
        Timestamp::from(self.0).to_string()
    }

    pub fn time(self) -> SystemTime {
        self.0
    }

    fn parse(text: &str, now: SystemTime) -> Option<Self> {
        let time = parse_time(text).or_else(|| parse_time(&format!("{text}T00:00:00Z"))).or_else(|| {
            let age = humantime::parse_duration(text).ok()?;
            // Ages beyond the epoch are clamped to it.
            Some(now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH))
        });
        time.filter(|time| *time < SystemTime::UNIX_EPOCH + YEAR_10000).map(Self)
    }
}

impl FromStr for Since {
    type Err = SinceError;

    fn from_str(text: &str) -> Result<Self, SinceError> {
        Self::parse(text, SystemTime::now()).ok_or(SinceError)
    }
}

/// Parses an RFC 3339 time; without a zone, UTC is assumed.
fn parse_time(text: &str) -> Option<SystemTime> {
    match split_offset(text) {
        Some((text, true, offset)) => humantime::parse_rfc3339_weak(text).ok()?.checked_sub(offset),
        Some((text, false, offset)) => humantime::parse_rfc3339_weak(text).ok()?.checked_add(offset),
        None => humantime::parse_rfc3339_weak(text).ok(),
    }
}

/// Splits off a zone such as `+02:00`: whether it is ahead of UTC, and by how much.
fn split_offset(text: &str) -> Option<(&str, bool, Duration)> {
    let (time, zone) = text.split_at_checked(text.len().checked_sub("+00:00".len())?)?;
    // A date has no zone, even if its end looks like one.
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

    fn latest(experiment: Option<&str>, back: usize) -> RunSelector {
        RunSelector::Latest { experiment: experiment.map(str::to_owned), back }
    }

    #[test]
    fn the_newest_run_and_those_before_it_are_counted_back() {
        for (typed, meaning) in [
            ("latest", latest(None, 0)),
            ("latest~", latest(None, 1)),
            ("latest~12", latest(None, 12)),
            ("help-desk@latest", latest(Some("help-desk"), 0)),
            ("a@b@latest~2", latest(Some("a@b"), 2)),
        ] {
            assert_eq!(typed.parse::<RunName>().unwrap().meaning, meaning, "{typed}");
        }
    }

    #[test]
    fn anything_else_is_looked_up() {
        for typed in
            ["8fd9a1", "main~1", "HEAD@{1}", "latest-stable", "./latest", "help-desk@main", "@latest2"]
        {
            assert_eq!(typed.parse::<RunName>().unwrap().meaning, RunSelector::Lookup, "{typed}");
        }
    }

    #[test]
    fn a_count_that_is_none_is_refused() {
        for typed in ["latest~x", "latest~-1", "desk@latest~1.5"] {
            assert_eq!(typed.parse::<RunName>(), Err(RunNameError::Count), "{typed}");
        }
    }

    #[test]
    fn a_branch_is_named_alone_or_with_an_experiment() {
        let branch = |experiment: Option<&str>, branch: &str| RunSelector::Branch {
            experiment: experiment.map(str::to_owned),
            branch: branch.to_owned(),
        };
        let target =
            |experiment: Option<&str>| RunSelector::Target { experiment: experiment.map(str::to_owned) };
        for (typed, meaning) in [
            ("branch:main", branch(None, "main")),
            ("branch:fix@latest", branch(None, "fix@latest")),
            ("help-desk@branch:release/2.0", branch(Some("help-desk"), "release/2.0")),
            ("a@b@branch:c@d", branch(Some("a@b"), "c@d")),
            ("target", target(None)),
            ("help-desk@target", target(Some("help-desk"))),
            ("target/debug", RunSelector::Lookup),
            ("branches", RunSelector::Lookup),
        ] {
            assert_eq!(typed.parse::<RunName>().unwrap().meaning, meaning, "{typed}");
        }
        for typed in ["branch:", "desk@branch:"] {
            assert_eq!(typed.parse::<RunName>(), Err(RunNameError::Branch), "{typed}");
        }
    }

    #[test]
    fn a_name_is_whole_unless_it_has_wildcards() {
        let matches =
            |typed: &str, declared: &str| typed.parse::<ExperimentName>().unwrap().matches(declared);
        assert!(matches("desk", "desk") && matches("Help-desk", "Help desk"));
        assert!(!matches("desk", "help-desk") && matches("*desk", "help-desk"));
        assert!(matches("desk [v2]", "desk [v2]") && matches("desk [v2]", "desk 2"));
        assert!("[a".parse::<ExperimentName>().is_err());
    }

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
