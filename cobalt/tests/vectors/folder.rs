//! The location of the vectors.

use std::env;
use std::path::{Path, PathBuf};

/// The directory of the vectors. `None` if it does not exist, unless it was named explicitly.
pub(crate) fn folder() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let named = |variable: &str, below: &str| {
        // Relative to where Cargo was called, usually the workspace; a test starts in its package.
        let folder = workspace.join(env::var_os(variable)?).join(below);
        assert!(folder.is_dir(), "{variable} is set, but {} is not a folder", folder.display());
        Some(folder)
    };
    named("COBALT_VECTORS", "").or_else(|| named("COBALT_SHARED", "vectors")).or_else(|| {
        let folder = workspace.join("../shared/vectors");
        folder.is_dir().then_some(folder)
    })
}
