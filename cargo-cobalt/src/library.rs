//! What the rooms of the library raise, as errors of the command: the library's facade has one type for all of them.

use cobalt::DatasetError;
use cobalt::store::StoreError;

use crate::error::Error;

impl From<DatasetError> for Error {
    fn from(error: DatasetError) -> Self {
        cobalt::Error::from(error).into()
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        cobalt::Error::from(error).into()
    }
}
