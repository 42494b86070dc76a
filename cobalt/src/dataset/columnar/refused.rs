//! What is said of files by columns where they are not compiled in.

use cobalt_core::item::Item;

use crate::dataset::DatasetError;
use crate::dataset::text::Content;

/// Says which feature reads it.
pub fn refuse(_content: Content, shown: &str, _max_bytes: Option<u64>) -> Result<Vec<Item>, DatasetError> {
    Err(DatasetError::FeatureOff { file: shown.to_owned(), format: "Parquet and Arrow", feature: "parquet" })
}
