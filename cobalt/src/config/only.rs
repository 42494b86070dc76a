//! Which items are run where not all are: those that failed last time, or those that are not as they were then.

use std::fmt;
use std::str::FromStr;

/// The items that are run, in place of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// Those that were in error the last time, or scored below a pass mark.
    Failed,
    /// Those that have no result yet, or none by the sources, the evaluators and the data of now.
    Changed,
}

/// As the variable `COBALT_ONLY` has it.
impl fmt::Display for Only {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed => "failed",
            Self::Changed => "changed",
        })
    }
}

impl FromStr for Only {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let all = [Self::Failed, Self::Changed];
        all.into_iter().find(|only| only.to_string() == text).ok_or("expected `failed` or `changed`")
    }
}
