//! `cargo cobalt run`: finds, builds and runs experiments and shows their progress.

use std::collections::HashMap;
use std::ffi::OsString;
use std::process::ExitCode;

use cobalt::command::config::{Config, Flags, SOURCES};
use cobalt::command::log;
use cobalt_core::reporters::escape_control;

use super::invocation::Invocation;
use super::preflight::{check_baseline, check_names, missing_keys, nothing_matched, selected_names};
use super::process::BinaryWithEnv;
use super::screen::{ItemLines, Screen};
use crate::baseline::BaselineSource;
use crate::cli::RunOptions;
use crate::dashboard_link::{DashboardLink, find_running};
use crate::environment::Environment;
use crate::error::Error;
use crate::extensions::{DashboardProject, extensions};
use crate::project::{Binary, BinarySource, BuildOutput};
use crate::remote::{check_push, push_finished};
use crate::reporters::Reporters;
use crate::results::{Output as _, Results};
use crate::shards::{HeartbeatError, ShardJob, ShardState};
use crate::terminal::{eprint_wrapped, wrap_for_stderr};
use crate::{browser, interrupt};

/// The result of a run.
#[derive(Debug)]
pub struct CompletedRun {
    pub code: ExitCode,
    /// A requested dashboard that is not running yet: its settings and the path to open.
    pub dashboard: Option<(Config, String)>,
}

/// Whether the program continues after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// It exits with the run's exit code; `otlp` and webhooks send the results.
    Once,
    /// It waits for changes and runs again: no exit code, and nothing is sent.
    Watch,
}

/// `cargo cobalt run`: a run, then the dashboard if requested.
pub fn run(arguments: &RunOptions, source: &dyn BinarySource, flags: &Flags) -> Result<ExitCode, Error> {
    if arguments.ui && browser::is_interactive() {
        // Not only when the run has ended.
        extensions()?;
    }
    let CompletedRun { code, dashboard } = run_once(arguments, source, flags, RunMode::Once)?;
    if let Some((settings, path)) = dashboard {
        let project = DashboardProject {
            config: flags.config.clone(),
            manifest_path: arguments.build.manifest_path.clone(),
        };
        // The exit code is that of the run, not of the dashboard.
        if let Err(error) = (extensions()?.dashboard)(&settings, &path, project) {
            error.eprint();
        }
    }
    Ok(code)
}

/// Runs the selected experiments, one test binary after another, with the configured reporters.
pub fn run_once(
    arguments: &RunOptions,
    source: &dyn BinarySource,
    flags: &Flags,
    repeats: RunMode,
) -> Result<CompletedRun, Error> {
    let flags = &source.flags(flags);
    let candidates = source.candidates(&arguments.selection, flags)?;
    let settings = source.settings(flags)?;
    let given = arguments
        .outcome
        .baseline
        .as_ref()
        .map(|name| BaselineSource::resolve(name, &settings))
        .transpose()?;
    if let Some(given) = &given {
        log::debug!(files = given.files.len(), "chose the baseline of --baseline");
    }
    let files = given.as_ref().map_or_else(Vec::new, |given| given.files.clone());
    // All binaries have one budget, wherever it is set.
    let own_ledger = if flags.ledger.is_none() { Some(create_ledger()?) } else { None };
    let ledger = own_ledger.as_ref().map(|file| file.path().to_owned()).or_else(|| flags.ledger.clone());
    let mut job = match repeats {
        RunMode::Once => ShardJob::open(&settings, flags.shard_plans.as_deref())?,
        RunMode::Watch => None,
    };
    let plans = job.as_ref().map(|job| job.plans().path().to_owned());
    let shard_plans = plans.or_else(|| flags.shard_plans.clone());
    let flags = &Flags { baseline: files, ledger, shard_plans, ..flags.clone() };
    if repeats == RunMode::Once {
        check_push(&settings)?;
    }
    let reporters = match repeats {
        RunMode::Once => Reporters::with_senders(&settings)?,
        RunMode::Watch => Reporters::of(&settings)?,
    };
    interrupt::install_handler()?;
    if let Some(sentence) = source.notice() {
        eprint_wrapped(&sentence);
    }
    let built = source.binaries(&candidates);
    if interrupt::was_received() {
        return Err(Error::Interrupted);
    }
    let BuildOutput { binaries, skipped: foreign, not_built } = built?;
    let folder = std::env::current_dir().unwrap_or_else(|_| source.project().root().to_owned());
    let items = ItemLines { quiet: arguments.quiet, traces: arguments.trace };
    let mut invocation = Invocation::new(Screen::of(&settings, items, folder), reporters);
    invocation.set_flags(settings.requested_record_mode(), flags.max_cost, source.repeated_flags());
    if !foreign.is_empty() {
        invocation.screen.eprintln(&wrap_for_stderr(&format!("not run: {}", foreign.join("; "))));
    }
    let ready = with_variables(&binaries, source, flags, &invocation.screen)?;
    let mut refusals = match check_names(&ready, &arguments.selection) {
        Err(error) if !not_built.is_empty() => {
            return Err(Error::Multiple(not_built.into_iter().chain([error.to_string()]).collect()));
        }
        checked => checked?,
    };
    for error in not_built {
        if arguments.selection.experiment.is_empty() && flags.resume.is_empty() {
            invocation.abort(error)?;
        } else {
            // What was named is elsewhere.
            invocation.screen.warn(&error);
        }
    }
    log::debug!(binaries = ready.len(), refusals = refusals.len(), "is ready to run");
    if let Some(given) = &given {
        check_baseline(&ready, &arguments.selection, given)?;
    }
    if refusals.is_empty() {
        refusals = missing_keys(&ready, arguments)?.iter().map(ToString::to_string).collect();
    }
    if refusals.is_empty() {
        if let Some(job) = &mut job {
            job.start(selected_names(&ready, &arguments.selection)?, arguments, &settings)?;
        }
        invocation.run(&ready, arguments, job.as_ref())?;
    } else {
        refusals.into_iter().try_for_each(|why| invocation.abort(why))?;
    }
    invocation.summaries();
    let nothing_matched = || nothing_matched(&ready, arguments);
    let (code, results) = invocation.conclude(
        settings.is_ci(),
        repeats == RunMode::Once,
        binaries.is_empty(),
        nothing_matched,
    )?;
    let reported = invocation.finish(&results);
    if repeats == RunMode::Once {
        let are_pushed = push_finished(&settings, &results, &invocation.screen);
        let state = match are_pushed && results.are_complete() {
            true => ShardState::Finished,
            false if invocation.has_spent_budget() => ShardState::BudgetSpent,
            false => ShardState::Stopped,
        };
        end_shard(job, state, &invocation.screen);
    }
    // The results are saved and pushed, whatever happens to a report.
    reported?;
    let path = show_dashboard_link(&settings, &results, &invocation.screen, arguments.ui);
    let dashboard = path.filter(|_| !interrupt::was_received()).map(|path| (settings, path));
    // Last, as the results do not depend on it.
    invocation.screen.into_result().map(|()| CompletedRun { code, dashboard })
}

