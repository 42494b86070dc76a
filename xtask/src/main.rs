//! Tasks for those who work on Cobalt: `cargo xtask dev`, `gen` and `ci`. It has no dependencies, so it builds in a second.

mod dev;
mod generate;

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
Usage: cargo xtask <TASK>

Tasks:
  dev                   Serve the dashboard with hot reload, over the examples' runs
  gen [--check] [NAME…] Regenerate generated files; with --check, only say which differ
  ci [--list] [STEP…]   Run what CI runs, or these steps
";

type Outcome = Result<ExitCode, String>;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let (task, rest) = match arguments.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("help", &[][..]),
    };
    let outcome = match task {
        "dev" if rest.is_empty() => dev::dev(),
        "gen" => generate::generate(rest),
        "ci" => ci(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("error: unexpected arguments: {}\n\n{USAGE}", arguments.join(" "));
            return ExitCode::from(2);
        }
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

/// Runs `.ci/run`, which knows its steps.
fn ci(arguments: &[String]) -> Outcome {
    let mut command = program(root().join(".ci/run"));
    let status = command.args(arguments).status().map_err(|error| failed(&command, &error))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// A program without the variables that cargo set for this one: Cobalt would take this package for the one under test.
fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    for (name, _) in env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
        {
            command.env_remove(name);
        }
    }
    command
}

/// The repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in the repository")
}

fn target_folder() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// Builds the command, and returns its path.
fn build_command() -> Result<PathBuf, String> {
    let mut cargo = program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    run(cargo.args(["build", "--package", "cargo-cobalt"]).current_dir(root()))?;
    Ok(target_folder().join("debug").join(format!("cargo-cobalt{}", env::consts::EXE_SUFFIX)))
}

/// A command of npm in the dashboard's folder, whose packages are installed on first use.
fn npm(arguments: &[&str]) -> Result<Command, String> {
    let folder = root().join("dashboard");
    let name = if cfg!(windows) { "npm.cmd" } else { "npm" };
    if !folder.join("node_modules").is_dir() {
        run(program(name).arg("ci").current_dir(&folder))?;
    }
    let mut command = program(name);
    command.args(arguments).current_dir(folder);
    Ok(command)
}

/// Runs a program that must succeed.
fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| failed(command, &error))?;
    if status.success() { Ok(()) } else { Err(failed(command, &status)) }
}

fn failed(command: &Command, reason: &dyn std::fmt::Display) -> String {
    let program = command.get_program().display();
    let arguments: Vec<_> = command.get_args().map(|argument| argument.display().to_string()).collect();
    format!("failed to run `{program} {}`: {reason}", arguments.join(" "))
}
