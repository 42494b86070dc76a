//! What a run comes to as a whole: which exit code, and what is left to do.

use std::collections::BTreeMap;
use std::process::ExitCode;

use cobalt::exit_code::{FAILED, INTERRUPTED, UNFIT};
use cobalt::reporters::{Event, ExperimentStarted};

use super::process::Ended;
use super::screen::Screen;
use crate::error::Error;
use crate::project::Binary;
use crate::reporters::{CutOff, Finished, Results};

/// What is said where something failed, and that does not count.
pub(crate) const FAILS_WITH_CI: &str = "the exit code is 0 all the same; with --ci it is 1";

/// What is known of the run as a whole.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The gravest exit code of a binary.
    worst: i32,
    /// How many experiments were selected, broken ones too.
    selected: usize,
    /// Ids of runs that are under way or have ended.
    started: Vec<String>,
    /// Runs that a binary did not resume, and why.
    not_resumed: BTreeMap<String, String>,
    /// What is known for the reporters; each of several binaries may tell the same error.
    results: Results,
    /// Whether the binary at hand has said hello.
    greeted: bool,
    /// The experiments of the binary at hand that have started and not ended.
    running: BTreeMap<usize, ExperimentStarted>,
}

impl Tally {
    /// Takes an event in; whether it is to be shown.
    pub(super) fn hear(&mut self, event: &Event) -> bool {
        // Each of several binaries may give the same warning.
        if matches!(event, Event::Warning(warning) if self.results.warnings.contains(warning)) {
            return false;
        }
        self.results.hear(event);
        match event {
            Event::Hello { .. } => self.greeted = true,
            Event::TestOutput { experiments } => self.selected += experiments,
            Event::ExperimentBroken { .. }
            | Event::ExperimentIgnored { .. }
            | Event::ExperimentSkipped { .. } => self.selected += 1,
            Event::ExperimentStarted(started) => {
                self.selected += 1;
                self.started.push(started.id.clone());
                self.running.insert(started.experiment, started.clone());
            }
            Event::ExperimentFinished(finished) => drop(self.running.remove(&finished.experiment)),
            Event::ExperimentInterrupted { id, .. } => self.running.retain(|_, running| running.id != *id),
            Event::NotResumed { id, error } => drop(self.not_resumed.insert(id.clone(), error.clone())),
            Event::Failed { error } => {
                self.selected += 1;
                let is_new = !self.results.errors.contains(error);
                if is_new {
                    self.results.errors.push(error.clone());
                }
                return is_new;
            }
            _ => {}
        }
        true
    }

    /// The binary at hand has ended.
    pub(super) fn ended(
        &mut self,
        binary: &Binary,
        Ended { status, told }: Ended,
        arguments: &[String],
        screen: &Screen,
    ) {
        let mut code = status.code().unwrap_or_else(|| {
            self.fail(format!("{} was ended: {status}", binary.name()), screen);
            UNFIT
        });
        if !self.greeted && matches!(code, 0 | FAILED) && !asks_for_help(arguments) {
            let name = binary.name();
            self.fail(
                format!(
                    "{name} ended ({status}) before it ran its experiments; `cobalt::main()` is to be the first that its \
                     `main` calls"
                ),
                screen,
            );
            code = UNFIT;
        }
        if let Some(told) = told.filter(|told| gravity(*told) > gravity(code)) {
            let name = binary.name();
            let what = if told == FAILED { "failures".to_owned() } else { format!("exit code {told}") };
            screen.warn(&format!("{name} ended ({status}), but reported {what} before; that counts"));
            code = told;
        }
        if self.greeted && told.is_none() && self.running.is_empty() && matches!(code, 0 | FAILED) {
            let name = binary.name();
            let error =
                format!("{name} ended ({status}) before it reported its result; finished items are saved");
            self.fail(error, screen);
            code = UNFIT;
        }
        for (_, running) in std::mem::take(&mut self.running) {
            let ExperimentStarted { name, id, declared_at, .. } = running;
            if code != INTERRUPTED {
                let binary = binary.name();
                let error = format!(
                    "{binary} ended ({status}) before experiment `{name}` did; finished items are saved"
                );
                self.fail(error, screen);
                code = UNFIT;
            }
            self.results.cut_off.push(CutOff { name, id, kept: true, declared_at });
        }
        // Help was asked for, and given.
        self.selected += usize::from(!self.greeted);
        self.greeted = false;
        if gravity(code) > gravity(self.worst) {
            self.worst = code;
        }
    }

    /// No binary is run, for this reason, which is told as if one of them had.
    pub(super) fn refuse(&mut self, error: &str, screen: &mut Screen) -> Result<(), Error> {
        let event = Event::Failed { error: error.to_owned() };
        let line = serde_json::to_string(&event).map_err(|error| Error::Print(error.into()))?;
        let is_new = self.hear(&event);
        screen.event(event, &line, is_new);
        self.worst = UNFIT;
        Ok(())
    }

    /// This program was asked to end.
    pub(super) fn interrupted(&mut self) {
        self.worst = INTERRUPTED;
    }

    /// Something went wrong that no event tells.
    fn fail(&mut self, error: String, screen: &Screen) {
        screen.error(&error);
        self.results.errors.push(error);
    }

    /// Says what is left to do, and gives the exit code and what is known for the reporters. `ci` is whether failures count;
    /// `has_exit_code` is whether the exit code is that of this run, and `nothing_matched` the error where no experiment was
    /// selected.
    pub(super) fn conclude(
        mut self,
        ci: bool,
        has_exit_code: bool,
        binaries: &[Binary],
        nothing_matched: impl FnOnce() -> Error,
        screen: &Screen,
    ) -> Result<(ExitCode, Results), Error> {
        let mut worst = self.worst;
        let resumes = !self.not_resumed.is_empty();
        for (id, why) in std::mem::take(&mut self.not_resumed) {
            if !self.started.contains(&id) {
                self.fail(why, screen);
                worst = if gravity(worst) < gravity(UNFIT) { UNFIT } else { worst };
            }
        }
        let cut_off = &self.results.cut_off;
        let kept: Vec<_> = cut_off.iter().filter(|run| run.kept).map(|run| &*run.id).collect();
        if !kept.is_empty() {
            screen.tell("Interrupted; finished items are saved. Resume with:");
            screen.tell(&format!("  cargo cobalt run --resume {}", kept.join(",")));
        } else if !cut_off.is_empty() {
            screen.tell("Interrupted before any item was finished.");
        }
        if self.selected == 0 && !resumes {
            if binaries.is_empty() {
                let why = "none of the test targets that were chosen calls `cobalt::main()`";
                return Err(Error::NothingMatched(why.to_owned()));
            }
            return Err(nothing_matched());
        }
        if worst == FAILED && !ci && has_exit_code {
            screen.tell(FAILS_WITH_CI);
        }
        let code = match worst {
            FAILED => u8::from(ci),
            code => u8::try_from(code).unwrap_or(u8::MAX),
        };
        self.results.experiments = screen.finished().iter().map(Finished::read).collect();
        Ok((ExitCode::from(code), self.results))
    }
}

/// Whether the harness prints its help, and nothing is run.
fn asks_for_help(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| matches!(&**argument, "--help" | "-h"))
}

/// How grave an exit code is beside others.
fn gravity(code: i32) -> u8 {
    match code {
        0 => 0,
        FAILED => 1,
        INTERRUPTED => 3,
        _ => 2,
    }
}
