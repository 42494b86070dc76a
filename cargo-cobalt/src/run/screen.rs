//! What a person sees of a run: headers and items as they come on stderr, and what it came to at the end on stdout.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use cobalt::reporters::{
    Event, ExperimentFinished, ExperimentStarted, ItemFinished, Paint, printable, summary, time,
};

use super::bars::Bars;
use crate::error::Error;
use crate::terminal::print;

/// How things are shown.
#[derive(Clone, Debug)]
pub(super) struct Look {
    /// Whether people read along.
    pub(super) cli: bool,
    /// Whether stdout is for the events as JSON; what people read then goes to stderr.
    pub(super) json: bool,
    /// Whether there are bars and a line for each item: where stderr is a terminal.
    pub(super) live: bool,
    /// Whether items that pass have no line.
    pub(super) quiet: bool,
    /// How many columns stderr has, where it is a terminal.
    pub(super) width: Option<usize>,
    pub(super) paint_stdout: Paint,
    pub(super) paint_stderr: Paint,
    /// Paths are shown as seen from here.
    pub(super) seen_from: PathBuf,
}

/// Shows events.
#[derive(Debug)]
pub(super) struct Screen {
    look: Look,
    bars: Bars,
    /// The experiments of the binary that runs, by their numbers.
    running: Vec<ExperimentStarted>,
    finished: Vec<ExperimentFinished>,
}

impl Screen {
    pub(super) fn new(look: Look) -> Self {
        Self { bars: Bars::new(look.live && look.cli), look, running: Vec::new(), finished: Vec::new() }
    }

    /// A new binary starts, or the last has ended.
    pub(super) fn next_binary(&mut self) {
        self.bars.clear();
        self.running.clear();
    }

    /// Shows an event, which came in this line.
    pub(super) fn event(&mut self, event: Event, line: &str) -> Result<(), Error> {
        if self.look.json {
            print(&format!("{line}\n"))?;
        }
        match event {
            Event::ExperimentStarted(started) => {
                if self.look.cli {
                    self.tell(&header(&started, self.look.paint_stderr));
                }
                self.bars.start(&started);
                self.running.push(started);
            }
            Event::RunFinished(run) => self.bars.run_finished(run),
            Event::ItemFinished(item) => {
                if self.look.cli && (!item.passed || self.look.live && !self.look.quiet) {
                    self.tell(&self.item(&item));
                }
                self.bars.item_finished(&item);
            }
            Event::ExperimentFinished(finished) => {
                self.bars.end(finished.experiment);
                if let Some(error) = &finished.unsaved {
                    self.error(&format!("the results are not kept: {error}"));
                }
                self.finished.push(*finished);
            }
            Event::ExperimentBroken { error, .. } | Event::Failed { error } => self.error(&error),
            _ => {}
        }
        Ok(())
    }

    /// Whether what binaries print by themselves would get in the way of what is shown.
    pub(super) fn is_shared(&self) -> bool {
        self.look.json || self.look.cli && (io::stderr().is_terminal() || io::stdout().is_terminal())
    }

    /// A line that came from the agent goes where it was printed to.
    pub(super) fn printed_to_stdout(&self, line: &str) {
        if self.look.json {
            return self.tell(line);
        }
        // Where nobody reads any more, the run goes on all the same.
        self.bars.above(|| drop(writeln!(io::stdout(), "{line}")));
    }

    /// Prints a line on stderr, above the bars.
    pub(super) fn tell(&self, line: &str) {
        self.bars.above(|| drop(writeln!(io::stderr(), "{line}")));
    }

    pub(super) fn error(&self, error: &str) {
        self.tell(&format!("{}: {}", self.look.paint_stderr.bad("error"), printable(error)));
    }

