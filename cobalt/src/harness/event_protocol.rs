//! A test binary run by `cargo cobalt`: the requests it receives and the events it sends.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cobalt_core::item::Item;
use cobalt_core::pattern::Pattern;
use cobalt_core::redact::redacted;
use cobalt_core::report::SourceLocation;
use cobalt_core::reporters::{
    Event, EventWriter, ExperimentStarted, Listed, ListedVariant, PROTOCOL, Warning,
};
use serde::{Deserialize, Serialize};

use super::args::{Args, ExperimentFilter};
use super::cases::DeclaredExperiment;
use super::event_emitter::{EventEmitter, ExitState, shut_down};
use super::exit_code::SETUP_ERROR;
use super::exit_guard::{self, ProcessResources, runtime_handle, signal_error};
use super::experiment_and_id;
use super::schedule::{CaseSource, Schedule, missing};
use super::warnings::ItemExplainer;
use crate::config::{Config, REQUEST as VARIABLE};
use crate::experiment::ResolvedDefinition;
use crate::private::ExperimentDefinition;
use crate::recording::RecordMode;
use crate::session::{Run, Session};

/// The maximum number of dataset fields to list.
const MAX_FIELDS: usize = 50;

/// Answers a request on an opened stream, and returns the exit code.
pub fn respond(
    request: &Request,
    definitions: &[&'static ExperimentDefinition],
    args: &Args,
    config: Config,
    warnings: Vec<Warning>,
    mut stream: EventWriter,
) -> Result<i32, String> {
    let filter = request.filter();
    match request.wanted {
        RequestKind::Run => {
            let run = RunRequest { filter: &filter, traces: request.traces };
            return schedule_and_run(definitions, run, args, config, warnings, stream);
        }
        RequestKind::List => {
            let declared =
                definitions.iter().flat_map(|definition| DeclaredExperiment::all(definition, &config));
            declared.for_each(|declared| list_experiment(declared, &filter, args, &config, &mut stream));
        }
        RequestKind::Names => {
            let declared =
                definitions.iter().flat_map(|definition| DeclaredExperiment::all(definition, &config));
            for declared in declared.filter(|declared| declared.is_selected_by(&filter)) {
                stream.send(&Event::Listed(Box::new(describe_declared(&declared))));
            }
        }
        RequestKind::MissingKeys => {
            for key in missing(definitions, &filter, args, &config) {
                stream.send(&Event::KeyMissing(key));
            }
        }
    }
    stream.flush();
    Ok(0)
}

/// What a run is requested for.
#[derive(Clone, Copy)]
struct RunRequest<'a> {
    filter: &'a ExperimentFilter<'a>,
    /// Whether the events of items have their traces.
    traces: bool,
}

