//! `cargo test` for AI agents.

pub mod dataset;
mod error;
pub mod llm;
pub mod paths;
pub mod report;
mod slug;
pub mod template;

pub use dataset::{Dataset, DatasetError, DecodeError, IntoDataset, Item};
pub use error::Error;

/// What the macros expand to; not for people.
#[doc(hidden)]
pub mod private {
    pub use serde_json;

    /// Remembers the package folder that the compiler saw, for binaries started without cargo.
    pub fn set_compiled_package_root(root: &'static str) {
        crate::paths::set_compiled_package_root(root);
    }
}
