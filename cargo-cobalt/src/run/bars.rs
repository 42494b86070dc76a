//! A progress bar for each experiment that runs, where a terminal shows it.

use std::time::Duration;

use cobalt::reporters::{ExperimentStarted, ItemFinished, RunFinished, printable};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The longest name beside a bar, in characters.
const LONGEST_NAME: usize = 24;
/// How often a bar is drawn though nothing has happened, for the time that it shows.
const TICK: Duration = Duration::from_millis(250);

/// The bars of one binary's experiments.
#[derive(Debug)]
pub(super) struct Bars {
    all: MultiProgress,
    bars: Vec<Bar>,
}

#[derive(Debug)]
struct Bar {
    bar: ProgressBar,
    items: usize,
    runs: usize,
    failed: usize,
    place: String,
}

impl Bars {
    /// Bars on stderr; none are drawn unless `shown`.
    pub(super) fn new(shown: bool) -> Self {
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self { all: MultiProgress::with_draw_target(target), bars: Vec::new() }
    }

    /// Prints lines above the bars.
    pub(super) fn above(&self, print: impl FnOnce()) {
        self.all.suspend(print);
    }

    pub(super) fn start(&mut self, started: &ExperimentStarted) {
        let executions = started.items * started.runs;
        let bar = self.all.add(ProgressBar::new(executions as u64));
        bar.set_style(style());
        bar.set_prefix(short(&started.name));
        bar.enable_steady_tick(TICK);
        let Self { bars, .. } = self;
        bars.push(Bar { bar, items: started.items, runs: started.runs, failed: 0, place: String::new() });
    }

    pub(super) fn run_finished(&mut self, run: RunFinished) {
        if let Some(bar) = self.bars.get_mut(run.experiment) {
            bar.place = format!(" · item {}/{} (run {}/{})", run.index + 1, bar.items, run.run + 1, bar.runs);
            bar.bar.inc(1);
            bar.tell();
        }
    }

    pub(super) fn item_finished(&mut self, item: &ItemFinished) {
        if let Some(bar) = self.bars.get_mut(item.experiment) {
            bar.failed += usize::from(!item.passed);
            // Several runs were counted one by one.
            bar.bar.inc(u64::from(bar.runs == 1));
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

fn style() -> ProgressStyle {
    let template = "  {prefix} {wide_bar:.cyan} {pos}/{len}{msg} {elapsed:>4}";
    // The template is a constant, and a test builds it.
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸ ")
}

fn short(name: &str) -> String {
    let name = printable(name);
    if name.chars().count() <= LONGEST_NAME {
        return name.into_owned();
    }
    name.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut() {
        assert_eq!(short("help-desk"), "help-desk");
        assert_eq!(short(&"x".repeat(30)).chars().count(), LONGEST_NAME);
    }
}
