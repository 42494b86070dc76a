//! The `cargo cobalt` command.

mod cli;
mod config;
mod environment;
mod error;
mod history;
mod index;
mod init;
mod interrupt;
mod list;
mod project;
mod run;
mod terminal;

use std::process::ExitCode;

use clap::Parser;
use cobalt::config::Flags;
use cobalt::reporters::printable;

use self::cli::{Cargo, Cobalt, Command};

fn main() -> ExitCode {
    let Cargo::Cobalt(arguments) = Cargo::parse();
    let color = arguments.color;
    color.apply();
    let flags = flags(&arguments);
    let result = match &arguments.command {
        Command::Run(arguments) => run::run(arguments, &flags, color),
        Command::List(arguments) => list::list(arguments, &flags, color),
        Command::History(arguments) => history::history(arguments, &flags),
        Command::Init(arguments) => init::init(arguments),
        Command::Config(arguments) => config::config(arguments, &flags),
    };
    result.unwrap_or_else(|error| {
        // Who has stopped reading wants to hear no more.
        if !error.is_broken_pipe() {
            eprintln!("error: {}", printable(&error.to_string()));
        }
        error.exit_code()
    })
}

/// The settings among the flags.
fn flags(arguments: &Cobalt) -> Flags {
    let config = arguments.config.clone();
    match &arguments.command {
        Command::Run(run) => Flags { config, concurrency: run.concurrency, ci: run.ci },
        _ => Flags { config, ..Flags::default() },
    }
}
