//! What GitHub Actions understands: annotations beside the code, and the summary of the step.

mod annotations;
mod command;
mod guard;
mod progress;
mod summary;

use std::env;
use std::path::PathBuf;
use std::time::Instant;

use cobalt::config::{Config, Reporter as Chosen, ReporterKind};
use cobalt::reporters::{Event, printable};

use self::annotations::{Places, annotations};
use self::command::{Annotation, Level};
pub(crate) use self::command::{END_GROUP, group};
pub(crate) use self::guard::Guard;
use self::progress::Progress;
use crate::error::Error;
use crate::results::{Output, Reporter, Results, RunState};

/// Whether a run is shown for GitHub Actions: where that is asked for, and of itself in its jobs.
pub(crate) fn is_wanted(reporters: &[Chosen]) -> bool {
    env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true")
        || reporters.iter().any(|reporter| reporter.kind == ReporterKind::GithubActions)
}

/// Tells GitHub Actions, and people, of what ended a whole call. Who has stopped reading wants to hear no more.
pub(crate) fn tell(error: &Error) {
    if error.is_broken_pipe() {
        return;
    }
    let message = printable(&error.to_string()).into_owned();
    let line = format!("error: {message}");
    let annotation = Annotation { level: Level::Error, title: "cobalt".to_owned(), message, place: None };
    let guard = Guard::new(true);
    // Where nobody reads, nobody is told.
    let _ = guard.text(&line).and_then(|()| guard.command(&annotation.to_string()));
    if let Some(path) = path("GITHUB_STEP_SUMMARY") {
        let results = Results { errors: vec![error.to_string()], ..Results::default() };
        if let Err(source) = summary::append(&path, &results) {
            let _ = guard.text(&format!("error: {}", Error::ReportFile { path, source }));
        }
    }
}

/// The path in a variable, where there is one.
fn path(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Shows a run in a job of GitHub Actions.
#[derive(Debug)]
pub(super) struct GithubActions {
    places: Places,
    /// The file with the summary of the step.
    summary: Option<PathBuf>,
    progress: Progress,
}

impl GithubActions {
    pub(super) fn new(settings: &Config) -> Self {
        let places =
            Places { workspace: settings.workspace_root().to_owned(), repository: path("GITHUB_WORKSPACE") };
        Self { places, summary: path("GITHUB_STEP_SUMMARY"), progress: Progress::new() }
    }
}

impl Reporter for GithubActions {
    fn hear(&mut self, event: &Event, state: &RunState, output: &dyn Output) {
        if let Some(line) = self.progress.hear(event, state, Instant::now()) {
            output.tell(&line);
        }
    }

    fn finish(&mut self, results: &Results, output: &dyn Output) -> Result<(), Error> {
        for annotation in annotations(results, &self.places) {
            output.command(&annotation.to_string());
        }
        match &self.summary {
            Some(path) => summary::append(path, results)
                .map_err(|source| Error::ReportFile { path: path.clone(), source }),
            None => Ok(()),
        }
    }
}
