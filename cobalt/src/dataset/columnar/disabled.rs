//! The stub for columnar files if the feature `parquet` is off.

use cobalt_core::item::Item;

use crate::dataset::DatasetError;
use crate::dataset::text::Content;

/// An error that names the required feature.
pub fn feature_off(
    _content: Content,
    shown: &str,
    _max_bytes: Option<u64>,
) -> Result<Vec<Item>, DatasetError> {
    Err(DatasetError::FeatureOff { file: shown.to_owned(), format: "Parquet and Arrow", feature: "parquet" })
}
