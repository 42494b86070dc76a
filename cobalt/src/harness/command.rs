//! A test binary as `cargo cobalt` runs it: it tells events, and the command shows them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::args::Args;
use super::cases::{Declared, names_of};
use super::ending::shut_down;
use super::exit_code::UNFIT;
use super::exit_guard;
use super::filter::Filter;
use super::keys;
use super::names_of_run;
use super::narrator::{Narrator, Told};
use super::process::{Process, handle, no_signals};
use super::request::{Request, Wanted};
use super::schedule::{Schedule, WaitsFor};
use super::shown::Shown;
use crate::config::Config;
use crate::experiment::Definition;
use crate::private::ExperimentDefinition;
use crate::redact::redacted;
use crate::report::SourcePlace;
use crate::reporters::{Event, ExperimentStarted, Listed, PROTOCOL, Stream, Warning};
use crate::session::{Run, Session};

/// The most fields named of a data set.
const MOST_FIELDS: usize = 50;

/// Answers a request by a stream that was greeted, and gives the exit code.
pub(super) fn answer(
    request: &Request,
    definitions: &[&'static ExperimentDefinition],
    args: &Args,
    config: Config,
    warnings: Vec<Warning>,
    mut stream: Stream,
) -> Result<i32, String> {
    let filter = request.filter();
    match request.wanted {
        Wanted::Run => return schedule_and_run(definitions, &filter, args, config, warnings, stream),
        Wanted::List => {
            definitions.iter().for_each(|definition| list(definition, &filter, args, &config, &mut stream));
        }
        Wanted::Names => {
            let declared = definitions.iter().map(|definition| Declared::new(definition));
            for declared in declared.filter(|declared| declared.is_selected_by(&filter)) {
                stream.send(&Event::Listed(Box::new(named(&declared))));
            }
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
    warnings: Vec<Warning>,
    mut stream: Stream,
) -> Result<i32, String> {
    let mut schedule = Schedule::with(warnings);
    match schedule.add_all(definitions, filter, args, &config) {
        Ok(()) => run(schedule, args, config, stream),
        Err(error) => {
            schedule.warnings.into_iter().for_each(|warning| stream.send(&Event::Warning(warning)));
            // An error of several lines is several errors, of which other binaries may say some too.
            let text = error.to_string();
            text.lines().for_each(|error| stream.send(&Event::Failed { error: error.to_owned() }));
            stream.flush();
            Ok(UNFIT)
        }
    }
}

/// Tells the command that this process prints by itself, as the arguments want it.
pub(super) fn announce(mut stream: Stream, experiments: usize) {
    stream.send(&Event::TestOutput { experiments });
    stream.flush();
}

/// Tells the command the exit code, which counts even if the process then ends with another one.
pub(super) fn conclude(mut stream: Stream, exit_code: i32) {
    stream.send(&Event::Ended { exit_code });
    stream.flush();
}

/// Opens the stream of events, and another one to the same place for the last event.
pub(super) fn greet(request: &Request) -> Result<(Stream, Stream), String> {
    let path = &request.events;
    let opened = Stream::open(path).and_then(|stream| Ok((stream.try_clone()?, stream)));
    let (last, mut stream) =
        opened.map_err(|error| format!("failed to open `{}` for events: {error}", path.display()))?;
    stream
        .send(&Event::Hello { protocol: PROTOCOL.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() });
    stream.flush();
    Ok((stream, last))
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
    let mut listed = named(&declared);
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
            listed.dataset = Some(plan.dataset().source().to_owned());
            listed.items = Some(plan.dataset().len());
            listed.fetched = plan.dataset().fetch().cloned();
            listed.hash = listed.fetched.is_some().then(|| plan.dataset().hash());
            let first = plan.dataset().get(0);
            listed.fields =
                first.into_iter().flat_map(|item| item.keys().take(MOST_FIELDS).cloned()).collect();
            listed.runs = definition.runs;
            listed.evaluators = evaluator_names(definition);
            listed.thresholds = definition.thresholds.iter().map(crate::Threshold::case_name).collect();
        }
        Err(broken) => listed.error = Some(redacted(&broken.error.to_string()).into_owned()),
    }
    stream.send(&Event::Listed(Box::new(listed)));
}

/// What is known of an experiment whose data was not read.
fn named(declared: &Declared) -> Listed {
    let SourcePlace { file, line } = declared.place();
    Listed {
        name: declared.name(),
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
        file,
        line,
        error: None,
    }
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
        stream.send(&Event::ExperimentStarted(started(experiment, run)));
    }
    stream.flush();
    let experiments = schedule.runs.iter().map(Shown::of).collect();
    exit_guard::runs_start(schedule.runs.iter().map(names_of_run));
    let narrator = Narrator::new(stream, experiments, Arc::clone(&told));
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
        dataset: Some(run.plan().dataset_summary()),
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
