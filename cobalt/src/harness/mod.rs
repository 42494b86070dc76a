//! The test harness: runs experiments as test cases, under Cargo, nextest and editors.

mod args;
mod board;
mod cases;
mod command;
pub mod exit_code;
mod exit_guard;
mod narrator;
mod ready;
mod schedule;
mod warnings;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use cobalt_core::paths;
use cobalt_core::reporters::{Warning, printable};
use cobalt_core::wording::count;
use libtest_mimic::Trial;

use crate::config::Config;
use crate::evaluators::EndsAll;
use crate::private::ExperimentDefinition;
use crate::session::{Run, Session};
use crate::threads;
use args::{Args, Filter};
use board::{Board, Trials, Writer};
use cases::Declared;
pub use command::{Request, Wanted};
use exit_code::{FAILED, UNFIT};
use exit_guard::{Process, handle, leave, no_signals};
use narrator::{Stop, Whole, shut_down, tell, warn};
use ready::Nextest;
use schedule::Schedule;
use warnings::Shown;

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
/// Filters also match an experiment's name as declared. A filter that selects some items runs only those.
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
///   never called this function.
///
/// Native code that calls `_exit(0)` cannot be detected within the process; `cargo cobalt run` detects it.
pub fn main() -> ! {
    exit_guard::reach();
    let args = Args::from_process();
    let _begun = exit_guard::begin();
    threads::note_places();
    match run(&args) {
        Ok(code) => leave(code),
        Err(message) => {
            eprintln!("error: {}", printable(&message));
            leave(UNFIT)
        }
    }
}

fn run(args: &Args) -> Result<i32, String> {
    // Also runs if this panics.
    let _none_is_left = EndsAll;
    let mut definitions = cases::definitions()?;
    paths::set_compiled_package_root(definitions[0].manifest_dir);
    let config = Config::from_environment().map_err(|error| error.to_string())?;
    ready::complete(config.env())?;
    let args = &args.knowing(definitions.iter().map(|definition| (definition.name)()));
    // Before filtering: experiments that are filtered out may also read variables.
    let mut warnings = warnings::of_variables(&definitions, &config);
    warnings.extend(warnings::of_written_keys(&config));
    definitions.retain(|definition| args.may_select(&cases::case_name(definition)));
    let Some(request) = Request::from_environment()? else {
        return test(&definitions, args, config, warnings);
    };
    let (stream, last) = command::greet(&request)?;
    let code = if !args.asks_for_test_output() || request.is_answered_beside_test_output() {
        command::answer(&request, &definitions, args, config, warnings, stream)?
    } else {
        let filter = request.filter();
        definitions.retain(|definition| Declared::new(definition).is_selected_by(&filter));
        command::announce(stream, definitions.len());
        test(&definitions, args, config, warnings)?
    };
    command::conclude(last, code);
    Ok(code)
}

/// Runs the experiments as test cases, or lists the cases, and returns the exit code.
fn test(
    definitions: &[&'static ExperimentDefinition],
    args: &Args,
    config: Config,
    warnings: Vec<Warning>,
) -> Result<i32, String> {
    let nextest = Nextest::from_environment();
    if args.mimic.list {
        list(args, definitions, nextest.is_some(), &config);
        return Ok(0);
    }
    let mut schedule = Schedule::with(warnings);
    match nextest {
        Some(nextest) => schedule.add_wholes(definitions, args, &nextest, &config),
        None => schedule.add_all(definitions, &Filter::default(), args, &config),
    }
    .inspect_err(|_| schedule.warnings.iter().for_each(warn))
    // Each line is an error.
    .map_err(|error| error.to_string().replace('\n', "\nerror: "))?;
    if let Some((_, error)) = schedule.unknown.first() {
        return Err(error.to_string());
    }
    schedule.warnings.iter().for_each(warn);
    schedule.not_resumed.iter().for_each(|(_, note)| eprintln!("note: {note}"));
    for (experiment, why) in &schedule.skipped {
        eprintln!("note: {experiment}: nothing to run: {why}");
    }
    for run in &schedule.runs {
        run.why().into_iter().for_each(|why| eprintln!("note: {}: items to run: {why}", run.plan().name()));
    }
    let still_failed = std::mem::take(&mut schedule.still_failed);
    let code = execute(schedule, args, config)?;
    // Last, because it determines the exit code even if all cases passed.
    for (experiment, why) in &still_failed {
        eprintln!("error: {experiment}: still failing because of earlier results: {}", printable(why));
    }
    Ok(if code == 0 && !still_failed.is_empty() { FAILED } else { code })
}

/// Prints the cases like libtest. An experiment that is a single case, such as an ignored one, is listed without reading its data.
fn list(args: &Args, definitions: &[&'static ExperimentDefinition], whole: bool, config: &Config) {
    let cases = definitions.iter().flat_map(|definition| {
        let declared = Declared::new(definition);
        let is_ignored = declared.ignored_without().is_some();
        let names = if whole || is_ignored {
            vec![declared.case_name()]
        } else {
            cases::names_of(&declared.load(config))
        };
        names.into_iter().map(move |name| (name, is_ignored))
    });
    let cases: Vec<_> = cases.filter(|(name, is_ignored)| args.selects(name, *is_ignored)).collect();
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
    let Process { runtime, signals } = Process::start(&schedule.runs)?;
    let board = Arc::new(Board::new(schedule.runs.iter().map(|run| run.plan().dataset().len())));
    let experiments = schedule.runs.iter().map(Shown::of).collect();
    exit_guard::runs_start(schedule.runs.iter().map(names_of_run));
    let workspace = paths::workspace_root(&paths::package_root());
    let writer = Writer { board: Arc::clone(&board), experiments, workspace, paint: args.paint() };
    let session = Session::start(schedule.runs, config, writer, &handle(&runtime));
    let stop = Stop {
        session: session.interrupter(),
        board: Arc::clone(&board),
        runtime: Arc::clone(&runtime),
        args: args.clone(),
    };
    signals.hear(|| stop.now()).map_err(no_signals)?;

    let trials = Trials::new(Arc::clone(&board), args.fail_fast.then(|| session.interrupter()));
    // Printing panics if stdout is closed, as with `head`; the run still continues to its end.
    let conclusion = catch_unwind(AssertUnwindSafe(|| trials.run(schedule.cases, args)));
    session.wait();
    let conclusion = conclusion.unwrap_or_else(|panic| resume_unwind(panic));

    let whole = tell(args, &board);
    shut_down(&runtime);
    Ok(match (whole, conclusion.has_failed()) {
        (Whole::Unsaved, _) => UNFIT,
        (_, true) => FAILED,
        (Whole::CutOff, false) => UNFIT,
        (Whole::Yes, false) => 0,
    })
}

/// The name of a run's experiment, and the run's ID.
fn names_of_run(run: &Run) -> (String, String) {
    (run.plan().name().to_owned(), run.id().to_owned())
}
