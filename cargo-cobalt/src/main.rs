//! The `cargo cobalt` command.

mod cli;
mod config;
mod error;
mod history;
mod index;
mod init;
mod list;
mod pattern;
mod project;
mod run;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use self::cli::{Cargo, Color, Command};

fn main() -> ExitCode {
    let Cargo::Cobalt(arguments) = Cargo::parse();
    colour_choice(arguments.color).write_global();
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

fn colour_choice(colour: Color) -> anstream::ColorChoice {
    match colour {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    }
}
