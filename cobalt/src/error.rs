//! The one error type of the library's public functions.

use crate::dataset::DatasetError;

/// Whatever the library's fallible functions report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A data set could not be read, or its items do not fit.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}
