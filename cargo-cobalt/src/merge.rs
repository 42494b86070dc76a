//! `cargo cobalt merge`: merges shards into complete runs, evaluates them, and shows them as `run` does.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cobalt::command::config::{Config, Flags, unknown_variable_warning};
use cobalt::command::shards::{MergedRun, OtherVariants, ShardFile, merge as join};
use cobalt_core::report::ranking::{RankInput, Ranking, rank};
use cobalt_core::report::{Report, RunVariant, Shard, SourceLocation, Timestamp};
use cobalt_core::reporters::{Event, ExperimentFinished, NotableItems, Warning};
use cobalt_core::store::{
    JournalHeader, PartsWriter, ReportFile, ResultFileName, strip_bom, validate_report, write_report,
};
use serde::Deserialize;
use walkdir::WalkDir;

use crate::baseline::BaselineSource;
use crate::cli::Merge;
use crate::config::settings;
use crate::error::Error;
use crate::remote::{check_push, push_finished};
use crate::reporters::Reporters;
use crate::results::{FinishedExperiment, Output as _};
use crate::run::{CI_HINT, Invocation, ItemLines, Screen};
use crate::shards::await_group;

pub fn merge(arguments: &Merge, flags: &Flags) -> Result<ExitCode, Error> {
    let given = match &arguments.outcome.baseline {
        Some(name) => Some(BaselineSource::resolve(name, &settings(flags)?)?),
        None => None,
    };
    let files = given.as_ref().map_or_else(Vec::new, |given| given.files.clone());
    let settings = settings(&Flags { baseline: files, ..flags.clone() })?;
    check_push(&settings)?;
    let folder = env::current_dir().map_err(Error::CurrentFolder)?;
    let paths = match &arguments.remote {
        Some(group) => await_group(group.as_ref(), arguments, &settings)?,
        None => arguments.paths.clone(),
    };
    let (whole, groups): (Vec<_>, Vec<_>) =
        group_by_experiment(find(&paths)?).into_iter().partition(|group| group.shards.is_empty());
    let reporters = Reporters::with_senders(&settings)?;
    let call = Invocation::new(Screen::of(&settings, ItemLines::default(), folder), reporters);
    let mut teller = Merger { call, merged: Vec::new() };
    whole.iter().for_each(|group| teller.note(&group.skip_note()));
    if groups.is_empty() {
        return Err(no_shards_error(arguments));
    }
    if let Some(given) = &given {
        let names: Vec<_> = groups.iter().map(|group| &*group.name).collect();
        given.check(&names)?;
    }
    teller.warn_of_variables(&settings)?;
    teller.merge(groups, &settings)?;
    teller.conclude(&settings)
}

fn no_shards_error(arguments: &Merge) -> Error {
    let paths: Vec<_> = arguments.paths.iter().map(|path| format!("`{}`", path.display())).collect();
    Error::NothingMatched(format!(
        "no shards found in {}; create them with `cargo cobalt run --shard 1/2` and `2/2`, and pass their result files \
         or a folder that contains them",
        paths.join(", ")
    ))
}

/// Merges shards and reports the results.
struct Merger {
    call: Invocation,
    merged: Vec<FinishedExperiment>,
}

impl Merger {
    /// Merges the shards of each experiment. A failure does not affect other experiments.
    fn merge(&mut self, groups: Vec<ExperimentRuns>, settings: &Config) -> Result<(), Error> {
        let mut merged = Vec::with_capacity(groups.len());
        for group in groups {
            group.notes().iter().for_each(|note| self.note(note));
            let (name, declared_at) = (group.name.clone(), group.declared_at.clone());
            merged.push((name, declared_at, merge_group(group, settings)));
        }
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

    fn note(&self, note: &str) {
        self.call.screen.eprintln(&format!("note: {note}"));
    }

    /// Shows the results and returns the exit code.
    fn conclude(mut self, settings: &Config) -> Result<ExitCode, Error> {
        let ci = settings.is_ci();
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
                call.screen.eprintln(CI_HINT);
            }
            ExitCode::from(u8::from(ci))
        };
        call.finish(&results)?;
        push_finished(settings, &results, &call.screen);
        call.screen.into_result().map(|()| code)
    }
}

