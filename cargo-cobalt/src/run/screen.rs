//! What a person sees of a run: headers and items as they come on stderr, and what it came to at the end on stdout.

use std::io::{self, IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use cobalt::config::{Config, ReporterKind};
use cobalt::reporters::{Event, ExperimentFinished, ExperimentStarted, Paint, printable, summary, unpriced};

use super::bars::Bars;
use super::conclusion::{conclusion, still_failed};
use super::lines;
use crate::error::Error;
use crate::reporters::github::{END_GROUP, Guard, group, is_wanted};
use crate::terminal::{for_stderr, for_stdout, paint, print, stderr_width};

/// How things are shown.
#[derive(Clone, Debug)]
struct Look {
    /// Whether people read along.
    cli: bool,
    /// Whether stdout is for the events as JSON; what people read then goes to stderr.
    json: bool,
    /// Whether there are bars and a line for each item: where stderr is a terminal.
    live: bool,
    /// Whether items that pass have no line.
    quiet: bool,
    /// How many columns stderr has, where it is a terminal.
    width: Option<usize>,
    paint_stdout: Paint,
    paint_stderr: Paint,
    /// Paths are shown as seen from here.
    seen_from: PathBuf,
    /// Whether GitHub Actions reads along, and acts on what looks like a command.
    github: bool,
}

/// Shows events.
#[derive(Debug)]
pub(crate) struct Screen {
    look: Look,
    bars: Bars,
    /// Where GitHub Actions reads along, all that is shown goes through it.
    guard: Option<Guard>,
    /// The experiments of the binary that runs, by their numbers.
    running: Vec<ExperimentStarted>,
    /// What those came to that have ended.
    ended: Vec<ExperimentFinished>,
    /// The experiments of all binaries, in their order.
    finished: Vec<ExperimentFinished>,
    /// The names of those that could not be run, or were stopped before their end.
    unfinished: Vec<String>,
    /// Experiments that earlier results fail, and why.
    still_failed: Vec<(String, String)>,
    /// How many experiments were not run for want of a variable.
    ignored: usize,
    /// How many experiments had no item to run.
    skipped: usize,
    /// Why nothing more is written to stdout. What runs is not to be cut short by that.
    stdout_failed: Option<Error>,
}

impl Look {
    fn of(settings: &Config, quiet: bool, seen_from: PathBuf) -> Self {
        let github = is_wanted(settings.reporters());
        let has = |kind| settings.reporters().iter().any(|reporter| reporter.kind == kind);
        let is_dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            cli: has(ReporterKind::Cli) || has(ReporterKind::GithubActions),
            json: has(ReporterKind::Json),
            live: !github && io::stderr().is_terminal() && !is_dumb(),
            quiet,
            width: stderr_width(),
            paint_stdout: paint(&io::stdout()),
            paint_stderr: paint(&io::stderr()),
            seen_from,
            github,
        }
    }
}

impl Screen {
    /// A screen as the reporters ask for it, where items that pass may have no line; paths are shown as seen from a folder.
    pub(crate) fn of(settings: &Config, quiet: bool, seen_from: PathBuf) -> Self {
        let look = Look::of(settings, quiet, seen_from);
        let bars = Bars::new(look.live && look.cli, look.paint_stderr);
        let guard = look.github.then(|| Guard::new(look.json));
        Self {
            look,
            bars,
            guard,
            running: Vec::new(),
            ended: Vec::new(),
            finished: Vec::new(),
            unfinished: Vec::new(),
            still_failed: Vec::new(),
            ignored: 0,
            skipped: 0,
            stdout_failed: None,
        }
    }

    /// Whatever comes next is another binary's.
    pub(crate) fn binary_ended(&mut self) {
        self.bars.clear();
        for (experiment, started) in std::mem::take(&mut self.running).into_iter().enumerate() {
            if self.ended.iter().all(|finished| finished.experiment != experiment) {
                self.unfinished.push(started.name);
            }
        }
        self.ended.sort_by_key(|finished| finished.experiment);
        self.finished.append(&mut self.ended);
    }

