//! A progress bar for each experiment that runs, where a terminal shows it.

use std::time::Duration;

use cobalt::reporters::{ExperimentStarted, ItemFinished, Paint, RunFinished, printable};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::fit;

/// The longest name beside a bar, in characters.
const LONGEST_NAME: usize = 24;
/// How often a bar is drawn though nothing has happened, for the time that it shows.
const TICK: Duration = Duration::from_millis(250);

/// The bars of one binary's experiments.
#[derive(Debug)]
pub(super) struct Bars {
    all: MultiProgress,
    bars: Vec<Bar>,
    paint: Paint,
}

#[derive(Debug)]
struct Bar {
    bar: ProgressBar,
    items: usize,
    runs: usize,
    /// How many items are finished, and how many of them failed.
    finished: usize,
    failed: usize,
    place: String,
}

impl Bars {
    /// Bars on stderr; none are drawn unless `shown`.
    pub(super) fn new(shown: bool, paint: Paint) -> Self {
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self { all: MultiProgress::with_draw_target(target), bars: Vec::new(), paint }
    }

    /// Prints lines above the bars.
    pub(super) fn above(&self, print: impl FnOnce()) {
        self.all.suspend(print);
    }

    pub(super) fn start(&mut self, started: &ExperimentStarted) {
        let executions = started.items * started.runs;
        let bar = self.all.add(ProgressBar::new(executions as u64));
        bar.set_style(style(self.paint));
        bar.set_prefix(fit(&printable(&started.name), LONGEST_NAME));
        bar.enable_steady_tick(TICK);
        let (items, runs) = (started.items, started.runs);
        self.bars.push(Bar { bar, items, runs, finished: 0, failed: 0, place: String::new() });
    }

    pub(super) fn run_finished(&mut self, run: RunFinished) {
        if let Some(bar) = self.bars.get_mut(run.experiment) {
            let item = (bar.finished + 1).min(bar.items);
            bar.place = format!(" · item {item}/{} (run {}/{})", bar.items, run.run + 1, bar.runs);
            bar.bar.inc(1);
            bar.tell();
        }
    }

    pub(super) fn item_finished(&mut self, item: &ItemFinished) {
        if let Some(bar) = self.bars.get_mut(item.experiment) {
            bar.finished += 1;
            bar.failed += usize::from(item.fails());
            // Several runs of an item were counted one by one, but for those of an earlier process.
            let uncounted = if item.done_before || bar.runs == 1 { bar.runs } else { 0 };
            bar.bar.inc(uncounted as u64);
            bar.tell();
        }
    }

    pub(super) fn end(&mut self, experiment: usize) {
        if let Some(bar) = self.bars.get(experiment) {
            bar.bar.finish_and_clear();
        }
    }

    /// Removes all bars: the binary has ended.
    pub(super) fn clear(&mut self) {
        self.bars.drain(..).for_each(|bar| bar.bar.finish_and_clear());
    }
}

impl Bar {
    fn tell(&self) {
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        self.bar.set_message(format!("{}{failed}", self.place));
    }
}

/// Short enough that what a terminal echoes behind it, as `^C`, breaks no line.
fn style(paint: Paint) -> ProgressStyle {
    let template = match paint {
        Paint::Coloured => "  {prefix} {bar:20.cyan} {pos}/{len}{msg} {elapsed:>4}",
        Paint::Plain => "  {prefix} {bar:20} {pos}/{len}{msg} {elapsed:>4}",
    };
    ProgressStyle::with_template(template).expect("a constant that a test builds").progress_chars("━╸ ")
}

#[cfg(test)]
#[test]
fn the_templates_are_well_formed() {
    // They panic where they are not.
    let _ = [style(Paint::Plain), style(Paint::Coloured)];
}
