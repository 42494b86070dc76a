//! A data set that is another one than was expected.

use cobalt_core::wording::count;

/// A data set that was fetched, and is another one than was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{dataset} has {} with the hash {hash}, and not what is expected ({}){}; where that is right, write {}",
    count(*.items, "item"),
    expectation(.expected_items, .expected_hash),
    after_colon(.compared),
    to_be_written(*.items, .hash, .expected_items, .expected_hash)
)]
#[non_exhaustive]
pub struct ChangedDataset {
    /// The source.
    pub dataset: String,
    /// How many items there are.
    pub items: usize,
    /// Their hash, as of [`Dataset::hash`](crate::Dataset::hash).
    pub hash: String,
    /// How many there should be.
    pub expected_items: Option<usize>,
    /// How their hash should begin.
    pub expected_hash: Option<String>,
    /// How they differ from the copy that is kept, or that they are one; may be empty.
    pub compared: String,
}

fn expectation(items: &Option<usize>, hash: &Option<String>) -> String {
    let items = items.map(|items| count(items, "item"));
    let hash = hash.as_ref().map(|hash| format!("the hash {hash}"));
    items.into_iter().chain(hash).collect::<Vec<_>>().join(", ")
}

fn after_colon(difference: &str) -> String {
    if difference.is_empty() { String::new() } else { format!(": {difference}") }
}

/// What expects a data set as it is now, of what is expected of it.
fn to_be_written(
    items: usize,
    hash: &str,
    expected_items: &Option<usize>,
    expected_hash: &Option<String>,
) -> String {
    let items = expected_items.map(|_| (format!(".expect_items({items})"), format!("items = {items}")));
    let hash =
        expected_hash.as_ref().map(|_| (format!(".expect_hash(\"{hash}\")"), format!("hash = \"{hash}\"")));
    let (calls, keys): (Vec<_>, Vec<_>) = items.into_iter().chain(hash).unzip();
    format!("`{}`, or `{}` in its table of `cobalt.toml`", calls.concat(), keys.join("` and `"))
}