/// Reports to the remote store that the shard has ended.
fn end_shard(job: Option<ShardJob>, state: ShardState, screen: &Screen) {
    match job.map(|job| job.end(state)) {
        Some(Err(error @ HeartbeatError::Superseded { .. })) => screen.warn(&error.to_string()),
        Some(Err(error)) => {
            screen.warn(&format!("{error}; `cargo cobalt merge --remote` may consider the shard dead"));
        }
        Some(Ok(())) | None => {}
    }
}

/// A temporary file in which the processes of an invocation add up what they spend.
pub fn create_ledger() -> Result<tempfile::NamedTempFile, Error> {
    tempfile::NamedTempFile::new().map_err(Error::Ledger)
}

/// The binaries with their environment variables, including a hash of what each was built from and may read.
fn with_variables<'a>(
    binaries: &'a [Binary],
    source: &dyn BinarySource,
    flags: &Flags,
    screen: &Screen,
) -> Result<Vec<BinaryWithEnv<'a>>, Error> {
    let mut hashes = HashMap::new();
    let mut ready = Vec::with_capacity(binaries.len());
    for binary in binaries {
        let hash = hashes.entry(&binary.package.id).or_insert_with(|| {
            let hash = source.sources(binary, flags);
            hash.inspect_err(|error| screen.eprintln(&format!("warning: {error}"))).unwrap_or_default()
        });
        let mut variables = variables(source, binary, flags)?;
        variables.push((SOURCES.to_owned(), hash.stored(&variables).into()));
        ready.push((binary, variables));
    }
    Ok(ready)
}

/// The environment variables added for a binary, in increasing precedence: `.env` files (its package's before the workspace's),
/// cargo's variables, flags, what the source of the binaries adds.
pub fn variables(
    source: &dyn BinarySource,
    binary: &Binary,
    flags: &Flags,
) -> Result<Vec<(String, OsString)>, Error> {
    let environment = Environment::read(&[&binary.root, source.environment_folder()])?;
    let from_files = environment.file_variables().map(|(name, value)| (name.to_owned(), value.into()));
    let from_flags = flags.variables()?.into_iter().map(|(name, value)| (name.to_owned(), value));
    let from_cargo = binary.variables.iter().map(|(name, value)| (name.clone(), value.into()));
    Ok(from_files.chain(from_cargo).chain(from_flags).chain(source.variables()).collect())
}

/// Prints the run's URL, or opens it if requested. Returns the run's path if a dashboard was requested and none is running.
fn show_dashboard_link(settings: &Config, results: &Results, screen: &Screen, opens: bool) -> Option<String> {
    let path = dashboard_path(results)?;
    let is_ci = browser::is_ci(settings);
    if opens && is_ci {
        screen.eprintln("the dashboard is not opened in CI; use `--reporter html` to write an HTML report");
        return None;
    }
    match find_running(settings) {
        Some(link) if opens => open(&link, &path, settings, screen),
        Some(link) => screen.note(&format!("dashboard: {}{path}", link.url)),
        None if opens && browser::is_interactive() => return Some(path),
        None if opens => screen.eprintln(
            "the dashboard is not started because stderr is not a terminal; run `cargo cobalt serve` in a terminal to view the run",
        ),
        None if !is_ci => screen.hint("To view runs in the browser: `cargo cobalt serve`"),
        None => {}
    }
    None
}

/// The path of the saved run, or of the list if there are several.
fn dashboard_path(results: &Results) -> Option<String> {
    let mut kept = results.experiments.iter().filter(|finished| finished.path.is_some());
    match (kept.next()?, kept.next()) {
        (only, None) => Some(format!("/runs/{}", only.report.id)),
        _ => Some("/".to_owned()),
    }
}

fn open(link: &DashboardLink, path: &str, settings: &Config, screen: &Screen) {
    let address = format!("{}{path}", link.url);
    match link.open(settings, path) {
        Ok(()) => screen.eprintln(&format!("opened {address}")),
        Err(error) => screen.eprintln(&format!(
            "warning: failed to open a browser: {}; open {address} yourself or set BROWSER",
            escape_control(&error)
        )),
    }
}
