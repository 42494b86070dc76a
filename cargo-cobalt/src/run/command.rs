//! `cargo cobalt run`: finds, builds and runs experiments and shows their progress.

use std::collections::HashMap;
use std::ffi::OsString;
use std::process::ExitCode;

use cobalt::command::config::{Config, Flags, SOURCES};
use cobalt_core::reporters::printable;

use super::asked::{check_baseline, check_names, missing_keys, nothing_matched};
use super::call::Call;
use super::process::WithVariables;
use super::screen::Screen;
use crate::baseline::Given;
use crate::cli::{Color, RunOptions};
use crate::config::{settings, settings_of};
use crate::environment::Environment;
use crate::error::Error;
use crate::project::{Binary, Built, Project, compile};
use crate::reporters::Reporters;
use crate::results::{Output as _, Results};
use crate::serve::running;
use crate::terminal::{eprint_folded, for_stderr};
use crate::{browser, interrupt, serve};

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    pub code: ExitCode,
    /// A requested dashboard that is not running yet: its settings and the path to open.
    pub dashboard: Option<(Config, String)>,
}

/// Whether the program continues after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// It exits with the run's exit code, and webhooks are called.
    No,
    /// It waits for changes and runs again: no exit code, no webhooks.
    OnChange,
}

/// `cargo cobalt run`: a run, then the dashboard if requested.
pub fn run(arguments: &RunOptions, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    let Ran { code, dashboard } = once(arguments, flags, color, Repeats::No)?;
    if let Some((settings, path)) = dashboard {
        // The exit code is that of the run, not of the dashboard.
        if let Err(error) = serve::show(&settings, &path) {
            error.tell();
        }
    }
    Ok(code)
}

/// Runs the selected experiments, one test binary after another, with the configured reporters.
pub fn once(arguments: &RunOptions, flags: &Flags, color: Color, repeats: Repeats) -> Result<Ran, Error> {
    let project = Project::read(&arguments.build)?;
    let candidates = project.candidates(&arguments.selection, &arguments.build, flags)?;
    let settings = match &arguments.build.manifest_path {
        Some(_) => settings_of(project.root(), flags)?,
        None => settings(flags)?,
    };
    let given =
        arguments.outcome.baseline.as_ref().map(|name| Given::by(name, settings.layout())).transpose()?;
    let files = given.as_ref().map_or_else(Vec::new, |given| given.files.clone());
    let flags = &Flags { baseline: files, ..flags.clone() };
    let reporters = match repeats {
        Repeats::No => Reporters::with_webhooks(&settings)?,
        Repeats::OnChange => Reporters::of(&settings)?,
    };
    interrupt::pass_on()?;
    if let Some(sentence) = project.first_build(&arguments.build) {
        eprint_folded(&sentence);
    }
    let built = compile(&candidates, &arguments.build, color);
    if interrupt::was_heard() {
        return Err(Error::Interrupted);
    }
    let Built { binaries, foreign } = built?;
    let folder = std::env::current_dir().unwrap_or_else(|_| project.root().to_owned());
    let mut call = Call::new(Screen::of(&settings, arguments.quiet, folder), reporters);
    if !foreign.is_empty() {
        call.screen.eprintln(&for_stderr(&format!("not run: {}", foreign.join("; "))));
    }
    let ready = with_variables(&binaries, &project, flags, &call.screen)?;
    let mut refusals = check_names(&ready, &arguments.selection.experiment)?;
    if let Some(given) = &given {
        check_baseline(&ready, &arguments.selection, given)?;
    }
    if refusals.is_empty() {
        refusals = missing_keys(&ready, arguments)?.iter().map(ToString::to_string).collect();
    }
    if refusals.is_empty() {
        call.run(&ready, arguments)?;
    } else {
        refusals.into_iter().try_for_each(|why| call.refuse(why))?;
    }
    call.summaries();
    let nothing_matched = || nothing_matched(&ready, arguments);
    let (code, results) =
        call.conclude(settings.is_ci(), repeats == Repeats::No, binaries.is_empty(), nothing_matched)?;
    call.finish(&results)?;
    let path = point_to(&settings, &results, &call.screen, arguments.ui);
    let dashboard = path.filter(|_| !interrupt::was_heard()).map(|path| (settings, path));
    // Last, as the results do not depend on it.
    call.screen.into_result().map(|()| Ran { code, dashboard })
}

/// The binaries with their environment variables, including a hash of each package's sources.
fn with_variables<'a>(
    binaries: &'a [Binary],
    project: &Project,
    flags: &Flags,
    screen: &Screen,
) -> Result<Vec<WithVariables<'a>>, Error> {
    let mut hashes = HashMap::new();
    let mut ready = Vec::with_capacity(binaries.len());
    for binary in binaries {
        let hash = hashes.entry(&binary.package.id).or_insert_with(|| {
            let hash = project.sources(&binary.package);
            hash.inspect_err(|error| screen.eprintln(&format!("warning: {error}"))).unwrap_or_default()
        });
        let mut variables = variables(project, binary, flags)?;
        variables.push((SOURCES.to_owned(), hash.as_str().into()));
        ready.push((binary, variables));
    }
    Ok(ready)
}

/// The environment variables added for a binary, in increasing precedence: `.env` files (its package's before the workspace's),
/// cargo's variables, flags.
pub fn variables(
    project: &Project,
    binary: &Binary,
    flags: &Flags,
) -> Result<Vec<(String, OsString)>, Error> {
    let environment = Environment::read(&[&binary.root, project.root()])?;
    let from_files = environment.of_files().map(|(name, value)| (name.to_owned(), value.into()));
    let from_flags = flags.variables()?.into_iter().map(|(name, value)| (name.to_owned(), value));
    let from_cargo = binary.variables.iter().map(|(name, value)| (name.clone(), value.into()));
    Ok(from_files.chain(from_cargo).chain(from_flags).collect())
}

/// Prints the run's URL, or opens it if requested. Returns the run's path if a dashboard was requested and none is running.
fn point_to(settings: &Config, results: &Results, screen: &Screen, opens: bool) -> Option<String> {
    let path = path_of(results)?;
    let is_ci = browser::is_ci(settings);
    if opens && is_ci {
        screen.eprintln("the dashboard is not opened in CI; use `--reporter html` to write an HTML report");
        return None;
    }
    match running(settings) {
        Some(url) if opens => open(&format!("{url}{path}"), screen),
        Some(url) => screen.note(&format!("dashboard: {url}{path}")),
        None if opens && browser::has_reader() => return Some(path),
        None if opens => screen.eprintln(
            "the dashboard is not started because stderr is not a terminal; run `cargo cobalt serve` in a terminal to view the run",
        ),
        None if !is_ci => screen.hint("To view runs in the browser: `cargo cobalt serve`"),
        None => {}
    }
    None
}

/// The path of the saved run, or of the list if there are several.
fn path_of(results: &Results) -> Option<String> {
    let mut kept = results.experiments.iter().filter(|finished| finished.path.is_some());
    match (kept.next()?, kept.next()) {
        (only, None) => Some(format!("/runs/{}", only.report.id)),
        _ => Some("/".to_owned()),
    }
}

fn open(address: &str, screen: &Screen) {
    match browser::open(address) {
        Ok(()) => screen.eprintln(&format!("opened {address}")),
        Err(error) => screen.eprintln(&format!(
            "warning: failed to open a browser: {}; open {address} yourself or set BROWSER",
            printable(&error)
        )),
    }
}
