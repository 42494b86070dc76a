//! Tasks for those who work on Cobalt: `cargo xtask dev`, `gen` and `ci`. It has no dependencies, so it builds in a second.

mod dev;
mod generate;

use std::env;
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
    let mut command = Command::new(root().join(".ci/run"));
    let status = command.args(arguments).status().map_err(|error| failed(&command, &error))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
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
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    run(cargo.args(["build", "--package", "cargo-cobalt"]).current_dir(root()))?;
    Ok(target_folder().join("debug").join(format!("cargo-cobalt{}", env::consts::EXE_SUFFIX)))
}

/// A command of npm in the dashboard's folder, whose packages are installed on first use.
fn npm(arguments: &[&str]) -> Result<Command, String> {
    let folder = root().join("dashboard");
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    if !folder.join("node_modules").is_dir() {
        run(Command::new(program).arg("ci").current_dir(&folder))?;
    }
    let mut command = Command::new(program);
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
