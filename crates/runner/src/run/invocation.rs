//! One invocation of `run` or `merge`: folds each event into the state once, shows it, and computes the exit code at the end.

use std::process::ExitCode;

use cobalt::command::RequestKind;
use cobalt::command::config::MaxCost;
use cobalt::command::exit_code::{BUDGET_SPENT, FAILED, INTERRUPTED, SETUP_ERROR};
use cobalt::recording::RecordMode;
use cobalt_core::reporters::Event;
use cobalt_core::wording::join_quoted;

use super::process::{BinaryRequest, BinaryWithEnv, Message, ProcessExit, run};
use super::screen::Screen;
use crate::cli::RunOptions;
use crate::error::Error;
use crate::interrupt;
use crate::project::Binary;
use crate::reporters::Reporters;
use crate::results::{FinishedExperiment, Output as _, Results, RunState};
use crate::shards::ShardJob;
use crate::terminal::wrap_for_stderr;

/// Shown if something failed and the exit code does not reflect it.
pub const CI_HINT: &str = "Exit code is still 0; use --ci to fail here.";

/// The state of an invocation and its outputs.
pub struct Invocation {
    pub state: RunState,
    pub screen: Screen,
    reporters: Reporters,
    /// The most severe exit code of a binary.
    worst: i32,
    /// The mode of recordings, for the command that resumes; `None` if none was set.
    record_mode: Option<RecordMode>,
    /// The budget, for the command that resumes; `None` if no flag sets one.
    max_cost: Option<MaxCost>,
    /// The flags that name the binaries, for the command that resumes.
    source: String,
}

impl Invocation {
    pub fn new(screen: Screen, reporters: Reporters) -> Self {
        Self {
            state: RunState::default(),
            screen,
            reporters,
            worst: 0,
            record_mode: None,
            max_cost: None,
            source: String::new(),
        }
    }

    /// Sets the mode of recordings, the budget and the flags that name the binaries, so that a resumed run has them, too.
    pub fn set_flags(&mut self, record_mode: Option<RecordMode>, max_cost: Option<MaxCost>, source: String) {
        (self.record_mode, self.max_cost, self.source) = (record_mode, max_cost, source);
    }

    /// Handles an event, received as this line.
    fn on_event(&mut self, event: &Event, line: &str) {
        let is_new = self.state.apply(event);
        self.reporters.on_event(event, &self.state, &self.screen);
        self.screen.show(event, line, is_new, &self.state);
    }

    /// Handles an event of this process.
    pub fn emit(&mut self, event: &Event) -> Result<(), Error> {
        let line = serde_json::to_string(event).map_err(Error::Json)?;
        self.on_event(event, &line);
        Ok(())
    }

