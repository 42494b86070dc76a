//! The names of a run's items in test cases.

use std::borrow::Cow;

use super::error::StoreError;
use super::parts::{PartsReader, RowName, index_name};
use crate::item::make_unique;
use crate::report::Report;

/// The unique names of a run's items in test cases. A list for a million items would be large, but mostly they are the keys or the
/// indexes.
#[derive(Debug)]
pub enum CaseNames {
    /// Each item has its key as its name.
    Keys,
    /// Each item has its index as its name, as four digits.
    Indexes,
    /// The names in dataset order.
    Listed(Vec<String>),
}

impl CaseNames {
    /// Of a report with all its items.
    #[must_use]
    pub fn of_report(report: &Report) -> Self {
        Self::Listed(report.case_names())
    }

    /// Of a run in parts.
    ///
    /// # Errors
    ///
    /// The columns are damaged.
    pub fn of_parts(parts: &PartsReader) -> Result<Self, StoreError> {
        let (mut are_keys, mut are_indexes) = (true, true);
        for row in parts.rows() {
            let name = row?.name;
            are_keys &= name == RowName::Key;
            are_indexes &= name == RowName::Index;
            if !are_keys && !are_indexes {
                break;
            }
        }
        if are_keys {
            return Ok(Self::Keys);
        }
        if are_indexes {
            return Ok(Self::Indexes);
        }
        let names = parts.rows().map(|row| Ok(row?.case_name().into_owned()));
        Ok(Self::Listed(make_unique(names.collect::<Result<_, StoreError>>()?)))
    }

    /// The name of the item at a position in dataset order, which has this key and this index.
    #[must_use]
    pub fn name<'a>(&'a self, position: usize, key: &'a str, index: usize) -> Cow<'a, str> {
        match self {
            Self::Keys => key.into(),
            Self::Indexes => index_name(index).into(),
            Self::Listed(names) => names.get(position).map_or(key, String::as_str).into(),
        }
    }
}