    /// What the experiments came to, in the order in which they stand in the source.
    pub(super) fn summaries(&mut self) -> Result<(), Error> {
        if !self.look.cli {
            return Ok(());
        }
        let paint = if self.look.json { self.look.paint_stderr } else { self.look.paint_stdout };
        let mut text = String::new();
        for finished in &self.finished {
            text += "\n";
            text += &summary(finished, &self.look.seen_from, paint);
        }
        if self.finished.len() > 1 {
            let passed = self.finished.iter().filter(|finished| finished.report.passed).count();
            let all = self.finished.len();
            let failed = all - passed;
            let _ = write!(text, "\n{all} experiments: {passed} passed");
            if failed > 0 {
                let _ = write!(text, ", {}", paint.bad(format!("{failed} failed")));
            }
            text += "\n";
        }
        if self.look.json {
            self.tell(text.trim_end());
            return Ok(());
        }
        print(&text)
    }

    /// Puts the experiments of the binary that has ended in their order.
    pub(super) fn sort(&mut self, from: usize) {
        self.finished[from..].sort_by_key(|finished| finished.experiment);
    }

    pub(super) fn finished(&self) -> usize {
        self.finished.len()
    }

    fn item(&self, item: &ItemFinished) -> String {
        let paint = self.look.paint_stderr;
        let started = self.running.get(item.experiment);
        let experiment = started.map_or_else(String::new, |started| format!("{}::", started.name));
        let name = printable(&format!("{experiment}{}", item.item)).into_owned();
        let sign = match (item.passed, item.low.is_empty()) {
            (false, _) => paint.bad("✗"),
            (true, false) => paint.odd("~"),
            (true, true) => paint.good("✓"),
        };
        let mut line = format!("  {sign} {}  {name}", paint.faint(format!("{:>6}", time(item.latency_ms))));
        let taken = 12 + name.chars().count();
        line += &self.scores(item, started.map_or(&[], |started| &started.evaluators), taken);
        match (&item.why, &item.error) {
            // The first line names the item.
            (Some(why), _) => why.lines().skip(1).for_each(|reason| {
                let _ = write!(line, "\n    {}", reason.trim_end());
            }),
            (None, Some(error)) => {
                let _ = write!(line, "  {}", paint.bad(printable(error).replace('\n', " ")));
            }
            (None, None) => {}
        }
        line
    }

    /// An item's scores: with the evaluators' names where these fit into the line, of which so many columns are taken.
    fn scores(&self, item: &ItemFinished, evaluators: &[String], taken: usize) -> String {
        let scored = || evaluators.iter().filter_map(|name| Some((name, *item.scores.get(name)?)));
        let named: usize = scored().map(|(name, _)| name.chars().count() + "  0.00 ".len()).sum();
        let fits = self.look.width.is_none_or(|width| taken + named <= width);
        let score = |(name, score): (&String, f64)| {
            let text = if fits { format!("{} {score:.2}", printable(name)) } else { format!("{score:.2}") };
            let is_low = item.low.contains(name);
            format!("  {}", if is_low { self.look.paint_stderr.odd(text) } else { text })
        };
        scored().map(score).collect()
    }
}

/// What is about to run, in a line.
fn header(started: &ExperimentStarted, paint: Paint) -> String {
    let ExperimentStarted { name, items, runs, evaluators, concurrency, timeout_ms, done, .. } = started;
    let count = |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    let mut line = format!(
        "{}: {} × {} × {}, {concurrency} at a time, timeout {}",
        paint.strong(printable(name)),
        count(*items, "item"),
        count(*runs, "run"),
        count(evaluators.len(), "evaluator"),
        timeout(*timeout_ms),
    );
    if *done > 0 {
        let _ = write!(line, ", {done} done before");
    }
    if started.partial {
        line += ", partial run";
    }
    line
}

/// A limit as it is written: `30s`, `500ms`.
fn timeout(milliseconds: u64) -> String {
    if milliseconds.is_multiple_of(1000) {
        format!("{}s", milliseconds / 1000)
    } else {
        format!("{milliseconds}ms")
    }
}
