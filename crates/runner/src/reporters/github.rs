//! GitHub Actions reporter: annotations, the step summary, and progress as plain lines, as a log cannot redraw a bar.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cobalt::command::config::{Config, Reporter as Chosen, ReporterKind};
use cobalt_core::reporters::{Event, ExperimentStarted, escape_control, format_duration};
use cobalt_core::wording::group_thousands;

use super::annotations::{SourceRoots, annotations};
use super::workflow_commands::{Annotation, CommandGuard, Level};
use crate::error::Error;
use crate::formats::fit_sections;
use crate::formats::markdown::sections;
use crate::results::{ExperimentProgress, Output, Reporter, Results, RunState};

/// Minimum interval between progress lines.
const MIN_INTERVAL: Duration = Duration::from_secs(5);
/// Maximum number of items per experiment in the summary.
const MOST_ITEMS: usize = 20;
/// GitHub's size limit of a summary, in bytes.
const MAX_SUMMARY_BYTES: u64 = 1024 * 1024;
/// Appended to a truncated summary.
const TRUNCATION_NOTE: &str = "\n> Truncated: GitHub limits the size of summaries. The reporters `markdown` and `html` write the full report.\n";

/// Whether the GitHub Actions reporter is on: automatically in GitHub Actions, or if configured.
pub fn is_enabled(reporters: &[Chosen]) -> bool {
    env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true")
        || reporters.iter().any(|reporter| reporter.kind == ReporterKind::GithubActions)
}

/// Reports an error that ended the invocation, except for a broken pipe.
pub fn report_error(error: &Error) {
    if error.is_broken_pipe() {
        return;
    }
    let message = escape_control(&error.to_string()).into_owned();
    let line = format!("error: {message}");
    let annotation = Annotation { level: Level::Error, title: "cobalt".to_owned(), message, place: None };
    let guard = CommandGuard::new(true);
    // Ignore a closed output.
    let _ = guard.text(&line).and_then(|()| guard.command(&annotation.to_string()));
    if let Some(path) = path("GITHUB_STEP_SUMMARY") {
        let results = Results { errors: vec![error.to_string()], ..Results::default() };
        if let Err(source) = append_summary(&path, &results) {
            let _ = guard.text(&format!("error: {}", Error::ReportFile { path, source }));
        }
    }
}

