//! What a run is held against: the kept run of the same experiment, found before anything runs.

use std::io;
use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::error::Error;
use crate::prices::PriceTable;
use crate::report::Measurements;
use crate::store::{StoreError, experiment_of, read_measurements};
use crate::suggest;

/// What to do where there is no baseline.
const SET_ONE: &str = "keep a run that is good enough with `cargo cobalt baseline set`";

/// What is said of a baseline that is a run that failed.
pub(super) const FAILED: &str = "the baseline is a run that failed: a run as bad as that counts as no worse; keep one that \
                                 passed with `cargo cobalt baseline set`";

/// A run to be held against.
#[derive(Debug)]
pub(crate) enum Baseline {
    Found(Box<Measurements>),
    /// There is none, for a reason that says what to do.
    Absent(String),
    /// The runs that were named are of other experiments.
    OfOthers(String),
}

impl Baseline {
    /// Of a run of some items, which is held against nothing.
    pub(super) fn of_some_items() -> Self {
        Self::Absent("only some of the items are run".to_owned())
    }

    /// What is to be said of it before anything runs. Of a run without thresholds against a baseline, `is_needed` is false.
    pub(super) fn warning(&self, is_needed: bool) -> Option<String> {
        match self {
            Self::Found(run) if run.failed => Some(format!("{FAILED} (run {})", run.id)),
            Self::OfOthers(reason) if is_needed => {
                Some(format!("its thresholds against a baseline are not evaluated: {reason}"))
            }
            _ => None,
        }
    }

    /// That of the experiment of this name. A file that is there and cannot be read is an error.
    pub(crate) fn find(experiment: &str, config: &Config) -> Result<Self, Error> {
        let path = match config.baseline_files() {
            Some(files) => match among(files, experiment)? {
                Ok(path) => path,
                Err(without) => return Ok(without),
            },
            None => return Self::kept(experiment, config),
        };
        Self::read(&path, experiment, config.prices())
    }

    /// That which `cargo cobalt baseline set` has kept.
    fn kept(experiment: &str, config: &Config) -> Result<Self, Error> {
        let path = config.layout().baseline(experiment);
        if !path.exists() {
            return Ok(Self::Absent(format!("`{experiment}` has no baseline yet; {SET_ONE}")));
        }
        Self::read(&path, experiment, config.prices()).map_err(|error| match error {
            Error::Store(StoreError::Storage { action, path, source }) => {
                let reason = format!("{source}; update it with `cargo cobalt baseline set`");
                StoreError::Storage { action, path, source: io::Error::new(source.kind(), reason) }.into()
            }
            error => error,
        })
    }

    fn read(path: &Path, experiment: &str, prices: &PriceTable) -> Result<Self, Error> {
        let run = read_measurements(path, prices)?;
        let shown = path.display();
        if run.name != experiment {
            return Ok(Self::OfOthers(format!("`{shown}` is the baseline of `{}`; {SET_ONE}", run.name)));
        }
        if run.partial {
            return Ok(Self::Absent(format!(
                "run `{}` in `{shown}` is partial, which is no measure of the agent; {SET_ONE}",
                run.id
            )));
        }
        Ok(Self::Found(Box::new(run)))
    }
}

/// The file of the experiment among those that were named, or the baseline that applies where none of them is the experiment's.
fn among(named: &[PathBuf], experiment: &str) -> Result<Result<PathBuf, Baseline>, Error> {
    let mut others = Vec::new();
    for path in named {
        for file in files(path)? {
            let name = experiment_of(&file)?;
            if name == experiment {
                return Ok(Ok(file));
            }
            others.push(name);
        }
    }
    if others.is_empty() {
        let reason = format!("there is no baseline where one is looked for; {SET_ONE}");
        return Ok(Err(Baseline::Absent(reason)));
    }
    let others = suggest::list(others.iter().map(String::as_str));
    let reason = format!("the baseline runs are of {others}, and none is of `{experiment}`");
    Ok(Err(Baseline::OfOthers(reason)))
}

/// The files that a path stands for: itself, or those of the folder that it is.
fn files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unread = |source| StoreError::Storage { action: "list", path: path.to_owned(), source };
    let entries: Vec<_> = path.read_dir().and_then(Iterator::collect).map_err(unread)?;
    let mut files: Vec<_> = entries.iter().map(std::fs::DirEntry::path).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Ok(files)
}
