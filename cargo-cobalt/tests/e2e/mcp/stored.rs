//! An assistant in a package with a store of result files.

use std::path::Path;

use super::assistant::Assistant;
use crate::store::Store;

/// The newest version of the protocol that has sessions.
const WITH_SESSIONS: &str = "2025-11-25";

/// An assistant in a package with a store, beside these others.
pub(super) fn assistant_of(store: &Store, others: &[&Store]) -> Assistant {
    Assistant::over(store.folder(), &projects(store, others), WITH_SESSIONS)
}

/// The same that has said nothing yet.
pub(super) fn silent_assistant_of(store: &Store, others: &[&Store]) -> Assistant {
    Assistant::silent_over(store.folder(), &projects(store, others))
}

/// The folders that are named: none where there is no other than the current one.
fn projects<'a>(store: &'a Store, others: &[&'a Store]) -> Vec<&'a Path> {
    let current = (!others.is_empty()).then_some(store);
    current.into_iter().chain(others.iter().copied()).map(Store::folder).collect()
}