/// The measurements of merged variants, by group and name.
struct MergedVariants(BTreeMap<String, OtherVariants>);

impl MergedVariants {
    fn of<'a>(runs: impl Iterator<Item = &'a MergedRun>, settings: &Config) -> Self {
        let mut groups = BTreeMap::<_, OtherVariants>::new();
        for run in runs {
            if let Some(variant) = run.variant() {
                let group = groups.entry(variant.group.clone()).or_default();
                group.insert(variant.name.clone(), run.measurements(settings));
            }
        }
        Self(groups)
    }

    /// The variants of a variant's group.
    fn of_group(&self, variant: Option<&RunVariant>) -> OtherVariants {
        variant.and_then(|variant| self.0.get(&variant.group)).cloned().unwrap_or_default()
    }

    /// How the variants of each group compare.
    fn rankings(&self, merged: &[FinishedExperiment]) -> Vec<Ranking> {
        let rank_group = |(group, measured): (&String, &OtherVariants)| {
            let mut runs: Vec<_> = merged
                .iter()
                .filter_map(|run| {
                    let variant = run.report.variant.as_ref().filter(|variant| variant.group == *group)?;
                    Some((
                        variant.position,
                        RankInput { report: &run.report, measurements: measured.get(&variant.name)? },
                    ))
                })
                .collect();
            runs.sort_by_key(|(position, _)| *position);
            let runs: Vec<_> = runs.into_iter().map(|(_, run)| run).collect();
            (runs.len() > 1).then(|| rank(&runs))
        };
        self.0.iter().filter_map(rank_group).collect()
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

/// The runs found for one experiment.
#[derive(Debug)]
struct ExperimentRuns {
    name: String,
    /// Where the experiment is declared, according to its latest run.
    declared_at: Option<SourceLocation>,
    /// The runs of each shard, latest first.
    shards: BTreeMap<Shard, Vec<RunFile>>,
    /// The number of runs that are not shards.
    others: usize,
}

/// Groups runs by experiment, in source order. Experiments with the same name in different files are separate.
fn group_by_experiment(found: Vec<RunFile>) -> Vec<ExperimentRuns> {
    let mut by_place = BTreeMap::<_, Vec<RunFile>>::new();
    for run in found {
        let file = run.head.declared_at.as_ref().map(|place| place.file.clone());
        by_place.entry((file, run.head.name.clone())).or_default().push(run);
    }
    let mut groups: Vec<_> =
        by_place.into_iter().map(|((_, name), runs)| ExperimentRuns::of(name, runs)).collect();
    groups
        .sort_by_cached_key(|group| group.declared_at.as_ref().map(|place| (place.file.clone(), place.line)));
    groups
}

impl ExperimentRuns {
    fn of(name: String, mut runs: Vec<RunFile>) -> Self {
        // If a run has both, its result file comes before its journal.
        runs.sort_by_key(|run| Reverse((run.head.timestamp, run.is_finished)));
        let declared_at = runs.first().and_then(|run| run.head.declared_at.clone());
        let mut group = Self { name, declared_at, shards: BTreeMap::new(), others: 0 };
        for run in runs {
            let Some(shard) = run.head.shard else {
                group.others += 1;
                continue;
            };
            let known = group.shards.entry(shard).or_default();
            if !known.iter().any(|known| known.head.id == run.head.id) {
                known.push(run);
            }
        }
        group
    }

    /// The note that none of its runs is a shard.
    fn skip_note(&self) -> String {
        let are = if self.others == 1 {
            "its only run is not a shard".to_owned()
        } else {
            format!("none of its {} runs is a shard", self.others)
        };
        format!("{}: skipped, {are}", self.name)
    }

    /// Notes on shards with several runs.
    fn notes(&self) -> Vec<String> {
        let several = self.shards.iter().filter(|(_, runs)| runs.len() > 1);
        let note = |(shard, runs): (&Shard, &Vec<RunFile>)| {
            format!(
                "{}: using the latest of {} runs of shard {shard}: `{}`",
                self.name,
                runs.len(),
                runs[0].path.display()
            )
        };
        several.map(note).collect()
    }

    /// The result files of the latest run of each shard; an error if one did not finish.
    fn newest(self) -> Result<Vec<PathBuf>, String> {
        let mut paths = Vec::with_capacity(self.shards.len());
        for (shard, runs) in self.shards {
            let Some(newest) = runs.into_iter().next() else { continue };
            if !newest.is_finished {
                let RunFile { path, head, .. } = newest;
                return Err(format!(
                    "run {} of shard {shard} is not finished: there is only its journal `{}`; on the machine that ran it, \
                     resume with `cargo cobalt run --resume {}` or rerun the shard",
                    head.id,
                    path.display(),
                    head.id
                ));
            }
            paths.push(newest.path);
        }
        Ok(paths)
    }
}

/// A file of a run.
#[derive(Debug)]
struct RunFile {
    path: PathBuf,
    head: RunHead,
    /// Whether the run finished: the file is a result file, not a journal.
    is_finished: bool,
}

/// The head of a result file, without metrics and items.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunHead {
    id: String,
    name: String,
    timestamp: Timestamp,
    #[serde(default)]
    declared_at: Option<SourceLocation>,
    #[serde(default)]
    shard: Option<Shard>,
    /// Fields that every result file has, and few other files.
    #[serde(rename = "config")]
    _config: serde::de::IgnoredAny,
    #[serde(rename = "summary")]
    _summary: serde::de::IgnoredAny,
}

