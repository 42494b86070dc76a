//! The `cargo cobalt` command.

mod cli;
mod compile;
mod discover;
mod error;
mod run;

use std::process::ExitCode;

use clap::Parser;

use self::cli::{Cargo, Command};

fn main() -> ExitCode {
    let Cargo::Cobalt(arguments) = Cargo::parse();
    let result = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        error.exit_code()
    })
}
