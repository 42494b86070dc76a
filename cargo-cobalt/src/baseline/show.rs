//! `cargo cobalt baseline show`: which runs are the baselines, and whether these are stale.

use std::io;
use std::process::ExitCode;

use cobalt::config::Flags;
use cobalt::store::read_measurements;

use super::kept::{json_files, seen};
use super::state::Shown;
use super::table::lines;
use crate::cli::ShowBaselines;
use crate::config::settings;
use crate::error::Error;
use crate::runs::{FoundRun, KnownRuns, RunName};
use crate::terminal::{paint, print, print_json};

pub(super) fn show(arguments: &ShowBaselines, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let layout = settings.layout();
    let known = KnownRuns::open(layout)?;
    let (mut shown, mut errors, mut others) = (Vec::new(), Vec::new(), 0);
    for file in json_files(&layout.baselines())? {
        let baseline = match read_measurements(&file, settings.prices()) {
            Ok(baseline) => baseline,
            Err(error) => {
                errors.push(format!("{error}; set it anew with `cargo cobalt baseline set`"));
                continue;
            }
        };
        if arguments.name.as_ref().is_some_and(|name| !name.matches(&baseline.name)) {
            others += 1;
            continue;
        }
        let newest = newest(&known, &baseline.name)?;
        let newest = newest.map(|run| read_measurements(&run.path, settings.prices())).transpose()?;
        shown.push(Shown::of(baseline, seen(&file), newest.as_ref()));
    }
    shown.sort_by(|one, other| one.name.cmp(&other.name));
    if arguments.json {
        print_json(&shown)?;
    } else if !shown.is_empty() {
        print(&lines(&shown, paint(&io::stdout())))?;
    }
    if shown.is_empty() && errors.is_empty() {
        let folder = seen(&layout.baselines());
        eprintln!(
            "{}",
            match others {
                0 => format!(
                    "there is no baseline in `{folder}` yet; set those of the newest runs with `cargo cobalt baseline set`"
                ),
                _ => format!("none of the {others} baselines in `{folder}` matches"),
            }
        );
    }
    if errors.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Broken(errors)) }
}

/// The newest whole run of an experiment, where it has one.
fn newest(known: &KnownRuns, experiment: &str) -> Result<Option<FoundRun>, Error> {
    match known.find(&RunName::latest_of(experiment)) {
        Ok(named) => Ok(named.runs().into_iter().next()),
        Err(Error::UnknownRun(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
