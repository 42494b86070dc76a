//! The test harness: runs experiments as test cases, under Cargo, nextest and editors.

mod args;
mod case_results;
mod cases;
mod event_emitter;
mod event_protocol;
pub mod exit_code;
mod exit_guard;
mod exit_witness;
mod planned_run;
mod schedule;
mod warnings;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use cobalt_core::paths;
use cobalt_core::reporters::{Warning, escape_control};
use cobalt_core::wording::count;
use libtest_mimic::Trial;

use crate::budget;
use crate::config::Config;
use crate::log;
use crate::private::ExperimentDefinition;
use crate::session::{Run, Session};
use crate::thread_pool;
use args::{Args, ExperimentFilter};
use case_results::{CaseResults, ResultWriter, TrialRunner};
use cases::DeclaredExperiment;
use event_emitter::{RunCompleteness, StopHandler, print_results, print_warning, shut_down};
pub use event_protocol::{Request, RequestKind};
use exit_code::{BUDGET_SPENT, FAILED, SETUP_ERROR};
use exit_guard::{EndAllOnDrop, ProcessResources, exit, runtime_handle, signal_error};
use planned_run::NextestProcess;
use schedule::Schedule;
use warnings::ItemExplainer;

/// Runs the experiments of this binary as tests: the complete `main` of a test target with `harness = false`.
///
/// ```no_run
/// #[cobalt::experiment(
///     dataset = "datasets/questions.jsonl",
///     evaluators = [cobalt::ExactMatch::new("exact", "expectedOutput")],
/// )]
/// async fn echo(item: cobalt::Item) -> String {
///     item["input"].to_string()
/// }
///
/// fn main() {
///     cobalt::main();
/// }
/// ```
///
/// Each item is a case, `<experiment>::<key>`, and so is each threshold, `<experiment>::thresholds::<threshold>`. Under
/// `cargo nextest`, which starts a process per case, an experiment is one case. The arguments are those of any Rust test binary.
/// Filters also match an experiment's name as declared. A filter that selects some items runs only those. With `--exact`, the name of
/// an experiment selects all of its cases. An experiment whose declaration or data cannot be read fails under every filter, except with
/// `--exact` and the name of another one.
///
/// The exit code is
///
/// - 0 if everything selected passed;
/// - 101 if something failed;
/// - 2 for invalid arguments;
/// - 130 after Ctrl-C (finished items are saved);
/// - 3 if nothing could be run or saved: no experiment is declared, two have the same name, the
///   [configuration](crate::configuration) is invalid, a run to resume does not match, the results cannot be written, something in
///   the process called [`exit`](std::process::exit) before its experiments were finished, or `main` of a target with experiments
///   never called this function;
/// - 5 if the budget of `COBALT_MAX_COST` is used up (finished items are saved).
///
/// Native code that calls `_exit(0)` hides a failure from `cargo test`, which sees only the exit code: an error is printed then (on Unix).
/// `cargo cobalt run` fails.
pub fn main() -> ! {
    exit_guard::mark_called();
    let args = Args::from_process();
    let _begun = exit_guard::arm();
    thread_pool::record_panic_locations();
    #[cfg(feature = "tracing")]
    crate::trace::install();
    match run(&args) {
        Ok(code) => exit(code),
        Err(message) => {
            eprintln!("error: {}", escape_control(&message));
            exit(SETUP_ERROR)
        }
    }
}

fn run(args: &Args) -> Result<i32, String> {
    // Also runs if this panics.
    let _none_is_left = EndAllOnDrop;
    let mut definitions = cases::definitions()?;
    paths::set_compiled_package_root(definitions[0].manifest_dir);
    let config = Config::from_environment().map_err(|error| error.to_string())?;
    planned_run::restart_with_missing_variables(config.env())?;
    let args = &args.with_declared_names(definitions.iter().map(|definition| (definition.name)()));
    // Before filtering: experiments that are filtered out may also read variables.
    let mut warnings = warnings::unknown_variables(&definitions, &config);
    warnings.extend(warnings::keys_in_config(&config));
    log::debug!(experiments = definitions.len(), "read the experiments of the test binary");
    definitions.retain(|definition| args.may_select(&cases::case_name(definition)));
    let request = Request::from_environment()?;
    let runs = !args.mimic.list && request.as_ref().is_none_or(|request| request.wanted == RequestKind::Run);
    if config.receives_spans() && !cfg!(feature = "otlp") {
        return Err(
            "`trace.otlp` needs the feature `otlp` of the crate `cobalt`: enable it in `Cargo.toml`".into()
        );
    }
    log::debug!(
        selected = definitions.len(),
        runs = runs,
        asked_by_command = request.is_some(),
        "applied the filters to the experiments"
    );
    if runs && (config.receives_spans() || planned_run::needs_gateway(&definitions, &config)) {
        planned_run::lead_clients_to_gateway(&definitions, &config)?;
    }
    // Not earlier: the process may have replaced itself.
    if runs && request.is_none() {
        exit_witness::start();
    }
    if let Some((max, ledger)) = config.max_cost().filter(|_| runs) {
        log::debug!(budget = *max, shared = ledger.is_some(), "limits the cost");
        budget::limit(*max, ledger.clone());
    }
    let Some(request) = request else {
        return test(&definitions, args, config, warnings);
    };
    let (stream, last) = event_protocol::open_stream(&request)?;
    let code = if !args.requires_test_output() || request.answers_despite_test_output() {
        event_protocol::respond(&request, &definitions, args, config, warnings, stream)?
    } else {
        let filter = request.filter();
        let is_selected = |declared: &DeclaredExperiment| declared.is_selected_by(&filter);
        definitions.retain(|definition| DeclaredExperiment::all(definition, &config).iter().any(is_selected));
        event_protocol::announce_test_output(stream, definitions.len());
        test(&definitions, args, config, warnings)?
    };
    event_protocol::send_exit_code(last, code);
    Ok(code)
}