/// The path in an environment variable, if set.
fn path(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Reports a run in GitHub Actions.
#[derive(Debug)]
pub struct GithubActions {
    places: SourceRoots,
    /// The file of the step summary.
    summary: Option<PathBuf>,
    progress: Progress,
}

impl GithubActions {
    pub fn new(settings: &Config) -> Self {
        let places = SourceRoots {
            workspace: settings.workspace_root().to_owned(),
            repository: path("GITHUB_WORKSPACE"),
        };
        Self { places, summary: path("GITHUB_STEP_SUMMARY"), progress: Progress::new() }
    }
}

impl Reporter for GithubActions {
    fn on_event(&mut self, event: &Event, state: &RunState, output: &dyn Output) {
        if let Some(line) = self.progress.on_event(event, state, Instant::now()) {
            output.eprintln(&line);
        }
    }

    fn finish(&mut self, results: &Results, output: &dyn Output) -> Result<(), Error> {
        for annotation in annotations(results, &self.places) {
            output.command(&annotation.to_string());
        }
        match &self.summary {
            Some(path) => append_summary(path, results)
                .map_err(|source| Error::ReportFile { path: path.clone(), source }),
            None => Ok(()),
        }
    }
}

/// The reported progress of the current binary's experiments.
#[derive(Debug)]
struct Progress {
    running: BTreeMap<usize, ReportedProgress>,
    last_line: Instant,
}

#[derive(Debug)]
struct ReportedProgress {
    started: Instant,
    /// Tenths already reported.
    tenths: usize,
}

impl Progress {
    fn new() -> Self {
        Self { running: BTreeMap::new(), last_line: Instant::now() }
    }

    /// Handles an event that is already in the state. Returns a line if another tenth of an experiment is done and the last line
    /// is old enough.
    fn on_event(&mut self, event: &Event, state: &RunState, now: Instant) -> Option<String> {
        match event {
            Event::ExperimentStarted(started) => {
                self.running.insert(started.experiment, ReportedProgress { started: now, tenths: 0 });
                // The preceding build can take long.
                self.last_line = now;
            }
            Event::ItemFinished(item) => {
                let experiment = state.experiment(item.experiment)?;
                let told = self.running.get_mut(&item.experiment)?;
                let tenths = experiment.done * 10 / experiment.started.items.max(1);
                if tenths > told.tenths && tenths < 10 && now.duration_since(self.last_line) >= MIN_INTERVAL {
                    (told.tenths, self.last_line) = (tenths, now);
                    return Some(progress_line(experiment, now.duration_since(told.started)));
                }
            }
            _ => {}
        }
        None
    }
}

/// The progress line of an experiment.
fn progress_line(experiment: &ExperimentProgress, after: Duration) -> String {
    let ExperimentProgress { started: ExperimentStarted { name, items, .. }, done, failed, .. } = experiment;
    let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
    format!(
        "{}: {} of {} items ({}%){failed}, after {}",
        escape_control(name),
        group_thousands(*done as u64),
        group_thousands(*items as u64),
        done * 100 / items.max(&1),
        format_duration(after.as_secs_f64() * 1000.0)
    )
}

/// Appends the results to the step summary.
fn append_summary(path: &Path, results: &Results) -> io::Result<()> {
    let written = fs::metadata(path).map_or(0, |file| file.len());
    let room = usize::try_from(MAX_SUMMARY_BYTES.saturating_sub(written)).unwrap_or(usize::MAX);
    let text = fit_sections(&sections(results, MOST_ITEMS), room, TRUNCATION_NOTE);
    OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(event: serde_json::Value) -> Event {
        serde_json::from_value(event).unwrap()
    }

    /// An invocation with progress lines.
    struct Call {
        state: RunState,
        progress: Progress,
    }

    impl Call {
        fn new() -> Self {
            Self { state: RunState::default(), progress: Progress::new() }
        }

        fn hear(&mut self, told: serde_json::Value, now: Instant) -> Option<String> {
            let event = event(told);
            self.state.apply(&event);
            self.progress.on_event(&event, &self.state, now)
        }
    }

    /// The lines for 100 items that take `each` milliseconds.
    fn lines(each: u64) -> Vec<String> {
        let mut call = Call::new();
        let start = call.progress.last_line;
        let started = json!({
            "event": "experiment-started", "experiment": 0, "id": "a", "name": "desk", "tags": [], "items": 100, "done": 0,
            "runs": 1, "evaluators": [], "concurrency": 1, "timeoutMs": 1, "partial": false,
        });
        call.hear(started, start);
        let finished = |index: u64| {
            let item = json!({
                "event": "item-finished", "experiment": 0, "index": index, "item": "a", "status": "ok",
                "passed": index > 0, "latencyMs": 1.0, "scores": {},
            });
            call.hear(item, start + Duration::from_millis(each * (index + 1)))
        };
        (0..100).filter_map(finished).collect()
    }

    #[test]
    fn a_slow_run_tells_of_each_tenth() {
        let lines = lines(1000);
        assert_eq!(lines.len(), 9);
        assert_eq!(lines[0], "desk: 10 of 100 items (10%), 1 failed, after 10.0 s");
    }

    #[test]
    fn the_time_before_a_run_counts_for_nothing_and_a_share_is_told_as_it_is() {
        let mut call = Call::new();
        let start = call.progress.last_line + Duration::from_secs(60);
        let started = json!({
            "event": "experiment-started", "experiment": 0, "id": "a", "name": "desk", "tags": [], "items": 4, "done": 0,
            "runs": 1, "evaluators": [], "concurrency": 1, "timeoutMs": 1, "partial": false,
        });
        call.hear(started, start);
        let mut finished = |index: u64, seconds: u64| {
            let item = json!({
                "event": "item-finished", "experiment": 0, "index": index, "item": "a", "status": "ok",
                "passed": true, "latencyMs": 1.0, "scores": {},
            });
            call.hear(item, start + Duration::from_secs(seconds))
        };
        assert_eq!(finished(0, 1), None);
        assert_eq!(finished(1, 9).as_deref(), Some("desk: 2 of 4 items (50%), after 9.0 s"));
        assert_eq!(finished(2, 15).as_deref(), Some("desk: 3 of 4 items (75%), after 15.0 s"));
    }

    #[test]
    fn a_quick_run_tells_little() {
        assert_eq!(lines(100), ["desk: 50 of 100 items (50%), 1 failed, after 5.0 s"]);
        assert_eq!(lines(1), [""; 0]);
    }
}
