//! The `cargo cobalt` command.

mod assistants;
mod baseline;
mod cli;
mod compare;
mod config;
mod environment;
mod error;
mod git_ignored;
mod history;
mod index;
mod init;
mod interrupt;
mod list;
mod markdown;
mod project;
mod reference;
mod reporters;
mod run;
mod runs;
mod terminal;
mod written;

use std::process::ExitCode;

use clap::Parser;
use cobalt::config::{Flags, Only};
use cobalt::reporters::printable;

use self::cli::{Cargo, Command, Run, Settings};

fn main() -> ExitCode {
    let Cargo::Cobalt(arguments) = Cargo::parse();
    let color = arguments.color;
    color.apply();
    let flags = flags(&arguments.command);
    let result = match &arguments.command {
        Command::Run(arguments) => run::run(arguments, &flags, color),
        Command::List(arguments) => list::list(arguments, &flags, color),
        Command::History(arguments) => history::history(arguments, &flags),
        Command::Compare(arguments) => compare::compare(arguments, &flags),
        Command::Baseline(arguments) => baseline::baseline(&arguments.command, &flags),
        Command::Init(arguments) => init::init(arguments),
        Command::Update(arguments) => assistants::update(arguments),
        Command::Completions(arguments) => reference::completions(arguments),
        Command::Man(arguments) => reference::man(arguments),
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

/// Which items are run, where not all are.
fn only(run: &Run) -> Option<Only> {
    let failed = run.rerun_failed.then_some(Only::Failed);
    failed.or_else(|| run.changed.then_some(Only::Changed))
}

/// The settings among the flags.
fn flags(command: &Command) -> Flags {
    let of_file = |settings: &Settings| Flags { config: settings.config.clone(), ..Flags::default() };
    match command {
        Command::Run(run) => Flags {
            concurrency: run.concurrency,
            ci: run.ci,
            resume: run.resume.clone(),
            only: only(run),
            reporters: run.reporter.clone(),
            on_inconclusive: run.on_inconclusive,
            ..of_file(&run.settings)
        },
        Command::List(list) => of_file(&list.settings),
        Command::History(history) => of_file(&history.settings),
        Command::Compare(compare) => of_file(&compare.settings),
        Command::Baseline(baseline) => of_file(baseline.command.settings()),
        Command::Config(config) => of_file(&config.settings),
        Command::Init(_) | Command::Update(_) | Command::Completions(_) | Command::Man(_) => Flags::default(),
    }
}