/// Runs the experiments as test cases, or lists the cases, and returns the exit code.
fn test(
    definitions: &[&'static ExperimentDefinition],
    args: &Args,
    config: Config,
    warnings: Vec<Warning>,
) -> Result<i32, String> {
    let nextest = NextestProcess::from_environment();
    if args.mimic.list {
        list(args, definitions, nextest.is_some(), &config);
        return Ok(0);
    }
    let mut schedule = Schedule::with_warnings(warnings);
    match nextest {
        Some(nextest) => schedule.add_single_cases(definitions, args, &nextest, &config),
        None => schedule.add_all_cases(definitions, &ExperimentFilter::default(), args, &config),
    }
    .inspect_err(|_| schedule.warnings.iter().for_each(print_warning))
    // Each line is an error.
    .map_err(|error| error.to_string().replace('\n', "\nerror: "))?;
    if let Some((_, error)) = schedule.unknown.first() {
        return Err(error.to_string());
    }
    schedule.warnings.iter().for_each(print_warning);
    schedule.not_resumed.iter().for_each(|(_, note)| eprintln!("note: {note}"));
    for (experiment, why) in &schedule.skipped {
        eprintln!("note: {experiment}: nothing to run: {why}");
    }
    for run in &schedule.runs {
        run.reason()
            .into_iter()
            .for_each(|why| eprintln!("note: {}: items to run: {why}", run.plan().name()));
    }
    let still_failed = std::mem::take(&mut schedule.still_failed);
    let code = execute(schedule, args, config)?;
    // Last, because it determines the exit code even if all cases passed.
    for (experiment, why) in &still_failed {
        eprintln!("error: {experiment}: still failing because of earlier results: {}", escape_control(why));
    }
    Ok(if code == 0 && !still_failed.is_empty() { FAILED } else { code })
}

/// Prints the cases like libtest. An experiment that is a single case, such as an ignored one, is listed without reading its data.
fn list(args: &Args, definitions: &[&'static ExperimentDefinition], whole: bool, config: &Config) {
    let is_ignored = |declared: &DeclaredExperiment| declared.ignored_without().is_some();
    let single = definitions.iter().filter(|_| whole).flat_map(|definition| {
        let cases = DeclaredExperiment::single_cases(definition, config).into_iter();
        let cases = cases.map(|(name, declared)| (name, declared.iter().any(is_ignored)));
        cases.filter(|(name, is_ignored)| args.selects(name, *is_ignored)).collect::<Vec<_>>()
    });
    let each = definitions.iter().filter(|_| !whole).flat_map(|definition| {
        DeclaredExperiment::all(definition, config).into_iter().flat_map(|declared| {
            let is_ignored = is_ignored(&declared);
            let names = match is_ignored {
                true => {
                    vec![declared.case_name()].into_iter().filter(|name| args.selects_ignored(name)).collect()
                }
                false => declared.load(config).selected_cases(args),
            };
            names.into_iter().map(move |name| (name, is_ignored))
        })
    });
    let cases: Vec<_> = single.chain(each).collect();
    let selected = cases.len();
    let trial = |(name, is_ignored)| Trial::test(name, || Ok(())).with_ignored_flag(is_ignored);
    let trials = cases.into_iter().map(trial).collect();
    // Listing has no conclusion.
    let _ = libtest_mimic::run(&args.mimic, trials);
    if !args.is_terse() && !args.is_json() {
        println!("\n{}, 0 benchmarks", count(selected, "test"));
    }
}

/// Runs the schedule, and returns the exit code.
fn execute(schedule: Schedule, args: &Args, config: Config) -> Result<i32, String> {
    let ProcessResources { runtime, signals } = ProcessResources::start(&schedule.runs)?;
    let board = Arc::new(CaseResults::new(schedule.runs.iter().map(|run| run.plan().dataset().len())));
    let experiments = schedule.runs.iter().map(ItemExplainer::for_run).collect();
    exit_guard::register_runs(schedule.runs.iter().map(experiment_and_id));
    let workspace = paths::workspace_root(&paths::package_root());
    let writer = ResultWriter { board: Arc::clone(&board), experiments, workspace, paint: args.paint() };
    let session = Session::start(schedule.runs, config, writer, &runtime_handle(&runtime));
    let stop = StopHandler {
        session: session.interrupter(),
        board: Arc::clone(&board),
        runtime: Arc::clone(&runtime),
        args: args.clone(),
    };
    signals.on_signal(|| stop.run()).map_err(signal_error)?;

    let trials = TrialRunner::new(Arc::clone(&board), args.fail_fast.then(|| session.interrupter()));
    // Printing panics if stdout is closed, as with `head`; the run still continues to its end.
    let conclusion = catch_unwind(AssertUnwindSafe(|| trials.run(schedule.cases, args)));
    session.wait();
    let conclusion = conclusion.unwrap_or_else(|panic| resume_unwind(panic));

    let whole = print_results(args, &board);
    shut_down(&runtime);
    Ok(match (whole, conclusion.has_failed()) {
        (RunCompleteness::Unsaved, _) => SETUP_ERROR,
        (RunCompleteness::Interrupted, _) if budget::refusal().is_some() => BUDGET_SPENT,
        (_, true) => FAILED,
        (RunCompleteness::Interrupted, false) => SETUP_ERROR,
        (RunCompleteness::Complete, false) => 0,
    })
}

/// The name of a run's experiment, and the run's ID.
fn experiment_and_id(run: &Run) -> (String, String) {
    (run.plan().name().to_owned(), run.id().to_owned())
}
