//! The `cargo cobalt` command.

mod cli;
mod config;
mod error;
mod history;
mod init;
mod list;
mod project;
mod run;

use std::process::ExitCode;

use clap::Parser;

use self::cli::{Cargo, Command};

fn main() -> ExitCode {
    let Cargo::Cobalt(arguments) = Cargo::parse();
    let result = match &arguments.command {
        Command::Run(arguments) => run::run(arguments),
        Command::List(arguments) => list::list(arguments),
        Command::History(arguments) => history::history(arguments),
        Command::Init(arguments) => init::init(arguments),
        Command::Config(arguments) => config::config(arguments),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        error.exit_code()
    })
}
