//! Extensions of this package by `cargo-cobalt`: commands and reporters whose crates take long to build.
//!
//! In a clone, `cargo cobalt` starts a program without them, `crates/quick`, which builds and starts the complete command if it is needed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use cobalt::command::config::{Config, Flags};

use crate::cli::{ArchiveOptions, BuildOptions, Color, Command};
use crate::error::Error;
use crate::project::BinarySource;
use crate::results::{Reporter, Results};

/// See the [module](self).
#[derive(Clone, Copy)]
pub struct Extensions {
    /// Runs one of the commands that are not in this package.
    pub command: fn(&Command, &Flags, Color) -> Result<ExitCode, Error>,
    /// Opens an archive of test binaries.
    pub archive: OpenArchive,
    /// Serves the dashboard until the user stops it, and opens a path in the browser.
    pub dashboard: fn(&Config, &str, DashboardProject) -> Result<(), Error>,
    /// Renders results as an HTML page.
    pub html: Renderer,
    /// The configured reporter `otlp`.
    pub otlp: fn(&Config) -> Result<Box<dyn Reporter>, Error>,
}

/// Opens the archive at a path, with its options and those of a build.
pub type OpenArchive = for<'a> fn(
    &Path,
    &'a ArchiveOptions,
    &'a BuildOptions,
    &Flags,
) -> Result<Box<dyn BinarySource + 'a>, Error>;

/// Renders results as text.
pub type Renderer = fn(&Results) -> String;

/// The project whose experiments a dashboard can start.
#[derive(Clone, Debug, Default)]
pub struct DashboardProject {
    /// The file of `--config`.
    pub config: Option<PathBuf>,
    /// The file of `--manifest-path`.
    pub manifest_path: Option<PathBuf>,
}

static EXTENSIONS: OnceLock<Extensions> = OnceLock::new();

/// Registers the extensions of this process.
pub fn register(extensions: Extensions) {
    EXTENSIONS.get_or_init(|| extensions);
}

/// The extensions of this process. Ask for them before anything has an effect: the complete command starts from the beginning.
///
/// # Errors
///
/// This program has none: [`Error::Incomplete`].
pub fn extensions() -> Result<&'static Extensions, Error> {
    EXTENSIONS.get().ok_or(Error::Incomplete)
}
