//! `cargo cobalt baseline set`: saves the metrics of runs as baselines.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use cobalt::command::config::{Config, Flags};
use cobalt_core::paths::workspace_root;
use cobalt_core::report::Measurements;
use cobalt_core::report::comparison::{Difference, Verdict, compare, replay_note};
use cobalt_core::store::{Layout, find_name_conflict, read_measurements, write_baseline};
use cobalt_core::wording;

use super::source::{RunHeader, package_around};
use crate::cli::{RunName, SetBaseline};
use crate::config::settings;
use crate::error::{CommandError, Error, ErrorKind};
use crate::git_ignored::{IgnoreStatus, check_ignored};
use crate::lookup::RunLookup;
use crate::runs::KnownRuns;
use crate::terminal::{eprint_wrapped, one_line, print, relative_path};

pub fn set(arguments: &SetBaseline, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let groups = result_files(arguments, &settings)?;
    check_file_collisions(groups.iter().flat_map(BTreeMap::keys), &settings)?;
    let allowed = AllowedRuns { failed: arguments.allow_failed, replayed: arguments.allow_replayed };
    let mut advice = None;
    let mut refused = Ok(ExitCode::SUCCESS);
    for files in groups {
        match save_baselines(&files, allowed, &settings) {
            Ok(saved) => {
                saved.print()?;
                advice = advice.or(saved.commit_advice);
            }
            // The packages are independent; the last error ends the command.
            Err(error) => {
                if let Err(before) = std::mem::replace(&mut refused, Err(error)) {
                    before.eprint();
                }
            }
        }
    }
    if let Some(advice) = advice {
        eprint_wrapped(&advice);
    }
    refused
}

impl SavedBaselines {
    fn print(&self) -> Result<(), Error> {
        let warn = |warning: &String| eprint_wrapped(&format!("warning: {warning}"));
        self.warnings.iter().for_each(warn);
        for baseline in &self.saved {
            print(&baseline.confirmation()).map_err(Error::Print)?;
            baseline.warnings.iter().for_each(warn);
        }
        Ok(())
    }
}

/// The runs that can become baselines although their later runs may wrongly count as no worse.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowedRuns {
    pub failed: bool,
    pub replayed: bool,
}

/// The saved baselines.
#[derive(Debug)]
pub struct SavedBaselines {
    pub saved: Vec<SavedBaseline>,
    pub warnings: Vec<String>,
    /// What to do about git; `None` without it.
    pub commit_advice: Option<String>,
}

/// A saved baseline.
#[derive(Debug)]
pub struct SavedBaseline {
    run: Measurements,
    /// The id of the run of the previous baseline.
    pub replaced: Option<String>,
    pub path: PathBuf,
    pub warnings: Vec<String>,
}

/// Saves the runs in result files, by experiment, as baselines.
///
/// # Errors
///
/// A run cannot be a baseline, or a file cannot be read or written. An error in one run changes nothing.
pub fn save_baselines(
    files: &BTreeMap<String, PathBuf>,
    allowed: AllowedRuns,
    settings: &Config,
) -> Result<SavedBaselines, Error> {
    // Read all before writing any.
    let read = |file: &PathBuf| Ok(read_measurements(file, settings.prices())?);
    let runs = files.values().map(read).collect::<Result<Vec<_>, Error>>()?;
    check_file_collisions(files.keys(), settings)?;
    if !allowed.failed {
        runs.iter().try_for_each(refuse_failed)?;
    }
    if !allowed.replayed {
        runs.iter().try_for_each(refuse_replayed)?;
    }
    let layout = settings.layout();
    let warnings = refuse_namesakes(&runs, layout)?;
    let mut saved = Vec::new();
    for run in runs {
        let before = read_measurements(&layout.baseline(&run.name), settings.prices()).ok();
        let path = write_baseline(layout, &run)?;
        let warnings = self::warnings(&run, before.as_ref());
        saved.push(SavedBaseline { run, replaced: before.map(|before| before.id), path, warnings });
    }
    let paths: Vec<_> = saved.iter().map(|baseline| baseline.path.clone()).collect();
    Ok(SavedBaselines { saved, warnings, commit_advice: commit_advice(&paths) })
}

