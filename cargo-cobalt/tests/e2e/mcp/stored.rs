//! An assistant in a package with a store of result files.

use serde_json::json;

use super::assistant::Assistant;
use crate::command::{COBALT, program};
use crate::store::Store;

/// The newest version of the protocol that has sessions.
const WITH_SESSIONS: &str = "2025-11-25";

/// An assistant in a package with a store, beside these others.
pub(super) fn assistant_of(store: &Store, others: &[&Store]) -> Assistant {
    let mut assistant = silent_assistant_of(store, others);
    assistant.hello(WITH_SESSIONS, json!({}));
    assistant
}

/// The same that has said nothing yet.
pub(super) fn silent_assistant_of(store: &Store, others: &[&Store]) -> Assistant {
    let mut command = program(COBALT, store.folder());
    command.args(["cobalt", "mcp"]);
    if !others.is_empty() {
        command.args(["--project", "."]);
    }
    for other in others {
        command.arg("--project").arg(other.folder());
    }
    Assistant::by(command)
}
