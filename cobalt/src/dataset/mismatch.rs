//! The error for a dataset that differs from what was expected.

use cobalt_core::wording::count;

/// A fetched dataset that differs from what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{dataset} has {} with hash {hash}, expected {}{}; if the change is intended, set {}",
    count(*.items, "item"),
    expectation(.expected_items, .expected_hash),
    colon_prefixed(.compared),
    suggested_settings(*.items, .hash, .expected_items, .expected_hash)
)]
#[non_exhaustive]
pub struct DatasetMismatch {
    /// The source.
    pub dataset: String,
    /// The number of items.
    pub items: usize,
    /// Their hash, as in [`Dataset::hash`](crate::Dataset::hash).
    pub hash: String,
    /// The expected number of items.
    pub expected_items: Option<usize>,
    /// The expected hash or hash prefix.
    pub expected_hash: Option<String>,
    /// The difference from the cached copy, or a note that this is the cached copy; may be empty.
    pub compared: String,
}

fn expectation(items: &Option<usize>, hash: &Option<String>) -> String {
    let items = items.map(|items| count(items, "item"));
    let hash = hash.as_ref().map(|hash| format!("hash {hash}"));
    items.into_iter().chain(hash).collect::<Vec<_>>().join(" with ")
}

fn colon_prefixed(difference: &str) -> String {
    if difference.is_empty() { String::new() } else { format!(": {difference}") }
}

/// The settings that would expect the dataset in its current state.
fn suggested_settings(
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
