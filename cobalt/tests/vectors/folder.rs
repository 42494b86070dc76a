//! Where the vectors are.

use std::env;
use std::path::{Path, PathBuf};

/// The folder of the vectors. `None` where there is none, but not where it was asked for by name.
pub(crate) fn folder() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let named = |variable: &str, below: &str| {
        // A relative path is meant from where cargo was called, which is mostly the workspace; a test starts in its package.
        let folder = workspace.join(env::var_os(variable)?).join(below);
        assert!(folder.is_dir(), "{variable} is set, but {} is no folder", folder.display());
        Some(folder)
    };
    named("COBALT_VECTORS", "").or_else(|| named("COBALT_SHARED", "vectors")).or_else(|| {
        let folder = workspace.join("../shared/vectors");
        folder.is_dir().then_some(folder)
    })
}