/// Why a run is refused unless it is allowed explicitly.
#[derive(Debug, thiserror::Error)]
pub enum RefusedBaseline {
    #[error(
        "run {} of `{}` failed; with a failed baseline, later runs that are as bad do not count as worse. Select a passing \
         run, or use this one with `--allow-failed`",
        one_line(.id),
        one_line(.name)
    )]
    Failed { id: String, name: String },

    #[error(
        "run {} of `{}` was replayed, so its latency and agent cost are those of the recording. Select a run with live responses \
         (`cargo cobalt run --record off`), or use this one with `--allow-replayed`",
        one_line(.id),
        one_line(.name)
    )]
    Replayed { id: String, name: String },
}

impl CommandError for RefusedBaseline {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Arguments
    }
}

/// Refuses a failed run: later runs that are as bad would not count as worse.
fn refuse_failed(run: &Measurements) -> Result<(), Error> {
    match run.failed {
        true => Err(RefusedBaseline::Failed { id: run.id.clone(), name: run.name.clone() }.into()),
        false => Ok(()),
    }
}

/// Refuses a run whose model responses were replayed: its latency and agent cost were not measured.
fn refuse_replayed(run: &Measurements) -> Result<(), Error> {
    match run.replayed {
        true => Err(RefusedBaseline::Replayed { id: run.id.clone(), name: run.name.clone() }.into()),
        false => Ok(()),
    }
}

/// The result files of the selected runs, by experiment. If no runs are named, those of each package for itself, and in the folder of a
/// package only its own.
fn result_files(arguments: &SetBaseline, settings: &Config) -> Result<Vec<BTreeMap<String, PathBuf>>, Error> {
    let lookup = RunLookup::open(settings)?;
    let is_meant =
        |experiment: &str| arguments.experiment.as_ref().is_none_or(|name| name.matches(experiment));
    let mut runs = Vec::new();
    for name in &arguments.runs {
        runs.extend(lookup.find_for_each(name)?.runs());
    }
    if arguments.runs.is_empty() {
        for experiment in lookup.known().experiments() {
            runs.extend(lookup.find(&RunName::latest_of(experiment))?.runs());
        }
    }
    runs.retain(|run| is_meant(&run.experiment));
    let here = std::env::current_dir().map_err(Error::CurrentFolder)?;
    let workspace = workspace_root(&here);
    let is_named = !arguments.runs.is_empty() || arguments.experiment.is_some();
    let own = package_around(&here).filter(|folder| *folder != workspace && !is_named);
    let mut groups = BTreeMap::<_, BTreeMap<_, _>>::new();
    for run in lookup.fetch(runs)? {
        let header = RunHeader::read(&run.path)?;
        let package = header.package(&workspace).filter(|_| arguments.runs.is_empty());
        if own.is_some() && package.is_some() && package != own {
            continue;
        }
        header.refuse_partial()?;
        if let Some(note) = run.note {
            eprint_wrapped(&format!("warning: {note}"));
        }
        let files = groups.entry(package).or_default();
        let other = files.insert(run.experiment.clone(), run.path.clone());
        if let Some(other) = other.filter(|other| *other != run.path) {
            return Err(Error::Arguments(format!(
                "`{}` and `{}` are both runs of experiment `{}`, which can have only one baseline",
                relative_path(&other),
                relative_path(&run.path),
                run.experiment
            )));
        }
    }
    if groups.is_empty() {
        Err(Error::NothingMatched(no_runs_message(arguments, lookup.known(), settings)))
    } else {
        Ok(groups.into_values().collect())
    }
}

/// Explains why no run is selected.
fn no_runs_message(arguments: &SetBaseline, known: &KnownRuns, settings: &Config) -> String {
    let experiments = known.experiments();
    match &arguments.experiment {
        _ if experiments.is_empty() => {
            let results = relative_path(settings.layout().results());
            format!("no complete run in `{results}` yet; create one with `cargo cobalt run`")
        }
        Some(name) if arguments.runs.is_empty() => {
            format!(
                "no experiment with a complete run matches `{name}`; {}",
                wording::suggest_or_list(&name.to_string(), experiments)
            )
        }
        None if arguments.runs.is_empty() => {
            "no complete run of this package yet; create one with `cargo cobalt run`".to_owned()
        }
        _ => "none of the runs belongs to an experiment that matches `--experiment`".to_owned(),
    }
}

