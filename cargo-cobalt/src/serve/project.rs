//! Which project is served: its name for people, and a hash by which its own commands know its server.

use std::path::Path;

use cobalt::config::Config;
use sha2::{Digest, Sha256};

/// The name of the project's folder.
pub(super) fn name(settings: &Config) -> String {
    let name = settings.workspace_root().file_name();
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A hash of where the project and its results lie, however their paths are written.
pub(super) fn hash(settings: &Config) -> String {
    let mut hash = Sha256::new();
    for path in [settings.workspace_root(), settings.layout().results()] {
        hash.update(settled(path).as_bytes());
        hash.update([0]);
    }
    hex(&hash.finalize())
}

/// A path without links, as far as it is there.
fn settled(path: &Path) -> String {
    let there = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let settled = there.and_then(|(above, settled)| Some(settled.join(path.strip_prefix(above).ok()?)));
    settled.unwrap_or_else(|| path.to_owned()).to_string_lossy().into_owned()
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
