//! Finds the stored runs to score.

use std::fs;
use std::path::{Path, is_separator};

use cobalt_core::report::Report;
use cobalt_core::store::{InterruptedRun, Layout, StoredRun, read_report, runs};
use cobalt_core::wording::join_quoted;

use crate::config::{Config, ScoreSettings};
use crate::error::Error;

/// A stored run whose outputs are scored instead of running the agent.
#[derive(Debug)]
pub struct ScoredRun {
    pub report: Report,
    /// The evaluators to run; empty for all.
    pub evaluators: Vec<String>,
}

impl ScoredRun {
    /// The runs named by `COBALT_SCORE`. An unknown one is an error.
    pub fn find_all(config: &Config) -> Result<Vec<Self>, Error> {
        let ScoreSettings { runs: wanted, evaluators } = config.score();
        let mut found: Vec<Self> = Vec::with_capacity(wanted.len());
        for wanted in wanted {
            let report = find(wanted, config)?;
            if let Some(other) = found.iter().find(|other| other.report.name == report.name) {
                let reason = format!(
                    "run `{}` is of the same experiment, `{}`; score one at a time",
                    other.report.id, report.name
                );
                return Err(refused(&report.id, reason));
            }
            found.push(Self { report, evaluators: evaluators.clone() });
        }
        Ok(found)
    }

    /// The run whose outputs a run to resume scores, if it calls no agent.
    pub fn of_resumed(run: &InterruptedRun, layout: &Layout) -> Result<Option<Self>, Error> {
        let Some(rescored) = &run.rescored else { return Ok(None) };
        let source = rescored.source();
        let path = layout.result_of(source).ok_or_else(|| {
            let reason = format!(
                "it scores the outputs of run `{source}`, which is not in the results; import its result file"
            );
            refused(&run.id, reason)
        })?;
        Ok(Some(Self { report: read_report(&path)?, evaluators: rescored.evaluators.clone() }))
    }

    /// The experiment's name.
    pub fn experiment(&self) -> &str {
        &self.report.name
    }

    /// The run's ID.
    pub fn id(&self) -> &str {
        &self.report.id
    }
}

fn refused(run: &str, reason: impl Into<String>) -> Error {
    Error::Score { run: run.to_owned(), reason: reason.into() }
}

/// The run with an ID, with an ID that begins so, or in a file.
fn find(wanted: &str, config: &Config) -> Result<Report, Error> {
    if wanted.contains(is_separator) || Path::new(wanted).extension().is_some_and(|it| it == "json") {
        return Ok(read_report(&config.workspace_root().join(wanted))?);
    }
    let layout = config.layout();
    let all = runs(layout)?;
    if let Some(run) = all.iter().find(|run| run.id() == wanted) {
        return Ok(run.read()?);
    }
    let mut matching: Vec<_> = all.iter().filter(|run| run.id().starts_with(wanted)).collect();
    matching.sort_by_key(|run| run.id());
    matching.dedup_by_key(|run| run.id());
    match &matching[..] {
        [run] => Ok(run.read()?),
        [] => Err(refused(wanted, missing_reason(wanted, layout))),
        several => {
            let ids = join_quoted(several.iter().map(|run| StoredRun::id(run)));
            Err(refused(
                wanted,
                format!("several runs have an ID that begins with it: {ids}; give more digits"),
            ))
        }
    }
}

/// Why there is no such result.
fn missing_reason(wanted: &str, layout: &Layout) -> String {
    let journals = fs::read_dir(layout.journals()).into_iter().flatten().flatten();
    let mut names = journals.filter_map(|entry| entry.file_name().into_string().ok());
    match names.find(|name| name.starts_with(wanted)) {
        Some(name) => {
            let id = name.split('.').next().unwrap_or(&name).to_owned();
            format!("it is not finished; resume it first with `cargo cobalt run --resume {id}`")
        }
        None => "there is no such run here; `cargo cobalt history` lists runs".to_owned(),
    }
}