/// The runs in these files and, recursively, in these folders, sorted by path.
fn find(paths: &[PathBuf]) -> Result<Vec<RunFile>, Error> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.extend(read_journal_head(path).map_or_else(|| read_result(path), Ok)?);
            continue;
        }
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry.map_err(|error| file_error(error.path().unwrap_or(path), &error))?;
            if entry.file_type().is_file() {
                found.extend(read_in_folder(entry.path())?);
            }
        }
    }
    Ok(found)
}

/// The run in a file of a folder. A file named like a result file must be one.
fn read_in_folder(path: &Path) -> Result<Option<RunFile>, Error> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => match read_result(path) {
            Err(error) if is_named_as_result(path) => Err(error),
            found => Ok(found.ok().flatten()),
        },
        _ => Ok(read_journal_head(path).flatten()),
    }
}

fn read_result(path: &Path) -> Result<Option<RunFile>, Error> {
    let bytes = fs::read(path).map_err(|error| file_error(path, &error))?;
    let head = serde_json::from_slice(strip_bom(&bytes));
    let head = head.map_err(|error| file_error(path, &format!("not a result file: {error}")))?;
    Ok(Some(RunFile { path: path.to_owned(), head, is_finished: true }))
}

/// The run in the journal of an interrupted or running run; the inner value is `None` if the journal is unusable. The outer one
/// is `None` if the file is not named like a journal.
fn read_journal_head(path: &Path) -> Option<Option<RunFile>> {
    path.extension().filter(|extension| *extension == "jsonl")?;
    let read = || {
        let mut line = String::new();
        BufReader::new(File::open(path).ok()?).read_line(&mut line).ok()?;
        let JournalHeader { id, name, timestamp, declared_at, shard, .. } =
            serde_json::from_str(&line).ok()?;
        let (_config, _summary) = (serde::de::IgnoredAny, serde::de::IgnoredAny);
        let head = RunHead { id, name, timestamp, declared_at, shard, _config, _summary };
        Some(RunFile { path: path.to_owned(), head, is_finished: false })
    };
    Some(read())
}

fn is_named_as_result(path: &Path) -> bool {
    path.file_name().is_some_and(|name| ResultFileName::parse(&name.to_string_lossy()).is_some())
}

fn file_error(path: &Path, reason: &impl ToString) -> Error {
    let reason = format!("{}; pass result files of shards, or folders that contain them", reason.to_string());
    Error::RunFile { path: path.to_owned(), reason }
}
