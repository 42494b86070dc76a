//! A test binary as `cargo cobalt` runs it: it tells events, and the command shows them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::args::Args;
use super::cases::{Declared, names_of};
use super::ending::shut_down;
use super::exit_code::{FAILED, INTERRUPTED, UNFIT};
use super::filter::Filter;
use super::keys;
use super::process::{Process, handle, no_signals};
use super::request::{Request, Wanted};
use super::schedule::{Schedule, WaitsFor};
use super::shown::Shown;
use crate::config::Config;
use crate::experiment::Definition;
use crate::private::ExperimentDefinition;
use crate::report::ItemResult;
use crate::reporters::{
    Event, ExperimentFinished, ExperimentStarted, ItemFinished, Listed, PROTOCOL, RunFinished, Stream,
};
use crate::session::{Ending, Interrupter, Listener, Run, Session};

/// The most items of an experiment of which it is told at length why they did not pass.
const MOST_EXPLAINED: usize = 20;

/// Answers a request, and gives the exit code.
pub(super) fn answer(
    request: &Request,
    definitions: &[&'static ExperimentDefinition],
    args: &Args,
    config: Config,
) -> Result<i32, String> {
    let mut stream = greet(request)?;
    let filter = Filter(&request.filters);
    match request.wanted {
        Wanted::Run => return schedule_and_run(definitions, &filter, args, config, stream),
        Wanted::List => {
            definitions.iter().for_each(|definition| list(definition, &filter, args, &config, &mut stream));
        }
        Wanted::MissingKeys => {
            for key in keys::missing(definitions, &filter, args, &config) {
                stream.send(&Event::KeyMissing(key));
            }
        }
    }
    stream.flush();
    Ok(0)
}

fn schedule_and_run(
    definitions: &[&'static ExperimentDefinition],
    filter: &Filter<'_>,
    args: &Args,
    config: Config,
    mut stream: Stream,
) -> Result<i32, String> {
    let mut schedule = Schedule::default();
    match schedule.add_all(definitions, filter, args, &config) {
        Ok(()) => run(schedule, args, config, stream),
        Err(error) => {
            // An error of several lines is several errors, of which other binaries may say some too.
            let text = error.to_string();
            text.lines().for_each(|error| stream.send(&Event::Failed { error: error.to_owned() }));
            stream.flush();
            Ok(UNFIT)
        }
    }
}

/// Tells whoever asked that this process prints by itself, as the arguments want it.
pub(super) fn announce(request: &Request, experiments: usize) -> Result<(), String> {
    let mut stream = greet(request)?;
    stream.send(&Event::TestOutput { experiments });
    stream.flush();
    Ok(())
}

fn greet(request: &Request) -> Result<Stream, String> {
    let path = &request.events;
    let stream = Stream::open(path);
    let mut stream =
        stream.map_err(|error| format!("failed to open `{}` for events: {error}", path.display()))?;
    stream
        .send(&Event::Hello { protocol: PROTOCOL.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() });
    stream.flush();
    Ok(stream)
}

fn list(
    definition: &'static ExperimentDefinition,
    filter: &Filter<'_>,
    args: &Args,
    config: &Config,
    stream: &mut Stream,
) {
    let declared = Declared::new(definition);
    if !declared.is_selected_by(filter) {
        return;
    }
    let (name, tags) = ((definition.name)(), declared.tags().to_vec());
    let mut listed = Listed {
        name,
        tags,
        ignored_without: declared.ignored_without(),
        items: None,
        runs: 0,
        evaluators: Vec::new(),
        thresholds: Vec::new(),
        file: definition.file.to_owned(),
        line: definition.line,
        error: None,
    };
    if listed.ignored_without.is_some() {
        if args.may_concern(&declared.case_name(), true) {
            stream.send(&Event::Listed(Box::new(listed)));
        }
        return;
    }
    let suite = declared.load(config);
    if !names_of(&suite).iter().any(|case| args.selects(case, false)) {
        return;
    }
    match suite.plan {
        Ok(plan) => {
            let definition = plan.definition();
            listed.items = Some(plan.dataset().len());
            listed.runs = definition.runs;
            listed.evaluators = evaluator_names(definition);
            listed.thresholds = definition.thresholds.iter().map(crate::Threshold::case_name).collect();
        }
        Err(broken) => listed.error = Some(broken.error.to_string()),
    }
    stream.send(&Event::Listed(Box::new(listed)));
}

fn evaluator_names(definition: &Definition) -> Vec<String> {
    definition.evaluators.iter().map(|evaluator| evaluator.name().to_owned()).collect()
}

fn run(schedule: Schedule, args: &Args, config: Config, mut stream: Stream) -> Result<i32, String> {
    let Process { runtime, signals } = Process::start(&schedule.runs)?;
    let told = Arc::new(Told::default());
    for case in &schedule.cases {
        match &case.waits_for {
            // Where it is not known which items it has, it is told where any could be meant.
            WaitsFor::Failure { experiment, declared_at, why, .. }
                if case.is_selected(args) || args.may_concern(&case.name, case.is_ignored) =>
            {
                stream.send(&Event::ExperimentBroken {
                    name: experiment.clone(),
                    error: why.to_string(),
                    declared_at: Some(declared_at.clone()),
                });
                told.unfit.store(true, Ordering::SeqCst);
            }
            WaitsFor::Variable { experiment, variable } if args.may_concern(&case.name, true) => {
                let (name, variable) = (experiment.clone(), variable.clone());
                stream.send(&Event::ExperimentIgnored { name, variable });
            }
            _ => {}
        }
    }
    let unknown = schedule.unknown.iter().map(|(id, error)| (id.clone(), error.to_string()));
    for (id, error) in schedule.not_resumed.iter().cloned().chain(unknown) {
        stream.send(&Event::NotResumed { id, error });
    }
    for (name, why) in &schedule.skipped {
        stream.send(&Event::ExperimentSkipped { name: name.clone(), why: why.clone() });
    }
    for (experiment, run) in schedule.runs.iter().enumerate() {
        stream.send(&Event::ExperimentStarted(started(experiment, run)));
    }
    stream.flush();
    let experiments: Vec<_> = schedule.runs.iter().map(Shown::of).collect();
    let explained = vec![0; experiments.len()];
    let narrator = Narrator { stream, experiments, explained, told: Arc::clone(&told) };
    let session = Session::start(schedule.runs, config, narrator, &handle(&runtime));
    let interrupter = session.interrupter();
    if args.fail_fast {
        told.stop_after_failure(interrupter.clone());
    }
    let heard = Arc::clone(&told);
    let stop = move || {
        heard.interrupted.store(true, Ordering::SeqCst);
        interrupter.interrupt();
    };
    signals.hear(stop).map_err(no_signals)?;
    session.wait();
    shut_down(&runtime);
    Ok(told.exit_code())
}

fn started(experiment: usize, run: &Run) -> ExperimentStarted {
    let definition = run.plan().definition();
    ExperimentStarted {
        experiment,
        id: run.id().to_owned(),
        name: definition.name.clone(),
        tags: definition.tags.clone(),
        declared_at: definition.declared_at.clone(),
        items: run.selection().map_or(run.plan().dataset().len(), <[usize]>::len),
        done: run.done(),
        runs: definition.runs,
        evaluators: evaluator_names(definition),
        concurrency: definition.concurrency,
        timeout_ms: u64::try_from(definition.timeout.as_millis()).unwrap_or(u64::MAX),
        partial: run.selection().is_some(),
        why: run.why().map(str::to_owned),
    }
}

/// What has been told, as far as the exit code depends on it.
#[derive(Default)]
struct Told {
    /// An item or a threshold failed.
    failed: AtomicBool,
    /// An experiment could not be run, or its results not be kept.
    unfit: AtomicBool,
    /// An experiment was stopped before its end.
    cut_off: AtomicBool,
    /// The process was asked to end.
    interrupted: AtomicBool,
    /// What stops the session after the first failure.
    stops: OnceLock<Interrupter>,
}

impl Told {
    fn failed(&self) {
        self.failed.store(true, Ordering::SeqCst);
        if let Some(session) = self.stops.get() {
            session.interrupt();
        }
    }

    fn stop_after_failure(&self, session: Interrupter) {
        let session = self.stops.get_or_init(|| session);
        // It may have come already.
        if self.failed.load(Ordering::SeqCst) {
            session.interrupt();
        }
    }

    fn exit_code(&self) -> i32 {
        let is = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
        if is(&self.interrupted) {
            INTERRUPTED
        } else if is(&self.unfit) {
            UNFIT
        } else if is(&self.failed) {
            FAILED
        } else if is(&self.cut_off) {
            UNFIT
        } else {
            0
        }
    }
}

/// Tells the events of a session.
struct Narrator {
    stream: Stream,
    experiments: Vec<Shown>,
    /// How many items of each were told at length.
    explained: Vec<usize>,
    told: Arc<Told>,
}

impl Narrator {
    /// Why an item did not pass, for the first such items of an experiment.
    fn why(&mut self, experiment: usize, item: &ItemResult) -> Option<String> {
        let explained = &mut self.explained[experiment];
        if item.passed || *explained == MOST_EXPLAINED {
            return None;
        }
        *explained += 1;
        Some(self.experiments[experiment].explain(item))
    }

    fn item_finished(&self, experiment: usize, item: &ItemResult) -> ItemFinished {
        let Shown { config, names, .. } = &self.experiments[experiment];
        ItemFinished::of(experiment, item, &names[item.index], config)
    }
}

impl Listener for Narrator {
    fn run(&mut self, experiment: usize, index: usize, run: usize) {
        // Of a single run the item tells.
        if self.experiments[experiment].config.runs > 1 {
            self.stream.send(&Event::RunFinished(RunFinished { experiment, index, run }));
        }
    }

    fn item(&mut self, experiment: usize, item: &ItemResult) {
        if !item.passed {
            self.told.failed();
        }
        let why = self.why(experiment, item);
        let event = ItemFinished { why, ..self.item_finished(experiment, item) };
        self.stream.send(&Event::ItemFinished(event));
    }

    fn item_done_before(&mut self, experiment: usize, item: &ItemResult) {
        let event = ItemFinished { done_before: true, ..self.item_finished(experiment, item) };
        self.stream.send(&Event::ItemFinished(event));
    }

    fn flush(&mut self) {
        self.stream.flush();
    }

    fn ended(&mut self, experiment: usize, ending: Ending) {
        let event = match ending {
            Ending::Finished(outcome) => {
                if !outcome.report.passed {
                    self.told.failed();
                }
                if outcome.unsaved.is_some() {
                    self.told.unfit.store(true, Ordering::SeqCst);
                }
                let names = &self.experiments[experiment].names;
                let finished = ExperimentFinished::of_outcome(experiment, &outcome, names);
                Event::ExperimentFinished(Box::new(finished))
            }
            Ending::Interrupted { experiment: name, id } => {
                self.told.cut_off.store(true, Ordering::SeqCst);
                Event::ExperimentInterrupted { name, id }
            }
        };
        self.stream.send(&event);
        self.stream.flush();
    }
}
