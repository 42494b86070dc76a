//! `cargo cobalt run`: finds, builds and runs experiments.

use std::process::{Command, ExitCode};

use crate::cli::Run;
use crate::project::{self, Binary, compile};

use crate::error::Error;

/// The exit code of a test binary in which a case failed.
const FAILED: i32 = 101;
/// The exit code of a test binary that was stopped by Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Runs the selected experiments, one test binary after another.
pub(crate) fn run(arguments: &Run) -> Result<ExitCode, Error> {
    let experiments = project::experiments(arguments)?;
    // Ctrl-C is for the test binary, which keeps what is finished and ends; this program then ends with it.
    ctrlc::set_handler(|| {}).map_err(Error::Signals)?;
    let mut worst = 0;
    for binary in compile(&experiments, arguments)? {
        worst = worst.max(match run_binary(&binary, arguments)? {
            FAILED if !arguments.ci => 0,
            FAILED => 1,
            code => code,
        });
        if worst == INTERRUPTED {
            break;
        }
    }
    Ok(ExitCode::from(u8::try_from(worst).unwrap_or(3)))
}

/// Runs a test binary as cargo does, and answers with its exit code.
fn run_binary(binary: &Binary, arguments: &Run) -> Result<i32, Error> {
    let status = Command::new(&binary.path)
        .args(&arguments.harness)
        .current_dir(&binary.package_root)
        .env("CARGO_MANIFEST_DIR", &binary.package_root)
        .status()
        .map_err(|source| Error::Start { program: binary.path.display().to_string(), source })?;
    // A binary that was killed has no code.
    Ok(status.code().unwrap_or(3))
}
