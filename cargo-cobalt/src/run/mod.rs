//! `cargo cobalt run`: finds, builds and runs experiments, and shows what they do.

mod bars;
mod conclusion;
mod dashboard;
mod keys;
mod lines;
mod names;
mod pipe;
mod process;
mod screen;
mod tally;

use std::collections::HashMap;
use std::ffi::OsString;
use std::process::ExitCode;

use cobalt::Wanted;
use cobalt::config::{Config, Flags, SOURCES};

pub(crate) use self::names::{check as check_names, unnamed};
pub(crate) use self::process::{Asked, Message, run as run_binary};
pub(crate) use self::screen::Screen;
pub(crate) use self::tally::FAILS_WITH_CI;
use self::tally::Tally;
use crate::baseline::Given;
use crate::cli::{Color, RunOptions};
use crate::config::{settings, settings_of};
use crate::environment::Environment;
use crate::error::Error;
use crate::project::{Binary, Built, Project, compile};
use crate::reporters::Reporters;
use crate::terminal::{eprint_folded, for_stderr};
use crate::{interrupt, serve};

/// A binary, and what is added to its variables.
pub(crate) type WithVariables<'a> = (&'a Binary, Vec<(String, OsString)>);

/// What is left of a run when it is done.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: ExitCode,
    /// A dashboard that was asked for and does not run yet: the settings for it, and the path to be opened.
    pub(crate) dashboard: Option<(Config, String)>,
}

/// Whether the program goes on after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// It ends with the exit code of the run, and webhooks are called.
    No,
    /// It waits for changes and runs again: there is no exit code to speak of, and nobody else is notified.
    OnChange,
}

/// `cargo cobalt run`: a run, and the dashboard behind it where one is asked for.
pub(crate) fn run(arguments: &RunOptions, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    let Ran { code, dashboard } = once(arguments, flags, color, Repeats::No)?;
    if let Some((settings, path)) = dashboard {
        // How the run went counts, and not what became of the dashboard.
        if let Err(error) = serve::show(&settings, &path) {
            error.tell();
        }
    }
    Ok(code)
}

/// Runs the selected experiments, one test binary after another, and shows them by reporters from the settings.
pub(crate) fn once(
    arguments: &RunOptions,
    flags: &Flags,
    color: Color,
    repeats: Repeats,
) -> Result<Ran, Error> {
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
    let mut reporters = match repeats {
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
    let mut screen = Screen::of(&settings, arguments.quiet, folder);
    if !foreign.is_empty() {
        screen.tell(&for_stderr(&format!("left alone: {}", foreign.join("; "))));
    }
    let ready = with_variables(&binaries, &project, flags, &screen)?;
    let mut tally = Tally::default();
    let mut refusals = names::check(&ready, &arguments.selection.experiment)?;
    if let Some(given) = &given {
        names::check_baseline(&ready, &arguments.selection, given)?;
    }
    if refusals.is_empty() {
        refusals = keys::missing(&ready, arguments)?.iter().map(ToString::to_string).collect();
    }
    if refusals.is_empty() {
        run_all(&ready, arguments, &mut screen, &mut reporters, &mut tally)?;
    } else {
        refusals.iter().try_for_each(|why| tally.refuse(why, &mut screen))?;
    }
    screen.summaries();
    let nothing_matched = || names::nothing_matched(&ready, arguments);
    let (code, results) =
        tally.conclude(settings.is_ci(), repeats == Repeats::No, &binaries, nothing_matched, &screen)?;
    reporters.finish(&results, &screen)?;
    let path = dashboard::point_to(&settings, &results, &screen, arguments.ui);
    let dashboard = path.filter(|_| !interrupt::was_heard()).map(|path| (settings, path));
    // Last, as what became of the experiments does not depend on it.
    screen.into_result().map(|()| Ran { code, dashboard })
}

/// The binaries with their variables, a hash of each package's sources among them.
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
            hash.inspect_err(|error| screen.tell(&format!("warning: {error}"))).unwrap_or_default()
        });
        let mut variables = variables(project, binary, flags)?;
        variables.push((SOURCES.to_owned(), hash.as_str().into()));
        ready.push((binary, variables));
    }
    Ok(ready)
}

/// What is added to a binary's variables, what counts more behind what counts less: those from `.env` files, of its package
/// before those of the workspace; then cargo's; then the flags.
pub(crate) fn variables(
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

fn run_all(
    binaries: &[WithVariables<'_>],
    arguments: &RunOptions,
    screen: &mut Screen,
    reporters: &mut Reporters,
    tally: &mut Tally,
) -> Result<(), Error> {
    for (binary, variables) in binaries {
        run_one(binary, arguments, variables, screen, reporters, tally)?;
        if interrupt::was_heard() {
            tally.interrupted();
            break;
        }
    }
    Ok(())
}

fn run_one(
    binary: &Binary,
    arguments: &RunOptions,
    variables: &[(String, OsString)],
    screen: &mut Screen,
    reporters: &mut Reporters,
    tally: &mut Tally,
) -> Result<(), Error> {
    let (selection, arguments) = (&arguments.selection, &*arguments.harness);
    let asked = Asked { selection, wanted: Wanted::Run, arguments, variables };
    let ended = run_binary(binary, asked, |message| match message {
        Message::Event(event, line) => {
            let is_new = tally.hear(&event);
            reporters.hear(&event, screen);
            screen.event(*event, &line, is_new);
        }
        Message::Stdout(line) => screen.printed_to_stdout(&line),
        Message::Stderr(line) => screen.tell(&line),
    })?;
    screen.binary_ended();
    tally.ended(binary, ended, arguments, screen);
    Ok(())
}