fn schedule_and_run(
    definitions: &[&'static ExperimentDefinition],
    asked: RunRequest<'_>,
    args: &Args,
    config: Config,
    warnings: Vec<Warning>,
    mut stream: EventWriter,
) -> Result<i32, String> {
    let mut schedule = Schedule::with_warnings(warnings);
    match schedule.add_all_cases(definitions, asked.filter, args, &config) {
        Ok(()) => run(schedule, asked.traces, args, config, stream),
        Err(error) => {
            schedule.warnings.into_iter().for_each(|warning| stream.send(&Event::Warning(warning)));
            // Each line is an error; other binaries may report the same ones.
            let text = error.to_string();
            text.lines().for_each(|error| stream.send(&Event::Failed { error: error.to_owned() }));
            stream.flush();
            Ok(SETUP_ERROR)
        }
    }
}

/// Tells the command that this process prints its own output, as its arguments request.
pub fn announce_test_output(mut stream: EventWriter, experiments: usize) {
    stream.send(&Event::TestOutput { experiments });
    stream.flush();
}

/// Sends the exit code, which counts even if the process then ends with another one.
pub fn send_exit_code(mut stream: EventWriter, exit_code: i32) {
    stream.send(&Event::Ended { exit_code });
    stream.flush();
}

/// Opens the event stream and sends `hello`. The second stream has the same target and is for the last event.
pub fn open_stream(request: &Request) -> Result<(EventWriter, EventWriter), String> {
    let path = &request.events;
    let opened = EventWriter::open(path).and_then(|stream| Ok((stream.try_clone()?, stream)));
    let (last, mut stream) =
        opened.map_err(|error| format!("failed to open `{}` for events: {error}", path.display()))?;
    stream
        .send(&Event::Hello { protocol: PROTOCOL.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() });
    stream.flush();
    Ok((stream, last))
}

fn list_experiment(
    declared: DeclaredExperiment,
    filter: &ExperimentFilter<'_>,
    args: &Args,
    config: &Config,
    stream: &mut EventWriter,
) {
    if !declared.is_selected_by(filter) {
        return;
    }
    let mut listed = describe_declared(&declared);
    let set = declared.declaration().and_then(|declaration| declaration.recordings.as_ref());
    let recordings = config.recordings().resolve(&listed.name, set);
    if listed.ignored_without.is_some() {
        if args.selects_ignored(&declared.case_name()) {
            listed.recordings = recordings.list(None);
            stream.send(&Event::Listed(Box::new(listed)));
        }
        return;
    }
    listed.record_mode = (recordings.mode != RecordMode::Off).then(|| recordings.mode.to_string());
    listed.renews_recordings = recordings.mode.replays() && recordings.stale_after.is_some();
    let suite = declared.load(config);
    if suite.selected_cases(args).is_empty() {
        return;
    }
    match suite.plan {
        Ok(plan) => {
            let definition = plan.definition();
            listed.dataset = Some(plan.dataset().source().to_owned());
            listed.items = Some(plan.dataset().len());
            listed.fetched = plan.dataset().fetch().cloned();
            listed.hash = listed.fetched.is_some().then(|| plan.dataset().hash());
            let first = plan.dataset().get(0);
            let fields = |item: Arc<Item>| item.keys().take(MAX_FIELDS).cloned().collect();
            listed.fields = first.map(fields).unwrap_or_default();
            let keys = plan.dataset().item_keys();
            listed.renews_recordings |= recordings.would_record(&keys);
            listed.recordings = recordings.list(Some(&keys));
            listed.runs = definition.runs;
            listed.evaluators = evaluator_names(definition);
            listed.thresholds = definition.thresholds.iter().map(crate::Threshold::case_name).collect();
        }
        Err(broken) => {
            listed.error = Some(redacted(&broken.error.to_string()).into_owned());
            listed.recordings = recordings.list(None);
        }
    }
    stream.send(&Event::Listed(Box::new(listed)));
}

/// The description of an experiment whose data was not read.
fn describe_declared(declared: &DeclaredExperiment) -> Listed {
    let SourceLocation { file, line } = declared.place();
    Listed {
        name: declared.name(),
        variant: declared.variant().map(|variant| ListedVariant {
            experiment: variant.experiment.clone(),
            name: variant.name.clone(),
        }),
        tags: declared.tags().to_vec(),
        ignored_without: declared.ignored_without(),
        dataset: None,
        items: None,
        fetched: None,
        hash: None,
        fields: Vec::new(),
        runs: 0,
        evaluators: Vec::new(),
        thresholds: Vec::new(),
        recordings: None,
        record_mode: None,
        renews_recordings: false,
        file,
        line,
        error: None,
    }
}

fn evaluator_names(definition: &ResolvedDefinition) -> Vec<String> {
    definition.evaluators.iter().map(|evaluator| evaluator.name().to_owned()).collect()
}

fn run(
    schedule: Schedule,
    traces: bool,
    args: &Args,
    config: Config,
    mut stream: EventWriter,
) -> Result<i32, String> {
    let ProcessResources { runtime, signals } = ProcessResources::start(&schedule.runs)?;
    let told = Arc::new(ExitState::default());
    for case in schedule.cases_without_run() {
        match &case.source {
            _ if !case.is_selected(args) => {}
            CaseSource::Failure { experiment, declared_at, why, .. } => {
                stream.send(&Event::ExperimentBroken {
                    name: experiment.clone(),
                    error: why.to_string(),
                    declared_at: Some(declared_at.clone()),
                });
                told.setup_error.store(true, Ordering::SeqCst);
            }
            CaseSource::Ignored { experiment, variable } => {
                let (name, variable) = (experiment.clone(), variable.clone());
                stream.send(&Event::ExperimentIgnored { name, variable });
            }
            _ => {}
        }
    }
    for warning in &schedule.warnings {
        stream.send(&Event::Warning(warning.clone()));
    }
    let unknown = schedule.unknown.iter().map(|(id, error)| (id.clone(), error.to_string()));
    for (id, error) in schedule.not_resumed.iter().cloned().chain(unknown) {
        stream.send(&Event::NotResumed { id, error });
    }
    for (name, why) in &schedule.skipped {
        stream.send(&Event::ExperimentSkipped { name: name.clone(), why: why.clone() });
    }
    for (name, why) in &schedule.still_failed {
        stream.send(&Event::ExperimentStillFailed { name: name.clone(), why: why.clone() });
        told.still_failed.store(true, Ordering::SeqCst);
    }
    for (experiment, run) in schedule.runs.iter().enumerate() {
        stream.send(&Event::ExperimentStarted(experiment_started(experiment, run)));
    }
    stream.flush();
    let experiments = schedule.runs.iter().map(ItemExplainer::for_run).collect();
    exit_guard::register_runs(schedule.runs.iter().map(experiment_and_id));
    let narrator = EventEmitter::new(stream, experiments, traces, Arc::clone(&told));
    let session = Session::start(schedule.runs, config, narrator, &runtime_handle(&runtime));
    let interrupter = session.interrupter();
    if args.fail_fast {
        told.stop_after_failure(interrupter.clone());
    }
    let heard = Arc::clone(&told);
    let stop = move || {
        heard.interrupted.store(true, Ordering::SeqCst);
        interrupter.interrupt();
    };
    signals.on_signal(stop).map_err(signal_error)?;
    session.wait();
    shut_down(&runtime);
    Ok(told.exit_code())
}

fn experiment_started(experiment: usize, run: &Run) -> ExperimentStarted {
    let definition = run.plan().definition();
    ExperimentStarted {
        experiment,
        id: run.id().to_owned(),
        scores: run.plan().rescored().map(|origin| origin.source().to_owned()),
        name: definition.name.clone(),
        tags: definition.tags.clone(),
        declared_at: definition.declared_at.clone(),
        dataset: Some(run.plan().dataset_summary()),
        items: run.selection().map_or(run.plan().dataset().len(), <[usize]>::len),
        done: run.finished_items(),
        runs: definition.runs,
        evaluators: evaluator_names(definition),
        concurrency: definition.concurrency,
        timeout_ms: u64::try_from(definition.timeout.as_millis()).unwrap_or(u64::MAX),
        partial: run.selection().is_some(),
        why: run.reason().map(str::to_owned),
    }
}

/// What is requested from a test binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestKind {
    /// Run the experiments.
    Run,
    /// List the experiments, with their data.
    List,
    /// List the keys that are missing for a run, without running anything.
    MissingKeys,
    /// List the experiments as declared, without reading data.
    Names,
}

