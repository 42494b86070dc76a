//! Resolves run names, and reads the reports of runs.

use std::fs;
use std::path::{Path, PathBuf};

use cobalt_core::prices::PriceTable;
use cobalt_core::report::Report;
use cobalt_core::store::{ReportFile, read_measurements, strip_bom};
use serde::Deserialize;

use super::known::{self, KnownRuns, UnknownRun, describe_run};
use crate::cli::{RunName, RunSelector};
use crate::error::Error;
use crate::index::IndexedRun;

/// A resolved run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRun {
    /// The run ID.
    pub id: String,
    /// The experiment's name.
    pub experiment: String,
    /// The result file, or a baseline file.
    pub path: PathBuf,
    /// A note on the choice.
    pub note: Option<String>,
}

/// What a name refers to on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolvedName {
    /// One run, regardless of other names.
    One(ResolvedRun),
    /// A run of each experiment that has one, latest first; never empty.
    PerExperiment(Vec<ResolvedRun>),
}

impl KnownRuns {
    /// The commit of a name, if the name was resolved as a git revision.
    pub fn commit_of(&self, name: &RunName, runs: &[ResolvedRun]) -> Option<String> {
        let commit = self.commit(name.as_str())?;
        let of_commit = self.of_commit(&commit);
        let is_of_commit = |run: &ResolvedRun| of_commit.iter().any(|known| known.id == run.id);
        runs.iter().all(is_of_commit).then_some(commit)
    }

    /// Resolves several names together: a name that fits several experiments refers to the experiment of the first unambiguous
    /// name, or else to that of the latest run.
    pub fn resolve(&self, names: &[RunName]) -> Result<Vec<ResolvedRun>, Error> {
        self.resolve_with(names, |name| self.find(name))
    }

    /// The same with another way to find what a name refers to on its own.
    pub fn resolve_with(
        &self,
        names: &[RunName],
        find: impl Fn(&RunName) -> Result<ResolvedName, Error>,
    ) -> Result<Vec<ResolvedRun>, Error> {
        let named = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let unambiguous = named.iter().find_map(|named| match named {
            ResolvedName::One(run) => Some(run.experiment.clone()),
            ResolvedName::PerExperiment(_) => None,
        });
        let experiment =
            unambiguous.or_else(|| self.complete.first().map(|run| run.name.clone())).unwrap_or_default();
        let choose = |(name, named)| match named {
            ResolvedName::One(run) => Ok(run),
            ResolvedName::PerExperiment(runs) => {
                let run = runs.into_iter().find(|run| run.experiment == experiment);
                run.ok_or_else(|| self.no_match_for(name, &experiment).into())
            }
        };
        names.iter().zip(named).map(choose).collect()
    }

    /// What a name refers to on its own.
    pub fn find(&self, name: &RunName) -> Result<ResolvedName, Error> {
        match &name.meaning {
            RunSelector::Latest { experiment: Some(experiment), back } => {
                Ok(ResolvedName::One(self.latest_of(name, experiment, *back)?))
            }
            RunSelector::Latest { experiment: None, back } => {
                Ok(ResolvedName::PerExperiment(self.latest(name, *back)?))
            }
            RunSelector::Branch { experiment, branch } => {
                Ok(self.of_branch(name.as_str(), experiment.as_deref(), branch)?)
            }
            RunSelector::Target { experiment } => Ok(self.of_target(name.as_str(), experiment.as_deref())?),
            RunSelector::Lookup => self.lookup(name.as_str()),
        }
    }

    fn latest_of(&self, name: &RunName, experiment: &str, back: usize) -> Result<ResolvedRun, UnknownRun> {
        let run = self.of_experiment(experiment).nth(back);
        run.map(|run| self.resolved(run)).ok_or_else(|| self.too_few(name, experiment))
    }

    fn too_few(&self, name: &RunName, experiment: &str) -> UnknownRun {
        let typed = name.to_string();
        match self.of_experiment(experiment).count() {
            0 => UnknownRun::unknown_experiment(&typed, experiment, &self.experiments()),
            runs => UnknownRun::TooFewRuns { typed, experiment: experiment.to_owned(), runs },
        }
    }

    fn latest(&self, name: &RunName, back: usize) -> Result<Vec<ResolvedRun>, UnknownRun> {
        let experiments = self.experiments();
        let Some(newest) = experiments.first() else {
            return Err(UnknownRun::NoRuns {
                typed: name.to_string(),
                results: self.display_path(&self.results),
            });
        };
        let runs = experiments.iter().filter_map(|experiment| self.of_experiment(experiment).nth(back));
        let runs: Vec<_> = runs.map(|run| self.resolved(run)).collect();
        if runs.is_empty() { Err(self.too_few(name, newest)) } else { Ok(runs) }
    }

