//! The `cargo cobalt` command.

mod cli;
mod config;
mod environment;
mod error;
mod history;
mod index;
mod init;
mod list;
mod project;
mod run;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use self::cli::{Cargo, Command};

fn main() -> ExitCode {
    let Cargo::Cobalt(arguments) = Cargo::parse();
    let color = arguments.color;
    color.apply();
    let result = match &arguments.command {
        Command::Run(arguments) => run::run(arguments, color),
        Command::List(arguments) => list::list(arguments, color),
        Command::History(arguments) => history::history(arguments),
        Command::Init(arguments) => init::init(arguments),
        Command::Config(arguments) => config::config(arguments),
    };
    result.unwrap_or_else(|error| {
        // Who has stopped reading wants to hear no more.
        if !error.is_broken_pipe() {
            eprintln!("error: {error}");
        }
        error.exit_code()
    })
}
