//! The command in a clone, without extensions. It builds in half the time of the complete one, and builds that one if it is needed.

use std::env;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    cobalt_runner::start_or_else(|| {
        run_complete().unwrap_or_else(|error| {
            eprintln!("error: failed to start cargo: {error}; check that it is installed");
            ExitCode::from(3)
        })
    })
}

/// Builds the complete command and runs it with the arguments of this process.
fn run_complete() -> io::Result<ExitCode> {
    let manifest = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"));
    eprintln!("This needs the complete command: cargo builds what is missing, once.");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["run", "--package", "cargo-cobalt", "--manifest-path"]).arg(manifest);
    replace_process(cargo.arg("--").args(env::args_os().skip(1)))
}

/// Runs a command instead of this process. Returns only if it cannot be started.
#[cfg(unix)]
fn replace_process(command: &mut Command) -> io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(command))
}

/// Runs a command and returns its exit code. Ctrl-C is for the command.
#[cfg(not(unix))]
fn replace_process(command: &mut Command) -> io::Result<ExitCode> {
    let _ = cobalt_runner::interrupt::install_handler();
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
