//! A row of a data set of Braintrust, and the item that it becomes.

use serde::Deserialize;
use serde_json::Value;

use crate::dataset::remote::platform::item;
use crate::item::Item;

/// A row, of which only what belongs to the item is read: not who changed it when, nor comments on it.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    pub(super) id: String,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    expected: Value,
    /// What `expected` was called before.
    #[serde(default)]
    output: Value,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    tags: Option<Vec<String>>,
    /// Whether the row says that the one of this id is gone.
    #[serde(default, rename = "_object_delete")]
    pub(super) deleted: Option<bool>,
}

impl From<Row> for Item {
    fn from(row: Row) -> Item {
        let Row { id, input, expected, output, metadata, tags, deleted: _ } = row;
        let expected = if expected.is_null() { output } else { expected };
        let mut item = item(id, input, expected, metadata);
        if let Some(tags) = tags.filter(|tags| !tags.is_empty()) {
            item.insert("tags".to_owned(), tags.into());
        }
        item
    }
}
