//! The reporters that the settings ask for, those that write a file when all is over among them.

use std::path::{Path, PathBuf};
use std::{fs, io};

use cobalt::command::config::{Config, ReporterKind};
use cobalt_core::reporters::Event;

use super::github::{self, GithubActions};
use crate::error::Error;
use crate::formats::{html, junit, markdown, pr_comment};
use crate::results::{Output, Reporter, Results, RunState};
use crate::webhooks::Webhooks;
use crate::written::write;

/// All that show a run, but for the screen.
pub struct Reporters(Vec<Box<dyn Reporter>>);

impl Reporters {
    /// Those that the settings ask for. Files of an earlier run are removed, so that none stands for a run that ends early.
    pub fn of(settings: &Config) -> Result<Self, Error> {
        let mut all: Vec<Box<dyn Reporter>> = Vec::new();
        for reporter in settings.reporters() {
            if let (Some(render), Some(path)) = (rendering(reporter.kind), &reporter.path) {
                remove_earlier(path)?;
                all.push(Box::new(FileReporter { path: path.clone(), render }));
            }
        }
        if github::is_wanted(settings.reporters()) {
            all.push(Box::new(GithubActions::new(settings)));
        }
        Ok(Self(all))
    }

    /// The same, and webhooks. They come last, as they take the longest.
    pub fn with_webhooks(settings: &Config) -> Result<Self, Error> {
        let mut all = Self::of(settings)?;
        all.0.push(Box::new(Webhooks(settings.webhooks().to_vec())));
        Ok(all)
    }

    pub fn on_event(&mut self, event: &Event, state: &RunState, output: &dyn Output) {
        self.0.iter_mut().for_each(|reporter| reporter.on_event(event, state, output));
    }

    /// Lets all show what the run came to, also where one of them fails; of several errors the first is returned.
    pub fn finish(&mut self, results: &Results, output: &dyn Output) -> Result<(), Error> {
        let finished: Vec<_> = self.0.iter_mut().map(|reporter| reporter.finish(results, output)).collect();
        finished.into_iter().collect()
    }
}

/// What is written into the file of a reporter of this kind, where it has one.
fn rendering(kind: ReporterKind) -> Option<fn(&Results) -> String> {
    match kind {
        ReporterKind::Junit => Some(junit),
        ReporterKind::Markdown => Some(markdown::markdown),
        ReporterKind::PrComment => Some(pr_comment),
        ReporterKind::Html => Some(html),
        _ => None,
    }
}

/// Removes the file of an earlier run. A link, a pipe or a device is written to, and stays.
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

/// Writes what a run came to into a file, as a function renders it.
struct FileReporter {
    path: PathBuf,
    render: fn(&Results) -> String,
}

impl Reporter for FileReporter {
    fn finish(&mut self, results: &Results, output: &dyn Output) -> Result<(), Error> {
        let text = (self.render)(results);
        write(&self.path, &text).map_err(|source| Error::ReportFile { path: self.path.clone(), source })?;
        output.wrote(&self.path);
        Ok(())
    }
}
