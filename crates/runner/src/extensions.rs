//! What the package `cargo-cobalt` adds to this one: commands, reporters and storage whose crates take long to build.
//!
//! In a clone, `cargo cobalt` starts the program of this package, which has none of them. It builds and starts the complete command
//! where one is needed, see [`run_complete`].

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, ExitCode};
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
    pub archive: for<'a> fn(
        &Path,
        &'a ArchiveOptions,
        &'a BuildOptions,
        &Flags,
    ) -> Result<Box<dyn BinarySource + 'a>, Error>,
    /// Serves the dashboard until the user stops it, and opens a path in the browser.
    pub dashboard: fn(&Config, &str, DashboardProject) -> Result<(), Error>,
    /// Renders results as an HTML page.
    pub html: fn(&Results) -> String,
    /// The configured reporter `otlp`.
    pub otlp: fn(&Config) -> Result<Box<dyn Reporter>, Error>,
}

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
pub(crate) fn register(extensions: Extensions) {
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

/// Builds the complete command in this clone, and runs it with the arguments of this process.
///
/// # Errors
///
/// Cargo cannot be started.
pub(crate) fn run_complete() -> Result<ExitCode, Error> {
    let manifest = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"));
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    eprintln!("This needs the complete command: cargo builds what is missing, once.");
    let mut cargo = Process::new(&program);
    cargo.args(["run", "--package", "cargo-cobalt", "--manifest-path"]).arg(manifest);
    replace_process(cargo.arg("--").args(env::args_os().skip(1)))
        .map_err(|source| Error::Start { program: program.to_string_lossy().into_owned(), source })
}

/// Runs a command instead of this process. Returns only if it cannot be started.
#[cfg(unix)]
fn replace_process(command: &mut Process) -> io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(command))
}

/// Runs a command and returns its exit code. Ctrl-C is for the command.
#[cfg(not(unix))]
fn replace_process(command: &mut Process) -> io::Result<ExitCode> {
    let _ = crate::interrupt::install_handler();
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
