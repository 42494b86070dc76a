//! `cargo cobalt baseline set`: keeps the numbers of runs as baselines.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cobalt::config::{Config, Flags};
use cobalt::report::Measurements;
use cobalt::store::{Layout, read_measurements, write_baseline};

use super::ignored::left_out;
use super::kept::{newest_runs, seen};
use crate::cli::SetBaseline;
use crate::config::settings;
use crate::error::Error;
use crate::terminal::{one_line, print};

pub(super) fn set(arguments: &SetBaseline, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let files = files(arguments, &settings)?;
    // All are read before the first is written: a mistake in one of several runs changes nothing.
    let read = |file: &PathBuf| Ok(read_measurements(file, settings.prices())?);
    let runs = files.iter().map(read).collect::<Result<Vec<_>, Error>>()?;
    let layout = settings.layout();
    runs.iter().try_for_each(|run| check(run, layout, &settings))?;
    let mut written = Vec::new();
    for run in &runs {
        let before = read_measurements(&layout.baseline(&run.name), settings.prices()).ok();
        let path = write_baseline(layout, run)?;
        print(&said(run, before.as_ref(), &path))?;
        warn_of_errors(run);
        written.push(path);
    }
    match left_out(&written) {
        Some(why) => eprintln!("warning: {why}"),
        None => eprintln!("commit `{}`, so that all are held against the same", seen(&layout.baselines())),
    }
    Ok(ExitCode::SUCCESS)
}

/// The result files of the runs that are meant.
fn files(arguments: &SetBaseline, settings: &Config) -> Result<Vec<PathBuf>, Error> {
    let newest = newest_runs(settings, arguments.name.as_ref())?;
    let results = settings.layout().results();
    if newest.is_empty() {
        let (results, hint) = (seen(results), "make one with `cargo cobalt run`");
        return Err(Error::NothingMatched(match &arguments.name {
            Some(name) => {
                format!("no experiment that matches `{name}` has a whole run in `{results}`; {hint}")
            }
            None => format!("there is no whole run in `{results}` yet; {hint}"),
        }));
    }
    Ok(newest.into_values().map(|run| results.join(run.file)).collect())
}

/// Refuses a run that is no measure, and one that would take the place of another experiment's baseline.
fn check(run: &Measurements, layout: &Layout, settings: &Config) -> Result<(), Error> {
    let Measurements { id, name, partial, .. } = run;
    if *partial {
        return Err(Error::NothingMatched(format!(
            "run {id} of `{name}` is of some of the items only, which is no baseline; run all with `cargo cobalt run`"
        )));
    }
    let path = layout.baseline(name);
    match read_measurements(&path, settings.prices()) {
        Ok(other) if other.name != *name => Err(Error::NothingMatched(format!(
            "`{}` holds the baseline of experiment `{}`, and would hold that of `{name}` too; give one of them a name \
             that differs in letters or digits",
            seen(&path),
            other.name
        ))),
        _ => Ok(()),
    }
}

fn said(run: &Measurements, before: Option<&Measurements>, path: &Path) -> String {
    let Measurements { id, name, timestamp, items, .. } = run;
    let before = match before {
        Some(before) if before.id == *id => ", as before".to_owned(),
        Some(before) => format!(", in place of run {}", one_line(&before.id)),
        None => String::new(),
    };
    let start = timestamp.to_string()[..16].replace('T', " ");
    let items = items.len();
    let noun = if items == 1 { "item" } else { "items" };
    format!(
        "{}: run {} of {start} UTC ({items} {noun}) in `{}`{before}\n",
        one_line(name),
        one_line(id),
        seen(path)
    )
}

fn warn_of_errors(run: &Measurements) {
    let errors = run.items.iter().filter(|item| item.error).count();
    if errors > 0 {
        eprintln!(
            "warning: {errors} of {} items of run {} are in error; a run without errors is a better baseline",
            run.items.len(),
            one_line(&run.id)
        );
    }
}
