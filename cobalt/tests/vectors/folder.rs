//! Where the vectors are.

use std::env;
use std::path::PathBuf;

/// The folder of the vectors. `None` where there is none, but not where it was asked for by name.
pub(crate) fn folder() -> Option<PathBuf> {
    let named = |variable: &str, below: &str| {
        let folder = PathBuf::from(env::var_os(variable)?).join(below);
        assert!(folder.is_dir(), "{variable} is set, but {} is no folder", folder.display());
        Some(folder)
    };
    named("COBALT_VECTORS", "").or_else(|| named("COBALT_SHARED", "vectors")).or_else(|| {
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/vectors"));
        folder.is_dir().then_some(folder)
    })
}
