//! Terminal output of a run: headers and items on stderr as they happen, the summary on stdout at the end.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use cobalt::command::config::{Config, ReporterKind};
use cobalt_core::report::{DatasetSummary, RunVerdict};
use cobalt_core::reporters::{
    Event, ExperimentFinished, ExperimentStarted, ItemFinished, Style, TrialTrace, escape_control,
    format_duration, format_fetch, render_ranking, render_summary, unpriced_note,
};
use cobalt_core::wording::count;

use super::progress_bars::ProgressBars;
use crate::error::Error;
use crate::reporters::github::is_enabled;
use crate::reporters::{CommandGuard, END_GROUP, group};
use crate::results::{ExperimentProgress, MissingResult, Output, RunState};
use crate::terminal::{
    columns, paint, print, stderr_width, truncate_to_width, wrap_for_stderr, wrap_for_stdout,
};

/// Display options.
#[derive(Clone, Debug)]
struct DisplayOptions {
    /// Whether output for people is on.
    cli: bool,
    /// Whether stdout carries JSON events; output for people then goes to stderr.
    json: bool,
    /// Whether bars and per-item lines are shown: if stderr is a terminal.
    live: bool,
    items: ItemLines,
    /// Columns of stderr if it is a terminal.
    width: Option<usize>,
    paint_stdout: Style,
    paint_stderr: Style,
    /// Paths are shown relative to this folder.
    seen_from: PathBuf,
    /// Whether GitHub Actions reads the output and interprets workflow commands.
    github: bool,
}

/// Which lines are printed for items.
#[derive(Clone, Copy, Debug, Default)]
pub struct ItemLines {
    /// Whether lines of passing items are hidden.
    pub quiet: bool,
    /// Whether each line is followed by the item's trace. It is then also printed if stderr is not a terminal.
    pub traces: bool,
}

/// Prints events.
#[derive(Debug)]
pub struct Screen {
    look: DisplayOptions,
    bars: ProgressBars,
    /// On GitHub Actions, all output goes through it.
    guard: Option<CommandGuard>,
    /// Why writing to stdout stopped. The run continues.
    stdout_failed: Option<Error>,
}

impl DisplayOptions {
    fn of(settings: &Config, items: ItemLines, seen_from: PathBuf) -> Self {
        let github = is_enabled(settings.reporters());
        let has = |kind| settings.reporters().iter().any(|reporter| reporter.kind == kind);
        let is_dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            cli: has(ReporterKind::Cli) || has(ReporterKind::GithubActions),
            json: has(ReporterKind::Json),
            live: !github && io::stderr().is_terminal() && !is_dumb(),
            items,
            width: stderr_width(),
            paint_stdout: paint(&io::stdout()),
            paint_stderr: paint(&io::stderr()),
            seen_from,
            github,
        }
    }
}

impl Screen {
    /// A screen for the configured reporters. Paths are relative to `seen_from`.
    pub fn of(settings: &Config, items: ItemLines, seen_from: PathBuf) -> Self {
        let look = DisplayOptions::of(settings, items, seen_from);
        let bars = ProgressBars::new(look.live && look.cli, look.paint_stderr);
        let guard = look.github.then(|| CommandGuard::new(look.json));
        Self { look, bars, guard, stdout_failed: None }
    }

    /// Resets the bars for the next binary.
    pub fn binary_ended(&mut self) {
        self.bars.clear();
    }

    /// Shows an event that is already in the state; `line` is its JSON. Repeated errors and warnings are not shown to people.
    pub fn show(&mut self, event: &Event, line: &str, is_new: bool, state: &RunState) {
        if self.look.json && (is_new || !matches!(event, Event::Warning(_))) {
            // In JSON this occurs only within strings; a workflow command can start with it anywhere in a line.
            let line = if self.guard.is_some() { &line.replace("##[", "#\\u0023[") } else { line };
            self.print(&format!("{line}\n"));
        }
        match event {
            Event::ExperimentStarted(started) => {
                if self.look.cli {
                    self.eprintln(&header(started, self.look.paint_stderr));
                }
                self.bars.start(started);
            }
            Event::RunFinished(run) => {
                if let Some(experiment) = state.experiment(run.experiment) {
                    self.bars.run_finished(*run, experiment);
                }
            }
            Event::ItemFinished(item) => self.item_finished(item, state.experiment(item.experiment)),
            Event::ExperimentFinished(finished) => {
                self.bars.end(finished.experiment);
                if let Some(error) = &finished.unsaved {
                    self.error(&format!("the results are not saved: {error}"));
                }
            }
            Event::ExperimentIgnored { name, variable } if self.look.cli => {
                let name = self.look.paint_stderr.warning(escape_control(name));
                self.eprintln(&format!("{name}: ignored because {variable} is not set"));
            }
            Event::ExperimentSkipped { name, why } if self.look.cli => {
                let name = self.look.paint_stderr.bold(escape_control(name));
                self.eprintln(&format!("{name}: nothing to run: {}", escape_control(why)));
            }
            Event::ExperimentBroken { error, .. }
            | Event::ExperimentInterrupted { error: Some(error), .. } => {
                self.error(error);
            }
            Event::Failed { error } if is_new => self.error(error),
            Event::Warning(warning) if is_new => self.warn(&warning.to_string()),
            _ => {}
        }
    }

