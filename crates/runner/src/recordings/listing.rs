//! The list of recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use cobalt::command::config::Flags;
use cobalt_core::prices::Tokens;
use cobalt_core::recordings::{Cassette, RecordingError, RecordingFolder};
use cobalt_core::reporters::Style;
use cobalt_core::timestamp::Timestamp;
use cobalt_core::wording::{count, group_thousands};
use indicatif::BinaryBytes;
use serde::Serialize;

use super::age::format_age;
use super::experiments::{ExperimentRecordings, Use, blobs, foreign_folders, name, roots, unattributed};
use crate::cli::{Color, ListRecordings, Selection};
use crate::error::Error;
use crate::list::{Experiments, no_experiments, query};
use crate::terminal::{Align, eprint_wrapped, paint, print, print_json, relative_path, stdout_width};
use crate::text_table::{Column, render_table};

/// A recording.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Recording {
    /// Absent for requests that could not be attributed to an item.
    #[serde(skip_serializing_if = "Option::is_none")]
    experiment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<String>,
    file: String,
    #[serde(rename = "use")]
    usage: Use,
    /// When its oldest part was recorded.
    recorded_at: Option<Timestamp>,
    models: BTreeSet<String>,
    trials: usize,
    requests: usize,
    judge_answers: usize,
    tokens: Tokens,
    judge_tokens: Tokens,
    /// Size of the file and of the long texts that it refers to.
    bytes: u64,
    #[serde(skip)]
    blobs: BTreeMap<PathBuf, u64>,
}

pub fn list(arguments: &ListRecordings, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    let selected = query(&arguments.selection, &arguments.build, flags, color);
    let Experiments { rows, mut errors, built } = match selected {
        Err(unknown @ Error::NothingMatched(_)) if !arguments.selection.targets.is_empty() => {
            return list_items(arguments, flags, color, unknown);
        }
        selected => selected?,
    };
    let experiments = ExperimentRecordings::of(&rows);
    let recordings = read_all(&experiments, &mut errors);
    print_recordings(&recordings, arguments.json)?;
    if rows.is_empty() && errors.is_empty() {
        return Err(no_experiments(&arguments.selection, &built));
    }
    let is_complete = arguments.selection.is_everything() && arguments.build.test.is_empty();
    notes(&experiments, &recordings, is_complete).iter().for_each(|note| eprint_wrapped(note));
    if errors.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Multiple(errors)) }
}

/// Lists the recordings of items that are named as targets are; `unknown` is the error if there are none.
fn list_items(
    arguments: &ListRecordings,
    flags: &Flags,
    color: Color,
    unknown: Error,
) -> Result<ExitCode, Error> {
    let items = &arguments.selection.targets;
    let selection = Selection { targets: Vec::new(), ..arguments.selection.clone() };
    let Experiments { rows, mut errors, .. } = query(&selection, &arguments.build, flags, color)?;
    let mut recordings = read_all(&ExperimentRecordings::of(&rows), &mut errors);
    let is_of = |recording: &Recording, item: &String| recording.item.as_ref() == Some(item);
    if !items.iter().all(|item| recordings.iter().any(|recording| is_of(recording, item))) {
        return Err(unknown);
    }
    recordings.retain(|recording| items.iter().any(|item| is_of(recording, item)));
    print_recordings(&recordings, arguments.json)?;
    if errors.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Multiple(errors)) }
}

fn print_recordings(recordings: &[Recording], as_json: bool) -> Result<(), Error> {
    if as_json {
        print_json(&recordings).map_err(Error::Print)?;
    } else if !recordings.is_empty() {
        let table = table(recordings, SystemTime::now(), stdout_width(), paint(&io::stdout()));
        print(&format!("{table}{}\n", totals(recordings))).map_err(Error::Print)?;
    }
    Ok(())
}

/// The recordings of all experiments, then those of requests that could not be attributed.
fn read_all(experiments: &[ExperimentRecordings], errors: &mut Vec<String>) -> Vec<Recording> {
    let mut recordings = Vec::new();
    let mut add = |read: Result<Option<Recording>, RecordingError>| match read {
        Ok(recording) => recordings.extend(recording),
        Err(error) => errors.push(error.to_string()),
    };
    for experiment in experiments {
        match experiment.files() {
            Ok(files) => files.iter().for_each(|file| add(read(file, &experiment.folder, Some(experiment)))),
            Err(error) => add(Err(error)),
        }
    }
    for root in roots(experiments) {
        add(read(&unattributed(root), &RecordingFolder::new(root), None));
    }
    recordings
}

/// Reads a recording of an experiment, or of requests that could not be attributed.
fn read(
    file: &Path,
    folder: &RecordingFolder,
    experiment: Option<&ExperimentRecordings>,
) -> Result<Option<Recording>, RecordingError> {
    let Some(cassette) = RecordingFolder::read_file(file)? else { return Ok(None) };
    let bytes = file.metadata().map_or(0, |known| known.len());
    let usage = experiment.map_or(Use::Used, |experiment| experiment.use_of(&name(file), &cassette));
    let of = (experiment.map(|experiment| experiment.experiment.clone()), usage);
    Ok(Some(describe(&cassette, of, (relative_path(file), bytes), blobs(&cassette, folder))))
}

