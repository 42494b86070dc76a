//! What a data set that is fetched must be, and what is said where it is not.

use super::kept::Copy;
use super::terms::Terms;
use crate::dataset::difference::Difference;
use crate::dataset::{ChangedDataset, Dataset, DatasetError};
use crate::hash::begins_hash;

/// Refuses what can be the hash of no data set.
pub(super) fn check_terms(label: &str, terms: &Terms) -> Result<(), DatasetError> {
    match terms.hash.as_ref().filter(|hash| !begins_hash(hash)) {
        None => Ok(()),
        Some(hash) => Err(DatasetError::ExpectedHash { dataset: label.to_owned(), hash: hash.clone() }),
    }
}

/// Whether the items are those that are expected.
pub(super) fn fits(dataset: &Dataset, terms: &Terms) -> bool {
    let has_hash = |expected: &String| dataset.hash().starts_with(&expected.to_ascii_lowercase());
    terms.items.is_none_or(|items| items == dataset.len()) && terms.hash.as_ref().is_none_or(has_hash)
}

/// The error for items of a source that are not, with how they differ from those of the copy that there is.
pub(super) fn changed(dataset: &Dataset, terms: &Terms, copy: Option<&Copy>) -> DatasetError {
    let difference = copy.map(|copy| (copy, Difference::between(&copy.dataset, dataset)));
    let difference = difference.filter(|(_, difference)| !difference.is_empty());
    let since = difference.map(|(copy, difference)| format!("{difference} since the copy of {copy}"));
    unexpected(dataset, terms, since.unwrap_or_default())
}

/// The error for items of a copy that are not, where nothing is to be fetched.
pub(super) fn unexpected_copy(copy: &Copy, terms: &Terms) -> DatasetError {
    let advice =
        format!("it is the copy of {copy}, and is fetched again without `--offline` and COBALT_OFFLINE");
    unexpected(&copy.dataset, terms, advice)
}

fn unexpected(dataset: &Dataset, terms: &Terms, compared: String) -> DatasetError {
    DatasetError::Changed(Box::new(ChangedDataset {
        dataset: dataset.source().to_owned(),
        items: dataset.len(),
        hash: dataset.hash(),
        expected_items: terms.items,
        expected_hash: terms.hash.clone(),
        compared,
    }))
}