/// Refuses runs that would overwrite the baseline of another experiment, or each other's.
fn check_file_collisions<'a>(
    experiments: impl Iterator<Item = &'a String>,
    settings: &Config,
) -> Result<(), Error> {
    let mut holders = BTreeMap::new();
    for name in experiments {
        let path = settings.layout().baseline(name);
        // An unreadable file contains nothing worth keeping.
        let there = RunHeader::read(&path).ok().map(|there| there.name);
        let holder =
            there.filter(|there| there != name).or_else(|| holders.insert(path.clone(), name.clone()));
        if let Some(holder) = holder {
            return Err(Error::Arguments(format!(
                "`{}` would be the baseline file of both experiments `{}` and `{}`; rename one of them so that they \
                 differ in letters or digits",
                relative_path(&path),
                one_line(&holder),
                one_line(name)
            )));
        }
    }
    Ok(())
}

/// Refuses runs of experiments whose name is declared twice: both would share one baseline. Returns warnings about names that may be.
fn refuse_namesakes(runs: &[Measurements], layout: &Layout) -> Result<Vec<String>, Error> {
    let root = workspace_root(&std::env::current_dir().map_err(Error::CurrentFolder)?);
    let (mut refused, mut warnings) = (Vec::new(), Vec::new());
    for Measurements { name, declared_at, .. } in runs {
        let Some(place) = declared_at else { continue };
        match find_name_conflict(layout, &root, &(name.clone(), place.clone())) {
            Some(other) if other.is_certain => {
                refused.push(format!("experiment `{}`: {other}", one_line(name)))
            }
            Some(other) => warnings.push(one_line(&other.to_string())),
            None => {}
        }
    }
    if refused.is_empty() { Ok(warnings) } else { Err(Error::Multiple(refused)) }
}

impl SavedBaseline {
    fn confirmation(&self) -> String {
        let Measurements { id, name, timestamp, items, .. } = &self.run;
        let start = timestamp.to_minute();
        let run = format!("run {} ({start} UTC, {})", one_line(id), wording::count(items.len(), "item"));
        let (name, path) = (one_line(name), relative_path(&self.path));
        match &self.replaced {
            Some(before) if before == id => format!("{name}: {run} is already the baseline `{path}`\n"),
            Some(before) => {
                format!("{name}: saved {run} as baseline `{path}`, replacing run {}\n", one_line(before))
            }
            None => format!("{name}: saved {run} as baseline `{path}`\n"),
        }
    }
}

/// Warnings about the baseline: items in error, and evaluators that are worse than in the previous one.
fn warnings(run: &Measurements, before: Option<&Measurements>) -> Vec<String> {
    let errors = run.items.iter().filter(|item| !item.failed().is_empty()).count();
    let errors = (errors > 0).then(|| {
        let all = run.items.len();
        format!(
            "{errors} of {all} items of run {} are in error; prefer a run without errors",
            one_line(&run.id)
        )
    });
    let comparisons = before.map_or_else(Vec::new, |before| compare(before, &[run]));
    let worse = comparisons.iter().flat_map(|comparison| {
        let worse = comparison.evaluators.iter().filter(|difference| difference.verdict == Verdict::Worse);
        worse.map(|Difference { name, base, other, .. }| {
            let (name, before) = (one_line(name), one_line(&comparison.base.id));
            format!("{name} is worse than in run {before}: {other:.3} after {base:.3}")
        })
    });
    let failed = run.failed.then(|| {
        format!("run {} failed: later runs that are as bad do not count as worse", one_line(&run.id))
    });
    let replayed = replay_note(run).map(|note| one_line(&note));
    failed.into_iter().chain(replayed).chain(errors).chain(worse).collect()
}

/// Advice on committing the files; `None` without git.
pub fn commit_advice(files: &[PathBuf]) -> Option<String> {
    let folder = files.first()?.parent()?;
    match check_ignored(files)? {
        IgnoreStatus::Ignored { rule } => {
            let above = folder.parent()?.file_name()?.to_string_lossy();
            Some(format!(
                "warning: `{}` excludes `{}`; to share baselines, replace the rule with `**/{above}/*` and \
                 `!**/{above}/baselines/`",
                one_line(&rule),
                relative_path(folder),
            ))
        }
        IgnoreStatus::NotIgnored => {
            Some(format!("Commit `{}`, so everyone compares with the same runs.", relative_path(folder)))
        }
    }
}
