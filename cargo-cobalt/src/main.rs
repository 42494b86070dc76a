//! The complete `cargo cobalt` command: `cobalt_runner` and its extensions, which take longer to build.

mod archive;
mod assistants;
#[cfg(feature = "parquet")]
mod columnar;
mod datasets;
mod export;
mod html;
mod import;
mod init;
mod mcp;
mod merge;
mod otlp;
mod reference;
mod serve;
mod watch;

use std::process::ExitCode;

use cobalt::command::config::Flags;
use cobalt_runner::{
    atomic_file, baseline, browser, clean, cli, compare, config, dashboard_link, environment, error, formats,
    git_ignored, http_client, index, interrupt, list, lookup, markdown, process_group, project, remote,
    reporters, results, run, runs, shards, shell, show, sized_cache, terminal, text_table,
};

use archive::ArchivedBinaries;
use cli::{Color, Command};
use cobalt_runner::extensions::Extensions;
use error::Error;
use otlp::OtlpReporter;

fn main() -> ExitCode {
    cobalt_runner::start(Extensions {
        command,
        archive: |file, archive, build, flags| {
            Ok(Box::new(ArchivedBinaries::open(file, archive, build, flags)?))
        },
        dashboard: serve::serve_and_open,
        html: html::html,
        otlp: |settings| Ok(Box::new(OtlpReporter::of(settings)?)),
    })
}

fn command(command: &Command, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    match command {
        Command::Watch(arguments) => watch::watch(&arguments.options, flags, color),
        Command::Merge(arguments) => merge::merge(arguments, flags),
        Command::Archive(arguments) => archive::archive(arguments, flags, color),
        Command::Export(arguments) => export::export(arguments, flags),
        Command::Import(arguments) => import::import(arguments, flags),
        Command::Push(arguments) => remote::push(arguments, flags),
        Command::Pull(arguments) => remote::pull(arguments, flags),
        Command::Dataset(arguments) => datasets::dataset(&arguments.command, flags),
        Command::Serve(arguments) => serve::serve(arguments, flags),
        Command::Mcp(arguments) => mcp::mcp(arguments),
        Command::Init(arguments) => init::init(arguments),
        Command::Update(arguments) => assistants::update(arguments),
        Command::Completions(arguments) => reference::completions(arguments),
        Command::Man(arguments) => reference::man(arguments),
        other => unreachable!("{other:?} is in `cobalt-evals-runner`"),
    }
}