fn describe(
    cassette: &Cassette,
    (experiment, usage): (Option<String>, Use),
    (file, bytes): (String, u64),
    blobs: BTreeMap<PathBuf, u64>,
) -> Recording {
    let models = cassette.interactions().filter_map(|interaction| interaction.model.clone());
    Recording {
        item: experiment.as_ref().map(|_| cassette.item.clone()),
        experiment,
        file,
        usage,
        recorded_at: cassette.recorded_at(),
        models: models.chain(cassette.judge_answers().map(|answer| answer.model.clone())).collect(),
        trials: cassette.trials.len(),
        requests: cassette.interactions().count(),
        judge_answers: cassette.judge_answers().count(),
        tokens: sum(cassette.interactions().filter_map(|interaction| interaction.tokens)),
        judge_tokens: sum(cassette.judge_answers().map(|answer| answer.tokens)),
        bytes: bytes + blobs.values().sum::<u64>(),
        blobs,
    }
}

fn sum(all: impl Iterator<Item = Tokens>) -> Tokens {
    all.fold(Tokens::default(), |mut sum, one| {
        sum += one;
        sum
    })
}

fn format_total(tokens: Tokens) -> String {
    group_thousands(tokens.total())
}

fn table(recordings: &[Recording], now: SystemTime, width: Option<usize>, paint: Style) -> String {
    let column = |title: &str, align, cell: &dyn Fn(&Recording) -> String| {
        Column::new(title, align, recordings.iter().map(cell))
    };
    let mut columns = vec![
        column("experiment", Align::Left, &|it| {
            it.experiment.clone().unwrap_or_else(|| "(not attributed)".to_owned())
        }),
        column("item", Align::Left, &|it| it.item.clone().unwrap_or_default()),
        column("age", Align::Right, &|it| {
            it.recorded_at.map_or_else(|| "?".to_owned(), |at| format_age(at, now))
        }),
        column("models", Align::Left, &|it| it.models.iter().cloned().collect::<Vec<_>>().join(", ")),
        column("trials", Align::Right, &|it| it.trials.to_string()),
        column("requests", Align::Right, &|it| it.requests.to_string()),
        column("judge answers", Align::Right, &|it| it.judge_answers.to_string()),
        column("agent tokens", Align::Right, &|it| format_total(it.tokens)),
        column("size", Align::Right, &|it| BinaryBytes(it.bytes).to_string()),
    ];
    if recordings.iter().any(|recording| recording.usage != Use::Used) {
        let word = |it: &Recording| match it.usage {
            Use::Used => "",
            Use::Unused => "unused",
            Use::Unknown => "unknown",
        };
        columns.insert(2, column("use", Align::Left, &|it| word(it).to_owned()));
    }
    render_table(&columns, width, paint)
}

/// A line with the totals. A long text that several recordings refer to counts once.
fn totals(recordings: &[Recording]) -> String {
    let total = |number: &dyn Fn(&Recording) -> usize| recordings.iter().map(number).sum::<usize>();
    let blobs: BTreeMap<_, _> = recordings.iter().flat_map(|recording| &recording.blobs).collect();
    let files: u64 = recordings.iter().map(|it| it.bytes - it.blobs.values().sum::<u64>()).sum();
    let size = BinaryBytes(files + blobs.into_values().sum::<u64>());
    let experiments: BTreeSet<_> = recordings.iter().filter_map(|it| it.experiment.as_ref()).collect();
    format!(
        "total: {} of {}, {}, {}, {} agent tokens, {} judge tokens, {size}",
        count(recordings.len(), "recording"),
        count(experiments.len(), "experiment"),
        count(total(&|it| it.requests), "request"),
        count(total(&|it| it.judge_answers), "judge answer"),
        format_total(sum(recordings.iter().map(|it| it.tokens))),
        format_total(sum(recordings.iter().map(|it| it.judge_tokens))),
    )
}

/// What to do next. `is_complete`: whether all experiments were listed.
fn notes(experiments: &[ExperimentRecordings], recordings: &[Recording], is_complete: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if recordings.is_empty() {
        notes.push(
            "No recordings yet. To record, set `record = \"cassettes\"` in an experiment, or use `cargo cobalt run --record record`."
                .to_owned(),
        );
    }
    for experiment in experiments {
        if let Err(why) = &experiment.unused {
            notes
                .push(format!("cannot tell which recordings of `{}` are used: {why}", experiment.experiment));
        }
    }
    if is_complete {
        for folder in foreign_folders(experiments) {
            notes.push(format!("`{}` belongs to no listed experiment", relative_path(&folder)));
        }
    }
    if recordings.iter().any(|recording| recording.usage == Use::Unused) {
        notes.push("To delete unused recordings: `cargo cobalt recordings prune`".to_owned());
    }
    notes
}