    fn item_finished(&mut self, item: &ItemFinished, experiment: Option<&ExperimentProgress>) {
        let ItemLines { quiet, traces } = self.look.items;
        let is_wanted = item.fails() || (self.look.live || traces) && !quiet;
        if self.look.cli && is_wanted && !item.done_before {
            let started = experiment.map(|experiment| &experiment.started);
            let (width, paint) = (self.look.width, self.look.paint_stderr);
            self.eprintln(&(item_line(item, started, width, paint) + &trace_lines(item, width, paint)));
        }
        if let Some(experiment) = experiment {
            self.bars.item_finished(item, experiment);
        }
    }

    /// Forwards a line that the agent printed to stdout.
    pub fn forward_stdout(&mut self, line: &str) {
        if self.look.json {
            self.eprintln(line);
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
                _ => self.bars.suspend(|| printed = print(text).map_err(Error::Print)),
            }
            self.stdout_failed = printed.err();
        }
    }

    /// Prints a note for people on stderr.
    pub fn note(&self, line: &str) {
        if self.look.cli {
            self.eprintln(&wrap_for_stderr(line));
        }
    }

    /// Prints a suggestion on stderr, only on a terminal and unless `--quiet`.
    pub fn hint(&self, line: &str) {
        if self.look.cli && self.look.live && !self.look.json && !self.look.items.quiet {
            self.eprintln(&self.look.paint_stderr.faint(wrap_for_stderr(line)));
        }
    }

    pub fn error(&self, error: &str) {
        let line = format!("{}: {}", self.look.paint_stderr.error("error"), escape_control(error));
        self.eprintln(&wrap_for_stderr(&line));
    }

    /// Prints the summaries of the experiments in source order.
    pub fn summaries(&mut self, state: &RunState) {
        if !self.look.cli {
            return;
        }
        let paint = if self.look.json { self.look.paint_stderr } else { self.look.paint_stdout };
        let mut text = String::new();
        for finished in &state.finished {
            let summary = render_summary(finished, &self.look.seen_from, paint);
            if self.guard.is_some() {
                self.command(&group(&finished.report.name));
                self.eprintln(summary.trim_end());
                self.command(END_GROUP);
            } else {
                text += &format!("\n{summary}");
            }
        }
        for ranking in &state.rankings {
            text += &format!("\n{}", render_ranking(ranking, paint));
        }
        text += &still_failed_lines(state, paint);
        text += &overall_summary(state, paint);
        let models = state.finished.iter().flat_map(|finished| &finished.report.summary.unpriced_models);
        if let Some(note) = unpriced_note(models) {
            text += &format!("\n{note}\n");
        }
        if self.look.json {
            self.eprintln(&wrap_for_stderr(text.trim_end()));
        } else if !text.is_empty() {
            self.print(&wrap_for_stdout(&text));
        }
    }

    /// Returns the error of writing to stdout, if any. A closed pipe is not an error.
    pub fn into_result(self) -> Result<(), Error> {
        self.stdout_failed.filter(|error| !error.is_broken_pipe()).map_or(Ok(()), Err)
    }
}

impl Output for Screen {
    /// Prints the line above the bars.
    fn eprintln(&self, line: &str) {
        match &self.guard {
            Some(guard) => drop(guard.text(line)),
            None => self.bars.suspend(|| drop(writeln!(io::stderr(), "{line}"))),
        }
    }

    fn command(&self, command: &str) {
        if let Some(guard) = &self.guard {
            // The run continues even if the output is closed.
            let _ = guard.command(command);
        }
    }

    fn wrote(&self, path: &Path) {
        if self.look.cli {
            let path = path.strip_prefix(&self.look.seen_from).unwrap_or(path).display().to_string();
            self.eprintln(&format!("written: {}", escape_control(&path)));
        }
    }

    fn warn(&self, warning: &str) {
        let line = format!("{}: {}", self.look.paint_stderr.warning("warning"), escape_control(warning));
        self.eprintln(&wrap_for_stderr(&line));
    }
}

/// The mark of an item whose latency is that of a recording.
const REPLAYED: &str = "replayed";

