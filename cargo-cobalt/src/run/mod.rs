//! `cargo cobalt run`: finds, builds and runs experiments, and shows what they do.

mod bars;
mod pipe;
mod process;
mod screen;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cobalt::config::{Config, Flags, Reporter};
use cobalt::reporters::Event;

pub(crate) use self::process::{Asked, Message, run as run_binary};
use self::screen::{Look, Screen};
use crate::cli::{Color, Run};
use crate::config::settings_of;
use crate::environment::Environment;
use crate::error::Error;
use crate::project::{Binary, Built, Candidate, Project, compile};
use crate::terminal::{paint, stderr_width};

/// The exit code of a test binary in which a case failed.
const FAILED: i32 = 101;
/// The exit code of a test binary that was stopped by Ctrl-C.
const INTERRUPTED: i32 = 130;
/// The exit code where something could not be built, run or kept.
const UNFIT: i32 = 3;

/// Runs the selected experiments, one test binary after another.
pub(crate) fn run(arguments: &Run, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    let project = Project::read(&arguments.build)?;
    let candidates = project.candidates(&arguments.selection, &arguments.build, flags)?;
    // Ctrl-C is for the test binary, which keeps what is finished and ends; this program then ends with it.
    let interrupted = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&interrupted);
    ctrlc::set_handler(move || heard.store(true, Ordering::Relaxed)).map_err(Error::Signals)?;
    let built = compile(&candidates, &arguments.build, color);
    if interrupted.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    let Built { binaries, foreign } = built?;
    let look = look(arguments, &project, &settings_of(project.root(), flags)?);
    let mut screen = Screen::new(look);
    if !foreign.is_empty() {
        screen.tell(&format!("left alone: {}", foreign.join("; ")));
    }
    let mut tally = Tally::default();
    for binary in &binaries {
        let variables = variables(&project, binary, flags)?;
        run_one(binary, arguments, variables, &mut screen, &mut tally)?;
        if interrupted.load(Ordering::Relaxed) {
            tally.worst = INTERRUPTED;
            break;
        }
    }
    screen.summaries()?;
    tally.conclude(arguments, &candidates)
}

fn look(arguments: &Run, project: &Project, settings: &Config) -> Look {
    Look {
        cli: settings.reporters().contains(&Reporter::Cli),
        json: settings.reporters().contains(&Reporter::Json),
        live: io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        quiet: arguments.quiet,
        width: stderr_width(),
        paint_stdout: paint(&io::stdout()),
        paint_stderr: paint(&io::stderr()),
        seen_from: std::env::current_dir().unwrap_or_else(|_| project.root().to_owned()),
    }
}

/// What is added to a binary's variables, what counts more behind what counts less: those from `.env` files, of its package
/// before those of the workspace; then cargo's; then the flags.
pub(crate) fn variables(
    project: &Project,
    binary: &Binary,
    flags: &Flags,
) -> Result<Vec<(String, OsString)>, Error> {
    let environment = Environment::read(&[&binary.root, project.root()])?;
    let from_files = environment.of_files().map(|(name, value)| (name.to_owned(), value.into()));
    let from_flags = flags.variables().into_iter().map(|(name, value)| (name.to_owned(), value));
    let from_cargo = binary.variables.iter().map(|(name, value)| (name.clone(), value.into()));
    Ok(from_files.chain(from_cargo).chain(from_flags).collect())
}

/// What is known of the run as a whole.
#[derive(Debug, Default)]
struct Tally {
    /// The worst exit code of a binary.
    worst: i32,
    /// How many experiments were selected, broken ones too.
    selected: usize,
    /// Ids of runs that were stopped before their end.
    cut_off: Vec<String>,
    /// Errors that were shown: each binary may say the same.
    errors: Vec<String>,
}

fn run_one(
    binary: &Binary,
    arguments: &Run,
    mut variables: Vec<(String, OsString)>,
    screen: &mut Screen,
    tally: &mut Tally,
) -> Result<(), Error> {
    if !arguments.resume.is_empty() {
        variables.push(("COBALT_RESUME".to_owned(), arguments.resume.join(",").into()));
    }
    let asked = Asked {
        filters: &arguments.selection.filter,
        list: false,
        arguments: &arguments.harness,
        variables: &variables,
        captured: screen.is_shared(),
    };
    let finished_before = screen.finished();
    screen.next_binary();
    let mut greeted = false;
    let status = run_binary(binary, asked, |message| {
        match message {
            Message::Event(event, line) => {
                greeted |= matches!(event, Event::Hello { .. });
                if tally.hear(&event) {
                    screen.event(event, &line)?;
                }
            }
            Message::Stdout(line) => screen.printed_to_stdout(&line),
            Message::Stderr(line) => screen.tell(&line),
            Message::NoMoreEvents | Message::Ended(_) => {}
        }
        Ok(())
    })?;
    screen.next_binary();
    screen.sort(finished_before);
    // One that was asked for the lines of a test printed them by itself.
    tally.selected += usize::from(!greeted);
    tally.ended(binary, status, screen);
    Ok(())
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

impl Tally {
    /// Takes an event in; whether it is to be shown.
    fn hear(&mut self, event: &Event) -> bool {
        match event {
            Event::ExperimentStarted(_) | Event::ExperimentBroken { .. } => self.selected += 1,
            Event::ExperimentInterrupted { id, .. } => self.cut_off.push(id.clone()),
            Event::Failed { error } => {
                self.selected += 1;
                let is_new = !self.errors.contains(error);
                self.errors.push(error.clone());
                return is_new;
            }
            _ => {}
        }
        true
    }

    fn ended(&mut self, binary: &Binary, status: ExitStatus, screen: &Screen) {
        let code = status.code().unwrap_or_else(|| {
            screen.error(&format!("`{}` of package `{}`: {status}", binary.target, binary.package.name));
            UNFIT
        });
        if gravity(code) > gravity(self.worst) {
            self.worst = code;
        }
    }

    fn conclude(self, arguments: &Run, candidates: &[Candidate]) -> Result<ExitCode, Error> {
        if !self.cut_off.is_empty() {
            let ids = self.cut_off.join(",");
            eprintln!(
                "stopped before the end; what is finished is kept. The rest: cargo cobalt run --resume {ids}"
            );
        }
        if self.selected == 0 {
            let targets: Vec<_> =
                candidates.iter().map(|candidate| format!("`{}`", candidate.target)).collect();
            return Err(Error::NothingMatched(format!(
                "none in {} matches; `cargo cobalt list` names all",
                targets.join(", ")
            )));
        }
        Ok(ExitCode::from(match self.worst {
            0 => 0,
            FAILED => u8::from(arguments.ci),
            code => u8::try_from(code).unwrap_or(u8::MAX),
        }))
    }
}