    /// Shows an event, which came in this line; for people only if it is new to them.
    pub(crate) fn event(&mut self, event: Event, line: &str, is_new: bool) {
        if self.look.json && (is_new || !matches!(event, Event::Warning(_))) {
            // In JSON, this stands within texts only; a command may begin with it anywhere in a line.
            let line = if self.guard.is_some() { &line.replace("##[", "#\\u0023[") } else { line };
            self.print(&format!("{line}\n"));
        }
        match event {
            Event::ExperimentStarted(started) => {
                if self.look.cli {
                    self.tell(&lines::header(&started, self.look.paint_stderr));
                }
                self.bars.start(&started);
                self.running.push(started);
            }
            Event::RunFinished(run) => self.bars.run_finished(run),
            Event::ItemFinished(item) => {
                let is_wanted = item.fails() || self.look.live && !self.look.quiet;
                if self.look.cli && is_wanted && !item.done_before {
                    let started = self.running.get(item.experiment);
                    self.tell(&lines::item(&item, started, self.look.width, self.look.paint_stderr));
                }
                self.bars.item_finished(&item);
            }
            Event::ExperimentFinished(finished) => {
                self.bars.end(finished.experiment);
                if let Some(error) = &finished.unsaved {
                    self.error(&format!("the results are not kept: {error}"));
                }
                self.ended.push(*finished);
            }
            Event::ExperimentIgnored { name, variable } => {
                self.ignored += 1;
                if self.look.cli {
                    let name = printable(&name);
                    self.tell(&format!(
                        "{}: ignored, as {variable} is not set",
                        self.look.paint_stderr.odd(name)
                    ));
                }
            }
            Event::ExperimentSkipped { name, why } => {
                self.skipped += 1;
                if self.look.cli {
                    let name = self.look.paint_stderr.strong(printable(&name));
                    self.tell(&format!("{name}: nothing to run: {}", printable(&why)));
                }
            }
            Event::ExperimentStillFailed { name, why } => self.still_failed.push((name, why)),
            Event::ExperimentBroken { name, error, .. } => {
                self.error(&error);
                self.unfinished.push(name);
            }
            Event::ExperimentInterrupted { error: Some(error), .. } => self.error(&error),
            Event::Failed { error } if is_new => self.error(&error),
            Event::Warning(warning) if is_new => self.warn(&warning.to_string()),
            _ => {}
        }
    }

    /// A line that came from the agent goes where it was printed to.
    pub(super) fn printed_to_stdout(&mut self, line: &str) {
        if self.look.json {
            self.tell(line);
        } else {
            self.print(&format!("{line}\n"));
        }
    }

    /// Prints on stdout, above the bars.
    fn print(&mut self, text: &str) {
        if self.stdout_failed.is_none() {
            let mut printed = Ok(());
            match &self.guard {
                Some(guard) if !self.look.json => printed = guard.text(text).map_err(Error::Print),
                _ => self.bars.above(|| printed = print(text).map_err(Error::Print)),
            }
            self.stdout_failed = printed.err();
        }
    }

    /// Prints a line on stderr, above the bars.
    pub(crate) fn tell(&self, line: &str) {
        match &self.guard {
            Some(guard) => drop(guard.text(line)),
            None => self.bars.above(|| drop(writeln!(io::stderr(), "{line}"))),
        }
    }

    /// Gives a command to GitHub Actions; nothing where that does not read along.
    pub(crate) fn command(&self, command: &str) {
        if let Some(guard) = &self.guard {
            // The run goes on where nobody reads any more.
            let _ = guard.command(command);
        }
    }

    /// Says on stderr where a reporter has written what the run came to.
    pub(crate) fn wrote(&self, path: &Path) {
        if self.look.cli {
            let path = path.strip_prefix(&self.look.seen_from).unwrap_or(path).display().to_string();
            self.tell(&format!("written: {}", printable(&path)));
        }
    }

    /// Prints on stderr what people want to know beside.
    pub(super) fn note(&self, line: &str) {
        if self.look.cli {
            self.tell(&for_stderr(line));
        }
    }

    /// Prints on stderr what people might do next, where one sits at a terminal and wants to read.
    pub(super) fn hint(&self, line: &str) {
        if self.look.cli && self.look.live && !self.look.json && !self.look.quiet {
            self.tell(&self.look.paint_stderr.faint(for_stderr(line)));
        }
    }

    /// Prints on stderr what went wrong and fails nothing.
    pub(crate) fn warn(&self, warning: &str) {
        let line = format!("{}: {}", self.look.paint_stderr.odd("warning"), printable(warning));
        self.tell(&for_stderr(&line));
    }

    pub(super) fn error(&self, error: &str) {
        let line = format!("{}: {}", self.look.paint_stderr.bad("error"), printable(error));
        self.tell(&for_stderr(&line));
    }

    /// The experiments of all binaries that came to their end, in the order in which they stand in the source.
    pub(super) fn finished(&self) -> &[ExperimentFinished] {
        &self.finished
    }

    /// What the experiments came to, in the order in which they stand in the source.
    pub(crate) fn summaries(&mut self) {
        if !self.look.cli {
            return;
        }
        let paint = if self.look.json { self.look.paint_stderr } else { self.look.paint_stdout };
        let mut text = String::new();
        for finished in &self.finished {
            let summary = summary(finished, &self.look.seen_from, paint);
            if self.guard.is_some() {
                self.command(&group(&finished.report.name));
                self.tell(summary.trim_end());
                self.command(END_GROUP);
            } else {
                text += &format!("\n{summary}");
            }
        }
        text += &still_failed(&self.still_failed, paint);
        text += &conclusion(
            &self.finished,
            &self.unfinished,
            [self.ignored, self.skipped],
            &self.still_failed,
            paint,
        );
        let models = self.finished.iter().flat_map(|finished| &finished.report.summary.unpriced_models);
        if let Some(note) = unpriced(models) {
            text += &format!("\n{note}\n");
        }
        if self.look.json {
            self.tell(&for_stderr(text.trim_end()));
        } else if !text.is_empty() {
            self.print(&for_stdout(&text));
        }
    }

    /// Why not all could be written to stdout. That nobody reads any more is no error.
    pub(crate) fn into_result(self) -> Result<(), Error> {
        self.stdout_failed.filter(|error| !error.is_broken_pipe()).map_or(Ok(()), Err)
    }
}
