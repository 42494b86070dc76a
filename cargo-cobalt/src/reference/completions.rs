//! `cargo cobalt completions`: a script by which a shell completes what is typed.

use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};

use super::command;
use crate::cli::{Cargo, Completions};
use crate::error::Error;
use crate::terminal::print;

/// The command as shells start it, by which its script is found.
const NAME: &str = "cargo-cobalt";

/// Fish completes `cargo` by rules of its own, and leaves other commands to them.
const FISH: &str = include_str!("completions.fish");

pub(crate) fn completions(arguments: &Completions) -> Result<ExitCode, Error> {
    print(&script(arguments.shell)).map_err(Error::Print)?;
    Ok(ExitCode::SUCCESS)
}

/// Bash and zsh complete `cargo` by scripts of cargo's, which ask that of `cargo-cobalt` for what follows `cargo cobalt`. For
/// the shells without such scripts, `cargo` itself is completed.
fn script(shell: Shell) -> String {
    match shell {
        Shell::Bash => bash(),
        Shell::Zsh => generated(shell, command(), NAME),
        Shell::Fish => generated(shell, command(), NAME) + FISH,
        _ => generated(shell, Cargo::command(), "cargo"),
    }
}

/// The generator for bash (clap_complete 4.6) takes the hyphen in a program's name for the gap before a subcommand, and its script
/// then completes no flag. So the script is made for a name without one, and set to work for the right name.
fn bash() -> String {
    let name = NAME.replace('-', "_");
    let script = generated(Shell::Bash, command(), &name);
    script.replace(&format!(" {name}\n"), &format!(" {NAME}\n"))
}

fn generated(shell: Shell, mut command: Command, name: &str) -> String {
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
