//! `cargo cobalt run`: finds, builds and runs experiments, and shows what they do.

mod bars;
mod pipe;
mod process;
mod screen;

use std::io::{self, IsTerminal};
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cobalt::reporters::Event;

pub(crate) use self::process::{Asked, Message, run as run_binary};
use self::screen::{Look, Screen};
use crate::cli::{Color, Run};
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
pub(crate) fn run(arguments: &Run, color: Color) -> Result<ExitCode, Error> {
    let project = Project::read(&arguments.build)?;
    let candidates = project.candidates(&arguments.selection, &arguments.build)?;
    // Ctrl-C is for the test binary, which keeps what is finished and ends; this program then ends with it.
    let interrupted = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&interrupted);
    ctrlc::set_handler(move || heard.store(true, Ordering::Relaxed)).map_err(Error::Signals)?;
    let built = compile(&candidates, &arguments.build, color);
    if interrupted.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    let Built { binaries, foreign } = built?;
    let mut screen = Screen::new(look(arguments, &project));
    if !foreign.is_empty() {
        screen.tell(&format!("left alone, as they do not call `cobalt::main()`: {}", foreign.join(", ")));
    }
    let mut tally = Tally::default();
    for binary in &binaries {
        let environment = environment(&project, binary)?;
        run_one(binary, arguments, &environment, &mut screen, &mut tally)?;
        if interrupted.load(Ordering::Relaxed) {
            tally.worst = INTERRUPTED;
            break;
        }
    }
    screen.summaries()?;
    tally.conclude(arguments, &candidates)
}

fn look(arguments: &Run, project: &Project) -> Look {
    Look {
        live: io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        quiet: arguments.quiet,
        json: false,
        width: stderr_width(),
        paint_stdout: paint(&io::stdout()),
        paint_stderr: paint(&io::stderr()),
        seen_from: std::env::current_dir().unwrap_or_else(|_| project.root().to_owned()),
    }
}

/// The variables for a binary from `.env` files: those of its package before those of the workspace.
pub(crate) fn environment(project: &Project, binary: &Binary) -> Result<Environment, Error> {
    Environment::read(&[&binary.root, project.root()])
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
    environment: &Environment,
    screen: &mut Screen,
    tally: &mut Tally,
) -> Result<(), Error> {
    let variables = variables(arguments, environment);
    let asked = Asked {
        filters: &arguments.selection.filter,
        list: false,
        arguments: &arguments.harness,
        variables: &variables,
        captured: io::stderr().is_terminal() || io::stdout().is_terminal(),
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

/// What the command adds to a binary's variables.
fn variables(arguments: &Run, environment: &Environment) -> Vec<(String, String)> {
    let from_files = environment.from_files().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut variables: Vec<_> = from_files.collect();
    let mut set = |name: &str, value: String| variables.push((name.to_owned(), value));
    if let Some(concurrency) = arguments.concurrency {
        set("COBALT_CONCURRENCY", concurrency.to_string());
    }
    if arguments.ci {
        set("COBALT_CI", "1".to_owned());
    }
    if !arguments.resume.is_empty() {
        set("COBALT_RESUME", arguments.resume.join(","));
    }
    variables
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
