//! `cargo cobalt merge`: joins the runs of shards into runs of all items, judges them, and shows them as `run` does.

mod find;
mod group;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use cobalt::config::{Config, Flags, unknown_variable};
use cobalt::report::Report;
use cobalt::reporters::{Event, ExperimentFinished, Warning};
use cobalt::shards::{ShardFile, merge as join};
use cobalt::store::{check_report, read_report, write_report};

use self::find::find;
use self::group::{Group, groups};
use crate::baseline::Given;
use crate::cli::Merge;
use crate::config::settings;
use crate::error::Error;
use crate::reporters::Reporters;
use crate::results::{Finished, Output as _};
use crate::run::{Call, FAILS_WITH_CI, Screen};

pub(crate) fn merge(arguments: &Merge, flags: &Flags) -> Result<ExitCode, Error> {
    let given = match &arguments.outcome.baseline {
        Some(name) => Some(Given::by(name, settings(flags)?.layout())?),
        None => None,
    };
    let files = given.as_ref().map_or_else(Vec::new, |given| given.files.clone());
    let settings = settings(&Flags { baseline: files, ..flags.clone() })?;
    let folder = env::current_dir().map_err(Error::CurrentFolder)?;
    let (whole, groups): (Vec<_>, Vec<_>) =
        groups(find(&arguments.paths)?).into_iter().partition(|group| group.shards.is_empty());
    let reporters = Reporters::with_webhooks(&settings)?;
    let call = Call::new(Screen::of(&settings, false, folder), reporters);
    let mut teller = Teller { call, merged: Vec::new() };
    whole.iter().for_each(|group| teller.note(&group.passed_over()));
    if groups.is_empty() {
        return Err(nothing(arguments));
    }
    if let Some(given) = &given {
        let names: Vec<_> = groups.iter().map(|group| &*group.name).collect();
        given.check(&names)?;
    }
    teller.warn_of_variables(&settings)?;
    for (number, group) in groups.into_iter().enumerate() {
        teller.merge(number, group, &settings)?;
    }
    teller.conclude(settings.is_ci())
}

fn nothing(arguments: &Merge) -> Error {
    let paths: Vec<_> = arguments.paths.iter().map(|path| format!("`{}`", path.display())).collect();
    Error::NothingMatched(format!(
        "there is no run of a shard in {}; make some with `cargo cobalt run --shard 1/2` and `2/2`, and name their result \
         files, or a folder above them",
        paths.join(", ")
    ))
}

/// Merges, and tells of it.
struct Teller {
    call: Call,
    merged: Vec<Finished>,
}

impl Teller {
    /// Merges the shards of one experiment. That they do not fit together keeps no other from being merged.
    fn merge(&mut self, number: usize, group: Group, settings: &Config) -> Result<(), Error> {
        let (name, declared_at) = (group.name.clone(), group.declared_at.clone());
        for note in group.notes() {
            self.note(&note);
        }
        match merged(group, settings) {
            Ok(report) => self.keep(number, report, settings),
            Err(reason) => {
                let error = format!("experiment `{name}` cannot be merged: {reason}");
                self.call.tell(&Event::ExperimentBroken { name, error, declared_at })
            }
        }
    }

    /// Writes a merged report, and tells what it came to.
    fn keep(&mut self, number: usize, report: Report, settings: &Config) -> Result<(), Error> {
        let written = write_report(settings.layout(), &report).map_err(|error| error.to_string());
        let path = written.as_ref().ok().map(|path| &**path);
        let finished = ExperimentFinished::of(number, &report, &report.case_names(), path);
        let path = path.map(ToOwned::to_owned);
        if let Some(warning) = Warning::of_report(&report) {
            self.call.tell(&Event::Warning(warning))?;
        }
        let finished = ExperimentFinished { unsaved: written.err(), ..finished };
        self.call.tell(&Event::ExperimentFinished(Box::new(finished)))?;
        self.merged.push(Finished { report, path, without_items: None });
        Ok(())
    }

    /// Warns of variables whose names are nearly right. Others may be the agents' own.
    fn warn_of_variables(&mut self, settings: &Config) -> Result<(), Error> {
        let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let names: BTreeSet<_> = names.filter(|name| !settings.names_variable(name)).collect();
        let warnings = names.iter().filter_map(|name| unknown_variable(name));
        let likely: Vec<_> = warnings.filter(|warning| warning.contains("did you mean")).collect();
        likely.into_iter().try_for_each(|warning| self.call.tell(&Event::Warning(Warning::of_call(warning))))
    }

    fn note(&self, note: &str) {
        self.call.screen.tell(&format!("note: {note}"));
    }

    /// Shows what all came to, and gives the exit code.
    fn conclude(mut self, ci: bool) -> Result<ExitCode, Error> {
        self.call.state.binary_ended();
        self.call.summaries();
        let Self { mut call, merged } = self;
        let results = std::mem::take(&mut call.state).into_results(merged);
        let code = if !results.broken.is_empty() || !results.errors.is_empty() {
            ExitCode::from(3)
        } else if !results.failed() {
            ExitCode::SUCCESS
        } else {
            if !ci {
                call.screen.tell(FAILS_WITH_CI);
            }
            ExitCode::from(u8::from(ci))
        };
        call.finish(&results)?;
        call.screen.into_result().map(|()| code)
    }
}

/// The report that the newest runs of an experiment's shards make, or why they make none.
fn merged(group: Group, settings: &Config) -> Result<Report, String> {
    let paths = group.newest()?;
    let files = paths.into_iter().map(shard).collect::<Result<Vec<_>, _>>()?;
    join(files, settings).map_err(|error| error.to_string())
}

/// The report of a shard. One that is damaged is refused: what is wrong in it would be wrong in the whole run.
fn shard(path: PathBuf) -> Result<ShardFile, String> {
    let report = read_report(&path).map_err(|error| error.to_string())?;
    let bytes = fs::read(&path).map_err(|error| format!("failed to read `{}`: {error}", path.display()))?;
    match check_report(&bytes, &report) {
        Ok(()) => Ok(ShardFile { path, report }),
        Err(damage) => Err(format!(
            "`{}` cannot be used: {damage}; copy the file again from where the shard was run, or run the shard again",
            path.display()
        )),
    }
}