    /// Why a name that fits other experiments does not fit this one.
    fn no_match_for(&self, name: &RunName, experiment: &str) -> UnknownRun {
        let typed = name.as_str();
        let on_branch = |runs: Result<ResolvedName, UnknownRun>| match runs {
            Ok(_) => UnknownRun::unknown_experiment(typed, experiment, &self.experiments()),
            Err(error) => error,
        };
        match (&name.meaning, self.commit(typed)) {
            (RunSelector::Lookup, Some(commit)) => self.none_of_commit(typed, commit, experiment),
            (RunSelector::Branch { branch, .. }, _) => {
                on_branch(self.of_branch(typed, Some(experiment), branch))
            }
            (RunSelector::Target { .. }, _) => on_branch(self.of_target(typed, Some(experiment))),
            _ => self.too_few(name, experiment),
        }
    }

    fn none_of_commit(&self, typed: &str, commit: String, experiment: &str) -> UnknownRun {
        let others: Vec<_> = self.of_commit(&commit).into_iter().map(|run| run.name.clone()).collect();
        let (typed, experiment) = (typed.to_owned(), experiment.to_owned());
        match others.is_empty() {
            true => UnknownRun::no_run_of_commit(typed, commit, &self.experiments()),
            false => UnknownRun::NoRunOfExperiment { typed, commit, experiment, others },
        }
    }

    /// Tries a file, an ID, an ID prefix, a git revision, then the name that a user gave to a run.
    fn lookup(&self, typed: &str) -> Result<ResolvedName, Error> {
        let is_path = typed.ends_with(".json") || typed.contains(std::path::is_separator);
        if self.takes_paths && is_path && Path::new(typed).is_file() {
            return Ok(ResolvedName::One(read_run_file(Path::new(typed))?));
        }
        let commit = self.commit(typed);
        match self.by_id(typed)? {
            Some(run) if run.id == typed => Ok(ResolvedName::One(run)),
            Some(run) => {
                match commit.filter(|commit| self.of_commit(commit).iter().any(|it| it.id != run.id)) {
                    Some(commit) => {
                        Err(UnknownRun::RunOrCommit { typed: typed.to_owned(), run: run.id, commit }.into())
                    }
                    None => Ok(ResolvedName::One(run)),
                }
            }
            None => self.by_revision(typed, commit).or_else(|error| self.by_name(typed).ok_or(error.into())),
        }
    }

    /// The latest run with a name, or that of each experiment; only of one for `experiment@name`.
    fn by_name(&self, typed: &str) -> Option<ResolvedName> {
        let runs = self.of_name(typed).into_iter().map(|run| self.resolved(run)).collect();
        ResolvedName::of(runs).or_else(|| {
            let split = typed.match_indices('@').map(|(at, _)| (&typed[..at], &typed[at + 1..]));
            let found = split.filter_map(|(experiment, name)| {
                let experiment = self.experiment(experiment)?;
                self.of_name(name).into_iter().find(|run| run.name == experiment)
            });
            found.map(|run| ResolvedName::One(self.resolved(run))).next()
        })
    }

    fn by_id(&self, typed: &str) -> Result<Option<ResolvedRun>, Error> {
        let complete = self.complete.iter().map(IdMatch::Whole);
        let partial = self.partial(typed).into_iter().map(|(id, path)| IdMatch::PartialFile { id, path });
        let elsewhere = self.other_partial.iter().map(IdMatch::Partial);
        let mut found: Vec<_> = complete
            .filter(|run| run.id().starts_with(typed))
            .chain(partial)
            .chain(elsewhere.filter(|run| run.id().starts_with(typed)))
            .collect();
        if let Some(exact) = found.iter().position(|run| run.id() == typed) {
            found = vec![found.swap_remove(exact)];
        }
        match &found[..] {
            [] => Ok(None),
            _ if typed.is_empty() => Ok(None),
            [IdMatch::Whole(run) | IdMatch::Partial(run)] => Ok(Some(self.resolved(run))),
            [IdMatch::PartialFile { path, .. }] => Ok(Some(read_run_file(path)?)),
            several => {
                Err(UnknownRun::ambiguous(typed, several.iter().map(IdMatch::describe).collect()).into())
            }
        }
    }

