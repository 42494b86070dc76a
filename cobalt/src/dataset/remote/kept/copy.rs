//! A copy of a data set as it is read: whole, or not to be used.

use std::fmt;
use std::io::BufRead;

use super::header::Header;
use crate::dataset::{Dataset, DatasetError, parse_jsonl};
use crate::timestamp::Timestamp;

/// How many digits of a hash are shown.
const SHOWN_DIGITS: usize = 12;

/// What is found where a copy would be.
#[derive(Debug)]
pub(in super::super) enum Found {
    /// There is none.
    Nothing,
    /// A copy that is what it says.
    Copy(Copy),
    /// A file that cannot be used, and why.
    Damaged(String),
}

impl Found {
    /// The copy, if there is one that can be used.
    pub(in super::super) fn copy(self) -> Option<Copy> {
        match self {
            Self::Copy(copy) => Some(copy),
            Self::Nothing | Self::Damaged(_) => None,
        }
    }
}

/// A copy that was read, and is what was fetched.
#[derive(Debug)]
pub(in super::super) struct Copy {
    pub(in super::super) dataset: Dataset,
    /// When it was asked for.
    pub(in super::super) at: Timestamp,
}

impl Copy {
    /// Reads the items behind a header, or tells what is wrong with them.
    pub(super) fn read(header: &Header, reader: impl BufRead) -> Result<Self, String> {
        // Lines are counted with the header's.
        let items = parse_jsonl(reader, "the copy").map_err(|error| match error {
            DatasetError::Malformed { line, reason, .. } => format!("line {}: {reason}", line + 1),
            DatasetError::Empty { .. } => "it has no items".to_owned(),
            error => error.to_string(),
        })?;
        let fetch = header.fetch();
        let at = fetch.at;
        let dataset = Dataset::fetched(&header.source, items, fetch);
        if dataset.len() != header.items {
            return Err(format!("it has {} of its {} items", dataset.len(), header.items));
        }
        match dataset.hash() == header.hash {
            true => Ok(Self { dataset, at }),
            false => Err("its items are not those that were fetched".to_owned()),
        }
    }
}

impl fmt::Display for Copy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = crate::wording::count(self.dataset.len(), "item");
        write!(f, "{} ({items}, hash {})", self.at, &self.dataset.hash()[..SHOWN_DIGITS])
    }
}