    /// Runs the binaries one after another, until Ctrl-C.
    pub fn run(
        &mut self,
        binaries: &[BinaryWithEnv<'_>],
        arguments: &RunOptions,
        job: Option<&ShardJob>,
    ) -> Result<(), Error> {
        let RunOptions { selection, harness: arguments, trace: traces, .. } = arguments;
        let wanted = RequestKind::Run;
        for (binary, variables) in binaries {
            let asked = BinaryRequest { selection, wanted, traces: *traces, arguments, variables };
            let ended = run(binary, asked, |message| match message {
                Message::Event(event, line) => {
                    if let Some(job) = job {
                        job.on_event(&event);
                    }
                    self.on_event(&event, &line);
                }
                Message::Stdout(line) => self.screen.forward_stdout(&line),
                Message::Stderr(line) => self.screen.eprintln(&line),
            })?;
            self.binary_ended(binary, ended, arguments);
            if interrupt::was_received() {
                self.worst = INTERRUPTED;
                break;
            }
        }
        Ok(())
    }

    /// Records why no binary is run, as if a binary had sent the error.
    pub fn abort(&mut self, error: String) -> Result<(), Error> {
        self.worst = SETUP_ERROR;
        self.emit(&Event::Failed { error })
    }

    /// Evaluates how a binary exited.
    fn binary_ended(
        &mut self,
        binary: &Binary,
        ProcessExit { status, reported_code }: ProcessExit,
        arguments: &[String],
    ) {
        self.screen.binary_ended();
        let has_greeted = self.state.has_greeted;
        let running: Vec<_> = self.state.running().map(|running| running.started.name.clone()).collect();
        let name = binary.name();
        let mut code = status.code().unwrap_or_else(|| self.fail(format!("{name} was terminated: {status}")));
        if !has_greeted && matches!(code, 0 | FAILED) && !asks_for_help(arguments) {
            code = self.fail(format!(
                "{name} exited ({status}) before running its experiments; call `cobalt::main()` first in its `main`"
            ));
        }
        if let Some(reported) = reported_code.filter(|reported| severity(*reported) > severity(code)) {
            let what =
                if reported == FAILED { "failures".to_owned() } else { format!("exit code {reported}") };
            self.screen
                .warn(&format!("{name} exited ({status}), but had reported {what}, which takes precedence"));
            code = reported;
        }
        if has_greeted && reported_code.is_none() && running.is_empty() && matches!(code, 0 | FAILED) {
            code = self.fail(format!(
                "{name} exited ({status}) before reporting its result; finished items are saved"
            ));
        }
        for experiment in running {
            if code != INTERRUPTED {
                code = self.fail(format!(
                    "{name} exited ({status}) before experiment `{experiment}` finished; finished items are saved"
                ));
            }
        }
        self.state.binary_ended();
        self.record_exit_code(code);
    }

    /// Adds an error that no event reports. Returns its exit code.
    fn fail(&mut self, error: String) -> i32 {
        self.screen.error(&error);
        self.state.fail(error);
        SETUP_ERROR
    }

    /// Whether the run ended because its budget was used up.
    pub fn has_spent_budget(&self) -> bool {
        self.worst == BUDGET_SPENT
    }

    /// Adds an exit code; the most severe one counts.
    fn record_exit_code(&mut self, code: i32) {
        if severity(code) > severity(self.worst) {
            self.worst = code;
        }
    }

    /// Prints the summaries of the experiments.
    pub fn summaries(&mut self) {
        self.screen.summaries(&self.state);
    }

    /// Prints what to do next and returns the exit code and the results. `ci`: failures count. `has_exit_code`: the exit code of
    /// the command is that of this run. `is_empty`: there was no binary to run. `nothing_matched`: the error if no experiment was
    /// selected.
    pub fn conclude(
        &mut self,
        ci: bool,
        has_exit_code: bool,
        is_empty: bool,
        nothing_matched: impl FnOnce() -> Error,
    ) -> Result<(ExitCode, Results), Error> {
        let resumes = self.state.has_not_resumed();
        for why in self.state.take_not_resumed() {
            let code = self.fail(why);
            self.record_exit_code(code);
        }
        let state = std::mem::take(&mut self.state);
        let selected = state.selected;
        let experiments = state.finished.iter().map(FinishedExperiment::read).collect();
        let results = state.into_results(experiments);
        self.print_resume_hint(&results);
        if selected == 0 && !resumes {
            if is_empty {
                let why = "none of the selected test targets calls `cobalt::main()`";
                return Err(Error::NothingMatched(why.to_owned()));
            }
            return Err(nothing_matched());
        }
        if self.worst == FAILED && !ci && has_exit_code {
            self.screen.eprintln(CI_HINT);
        }
        let code = match self.worst {
            FAILED => u8::from(ci),
            code => u8::try_from(code).unwrap_or(u8::MAX),
        };
        Ok((ExitCode::from(code), results))
    }

    fn print_resume_hint(&self, results: &Results) {
        let (saved, unsaved): (Vec<_>, Vec<_>) =
            results.interrupted.iter().partition(|run| run.has_saved_items);
        if !saved.is_empty() {
            let ids: Vec<_> = saved.iter().map(|run| &*run.id).collect();
            let record = self.record_mode.map(|mode| format!(" --record {mode}"));
            let budget = self.max_cost.map(|max| format!(" --max-cost {max}"));
            let flags: String = record.into_iter().chain(budget).chain([self.source.clone()]).collect();
            self.screen.eprintln("Interrupted; finished items are saved. Resume with:");
            self.screen.eprintln(&format!("  cargo cobalt run --resume {}{flags}", ids.join(",")));
        }
        if !unsaved.is_empty() {
            let names = join_quoted(unsaved.iter().map(|run| &*run.name));
            let hint = format!("No item finished in {names}: run again to start over.");
            self.screen.eprintln(&wrap_for_stderr(&hint));
        }
    }

    /// Passes the results to the reporters.
    pub fn finish(&mut self, results: &Results) -> Result<(), Error> {
        self.reporters.finish(results, &self.screen)
    }
}

/// Whether the harness only prints its help.
fn asks_for_help(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| matches!(&**argument, "--help" | "-h"))
}

/// The severity of an exit code.
fn severity(code: i32) -> u8 {
    match code {
        0 => 0,
        FAILED => 1,
        BUDGET_SPENT => 2,
        INTERRUPTED => 4,
        _ => 3,
    }
}