/// The line of a finished item, on a terminal with `width` columns.
fn item_line(
    item: &ItemFinished,
    started: Option<&ExperimentStarted>,
    width: Option<usize>,
    paint: Style,
) -> String {
    let experiment = started.map_or_else(String::new, |started| format!("{}::", started.name));
    let name = escape_control(&format!("{experiment}{}", item.item)).into_owned();
    let sign = match (item.fails(), item.low.is_empty()) {
        (true, _) => paint.error("✗"),
        (false, false) => paint.warning("~"),
        (false, true) => paint.success("✓"),
    };
    let mut line =
        format!("  {sign} {}  {name}", paint.faint(format!("{:>6}", format_duration(item.latency_ms))));
    let mark = if item.replayed { REPLAYED.len() + 2 } else { 0 };
    let room = width.map(|width| width.saturating_sub(12 + columns(&name) + mark));
    line += &scores(item, started.map_or(&[], |started| &started.evaluators), room, paint);
    if item.replayed {
        line += &format!("  {}", paint.faint(REPLAYED));
    }
    match (&item.why, &item.error) {
        // The first line names the item.
        (Some(why), _) => why.lines().skip(1).for_each(|reason| {
            let _ = write!(line, "\n    {}", reason.trim_end());
        }),
        (None, Some(error)) => {
            let _ = write!(line, "  {}", paint.error(escape_control(error).replace('\n', " ")));
        }
        (None, None) => {}
    }
    line
}

/// The traces of an item's trials, each line below the item's; empty if the event has none.
fn trace_lines(item: &ItemFinished, width: Option<usize>, paint: Style) -> String {
    let mut text = String::new();
    let several = item.traces.len() > 1 || item.traces.iter().any(|trace| trace.run > 0);
    for TrialTrace { run, spans, dropped_spans } in &item.traces {
        let heading = several.then(|| format!("trial {}", run + 1));
        let outline = spans.outline_in_full(*dropped_spans);
        for line in heading.iter().map(String::as_str).chain(outline.lines()) {
            let line = format!("      {line}");
            let line = width.map_or(line.clone(), |width| truncate_to_width(&line, width));
            let _ = write!(text, "\n{}", paint.faint(line));
        }
    }
    text
}

/// An item's scores: all if they fit into `room` columns, otherwise those below their pass mark.
fn scores(item: &ItemFinished, evaluators: &[String], room: Option<usize>, paint: Style) -> String {
    let scored = || evaluators.iter().filter_map(|name| Some((name, *item.scores.get(name)?)));
    let named: usize = scored().map(|(name, _)| columns(name) + "   0.00".len()).sum();
    let fits = room.is_none_or(|room| named <= room);
    let score = |(name, score): (&String, f64)| {
        let text = format!("{} {score:.2}", escape_control(name));
        let is_low = item.low.contains(name);
        let text = if is_low { paint.warning(text) } else { text };
        (fits || is_low).then(|| format!("  {text}"))
    };
    scored().filter_map(score).collect()
}

/// A line on what is about to run, and one on fetched data.
fn header(started: &ExperimentStarted, paint: Style) -> String {
    let ExperimentStarted {
        name, dataset, items, runs, evaluators, concurrency, timeout_ms, done, why, ..
    } = started;
    let mut line = format!(
        "{}: {} × {} × {}, {concurrency} in parallel, timeout {}",
        paint.bold(escape_control(name)),
        count(*items, "item"),
        count(*runs, "trial"),
        count(evaluators.len(), "evaluator"),
        timeout(*timeout_ms),
    );
    if *done > 0 {
        let _ = write!(line, ", {done} already done");
    }
    if started.partial {
        line += ", partial run";
    }
    if let Some(why) = why {
        let _ = write!(line, " ({})", escape_control(why));
    }
    if let Some(DatasetSummary { source, fetched: Some(fetch), .. }) = dataset {
        let _ = write!(line, "\n  data: {}", format_fetch(source, fetch));
    }
    line
}

/// A timeout as in the settings: `30s`, `500ms`.
fn timeout(milliseconds: u64) -> String {
    if milliseconds.is_multiple_of(1000) {
        format!("{}s", milliseconds / 1000)
    } else {
        format!("{milliseconds}ms")
    }
}