    /// The runs of a commit, only of one experiment for `experiment@revision`.
    fn by_revision(&self, typed: &str, commit: Option<String>) -> Result<ResolvedName, UnknownRun> {
        if let Some(commit) = commit {
            return self.of_revision(typed, commit);
        }
        let experiments = self.experiments();
        // Experiment names and revisions can both contain `@`.
        let split = typed.match_indices('@').map(|(at, _)| (&typed[..at], &typed[at + 1..]));
        for (experiment, revision) in split {
            let Some(commit) = self.commit(revision) else { continue };
            let Some(experiment) = self.experiment(experiment) else {
                return Err(UnknownRun::unknown_experiment(typed, experiment, &experiments));
            };
            let run = self.of_commit(&commit).into_iter().find(|run| run.name == experiment);
            return match run {
                Some(run) => Ok(ResolvedName::One(self.found_by(revision, run))),
                None => Err(self.none_of_commit(typed, commit, experiment)),
            };
        }
        let revision = typed.rsplit_once('@').map_or(typed, |(_, revision)| revision);
        let fetch = known::fetch_hint(&self.folder, revision);
        Err(UnknownRun::unknown(typed, &self.complete, &experiments, fetch))
    }

    fn of_revision(&self, typed: &str, commit: String) -> Result<ResolvedName, UnknownRun> {
        let runs = self.of_commit(&commit);
        let runs = runs.into_iter().map(|run| self.found_by(typed, run)).collect();
        let none = || UnknownRun::no_run_of_commit(typed.to_owned(), commit, &self.experiments());
        ResolvedName::of(runs).ok_or_else(none)
    }

    fn found_by(&self, revision: &str, run: &IndexedRun) -> ResolvedRun {
        let is_dirty = run.git_dirty == Some(true);
        let note =
            is_dirty.then(|| format!("run {} of `{revision}` was made with uncommitted changes", run.id));
        ResolvedRun { note, ..self.resolved(run) }
    }

    /// A run of the store.
    pub fn resolved(&self, run: &IndexedRun) -> ResolvedRun {
        let path = self.results.join(&run.file);
        ResolvedRun { id: run.id.clone(), experiment: run.name.clone(), path, note: None }
    }
}

/// A run whose ID begins as typed.
enum IdMatch<'a> {
    Whole(&'a IndexedRun),
    Partial(&'a IndexedRun),
    PartialFile { id: String, path: PathBuf },
}

impl IdMatch<'_> {
    fn id(&self) -> &str {
        match self {
            Self::Whole(run) | Self::Partial(run) => &run.id,
            Self::PartialFile { id, .. } => id,
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Whole(run) => describe_run(run),
            Self::Partial(_) | Self::PartialFile { .. } => format!("{} (partial)", self.id()),
        }
    }
}

impl ResolvedName {
    /// Runs of different experiments, latest first; `None` without any.
    pub fn of(mut runs: Vec<ResolvedRun>) -> Option<Self> {
        match runs.len() {
            0 => None,
            1 => Some(Self::One(runs.remove(0))),
            _ => Some(Self::PerExperiment(runs)),
        }
    }

    /// Whether one of the runs has this ID.
    pub fn has(&self, id: &str) -> bool {
        match self {
            Self::One(run) => run.id == id,
            Self::PerExperiment(runs) => runs.iter().any(|run| run.id == id),
        }
    }

    /// The run, or those of all experiments.
    pub fn runs(self) -> Vec<ResolvedRun> {
        match self {
            Self::One(run) => vec![run],
            Self::PerExperiment(runs) => runs,
        }
    }
}

/// The run in a result file or a baseline file; only the head is read.
fn read_run_file(path: &Path) -> Result<ResolvedRun, Error> {
    #[derive(Deserialize)]
    struct Head {
        id: String,
        name: String,
    }

    let unfit = |reason: String| Error::RunFile { path: path.to_owned(), reason };
    let bytes = fs::read(path).map_err(|error| unfit(error.to_string()))?;
    let head: Head = serde_json::from_slice(strip_bom(&bytes))
        .map_err(|error| unfit(format!("neither a result file nor a baseline file: {error}")))?;
    Ok(ResolvedRun { id: head.id, experiment: head.name, path: path.to_owned(), note: None })
}

/// Reads the report of a run with all its items. A baseline has no report.
pub fn report_of(run: &ResolvedRun, prices: &PriceTable) -> Result<Report, Error> {
    Ok(report_file_of(run, prices)?.into_report()?)
}

/// Opens the result file of a run. A baseline has no report.
pub fn report_file_of(run: &ResolvedRun, prices: &PriceTable) -> Result<ReportFile, Error> {
    match ReportFile::open(&run.path) {
        Ok(file) => Ok(file),
        Err(_) if read_measurements(&run.path, prices).is_ok() => {
            let reason = "it is a baseline, which contains only metrics; select the run itself".to_owned();
            Err(Error::RunFile { path: run.path.clone(), reason })
        }
        Err(error) => Err(error.into()),
    }
}
