//! `cargo cobalt baseline set`: keeps the numbers of runs as baselines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cobalt::command::config::{Config, Flags};
use cobalt_core::paths::workspace_root;
use cobalt_core::report::Measurements;
use cobalt_core::report::comparison::{Difference, Verdict, compare};
use cobalt_core::store::{Layout, namesake, read_measurements, write_baseline};
use cobalt_core::wording;

use super::given::Head;
use crate::cli::{RunName, SetBaseline};
use crate::config::settings;
use crate::error::Error;
use crate::git_ignored::{Kept, kept};
use crate::runs::KnownRuns;
use crate::terminal::{eprint_folded, one_line, print, seen};

pub fn set(arguments: &SetBaseline, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let files = files(arguments, &settings)?;
    // All are read before the first is written: a mistake in one of several runs changes nothing.
    let read = |file: &PathBuf| Ok(read_measurements(file, settings.prices())?);
    let runs = files.values().map(read).collect::<Result<Vec<_>, Error>>()?;
    check(files.keys(), &settings)?;
    if !arguments.allow_failed {
        runs.iter().try_for_each(refuse_failed)?;
    }
    let layout = settings.layout();
    refuse_namesakes(&runs, layout)?;
    let mut written = Vec::new();
    for run in &runs {
        let before = read_measurements(&layout.baseline(&run.name), settings.prices()).ok();
        let path = write_baseline(layout, run)?;
        print(&said(run, before.as_ref(), &path)).map_err(Error::Print)?;
        warnings(run, before.as_ref())
            .iter()
            .for_each(|warning| eprint_folded(&format!("warning: {warning}")));
        written.push(path);
    }
    if let Some(advice) = to_be_committed(&written) {
        eprint_folded(&advice);
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a run that failed, as every later one that is as bad would count as no worse.
fn refuse_failed(run: &Measurements) -> Result<(), Error> {
    if !run.failed {
        return Ok(());
    }
    Err(Error::Arguments(format!(
        "run {} of `{}` failed, and is no measure of a good agent; run it again when it passes, name another run, or keep this \
         one with `--allow-failed`",
        one_line(&run.id),
        one_line(&run.name)
    )))
}

/// The result files of the runs that are meant, by their experiments.
fn files(arguments: &SetBaseline, settings: &Config) -> Result<BTreeMap<String, PathBuf>, Error> {
    let known = KnownRuns::open(settings.layout())?;
    let is_meant =
        |experiment: &str| arguments.experiment.as_ref().is_none_or(|name| name.matches(experiment));
    let mut runs = Vec::new();
    for name in &arguments.runs {
        runs.extend(known.find(name)?.runs());
    }
    if arguments.runs.is_empty() {
        for experiment in known.experiments() {
            runs.extend(known.find(&RunName::latest_of(experiment))?.runs());
        }
    }
    let mut files = BTreeMap::new();
    for run in runs.into_iter().filter(|run| is_meant(&run.experiment)) {
        Head::read(&run.path)?.refuse_partial()?;
        if let Some(note) = run.note {
            eprint_folded(&format!("warning: {note}"));
        }
        let other = files.insert(run.experiment.clone(), run.path.clone());
        if let Some(other) = other.filter(|other| *other != run.path) {
            return Err(Error::Arguments(format!(
                "`{}` and `{}` are both of experiment `{}`, which can have one baseline only",
                seen(&other),
                seen(&run.path),
                run.experiment
            )));
        }
    }
    if files.is_empty() {
        Err(Error::NothingMatched(nothing(arguments, &known, settings)))
    } else {
        Ok(files)
    }
}

/// Says why no run is meant.
fn nothing(arguments: &SetBaseline, known: &KnownRuns, settings: &Config) -> String {
    let experiments = known.experiments();
    match &arguments.experiment {
        _ if experiments.is_empty() => {
            let results = seen(settings.layout().results());
            format!("there is no whole run in `{results}` yet; make one with `cargo cobalt run`")
        }
        Some(name) if arguments.runs.is_empty() => {
            format!(
                "no experiment that has a whole run matches `{name}`; {}",
                wording::instead(&name.to_string(), experiments)
            )
        }
        _ => "none of the runs is of an experiment that `--experiment` matches".to_owned(),
    }
}

/// Refuses runs that would take the place of another experiment's baseline, or of each other's.
fn check<'a>(experiments: impl Iterator<Item = &'a String>, settings: &Config) -> Result<(), Error> {
    let mut holders = BTreeMap::new();
    for name in experiments {
        let path = settings.layout().baseline(name);
        // A file that cannot be read holds nothing that is worth keeping.
        let there = Head::read(&path).ok().map(|there| there.name);
        let holder =
            there.filter(|there| there != name).or_else(|| holders.insert(path.clone(), name.clone()));
        if let Some(holder) = holder {
            return Err(Error::Arguments(format!(
                "`{}` can hold the baseline of experiment `{}` or that of `{}`, not both; give one of them a name that \
                 differs in letters or digits",
                seen(&path),
                one_line(&holder),
                one_line(name)
            )));
        }
    }
    Ok(())
}

/// Refuses runs of experiments whose names are declared a second time elsewhere: both would have the same baseline.
fn refuse_namesakes(runs: &[Measurements], layout: &Layout) -> Result<(), Error> {
    let root = workspace_root(&std::env::current_dir().map_err(Error::CurrentFolder)?);
    let mut refused = Vec::new();
    for Measurements { name, declared_at, .. } in runs {
        let Some(place) = declared_at else { continue };
        match namesake(layout, &root, &(name.clone(), place.clone())) {
            Some(other) if other.is_certain => {
                refused.push(format!("experiment `{}`: {other}", one_line(name)))
            }
            Some(other) => eprint_folded(&format!("warning: {}", one_line(&other.to_string()))),
            None => {}
        }
    }
    if refused.is_empty() { Ok(()) } else { Err(Error::Broken(refused)) }
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

/// What speaks against the baseline: items in error, and evaluators that find it worse than the one before.
fn warnings(run: &Measurements, before: Option<&Measurements>) -> Vec<String> {
    let errors = run.items.iter().filter(|item| !item.failed.is_empty()).count();
    let errors = (errors > 0).then(|| {
        let all = run.items.len();
        format!(
            "{errors} of {all} items of run {} are in error; a run without errors is a better baseline",
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
    let failed = run
        .failed
        .then(|| format!("run {} failed: later runs that are as bad count as no worse", one_line(&run.id)));
    failed.into_iter().chain(errors).chain(worse).collect()
}

/// Says what stands in the way, or only that they are to be committed. Nothing where there is no git.
pub fn to_be_committed(files: &[PathBuf]) -> Option<String> {
    let folder = files.first()?.parent()?;
    match kept(files)? {
        Kept::LeftOut { rule } => {
            let above = folder.parent()?.file_name()?.to_string_lossy();
            Some(format!(
                "warning: git leaves `{}` out, by `{}`; to share baselines, write `**/{above}/*` and \
                 `!**/{above}/baselines/` there instead",
                seen(folder),
                one_line(&rule),
            ))
        }
        Kept::All => Some(format!("commit `{}`, so that all are held against the same", seen(folder))),
    }
}