/// Summary of several experiments: how many passed, which failed or did not finish, and how many were ignored or skipped. An
/// experiment that earlier results still fail counts as failed. Empty if there is only one experiment or none.
fn overall_summary(state: &RunState, paint: Style) -> String {
    let RunState { finished, unfinished, .. } = state;
    let ignored = state.count(|why| matches!(why, MissingResult::Ignored { .. }));
    let skipped = state.count(|why| matches!(why, MissingResult::NothingToRun { .. }));
    let ran = finished.len() + unfinished.len();
    let all = ran + ignored + skipped;
    if ran == 0 {
        return nothing_run_message(ignored, skipped);
    }
    if all == 1 {
        return String::new();
    }
    let verdict = |ExperimentFinished { report, .. }: &ExperimentFinished| {
        if state.is_still_failed(&report.name) { RunVerdict::Failed } else { report.verdict }
    };
    let with = |wanted| finished.iter().filter(move |finished| verdict(finished) == wanted);
    let failed: Vec<_> =
        with(RunVerdict::Failed).map(|finished| escape_control(&finished.report.name)).collect();
    let not_evaluated = with(RunVerdict::NotEvaluated).count();
    let unfinished: Vec<_> = unfinished.iter().map(|name| escape_control(name)).collect();
    let mut text = format!("\n{all} experiments: {} passed", with(RunVerdict::Passed).count());
    for (number, what) in [(not_evaluated, "not evaluated"), (ignored, "ignored"), (skipped, "skipped")] {
        if number > 0 {
            text += &format!(", {number} {what}");
        }
    }
    for (names, what) in [(failed, "FAILED"), (unfinished, "NOT FINISHED")] {
        if !names.is_empty() {
            text += &format!(", {}: {}", paint.error(format!("{} {what}", names.len())), names.join(", "));
        }
    }
    text + "\n"
}

/// A line for each experiment that earlier results still fail, with the reason.
fn still_failed_lines(state: &RunState, paint: Style) -> String {
    let line = |(name, why): &(String, String)| {
        let (name, why) = (paint.bold(escape_control(name)), escape_control(why));
        format!("\n{name}: {} because of earlier results: {why}\n", paint.error("still FAILED"))
    };
    state.still_failed.iter().map(line).collect()
}

/// The message if no experiment was run; empty if there was none.
fn nothing_run_message(ignored: usize, skipped: usize) -> String {
    let ignored = (ignored > 0).then(|| format!("{} ignored", count(ignored, "experiment")));
    let skipped = (skipped > 0).then(|| format!("{} skipped", count(skipped, "experiment")));
    let parts: Vec<_> = ignored.into_iter().chain(skipped).collect();
    if parts.is_empty() { String::new() } else { format!("\nNothing to run: {}.\n", parts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_line_of_a_replayed_item_says_so_within_the_width() {
        let item = |replayed: bool| -> ItemFinished {
            let item = json!({ "experiment": 0, "index": 0, "item": "refund", "status": "ok", "passed": true, "latencyMs": 250.0,
                "replayed": replayed, "scores": { "right": 1.0 } });
            serde_json::from_value(item).unwrap()
        };
        let line = |replayed, width| item_line(&item(replayed), Some(&started()), width, Style::Plain);
        assert_eq!(line(false, None), "  ✓ 250 ms  desk::refund  right 1.00");
        assert_eq!(line(true, None), "  ✓ 250 ms  desk::refund  right 1.00  replayed");
        assert_eq!(line(true, Some(46)), line(true, None));
        assert_eq!(
            line(true, Some(45)),
            "  ✓ 250 ms  desk::refund  replayed",
            "there is no room for the score"
        );
    }

    #[test]
    fn the_traces_of_an_item_are_below_its_line_within_the_width() {
        let spans = json!([
            { "id": "a", "name": "plan", "kind": "agent", "durationMs": 1500 },
            { "id": "b", "parent": "a", "name": "chat", "kind": "model", "durationMs": 900,
              "model": { "asked": "gpt-4o", "replayed": true, "output": "A long answer." } },
        ]);
        let traces = |traces: serde_json::Value| -> ItemFinished {
            let item = json!({ "experiment": 0, "index": 0, "item": "refund", "status": "ok", "passed": true, "latencyMs": 250.0,
                "scores": {}, "traces": traces });
            serde_json::from_value(item).unwrap()
        };
        let one = traces(json!([{ "run": 0, "spans": spans, "droppedSpans": 3 }]));
        assert_eq!(
            trace_lines(&one, None, Style::Plain),
            "\n      agent plan (1.5 s)\n        model gpt-4o (900 ms, replayed) → A long answer.\n      \
             … and 3 more spans that were not recorded"
        );
        let narrow = trace_lines(&one, Some(30), Style::Plain);
        assert!(narrow.lines().all(|line| columns(line) <= 30), "{narrow}");
        let several = traces(json!([{ "run": 1, "spans": spans }]));
        assert!(trace_lines(&several, None, Style::Plain).starts_with("\n      trial 2\n      agent plan"));
        assert_eq!(trace_lines(&traces(json!([])), None, Style::Plain), "");
    }

    fn started() -> ExperimentStarted {
        let started = json!({ "experiment": 0, "id": "0123456789ab", "name": "desk", "tags": [], "items": 1, "done": 0, "runs": 1,
            "evaluators": ["right"], "concurrency": 1, "timeoutMs": 1000, "partial": false });
        serde_json::from_value(started).unwrap()
    }
}
