//! `cargo cobalt baseline show`: which runs are the baselines, and whether these are stale.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use cobalt::config::{Config, Flags};
use cobalt::store::read_measurements;
use cobalt::suggest;

use super::kept::json_files;
use super::state::{Shown, State};
use super::table::lines;
use crate::cli::{RunName, ShowBaselines};
use crate::config::settings;
use crate::error::Error;
use crate::runs::{FoundRun, KnownRuns, UnknownRun};
use crate::terminal::{eprint_folded, for_stdout, paint, print, print_json, seen};

/// What to do about stale ones.
const WHEN_STALE: &str = "a stale baseline still counts; if the newest run is good enough, keep that one with `cargo cobalt baseline set`";

pub(super) fn show(arguments: &ShowBaselines, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let known = KnownRuns::open(settings.layout())?;
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for file in json_files(&settings.layout().baselines())? {
        match shown(&file, &known, &settings) {
            Ok(baseline) => all.push(baseline),
            Err(error) => errors.push(format!("{error}; set it anew with `cargo cobalt baseline set`")),
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    let is_meant =
        |name: &str| arguments.experiment.as_ref().is_none_or(|experiment| experiment.matches(name));
    let shown: Vec<_> = all.iter().filter(|baseline| is_meant(&baseline.name)).collect();
    if arguments.json {
        print_json(&shown).map_err(Error::Print)?;
    } else if !shown.is_empty() {
        print(&for_stdout(&lines(&shown, paint(&io::stdout())))).map_err(Error::Print)?;
    }
    if shown.iter().any(|baseline| baseline.state == State::Stale) {
        eprint_folded(WHEN_STALE);
    }
    let without =
        known.experiments().into_iter().filter(|name| all.iter().all(|baseline| baseline.name != *name));
    let without: Vec<_> = without.filter(|name| is_meant(name)).collect();
    if errors.is_empty() {
        if let Some(note) = note(shown.len(), all.len(), &without, &settings) {
            eprint_folded(&note);
        }
        Ok(ExitCode::SUCCESS)
    } else {
        Err(Error::Broken(errors))
    }
}

fn shown(file: &Path, known: &KnownRuns, settings: &Config) -> Result<Shown, Error> {
    let baseline = read_measurements(file, settings.prices())?;
    let newest = newest(known, &baseline.name)?;
    let newest = newest.map(|run| read_measurements(&run.path, settings.prices())).transpose()?;
    Ok(Shown::of(baseline, seen(file), newest.as_ref(), settings.baseline_max_age()))
}

/// The newest whole run of an experiment, where it has one.
fn newest(known: &KnownRuns, experiment: &str) -> Result<Option<FoundRun>, Error> {
    match known.find(&RunName::latest_of(experiment)) {
        Ok(named) => Ok(named.runs().into_iter().next()),
        Err(error) if error.of_room::<UnknownRun>().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

/// What the table does not say: which experiments have no baseline, or why there is no table.
fn note(shown: usize, all: usize, without: &[&str], settings: &Config) -> Option<String> {
    const SET: &str = "`cargo cobalt baseline set`";
    let folder = seen(&settings.layout().baselines());
    match (shown, all, without) {
        (0, 0, _) => {
            Some(format!("there is no baseline in `{folder}` yet; set those of the newest runs with {SET}"))
        }
        (0, all, []) => Some(format!("none of the {all} baselines in `{folder}` matches")),
        (_, _, []) => None,
        (_, _, without) => {
            Some(format!("no baseline yet: {}; set it with {SET}", suggest::list(without.iter().copied())))
        }
    }
}
