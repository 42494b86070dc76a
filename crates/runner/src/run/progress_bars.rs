//! Progress bars of running experiments, on a terminal.

use std::collections::BTreeMap;
use std::time::Duration;

use cobalt_core::reporters::{ExperimentStarted, ItemFinished, RunFinished, Style, escape_control};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::results::ExperimentProgress;
use crate::terminal::shorten_to_width;

/// Maximum length of a name next to a bar, in characters.
const LONGEST_NAME: usize = 24;
/// Redraw interval without events; keeps the elapsed time current.
const TICK: Duration = Duration::from_millis(250);

/// The bars of one binary's experiments.
#[derive(Debug)]
pub struct ProgressBars {
    all: MultiProgress,
    /// By experiment number.
    bars: BTreeMap<usize, Bar>,
    paint: Style,
}

#[derive(Debug)]
struct Bar {
    bar: ProgressBar,
    /// The item and trial last finished; empty with one trial per item.
    place: String,
}

impl ProgressBars {
    /// Bars on stderr, hidden unless `shown`.
    pub fn new(shown: bool, paint: Style) -> Self {
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self { all: MultiProgress::with_draw_target(target), bars: BTreeMap::new(), paint }
    }

    /// Prints lines above the bars.
    pub fn suspend(&self, print: impl FnOnce()) {
        self.all.suspend(print);
    }

    pub fn start(&mut self, started: &ExperimentStarted) {
        let executions = started.items * started.runs;
        let bar = self.all.add(ProgressBar::new(executions as u64));
        bar.set_style(style(self.paint));
        bar.set_prefix(shorten_to_width(&escape_control(&started.name), LONGEST_NAME));
        bar.enable_steady_tick(TICK);
        self.bars.insert(started.experiment, Bar { bar, place: String::new() });
    }

    /// A trial of this experiment has finished.
    pub fn run_finished(&mut self, run: RunFinished, experiment: &ExperimentProgress) {
        if let Some(bar) = self.bars.get_mut(&run.experiment) {
            let ExperimentStarted { items, runs, .. } = experiment.started;
            let item = (experiment.done + 1).min(items);
            bar.place = format!(" · item {item}/{items} (trial {}/{runs})", run.run + 1);
            bar.bar.inc(1);
            bar.update_message(experiment);
        }
    }

    /// An item of this experiment has finished and is counted in `experiment`.
    pub fn item_finished(&mut self, item: &ItemFinished, experiment: &ExperimentProgress) {
        if let Some(bar) = self.bars.get(&item.experiment) {
            let runs = experiment.started.runs;
            // Trials were counted one by one, except those of an earlier process.
            let uncounted = if item.done_before || runs == 1 { runs } else { 0 };
            bar.bar.inc(uncounted as u64);
            bar.update_message(experiment);
        }
    }

    pub fn end(&self, experiment: usize) {
        if let Some(bar) = self.bars.get(&experiment) {
            bar.bar.finish_and_clear();
        }
    }

    /// Removes all bars when the binary has exited.
    pub fn clear(&mut self) {
        std::mem::take(&mut self.bars).values().for_each(|bar| bar.bar.finish_and_clear());
    }
}

impl Bar {
    fn update_message(&self, experiment: &ExperimentProgress) {
        let failed = experiment.failed;
        let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        self.bar.set_message(format!("{}{failed}", self.place));
    }
}

/// Short enough that terminal echo such as `^C` does not break the line.
fn style(paint: Style) -> ProgressStyle {
    let template = match paint {
        Style::Ansi => "  {prefix} {bar:20.cyan} {pos}/{len}{msg} {elapsed:>4}",
        Style::Plain => "  {prefix} {bar:20} {pos}/{len}{msg} {elapsed:>4}",
    };
    ProgressStyle::with_template(template).expect("a constant that a test builds").progress_chars("━╸ ")
}

#[cfg(test)]
#[test]
fn the_templates_are_well_formed() {
    // They panic otherwise.
    let _ = [style(Style::Plain), style(Style::Ansi)];
}
