//! `cargo cobalt baseline show`: lists the baselines and whether they are stale.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use cobalt::command::config::{Config, Flags};
use cobalt_core::report::comparison::{caveats, replay_note, stale_baseline_warning};
use cobalt_core::report::{DatasetSummary, GitState, Measurements, Timestamp};
use cobalt_core::reporters::Style;
use cobalt_core::store::read_measurements;
use cobalt_core::wording;
use serde::Serialize;

use super::source::json_files;
use crate::cli::{RunName, ShowBaselines};
use crate::config::settings;
use crate::error::Error;
use crate::runs::{KnownRuns, ResolvedRun, UnknownRun};
use crate::terminal::{
    Align, eprint_wrapped, one_line, paint, print, print_json, relative_path, table, wrap_for_stdout,
};

/// What to do about stale baselines.
const STALE_HINT: &str = "Stale baselines are still used. If the latest run is good enough, save it with `cargo cobalt baseline set`.";

pub fn show(arguments: &ShowBaselines, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let known = KnownRuns::open(settings.layout())?;
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for file in json_files(&settings.layout().baselines())? {
        match load_view(&file, &known, &settings) {
            Ok(baseline) => all.push(baseline),
            Err(error) => errors.push(format!("{error}; set it again with `cargo cobalt baseline set`")),
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    let is_meant =
        |name: &str| arguments.experiment.as_ref().is_none_or(|experiment| experiment.matches(name));
    let shown: Vec<_> = all.iter().filter(|baseline| is_meant(&baseline.name)).collect();
    if arguments.json {
        print_json(&shown).map_err(Error::Print)?;
    } else if !shown.is_empty() {
        print(&wrap_for_stdout(&lines(&shown, paint(&io::stdout())))).map_err(Error::Print)?;
    }
    if shown.iter().any(|baseline| baseline.state == BaselineState::Stale) {
        eprint_wrapped(STALE_HINT);
    }
    let without =
        known.experiments().into_iter().filter(|name| all.iter().all(|baseline| baseline.name != *name));
    let without: Vec<_> = without.filter(|name| is_meant(name)).collect();
    if errors.is_empty() {
        if let Some(note) = missing_note(shown.len(), all.len(), &without, &settings) {
            eprint_wrapped(&note);
        }
        Ok(ExitCode::SUCCESS)
    } else {
        Err(Error::Multiple(errors))
    }
}

fn load_view(file: &Path, known: &KnownRuns, settings: &Config) -> Result<BaselineView, Error> {
    let baseline = read_measurements(file, settings.prices())?;
    let newest = newest(known, &baseline.name)?;
    let newest = newest.map(|run| read_measurements(&run.path, settings.prices())).transpose()?;
    Ok(BaselineView::of(baseline, relative_path(file), newest.as_ref(), settings.baseline_max_age()))
}

/// The latest complete run of an experiment, if any.
fn newest(known: &KnownRuns, experiment: &str) -> Result<Option<ResolvedRun>, Error> {
    match known.find(&RunName::latest_of(experiment)) {
        Ok(named) => Ok(named.runs().into_iter().next()),
        Err(error) if error.downcast::<UnknownRun>().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Experiments without a baseline, or why the table is empty.
fn missing_note(shown: usize, all: usize, without: &[&str], settings: &Config) -> Option<String> {
    const SET: &str = "`cargo cobalt baseline set`";
    let folder = relative_path(&settings.layout().baselines());
    match (shown, all, without) {
        (0, 0, _) => Some(format!("No baselines in `{folder}` yet. Save the latest runs with {SET}.")),
        (0, all, []) => Some(format!("None of the {all} baselines in `{folder}` matches.")),
        (_, _, []) => None,
        (_, _, without) => Some(format!(
            "No baseline yet: {}. Set it with {SET}.",
            wording::join_quoted(without.iter().copied())
        )),
    }
}

/// A baseline, without its items.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BaselineView {
    pub name: String,
    /// The path of its file, relative to the current folder.
    pub file: String,
    /// The run ID.
    pub id: String,
    pub timestamp: Timestamp,
    pub git: Option<GitState>,
    pub dataset: Option<DatasetSummary>,
    pub items: usize,
    pub runs: usize,
    /// Whether model responses of the run were replayed: its latency and agent cost are those of the recording.
    pub replayed: bool,
    /// What that means for the runs that are compared with it.
    #[serde(skip)]
    pub replay_note: Option<String>,
    pub evaluators: Vec<EvaluatorMean>,
    /// The ID of the experiment's latest complete run.
    pub newest_run: Option<String>,
    pub state: BaselineState,
    /// The reasons why it is stale.
    pub notes: Vec<String>,
}

/// The mean score of an evaluator.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluatorMean {
    pub name: String,
    /// The mean over items of each item's mean over its trials; absent without scores.
    pub mean: Option<f64>,
}

/// The state of a baseline relative to the latest run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaselineState {
    /// It is the latest run.
    Newest,
    /// The latest run is comparable with it.
    Current,
    /// Something has changed since.
    Stale,
    /// There is no run to compare.
    NoRun,
}

impl BaselineState {
    pub fn label(self) -> &'static str {
        match self {
            Self::Newest => "latest run",
            Self::Current => "current",
            Self::Stale => "stale",
            Self::NoRun => "no run yet",
        }
    }
}

