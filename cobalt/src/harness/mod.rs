//! The front of a test binary: experiments as test cases, under cargo, nextest and editors.

mod args;
mod board;
mod cases;
mod explain;
mod nextest;
mod signals;
mod table;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use libtest_mimic::{Completion, Failed, Trial};
use tokio::runtime::Runtime;

use self::args::Args;
use self::board::{Board, Summary, Verdict, Writer};
use self::cases::{Broken, Selection, Suite, View};
use self::nextest::Nextest;
use self::signals::Signals;
use crate::error::Error;
use crate::private::ExperimentDefinition;
use crate::session::{Interrupter, Plan, Run, Session, to_resume};
use crate::store::Layout;
use crate::wording::count;
use crate::{paths, threads};

/// The exit code of libtest where a test failed.
const FAILED: i32 = 101;
/// The exit code where the experiments could not be run as they are declared, or their results not be kept.
const UNFIT: i32 = 3;
/// The exit code of a program that was stopped by Ctrl-C, as shells have it.
const INTERRUPTED: i32 = 130;
/// The most threads of the runtime.
const MOST_WORKERS: usize = 512;
/// How long agents that are cancelled may take to drop what they hold.
const CLEANING_UP: Duration = Duration::from_millis(200);

/// Runs the experiments of this binary as tests; the whole `main` of a test target with `harness = false`.
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
/// Each item is a case, `<experiment>::<key>`, and so is each threshold, `<experiment>::thresholds::<threshold>`; under
/// `cargo nextest`, which starts a process for each case, an experiment is one case. The arguments are those of any
/// Rust test binary. A filter that picks some items runs those only.
///
/// The process exits with 0 if all that was selected passed, 101 if not, 130 after Ctrl-C (what is finished is kept),
/// 2 for wrong arguments, and 3 where nothing could be run or kept: no experiment is declared, two have the same name,
/// a run to resume does not fit, the results cannot be written.
pub fn main() -> ! {
    match run(&Args::from_process()) {
        Ok(code) => exit(code),
        Err(message) => {
            eprintln!("error: {message}");
            exit(UNFIT)
        }
    }
}

fn run(args: &Args) -> Result<i32, String> {
    let mut definitions = cases::definitions()?;
    paths::set_compiled_package_root(definitions[0].manifest_dir);
    definitions.retain(|definition| args.may_select(&cases::case_name(definition)));
    let nextest = Nextest::from_environment();
    if args.mimic.list {
        list(args, &definitions, nextest.is_some());
        return Ok(0);
    }
    let mut schedule = Schedule::default();
    let layout = Layout::from_environment();
    match nextest {
        Some(nextest) => schedule.add_wholes(&definitions, args, &nextest, &layout),
        None => schedule.add_all(&definitions, args, &layout),
    }
    .map_err(|error| error.to_string())?;
    schedule.run(args, layout)
}