/// A request to send events instead of printing test cases.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    protocol: String,
    /// The requesting process. Only its direct children answer.
    asker: u32,
    /// The file or pipe to write the events to.
    pub events: PathBuf,
    /// Patterns; one must match an experiment's name or tag. Empty: selects every experiment.
    pub filters: Vec<Pattern>,
    /// Exact names of experiments. Empty: selects every experiment.
    pub experiments: Vec<String>,
    /// What is requested.
    pub wanted: RequestKind,
    /// Whether the events of items have their traces. Absent in requests of earlier versions.
    #[serde(default)]
    pub traces: bool,
}

impl Request {
    /// A request for all experiments, in the protocol of this library.
    #[must_use]
    pub fn new(events: PathBuf, wanted: RequestKind) -> Self {
        Self {
            protocol: PROTOCOL.to_owned(),
            asker: std::process::id(),
            events,
            filters: Vec::new(),
            experiments: Vec::new(),
            wanted,
            traces: false,
        }
    }

    /// The variable and its value, for the process that should answer.
    ///
    /// # Errors
    ///
    /// The path is not UTF-8.
    pub fn variable(&self) -> serde_json::Result<(&'static str, String)> {
        Ok((VARIABLE, serde_json::to_string(self)?))
    }

    /// Whether it is answered even if the arguments require libtest's output, which contains neither missing keys nor experiments
    /// that were not selected.
    pub(super) fn answers_despite_test_output(&self) -> bool {
        matches!(self.wanted, RequestKind::MissingKeys | RequestKind::Names)
    }

    /// The filter for experiments.
    pub(super) fn filter(&self) -> ExperimentFilter<'_> {
        ExperimentFilter { patterns: &self.filters, names: &self.experiments }
    }

    /// The request to this process, if there is one.
    pub(super) fn from_environment() -> Result<Option<Self>, String> {
        match std::env::var(VARIABLE) {
            Ok(text) if !text.is_empty() => Ok(Some(Self::read(&text)?).filter(Self::is_for_this_process)),
            _ => Ok(None),
        }
    }

    #[cfg(unix)]
    fn is_for_this_process(&self) -> bool {
        self.asker == std::os::unix::process::parent_id()
    }

    #[cfg(not(unix))]
    fn is_for_this_process(&self) -> bool {
        true
    }

    fn read(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Version {
            protocol: String,
        }

        let unfit = |problem: String| {
            format!(
                "unsupported request in {VARIABLE}: {problem}; use the same version of `cargo cobalt` and the library `cobalt`"
            )
        };
        let version: Version = serde_json::from_str(text).map_err(|error| unfit(error.to_string()))?;
        if version.protocol != PROTOCOL {
            return Err(unfit(format!("it uses `{}`, but this library uses `{PROTOCOL}`", version.protocol)));
        }
        serde_json::from_str(text).map_err(|error| unfit(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_made() {
        let mut request = Request::new("/tmp/events".into(), RequestKind::MissingKeys);
        request.filters = vec!["smoke".parse().unwrap()];
        request.experiments = vec!["desk".to_owned()];
        request.traces = true;
        let (_, text) = request.variable().unwrap();
        let read = Request::read(&text).unwrap();
        assert_eq!(
            (read.events, read.filters, read.experiments, read.wanted, read.traces),
            (request.events, request.filters, request.experiments, request.wanted, request.traces)
        );
    }

    #[test]
    fn a_request_of_another_version_is_refused_with_both_versions() {
        let error =
            Request::read(r#"{"protocol": "cobalt experiments, protocol 99", "new": 1}"#).unwrap_err();
        assert!(error.contains("protocol 99") && error.contains(PROTOCOL), "{error}");
    }
}