impl BaselineView {
    /// `newest` is the experiment's latest complete run, `max_age` the maximum age of a baseline.
    pub fn of(
        baseline: Measurements,
        file: String,
        newest: Option<&Measurements>,
        max_age: Duration,
    ) -> Self {
        let is_newest = newest.is_some_and(|newest| newest.id == baseline.id);
        // There is no newer run to save.
        let notes = if is_newest { Vec::new() } else { notes(&baseline, newest, max_age) };
        let state = match newest {
            _ if is_newest => BaselineState::Newest,
            _ if !notes.is_empty() => BaselineState::Stale,
            None => BaselineState::NoRun,
            Some(_) => BaselineState::Current,
        };
        Self {
            file,
            items: baseline.items.len(),
            evaluators: means(&baseline),
            replay_note: replay_note(&baseline),
            newest_run: newest.map(|newest| newest.id.clone()),
            state,
            notes,
            name: baseline.name,
            id: baseline.id,
            timestamp: baseline.timestamp,
            git: baseline.git,
            dataset: baseline.dataset,
            runs: baseline.runs,
            replayed: baseline.replayed,
        }
    }
}

fn notes(baseline: &Measurements, newest: Option<&Measurements>, max_age: Duration) -> Vec<String> {
    let changes = newest.into_iter().flat_map(|newest| caveats(baseline, newest));
    changes.chain(stale_baseline_warning(baseline, Timestamp::now(), max_age)).collect()
}

fn means(baseline: &Measurements) -> Vec<EvaluatorMean> {
    let mean_of =
        |scores: &[f64]| (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
    let mean = |name: &String| {
        let of_items = baseline.items.iter().filter_map(|item| mean_of(item.scores(name)?));
        EvaluatorMean { name: name.clone(), mean: mean_of(&of_items.collect::<Vec<_>>()) }
    };
    baseline.evaluators.iter().map(|evaluator| mean(&evaluator.name)).collect()
}

const TITLES: [(&str, Align); 7] = [
    ("experiment", Align::Left),
    ("run", Align::Left),
    ("start (UTC)", Align::Left),
    ("commit", Align::Left),
    ("items", Align::Right),
    ("state", Align::Left),
    ("scores", Align::Left),
];
/// Digits shown of a commit hash.
const COMMIT: usize = 7;

pub fn lines(baselines: &[&BaselineView], paint: Style) -> String {
    let mut text = table(TITLES, baselines.iter().map(|baseline| cells(baseline)), paint);
    for baseline in baselines {
        if let Some(note) = &baseline.replay_note {
            text += &format!("{}: {}\n", one_line(&baseline.name), one_line(note));
        }
        for note in &baseline.notes {
            text += &format!("{}: {}\n", paint.warning(one_line(&baseline.name)), one_line(note));
        }
    }
    text
}

fn cells(baseline: &BaselineView) -> [String; 7] {
    let commit = baseline.git.as_ref().map(|git| {
        let commit = git.commit.get(..COMMIT).unwrap_or(&git.commit);
        format!("{commit}{}", if git.dirty { "+" } else { "" })
    });
    let scores = baseline.evaluators.iter().map(|evaluator| match evaluator.mean {
        Some(mean) => format!("{} {mean:.3}", evaluator.name),
        None => format!("{} no score", evaluator.name),
    });
    [
        baseline.name.clone(),
        baseline.id.clone(),
        baseline.timestamp.to_minute(),
        commit.unwrap_or_default(),
        baseline.items.to_string(),
        baseline.state.label().to_owned(),
        scores.collect::<Vec<_>>().join(", "),
    ]
}