/// Prints the cases as libtest does. An experiment that is one case needs no data for that.
fn list(args: &Args, definitions: &[&'static ExperimentDefinition], whole: bool) {
    let names: Vec<String> = if whole {
        definitions.iter().map(|definition| cases::case_name(definition)).collect()
    } else {
        let suites = definitions.iter().map(|definition| Suite::load(definition));
        suites.flat_map(|suite| names_of(&suite)).collect()
    };
    let names: Vec<_> = names.into_iter().filter(|name| args.selects(name)).collect();
    let selected = names.len();
    let trials = names.into_iter().map(|name| Trial::test(name, || Ok(()))).collect();
    // A list has no conclusion.
    let _ = libtest_mimic::run(&args.mimic, trials);
    if !args.is_terse() && !args.is_json() {
        println!("\n{}, 0 benchmarks", count(selected, "test"));
    }
}

fn names_of(suite: &Suite) -> Vec<String> {
    match &suite.plan {
        Ok(plan) => cases::cases_of(&suite.name, plan).into_iter().map(|(name, _)| name).collect(),
        Err(broken) => vec![broken_case(&suite.name, broken)],
    }
}

fn broken_case(suite: &str, broken: &Broken) -> String {
    format!("{suite}::{}", broken.case)
}

/// The cases of this process, and the runs that they wait for.
#[derive(Default)]
struct Schedule {
    cases: Vec<Case>,
    runs: Vec<Run>,
}

/// A test case, and what it waits for.
struct Case {
    name: String,
    waits_for: WaitsFor,
}

#[derive(Clone)]
enum WaitsFor {
    /// A view of the experiment that runs under this number.
    View(usize, View),
    /// Nothing: it is known to fail.
    Failure(Arc<str>),
    /// Nothing: the case is not selected, and only counted.
    Unselected,
}

impl Schedule {
    /// Where each experiment is one case: the one that this process was started for.
    fn add_wholes(
        &mut self,
        definitions: &[&'static ExperimentDefinition],
        args: &Args,
        nextest: &Nextest,
        layout: &Layout,
    ) -> Result<(), Error> {
        let resume = to_resume(layout)?;
        for definition in definitions {
            let name = cases::case_name(definition);
            if !args.selects(&name) {
                self.cases.push(Case { name, waits_for: WaitsFor::Unselected });
                continue;
            }
            match Suite::load(definition).plan {
                Ok(plan) => {
                    let resumed = resume.iter().find(|run| run.experiment == plan.name());
                    let id = resumed.map_or_else(|| nextest.run_id(plan.name()), |run| run.id.clone());
                    self.cases.push(Case { name, waits_for: WaitsFor::View(self.runs.len(), View::Whole) });
                    self.runs.push(match (nextest.is_retry(), resumed) {
                        (true, _) => Run::retry(plan, layout, id)?,
                        (false, Some(_)) => Run::resume(plan, layout, &id)?,
                        (false, None) => Run::with_id(plan, layout, id)?,
                    });
                }
                Err(broken) => self.add_broken(name, &broken),
            }
        }
        Ok(())
    }

    /// Where all cases share this process: those of the experiments to resume, or of all.
    fn add_all(
        &mut self,
        definitions: &[&'static ExperimentDefinition],
        args: &Args,
        layout: &Layout,
    ) -> Result<(), Error> {
        let mut resume = to_resume(layout)?;
        let resumes = !resume.is_empty();
        for definition in definitions {
            let resumed = resume.iter().position(|run| run.experiment == (definition.name)());
            let resumed = resumed.map(|index| resume.remove(index));
            if resumes && resumed.is_none() {
                continue;
            }
            let Suite { name, plan } = Suite::load(definition);
            match plan {
                Ok(plan) => self.add(&name, plan, resumed.map(|run| run.id), args, layout)?,
                Err(broken) => self.add_broken(broken_case(&name, &broken), &broken),
            }
        }
        for run in resume {
            let is_here = definitions.iter().any(|definition| (definition.name)() == run.experiment);
            let why =
                if is_here { "of which another run is resumed" } else { "which is not in this test target" };
            eprintln!("note: run `{}` is one of experiment `{}`, {why}", run.id, run.experiment);
        }
        Ok(())
    }

    fn add_broken(&mut self, name: String, broken: &Broken) {
        self.cases.push(Case { name, waits_for: WaitsFor::Failure(broken.error.to_string().into()) });
    }

    /// An experiment's items and thresholds, and as much of a run as they need.
    fn add(
        &mut self,
        name: &str,
        plan: Plan,
        resumed: Option<String>,
        args: &Args,
        layout: &Layout,
    ) -> Result<(), Error> {
        let mut cases = cases::cases_of(name, &plan);
        let is_resumed = resumed.is_some();
        let run = match (resumed, cases::selection(&cases, args)) {
            (Some(id), _) => Some(Run::resume(plan, layout, &id)?),
            (None, Selection::Nothing) => None,
            (None, Selection::Some(items)) => Some(Run::new(plan, Some(items), layout)?),
            (None, Selection::All) => Some(Run::new(plan, None, layout)?),
        };
        if let Some(run) = &run {
            // A partial run that was cut off has the cases of its own items only.
            if let (true, Some(items)) = (is_resumed, run.selection()) {
                cases.retain(|(_, view)| matches!(view, View::Item(index) if items.contains(index)));
            }
        }
        let number = self.runs.len();
        self.cases.extend(cases.into_iter().map(|(name, view)| {
            let waits_for = if run.is_some() { WaitsFor::View(number, view) } else { WaitsFor::Unselected };
            Case { name, waits_for }
        }));
        self.runs.extend(run);
        Ok(())
    }

    /// Runs what was added, and answers with the exit code.
    fn run(self, args: &Args, layout: Layout) -> Result<i32, String> {
        let items_at_a_time =
            self.runs.iter().map(|run| run.plan().definition().concurrency).fold(0, usize::saturating_add);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers(items_at_a_time))
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| format!("failed to start the runtime: {error}"))?;
        let no_signals = |error| format!("failed to catch signals: {error}");
        // Before anything can be lost.
        let signals = Signals::catch().map_err(no_signals)?;
        let board = Arc::new(Board::new(self.runs.iter().map(|run| run.plan().dataset().len())));
        let plans = self.runs.iter().map(Run::plan);
        let experiments = plans.map(|plan| (Arc::clone(plan.definition()), plan.dataset().clone())).collect();
        let writer = Writer { board: Arc::clone(&board), experiments };
        let session = Session::start(self.runs, layout, writer, runtime.handle());
        let runtime = Arc::new(Mutex::new(Some(runtime)));
        let stop = Stop {
            session: session.interrupter(),
            board: Arc::clone(&board),
            runtime: Arc::clone(&runtime),
            args: args.clone(),
        };
        signals.hear(|| stop.now()).map_err(no_signals)?;

        let trials = Trials {
            board: Arc::clone(&board),
            stop: args.fail_fast.then(|| session.interrupter()),
            failed: Arc::default(),
        };
        // Printing panics where nobody reads any more, as under `head`; the run goes on to its end all the same.
        let conclusion = catch_unwind(AssertUnwindSafe(|| trials.run(self.cases, args)));
        session.wait();
        let conclusion = conclusion.unwrap_or_else(|panic| resume_unwind(panic));

        let whole = tell(args, &board);
        shut_down(&runtime);
        let left = threads::abandoned();
        if left > 0 {
            eprintln!(
                "note: {left} plain functions still run after their timeout; they end with this process"
            );
        }
        Ok(match (whole, conclusion.has_failed()) {
            (Whole::Unsaved, _) => UNFIT,
            (_, true) => FAILED,
            (Whole::CutOff, false) => UNFIT,
            (Whole::Yes, false) => 0,
        })
    }
}

/// How many threads the runtime has: more than agents can run at a time, so that agents that block without saying so
/// leave one for timers and for each other. A thread without work costs next to nothing.
fn workers(items_at_a_time: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    items_at_a_time.saturating_add(1).clamp(cores, cores.max(MOST_WORKERS))
}

/// Turns cases into trials that wait at the board.
struct Trials {
    board: Arc<Board>,
    /// Stops the session after the first failure, where that was asked for.
    stop: Option<Interrupter>,
    failed: Arc<AtomicBool>,
}

impl Trials {
    fn run(&self, cases: Vec<Case>, args: &Args) -> libtest_mimic::Conclusion {
        let selected = |case: Case| {
            let is_selected = args.selects(&case.name);
            self.trial(case).with_ignored_flag(is_selected)
        };
        let mut trials: Vec<_> = cases.into_iter().map(selected).collect();
        if let Some(seed) = args.shuffle {
            print(args, &format!("shuffle seed: {seed}"));
            fastrand::Rng::with_seed(seed).shuffle(&mut trials);
        }
        libtest_mimic::run(&args.for_mimic(), trials)
    }

    fn trial(&self, case: Case) -> Trial {
        let (board, stop, failed) = (Arc::clone(&self.board), self.stop.clone(), Arc::clone(&self.failed));
        Trial::ignorable_test(case.name, move || {
            if stop.is_some() && failed.load(Ordering::Acquire) {
                return Ok(Completion::ignored_with("not run after the first failure"));
            }
            let verdict = match case.waits_for {
                WaitsFor::View(experiment, View::Item(index)) => board.item(experiment, index),
                WaitsFor::View(experiment, View::Threshold(index)) => board.threshold(experiment, index),
                WaitsFor::View(experiment, View::Whole) => board.whole(experiment),
                WaitsFor::Failure(why) => Verdict::Failed(why),
                WaitsFor::Unselected => Verdict::NotRun,
            };
            match verdict {
                Verdict::Passed => Ok(Completion::Completed),
                Verdict::NotRun => Ok(Completion::ignored_with("not run")),
                Verdict::Failed(why) => {
                    failed.store(true, Ordering::Release);
                    if let Some(session) = stop {
                        session.interrupt();
                    }
                    Err(Failed::from(why))
                }
            }
        })
    }
}

/// What is to be done when the process is asked to end.
struct Stop {
    session: Interrupter,
    board: Arc<Board>,
    runtime: Arc<Mutex<Option<Runtime>>>,
    args: Args,
}

impl Stop {
    /// Keeps what is finished, says how to go on, and ends the process.
    fn now(self) -> ! {
        self.board.close();
        self.session.interrupt();
        self.board.wait_for_all();
        println!();
        tell(&self.args, &self.board);
        shut_down(&self.runtime);
        exit(INTERRUPTED)
    }
}

/// Lets agents that were cancelled drop what they hold, and leaves behind those that block.
fn shut_down(runtime: &Mutex<Option<Runtime>>) {
    let runtime = runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(runtime) = runtime {
        runtime.shutdown_timeout(CLEANING_UP);
    }
}

/// Whether all that was run is done and kept.
enum Whole {
    Yes,
    /// Something was stopped before its end.
    CutOff,
    /// Some results could not be written.
    Unsaved,
}

/// Prints what the experiments came to.
fn tell(args: &Args, board: &Board) -> Whole {
    let mut whole = Whole::Yes;
    let mut cut_off = Vec::new();
    for summary in board.take_summaries() {
        match summary {
            Ok(Summary { text, unsaved }) => {
                print(args, &text);
                if let Some(error) = unsaved {
                    whole = Whole::Unsaved;
                    eprintln!("error: the results are not kept: {error}");
                }
            }
            Err(id) => cut_off.push(id),
        }
    }
    if cut_off.is_empty() {
        return whole;
    }
    let ids = cut_off.join(",");
    eprintln!("stopped before the end; what is finished is kept. Set COBALT_RESUME={ids} to run the rest");
    if matches!(whole, Whole::Yes) { Whole::CutOff } else { whole }
}

/// Prints a text beside the cases.
fn print(args: &Args, text: &str) {
    // Stdout is for the program that reads the JSON.
    if args.is_json() { eprintln!("{text}") } else { println!("{text}") }
}
