//! Files that make their reader panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::dataset::DatasetError;
use crate::item::Item;

/// What `read` gives, and an error where it panics: the decoder of Arrow trusts the lengths of columns, so that a changed
/// byte can make it look beyond the end of a buffer, though every buffer lies within its message.
pub(super) fn caught(
    shown: &str,
    read: impl FnOnce() -> Result<Vec<Item>, DatasetError>,
) -> Result<Vec<Item>, DatasetError> {
    // What `read` worked on is dropped with it.
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(DatasetError::Columns {
            file: shown.to_owned(),
            place: "content".to_owned(),
            reason: "the file is damaged, get or write it again: it names places that it does not have"
                .to_owned(),
        })
    })
}
