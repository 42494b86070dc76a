//! An assistant in a package with a store of result files.

use std::path::Path;

use super::assistant::Assistant;
use crate::store::Store;

/// The newest protocol version with sessions.
const WITH_SESSIONS: &str = "2025-11-25";

/// An assistant in a package with a store; these others are served as well.
pub(super) fn assistant_of(store: &Store, others: &[&Store]) -> Assistant {
    Assistant::over(store.folder(), &projects(store, others), WITH_SESSIONS)
}

/// Like [`assistant_of`], but without the handshake.
pub(super) fn silent_assistant_of(store: &Store, others: &[&Store]) -> Assistant {
    Assistant::silent_over(store.folder(), &projects(store, others))
}

/// The folders given on the command line: none if there are no others.
fn projects<'a>(store: &'a Store, others: &[&'a Store]) -> Vec<&'a Path> {
    let current = (!others.is_empty()).then_some(store);
    current.into_iter().chain(others.iter().copied()).map(Store::folder).collect()
}
