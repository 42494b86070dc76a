//! A file that would go.

use std::path::PathBuf;
use std::time::SystemTime;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The result file of a run, or what a process that was killed left of one.
    Result,
    /// The journal of a run that was cut off.
    Journal,
    /// A file that a reporter wrote.
    Report,
    /// An answer of a model.
    Answer,
    /// A copy of a data set that was fetched, or what a process that was killed left of one.
    Dataset,
}

impl Kind {
    pub(super) const ALL: [Self; 5] =
        [Self::Result, Self::Journal, Self::Report, Self::Answer, Self::Dataset];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Result => "results",
            Self::Journal => "journals",
            Self::Report => "reports",
            Self::Answer => "answers",
            Self::Dataset => "data sets",
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) path: PathBuf,
    /// In bytes.
    pub(super) size: u64,
    /// When the run started or, for all but result files, when the file was last written.
    pub(super) time: SystemTime,
}

/// What would go, and what is worth knowing of it and of what stays.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) entries: Vec<Entry>,
    pub(super) notes: Vec<String>,
}
