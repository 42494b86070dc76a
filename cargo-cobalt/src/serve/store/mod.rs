//! What there is to be shown: the runs of the project, out of its index and its result files.

mod compare;
mod overview;
mod rows;
mod runs;
mod trends;

use std::path::PathBuf;

use cobalt::Report;
use cobalt::config::Config;
use cobalt::store::{Layout, read_report};

use super::api::{ApiError, ExportFormat, ExportQuery};
use super::project;
use crate::error::Error;
use crate::formats::{csv, html, junit, markdown};
use crate::index::{Filter, Index, Run, Skipped};
use crate::reporters::{Finished, Results};

/// The runs of a project.
#[derive(Debug)]
pub(super) struct Store {
    settings: Config,
}

impl Store {
    pub(super) fn open(settings: &Config) -> Result<Self, Error> {
        Ok(Self { settings: settings.clone() })
    }

    /// The name of the project's folder.
    pub(super) fn project_name(&self) -> String {
        project::name(&self.settings)
    }

    /// A hash of where the project lies.
    pub(super) fn project_hash(&self) -> String {
        project::hash(&self.settings)
    }

    /// A run in another format.
    pub(super) fn export(&self, query: &ExportQuery) -> Result<String, ApiError> {
        let report = self.report(&query.run)?;
        let results = Results::of(vec![Finished { report, path: None, without_items: None }]);
        Ok(match query.format {
            ExportFormat::Csv => csv(&results, self.settings.prices()),
            ExportFormat::Html => html(&results),
            ExportFormat::Json => results.experiments[0].report.to_json().map_err(Error::from)?,
            ExportFormat::Junit => junit(&results),
            ExportFormat::Markdown => markdown::markdown(&results),
        })
    }

    fn layout(&self) -> &Layout {
        self.settings.layout()
    }

    /// The whole runs, the newest first, and what could not be read.
    fn known(&self) -> Result<(Vec<Run>, Vec<Skipped>), ApiError> {
        let (found, skipped) = Index::open(self.layout())?.runs(&Filter::ALL)?;
        Ok((found.runs, skipped))
    }

    fn path(&self, id: &str) -> Result<PathBuf, ApiError> {
        let (runs, _) = self.known()?;
        let run = runs.iter().find(|run| run.id == id);
        let run = run.ok_or_else(|| ApiError::not_found(format!("there is no run `{id}`")))?;
        Ok(self.layout().results().join(&run.file))
    }

    /// A run with all of its items.
    pub(super) fn report(&self, id: &str) -> Result<Report, ApiError> {
        Ok(read_report(&self.path(id)?).map_err(Error::from)?)
    }
}
