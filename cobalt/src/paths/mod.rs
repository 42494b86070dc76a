//! Where the package under test and its workspace lie, so that relative paths mean the same wherever its tests are started.

mod package;
mod workspace;

pub(crate) use package::set_compiled_package_root;
pub use package::{package_root, resolve};
pub(crate) use workspace::normalized;
pub use workspace::workspace_root;
