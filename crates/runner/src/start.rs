//! From the command line to the exit code.

use std::process::ExitCode;
use std::time::SystemTime;

use clap::Parser;
use cobalt::command::config::{ConfigError, Flags, RerunMode};
use cobalt::command::log;
use cobalt::recording::RecordMode;
use cobalt_core::redact::register_environment;

use crate::cli::{
    BaselineCommand, BuildOptions, Cargo, Color, Command, DataOptions, OutcomeOptions, RemoteOptions, Run,
    RunOptions, Settings,
};
use crate::error::Error;
use crate::extensions::{self, Extensions, extensions};
use crate::project::{BinarySource, CargoBuild};
use crate::reporters::github;
use crate::shards::PlanFile;
use crate::{baseline, clean, compare, config, estimate, history, list, recordings, run, score, show};

/// Runs the command with the arguments of this process.
pub fn start(extensions: Extensions) -> ExitCode {
    extensions::register(extensions);
    start_or_else(|| unreachable!("the extensions are registered"))
}

/// The same without extensions; calls a function if one is needed, before anything has had an effect.
pub fn start_or_else(complete: impl FnOnce() -> ExitCode) -> ExitCode {
    let Cargo::Cobalt(arguments) = Cargo::parse();
    let color = arguments.color;
    color.apply();
    register_environment();
    if let Err(error) = start_log(arguments.verbose) {
        error.eprint();
        return error.exit_code();
    }
    let flags = flags(&arguments.command);
    run_command(&arguments.command, &flags, color).unwrap_or_else(|error| match error {
        Error::Incomplete => complete(),
        _ => {
            if matches!(arguments.command, Command::Run(_) | Command::Score(_) | Command::Merge(_))
                && github::is_enabled(&flags.reporters)
            {
                github::report_error(&error);
            } else {
                error.eprint();
            }
            error.exit_code()
        }
    })
}

/// Starts the log, which `COBALT_LOG` or else `-v` asks for. The test binaries have the same.
fn start_log(verbose: u8) -> Result<(), Error> {
    let is_set = std::env::var_os(log::VARIABLE).is_some_and(|filter| !filter.is_empty());
    let started = match verbose {
        0 => log::init_from_environment(),
        _ if is_set => {
            eprintln!("note: -v has no effect, because {} is set", log::VARIABLE);
            log::init_from_environment()
        }
        1 => log::init("cobalt=debug,cobalt_runner=debug,cargo_cobalt=debug"),
        _ => log::init("cobalt=trace,cobalt_runner=trace,cargo_cobalt=trace"),
    };
    started.map_err(|error| {
        ConfigError::MalformedVariable { name: log::VARIABLE, problem: error.to_string() }.into()
    })
}

fn run_command(command: &Command, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    match command {
        Command::Run(arguments) => run_or_estimate(arguments, flags, color),
        Command::Score(arguments) => score::score(arguments, flags, color),
        Command::List(arguments) => list::list(arguments, flags, color),
        Command::History(arguments) => history::history(arguments, flags),
        Command::Show(arguments) => show::show(arguments, flags),
        Command::Compare(arguments) => compare::compare(arguments, flags),
        Command::Baseline(arguments) => baseline::baseline(&arguments.command, flags),
        Command::Recordings(arguments) => recordings::recordings(arguments, flags, color),
        Command::Clean(arguments) => clean::clean(arguments, flags),
        Command::Config(arguments) => config::config(arguments, flags),
        other => (extensions()?.command)(other, flags, color),
    }
}

/// Runs what cargo builds, or what is in an archive.
fn run_or_estimate(arguments: &Run, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    let Run { archive, options, .. } = arguments;
    let source: Box<dyn BinarySource> = match &archive.archive {
        Some(file) => (extensions()?.archive)(file, archive, &options.build, flags)?,
        None => Box::new(CargoBuild::read(&options.build, color)?),
    };
    if arguments.estimate {
        return estimate::estimate(options, &*source, flags);
    }
    let plans = arguments.balance.as_ref().map(|run| PlanFile::of_runs(run, &source.settings(flags)?));
    let plans = plans.transpose()?;
    let shard_plans = plans.as_ref().map(|plans| plans.path().to_owned());
    run::run(options, &*source, &Flags { shard_plans, ..flags.clone() })
}

