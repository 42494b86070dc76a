//! `cargo cobalt merge`: merges shards into complete runs, evaluates them, and shows them as `run` does.

mod find;
mod variants;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use cobalt::command::config::{Config, Flags, project_root, unknown_variable_warning};
use cobalt::command::shards::{MergedRun, ShardFile, merge as join};
use cobalt_core::report::Report;
use cobalt_core::reporters::{Event, ExperimentFinished, NotableItems, Warning};
use cobalt_core::store::{PartsWriter, ReportFile, validate_report, write_report};

use self::find::{ExperimentRuns, find, group_by_experiment};
use self::variants::MergedVariants;
use crate::archive::ArchivedProject;
use crate::baseline::BaselineSource;
use crate::cli::Merge;
use crate::config::settings;
use crate::error::Error;
use crate::interrupt;
use crate::remote::{check_push, push_finished};
use crate::reporters::Reporters;
use crate::results::{FinishedExperiment, Output as _};
use crate::run::{CI_HINT, Invocation, ItemLines, Screen};
use crate::shards::{FinishedGroup, await_group};

pub fn merge(arguments: &Merge, flags: &Flags) -> Result<ExitCode, Error> {
    if arguments.shard_group.is_some() && arguments.remote_group().is_some() {
        let why = "the shard group is given twice; remove the name after --remote, or --shard-group";
        return Err(Error::Arguments(why.to_owned()));
    }
    let project = MergedProject::open(arguments)?;
    let given = match &arguments.outcome.baseline {
        Some(name) => Some(BaselineSource::resolve(name, &project.settings(flags)?)?),
        None => None,
    };
    let files = given.as_ref().map_or_else(Vec::new, |given| given.files.clone());
    let settings = project.settings(&Flags { baseline: files, ..flags.clone() })?;
    check_push(&settings)?;
    let folder = env::current_dir().map_err(Error::CurrentFolder)?;
    let finished = match arguments.remote {
        Some(_) => Some(await_group(arguments, &settings)?),
        None => None,
    };
    let mut found = find(finished.as_ref().map_or(&arguments.paths, |finished| &finished.paths))?;
    if let Some(group) = arguments.shard_group.as_ref().filter(|_| finished.is_none()) {
        found.retain(|run| !run.is_of_other_group(group.as_str()));
    }
    let (whole, groups): (Vec<_>, Vec<_>) =
        group_by_experiment(found).into_iter().partition(|group| group.shards.is_empty());
    let reporters = Reporters::with_senders(&settings)?;
    let call = Invocation::new(Screen::of(&settings, ItemLines::default(), folder), reporters);
    let mut merger = Merger { call, merged: Vec::new(), warns_of_gates: project.has_no_settings(arguments) };
    whole.iter().for_each(|group| merger.note(&group.skip_note()));
    if groups.is_empty() {
        return Err(no_shards_error(arguments));
    }
    if let Some(given) = &given {
        let names: Vec<_> = groups.iter().map(|group| &*group.name).collect();
        given.check(&names)?;
    }
    merger.warn_of_variables(&settings)?;
    merger.merge(groups, &settings)?;
    merger.conclude(&settings, finished.as_ref())
}

fn no_shards_error(arguments: &Merge) -> Error {
    let paths: Vec<_> = arguments.paths.iter().map(|path| format!("`{}`", path.display())).collect();
    let group = arguments.shard_group.as_ref().map(|group| format!(" of group `{group}`"));
    Error::NothingMatched(format!(
        "no shards{} found in {}; create them with `cargo cobalt run --shard 1/2` and `2/2`, and pass their result files \
         or a folder that contains them",
        group.unwrap_or_default(),
        paths.join(", ")
    ))
}

/// Where the settings, the prices and the baselines come from.
#[derive(Debug)]
enum MergedProject {
    Archive(ArchivedProject),
    CurrentFolder,
}

