//! The configured reporters, including those that write a file at the end.

use std::path::{Path, PathBuf};
use std::{fs, io};

use cobalt::command::config::{Config, ReporterKind};
use cobalt_core::reporters::Event;

use super::github::{self, GithubActions};
use crate::atomic_file::write;
use crate::error::Error;
use crate::extensions::{Renderer, extensions};
use crate::formats::{junit, markdown, pr_comment};
use crate::results::{Output, Reporter, Results, RunState};
use crate::webhooks::Webhooks;

/// All reporters except the terminal output.
pub struct Reporters(Vec<Box<dyn Reporter>>);

impl Reporters {
    /// The configured reporters. Removes their files of earlier runs, so a run that ends early leaves no outdated files.
    pub fn of(settings: &Config) -> Result<Self, Error> {
        let mut all: Vec<Box<dyn Reporter>> = Vec::new();
        for reporter in settings.reporters() {
            if let (Some(render), Some(path)) = (renderer(reporter.kind)?, &reporter.path) {
                remove_earlier(path)?;
                all.push(Box::new(FileReporter { path: path.clone(), render }));
            }
        }
        if github::is_enabled(settings.reporters()) {
            all.push(Box::new(GithubActions::new(settings)));
        }
        Ok(Self(all))
    }

    /// The same plus `otlp` and webhooks, which send the results; last, as they take longest.
    pub fn with_senders(settings: &Config) -> Result<Self, Error> {
        let mut all = Self::of(settings)?;
        if settings.reporters().iter().any(|reporter| reporter.kind == ReporterKind::Otlp) {
            all.0.push((extensions()?.otlp)(settings)?);
        }
        all.0.push(Box::new(Webhooks(settings.webhooks().to_vec())));
        Ok(all)
    }

    pub fn on_event(&mut self, event: &Event, state: &RunState, output: &dyn Output) {
        self.0.iter_mut().for_each(|reporter| reporter.on_event(event, state, output));
    }

    /// Passes the results to all reporters, even if one fails; returns the first error.
    pub fn finish(&mut self, results: &Results, output: &dyn Output) -> Result<(), Error> {
        let finished: Vec<_> = self.0.iter_mut().map(|reporter| reporter.finish(results, output)).collect();
        finished.into_iter().collect()
    }
}

/// The renderer of a file reporter; `None` for other kinds.
fn renderer(kind: ReporterKind) -> Result<Option<Renderer>, Error> {
    Ok(match kind {
        ReporterKind::Junit => Some(junit),
        ReporterKind::Markdown => Some(markdown::markdown),
        ReporterKind::PrComment => Some(pr_comment),
        ReporterKind::Html => Some(extensions()?.html),
        _ => None,
    })
}

/// Removes the file of an earlier run. Links, pipes and devices are kept and written to.
fn remove_earlier(path: &Path) -> Result<(), Error> {
    let is_special = fs::symlink_metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
    if is_special {
        return Ok(());
    }
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::ReportFile { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// Writes the rendered results to a file.
struct FileReporter {
    path: PathBuf,
    render: Renderer,
}

impl Reporter for FileReporter {
    fn finish(&mut self, results: &Results, output: &dyn Output) -> Result<(), Error> {
        let text = (self.render)(results);
        write(&self.path, &text).map_err(|source| Error::ReportFile { path: self.path.clone(), source })?;
        output.wrote(&self.path);
        Ok(())
    }
}
