//! A run as it was typed.

use std::fmt;
use std::str::FromStr;

/// What names the newest run.
const LATEST: &str = "latest";

/// A run as it was typed, which `KnownRuns` can find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunName {
    typed: String,
    pub(crate) meaning: Meaning,
}

/// What a name can mean without a look at the runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The newest run but so many, of an experiment or of any.
    Latest { experiment: Option<String>, back: usize },
    /// A file, an id, the beginning of one, or a git revision.
    Other,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a whole number after `latest~`, as in `latest~1` for the run before the newest one")]
pub(crate) struct RunNameError;

impl RunName {
    pub(crate) fn as_str(&self) -> &str {
        &self.typed
    }

    /// The newest run of an experiment.
    pub(crate) fn latest_of(experiment: &str) -> Self {
        Self {
            typed: format!("{experiment}@{LATEST}"),
            meaning: Meaning::Latest { experiment: Some(experiment.to_owned()), back: 0 },
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
        let (experiment, last) = match typed.rsplit_once('@') {
            Some((experiment, last)) if !experiment.is_empty() => (Some(experiment.to_owned()), last),
            _ => (None, typed),
        };
        let back = match last.strip_prefix(LATEST) {
            Some("") => Some(0),
            // As git has it, where the number is left out.
            Some("~") => Some(1),
            Some(rest) if rest.starts_with('~') => Some(rest[1..].parse().map_err(|_| RunNameError)?),
            _ => None,
        };
        let meaning = back.map_or(Meaning::Other, |back| Meaning::Latest { experiment, back });
        Ok(Self { typed: typed.to_owned(), meaning })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latest(experiment: Option<&str>, back: usize) -> Meaning {
        Meaning::Latest { experiment: experiment.map(str::to_owned), back }
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
            assert_eq!(typed.parse::<RunName>().unwrap().meaning, Meaning::Other, "{typed}");
        }
    }

    #[test]
    fn a_count_that_is_none_is_refused() {
        for typed in ["latest~x", "latest~-1", "desk@latest~1.5"] {
            assert_eq!(typed.parse::<RunName>(), Err(RunNameError), "{typed}");
        }
    }
}