impl MergedProject {
    fn open(arguments: &Merge) -> Result<Self, Error> {
        let Some(file) = &arguments.archive else { return Ok(Self::CurrentFolder) };
        ArchivedProject::open(file, arguments.workspace_remap.as_deref()).map(Self::Archive)
    }

    fn settings(&self, flags: &Flags) -> Result<Config, Error> {
        match self {
            Self::Archive(project) => project.settings(flags),
            Self::CurrentFolder => settings(flags),
        }
    }

    /// Whether the gates of the project are unknown: the current folder is in no project.
    fn has_no_settings(&self, arguments: &Merge) -> bool {
        let Ok(folder) = env::current_dir() else { return false };
        let root = project_root(&folder);
        let is_project = ["Cargo.toml", "cobalt.toml"].iter().any(|name| root.join(name).exists());
        let is_named = arguments.settings.config.is_some() || env::var_os("COBALT_CONFIG").is_some();
        matches!(self, Self::CurrentFolder) && !is_named && !is_project
    }
}

/// Merges shards and reports the results.
struct Merger {
    call: Invocation,
    merged: Vec<FinishedExperiment>,
    /// Whether to warn of gates that are not evaluated, as there is no project.
    warns_of_gates: bool,
}

impl Merger {
    /// Merges the shards of each experiment. A failure does not affect other experiments.
    fn merge(&mut self, groups: Vec<ExperimentRuns>, settings: &Config) -> Result<(), Error> {
        let mut merged = Vec::with_capacity(groups.len());
        for group in groups {
            if interrupt::was_received() {
                return Err(Error::Interrupted);
            }
            group.notes().iter().for_each(|note| self.note(note));
            let (name, declared_at) = (group.name.clone(), group.declared_at.clone());
            merged.push((name, declared_at, merge_group(group, settings)));
        }
        self.warn_of_gates(merged.iter().filter_map(|(_, _, run)| run.as_ref().ok()), settings)?;
        let variants =
            MergedVariants::of(merged.iter().filter_map(|(_, _, run)| run.as_ref().ok()), settings);
        for (number, (name, declared_at, run)) in merged.into_iter().enumerate() {
            let evaluated = run.and_then(|run| {
                let others = variants.of_group(run.variant());
                run.evaluate(&others, settings).map_err(|error| error.to_string())
            });
            match evaluated {
                Ok(report) => self.keep(number, report, settings)?,
                Err(reason) => {
                    let error = format!("experiment `{name}` cannot be merged: {reason}");
                    self.call.emit(&Event::ExperimentBroken { name, error, declared_at })?;
                }
            }
        }
        for ranking in variants.rankings(&self.merged) {
            self.call.emit(&Event::VariantsCompared(Box::new(ranking)))?;
        }
        Ok(())
    }

    /// Writes a merged report and emits its result.
    fn keep(&mut self, number: usize, report: Report, settings: &Config) -> Result<(), Error> {
        let written = match report.items.len() >= settings.parts_from() {
            true => PartsWriter::write_report(settings.layout(), &report, settings.prices()),
            false => write_report(settings.layout(), &report),
        };
        let written = written.map_err(|error| error.to_string());
        let path = written.as_ref().ok().map(|path| &**path);
        let names = report.case_names();
        let notable = NotableItems::of(&report, |index| names[index].clone());
        let finished = ExperimentFinished::of(number, &report, &notable, path);
        let path = path.map(ToOwned::to_owned);
        for warning in Warning::all_for_report(&report, &notable) {
            self.call.emit(&Event::Warning(warning))?;
        }
        let finished = ExperimentFinished { unsaved: written.err(), ..finished };
        self.call.emit(&Event::ExperimentFinished(Box::new(finished)))?;
        self.merged.push(FinishedExperiment::of_report(report, path));
        Ok(())
    }

