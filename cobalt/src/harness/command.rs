//! A test binary as `cargo cobalt` runs it: it tells events, and the command shows them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::args::Args;
use super::cases::{Declared, names_of};
use super::ending::shut_down;
use super::filter::Filter;
use super::process::{Process, handle, no_signals};
use super::request::Request;
use super::schedule::{Schedule, WaitsFor};
use super::{FAILED, INTERRUPTED, UNFIT};
use crate::config::Config;
use crate::dataset::Dataset;
use crate::experiment::Definition;
use crate::private::ExperimentDefinition;
use crate::report::ItemResult;
use crate::reporters::{
    Event, ExperimentFinished, ExperimentStarted, ItemFinished, Listed, PROTOCOL, RunFinished, Stream,
    explain,
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
    let path = &request.events;
    let stream = Stream::open(path);
    let mut stream =
        stream.map_err(|error| format!("failed to open `{}` for events: {error}", path.display()))?;
    stream
        .send(&Event::Hello { protocol: PROTOCOL.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() });
    let filter = Filter(&request.filters);
    if request.list {
        definitions.iter().for_each(|definition| list(definition, &filter, args, &config, &mut stream));
        stream.flush();
        return Ok(0);
    }
    let mut schedule = Schedule::default();
    match schedule.add_all(definitions, &filter, args, &config) {
        Ok(()) => run(schedule, args, config, stream),
        Err(error) => {
            stream.send(&Event::Failed { error: error.to_string() });
            stream.flush();
            Ok(UNFIT)
        }
    }
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
    let suite = declared.load(config);
    if !names_of(&suite).iter().any(|case| args.selects(case)) {
        return;
    }
    let (file, line) = (definition.file.to_owned(), definition.line);
    stream.send(&Event::Listed(match suite.plan {
        Ok(plan) => {
            let definition = plan.definition();
            Listed {
                name,
                tags,
                items: Some(plan.dataset().len()),
                runs: definition.runs,
                evaluators: definition.evaluators.iter().map(|e| e.name().to_owned()).collect(),
                thresholds: definition.thresholds.iter().map(crate::Threshold::case_name).collect(),
                file,
                line,
                error: None,
            }
        }
        Err(broken) => Listed {
            name,
            tags,
            items: None,
            runs: 0,
            evaluators: Vec::new(),
            thresholds: Vec::new(),
            file,
            line,
            error: Some(broken.error.to_string()),
        },
    }));
}

fn run(schedule: Schedule, args: &Args, config: Config, mut stream: Stream) -> Result<i32, String> {
    let Process { runtime, signals } = Process::start(&schedule.runs)?;
    let told = Arc::new(Told::default());
    for case in &schedule.cases {
        if let (WaitsFor::Failure(error), true) = (&case.waits_for, args.selects(&case.name)) {
            stream.send(&Event::ExperimentBroken { name: case.name.clone(), error: error.to_string() });
            told.unfit.store(true, Ordering::SeqCst);
        }
    }
    for (experiment, run) in schedule.runs.iter().enumerate() {
        stream.send(&Event::ExperimentStarted(started(experiment, run)));
    }
    stream.flush();
    let experiments = schedule.runs.iter().map(Shown::new).collect();
    let narrator = Narrator { stream, experiments, told: Arc::clone(&told) };
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
        items: run.selection().map_or(run.plan().dataset().len(), <[usize]>::len),
        done: run.done(),
        runs: definition.runs,
        evaluators: definition.evaluators.iter().map(|evaluator| evaluator.name().to_owned()).collect(),
        concurrency: definition.concurrency,
        timeout_ms: u64::try_from(definition.timeout.as_millis()).unwrap_or(u64::MAX),
        partial: run.selection().is_some(),
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

/// An experiment as the events show it.
struct Shown {
    definition: Arc<Definition>,
    dataset: Dataset,
    /// The items' names in test cases, by index.
    names: Vec<String>,
    /// How many items were told at length.
    explained: usize,
}

impl Shown {
    fn new(run: &Run) -> Self {
        let dataset = run.plan().dataset().clone();
        let definition = Arc::clone(run.plan().definition());
        Self { definition, names: dataset.case_keys(), dataset, explained: 0 }
    }

    /// Why an item did not pass, for the first such items.
    fn why(&mut self, item: &ItemResult) -> Option<String> {
        if item.passed || self.explained == MOST_EXPLAINED {
            return None;
        }
        self.explained += 1;
        Some(explain(item, &self.definition))
    }
}

/// Tells the events of a session.
struct Narrator {
    stream: Stream,
    experiments: Vec<Shown>,
    told: Arc<Told>,
}

impl Listener for Narrator {
    fn run(&mut self, experiment: usize, index: usize, run: usize) {
        // Of a single run the item tells.
        if self.experiments[experiment].definition.runs > 1 {
            self.stream.send(&Event::RunFinished(RunFinished { experiment, index, run }));
        }
    }

    fn item(&mut self, experiment: usize, item: &ItemResult) {
        if !item.passed {
            self.told.failed();
        }
        let shown = &mut self.experiments[experiment];
        let why = shown.why(item);
        let event = ItemFinished::of(experiment, item, &shown.names[item.index], &shown.definition, why);
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
                let Shown { definition, dataset, .. } = &self.experiments[experiment];
                let finished = ExperimentFinished::of(experiment, &outcome, definition, dataset);
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
