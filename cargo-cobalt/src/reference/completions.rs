//! `cargo cobalt completions`: a script by which a shell completes what is typed.

use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};

use super::command;
use crate::cli::{Cargo, Completions};
use crate::error::Error;
use crate::terminal::print;

/// Fish completes `cargo` by rules of its own, and leaves other commands to them.
const FISH: &str = include_str!("completions.fish");

pub(crate) fn completions(arguments: &Completions) -> Result<ExitCode, Error> {
    print(&script(arguments.shell))?;
    Ok(ExitCode::SUCCESS)
}

/// Bash and zsh complete `cargo` by scripts of cargo's, which ask that of `cargo-cobalt` for what follows `cargo cobalt`. For
/// the shells without such scripts, `cargo` itself is completed.
fn script(shell: Shell) -> String {
    match shell {
        Shell::Bash | Shell::Zsh => generated(shell, command(), "cargo-cobalt"),
        Shell::Fish => generated(shell, command(), "cargo-cobalt") + FISH,
        _ => generated(shell, Cargo::command(), "cargo"),
    }
}

fn generated(shell: Shell, mut command: Command, name: &str) -> String {
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