    /// Warns of variables whose names look misspelt. Others can belong to the agents.
    fn warn_of_variables(&mut self, settings: &Config) -> Result<(), Error> {
        let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let names: BTreeSet<_> = names.filter(|name| !settings.mentions_variable(name)).collect();
        let warnings = names.iter().filter_map(|name| unknown_variable_warning(name));
        let likely: Vec<_> = warnings.filter(|warning| warning.contains("did you mean")).collect();
        likely.into_iter().try_for_each(|warning| self.call.emit(&Event::Warning(Warning::global(warning))))
    }

    /// Warns if gates of the project cannot be evaluated, as there is none here.
    fn warn_of_gates<'a>(
        &mut self,
        mut runs: impl Iterator<Item = &'a MergedRun>,
        settings: &Config,
    ) -> Result<(), Error> {
        let has_baseline = settings.baseline_files().is_some() || settings.layout().baselines().exists();
        let is_compared = !has_baseline && runs.any(MergedRun::is_compared_with_baseline);
        let missing = match (self.warns_of_gates, settings.is_ci(), is_compared) {
            (true, true, true) => "thresholds of `[ci]` and baselines",
            (true, true, false) => "thresholds of `[ci]`",
            (true, false, true) => "baselines",
            _ => return Ok(()),
        };
        let warning = format!(
            "the current folder is in no project, so its {missing} are not used; pass the archive with --archive, or merge in a checkout"
        );
        self.call.emit(&Event::Warning(Warning::global(warning)))
    }

    fn note(&self, note: &str) {
        self.call.screen.eprintln(&format!("note: {note}"));
    }

    /// Shows the results and returns the exit code.
    fn conclude(mut self, settings: &Config, group: Option<&FinishedGroup>) -> Result<ExitCode, Error> {
        let ci = settings.is_ci();
        self.call.state.binary_ended();
        self.call.summaries();
        let Self { mut call, merged, .. } = self;
        let results = std::mem::take(&mut call.state).into_results(merged);
        let code = if !results.broken.is_empty() || !results.errors.is_empty() {
            ExitCode::from(3)
        } else if !results.failed() {
            ExitCode::SUCCESS
        } else {
            if !ci {
                call.screen.eprintln(CI_HINT);
            }
            ExitCode::from(u8::from(ci))
        };
        let reported = call.finish(&results);
        let are_pushed = push_finished(settings, &results, &call.screen);
        if let Some(group) = group.filter(|_| are_pushed && results.are_complete())
            && let Err(error) = group.merged()
        {
            call.screen
                .warn(&format!("{error}; a later merge of the group may merge the same results again"));
        }
        // The results are saved and pushed, whatever happens to a report.
        reported?;
        call.screen.into_result().map(|()| code)
    }
}

/// Merges the latest runs of an experiment's shards.
fn merge_group(group: ExperimentRuns, settings: &Config) -> Result<MergedRun, String> {
    let paths = group.newest()?;
    let files = paths.into_iter().map(load_shard).collect::<Result<Vec<_>, _>>()?;
    join(files, settings).map_err(|error| error.to_string())
}

/// Reads the report of a shard. A damaged one is refused, as its errors would end up in the merged run.
fn load_shard(path: PathBuf) -> Result<ShardFile, String> {
    let file = ReportFile::open(&path).map_err(|error| error.to_string())?;
    let checked = match file.parts() {
        Some(parts) => parts.validate(file.report()).map_err(|error| error.to_string()),
        None => {
            let bytes =
                fs::read(&path).map_err(|error| format!("failed to read `{}`: {error}", path.display()))?;
            validate_report(&bytes, file.report()).map_err(|damage| damage.to_string())
        }
    };
    checked.map_err(|damage| {
        format!(
            "`{}` cannot be used: {damage}; copy the file again from the machine that ran the shard, or rerun the shard",
            path.display()
        )
    })?;
    let report = file.into_report().map_err(|error| error.to_string())?;
    Ok(ShardFile { path, report })
}