/// The subset of items to run, if not all.
fn item_subset(run: &Run) -> Option<RerunMode> {
    let failed = run.rerun_failed.then_some(RerunMode::Failed);
    failed.or_else(|| run.changed.then_some(RerunMode::Changed))
}

/// The settings given by flags.
fn flags(command: &Command) -> Flags {
    let of_file = |settings: &Settings| Flags { config: settings.config.clone(), ..Flags::default() };
    let of_remote = |remote: &RemoteOptions, settings: &Settings| Flags {
        remote: remote.remote.clone(),
        ..of_file(settings)
    };
    let of_outcome = |outcome: &OutcomeOptions, settings: &Settings| Flags {
        reporters: outcome.reporter.clone(),
        on_inconclusive: outcome.on_inconclusive,
        ..of_file(settings)
    };
    let of_data = |data: &DataOptions, build: &BuildOptions, flags: Flags| Flags {
        offline: build.is_offline(),
        refresh: data.refresh.then(SystemTime::now),
        ..flags
    };
    let of_run = |options: &RunOptions| Flags {
        concurrency: options.concurrency,
        runs: options.runs,
        variants: options.selection.variants(),
        max_cost: options.max_cost,
        record: options.record.map(Into::into),
        record_stale: options.record_stale,
        keep_workspaces: options.keep_workspaces.map(Into::into),
        ..of_data(&options.data, &options.build, of_outcome(&options.outcome, &options.settings))
    };
    match command {
        Command::Run(run) => Flags {
            ci: run.ci,
            resume: run.resume.clone(),
            rerun: item_subset(run),
            shard: run.shard,
            shard_group: run.shard_group.clone(),
            push: run.push,
            remote: run.remote.remote.clone(),
            ..of_run(&run.options)
        },
        Command::Score(score) => Flags {
            ci: score.ci,
            push: score.push,
            concurrency: score.concurrency,
            max_cost: score.max_cost,
            ..of_data(&score.data, &score.build, of_outcome(&score.outcome, &score.settings))
        },
        Command::Watch(watch) => Flags { rerun: Some(RerunMode::Changed), ..of_run(&watch.options) },
        Command::Merge(merge) => Flags {
            ci: merge.ci,
            push: merge.push || merge.remote.is_some(),
            remote: merge.store().map(str::to_owned),
            shard_group: merge.group().cloned(),
            ..of_outcome(&merge.outcome, &merge.settings)
        },
        Command::List(list) => Flags {
            variants: list.selection.variants(),
            ..of_data(&list.data, &list.build, of_file(&list.settings))
        },
        Command::History(history) => {
            Flags { remote: history.remote.clone().flatten(), ..of_file(&history.settings) }
        }
        Command::Push(push) => of_remote(&push.remote, &push.settings),
        Command::Pull(pull) => of_remote(&pull.remote, &pull.settings),
        Command::Show(show) => of_remote(&show.remote, &show.settings),
        Command::Compare(compare) => of_remote(&compare.remote, &compare.settings),
        Command::Export(export) => of_remote(&export.remote, &export.settings),
        Command::Import(import) => of_file(&import.settings),
        Command::Baseline(baseline) => match &baseline.command {
            BaselineCommand::Set(set) => of_remote(&set.remote, &set.settings),
            BaselineCommand::Show(show) => of_file(&show.settings),
        },
        Command::Dataset(dataset) => {
            let fetching = dataset.command.fetch_options();
            Flags {
                offline: fetching.is_some_and(|fetching| fetching.offline),
                refresh: fetching.filter(|fetching| fetching.refresh).map(|_| SystemTime::now()),
                ..of_file(dataset.command.settings())
            }
        }
        Command::Recordings(recordings) => {
            let (data, build, settings) = recordings.options();
            // Nothing runs, so no gateway is needed.
            Flags { record: Some(RecordMode::Off), ..of_data(data, build, of_file(settings)) }
        }
        Command::Serve(serve) => Flags { remote: serve.remote.clone().flatten(), ..of_file(&serve.settings) },
        Command::Clean(clean) => Flags { remote: clean.remote.clone().flatten(), ..of_file(&clean.settings) },
        Command::Archive(archive) => of_file(&archive.settings),
        Command::Config(config) => of_file(&config.settings),
        Command::Mcp(_)
        | Command::Init(_)
        | Command::Update(_)
        | Command::Completions(_)
        | Command::Man(_) => Flags::default(),
    }
}
