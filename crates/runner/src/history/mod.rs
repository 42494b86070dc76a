//! `cargo cobalt history`: past runs from the index, and the trend of their mean scores.

mod table;

use std::path::Path;
use std::process::ExitCode;
use std::{env, io};

use cobalt::command::config::Flags;
use cobalt_core::report::Timestamp;
use cobalt_core::reporters::Style;
use cobalt_core::wording::count;

use crate::cli::History;
use crate::config::settings;
use crate::error::Error;
use crate::index::{Index, RunFilter, RunMatches};
use crate::remote::{Remote, RemoteError};
use crate::runs::RunView;
use crate::terminal::{
    columns, eprint_wrapped, one_line, paint, print, print_json, shorten_to_width, stdout_width,
};

pub fn history(arguments: &History, flags: &Flags) -> Result<ExitCode, Error> {
    let folder = env::current_dir().map_err(Error::CurrentFolder)?;
    let settings = settings(flags)?;
    let layout = settings.layout();
    let shown = |path: &Path| one_line(&path.strip_prefix(&folder).unwrap_or(path).display().to_string());
    let filter = RunFilter {
        experiment: arguments.experiment.clone(),
        tag: arguments.tag.clone(),
        branch: arguments.branch.clone(),
        since: arguments.since.map(|since| since.timestamp()),
        limit: arguments.limit.get(),
    };
    let mut incomplete = None;
    let (found, skipped, place) = if arguments.remote.is_some() {
        let remote = Remote::open(&settings)?;
        let index = remote.sync(layout)?;
        incomplete = index.incomplete(remote.url());
        let found = index.query(&filter).map_err(RemoteError::from)?;
        (found.into(), Vec::new(), one_line(remote.url()))
    } else {
        let (found, skipped) = Index::open(layout)?.query(&filter)?;
        (found, skipped, shown(layout.results()))
    };
    for skipped in skipped {
        let path = shown(&layout.results().join(&skipped.file));
        eprint_wrapped(&format!("warning: skipping `{path}`: {}", one_line(&skipped.reason)));
    }
    if arguments.json {
        print_json(&found.runs).map_err(Error::Print)?;
    } else if !found.runs.is_empty() {
        let today = Timestamp::now().to_string();
        let (width, paint) = (stdout_width(), paint(&io::stdout()));
        let runs: Vec<_> = found.runs.iter().map(|run| RunView::finished(run.clone(), false)).collect();
        print(&table::render_table(&runs, width, &today, paint)).map_err(Error::Print)?;
        let trends = trends(&runs, width, paint);
        if !trends.is_empty() {
            print(&format!("\n{trends}")).map_err(Error::Print)?;
        }
    }
    let create = match arguments.remote.is_some() {
        true => "Push yours with `cargo cobalt push`",
        false => "Create one with `cargo cobalt run`",
    };
    if let Some(note) = note(&found, &place, create) {
        eprint_wrapped(&note);
    }
    incomplete.map_or(Ok(ExitCode::SUCCESS), |error| Err(error.into()))
}

/// A note if there are more runs, or why there are none. `create` says how to add one.
fn note(found: &RunMatches, results: &str, create: &str) -> Option<String> {
    let RunMatches { runs, matching, known, partial } = found;
    let shown = runs.len();
    if *matching > shown {
        Some(format!("Showing the latest {shown} of {matching} runs; use `--limit {matching}` to show all."))
    } else if shown > 0 {
        None
    } else if *known > 0 {
        Some(format!("None of the {known} runs in `{results}` matches."))
    } else if *partial > 0 {
        Some(format!(
            "`{results}` has only partial runs, which are not representative. Run all items with `cargo cobalt run`."
        ))
    } else {
        Some(format!("No runs in `{results}` yet. {create}."))
    }
}

/// From lowest to highest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// A run without a score of the evaluator.
const GAP: char = '·';
/// The minimum range of a sparkline. Each line is scaled to its own range, as most means differ little; below this, noise would look
/// like a cliff.
const MIN_SPAN: f64 = 0.1;
/// The maximum number of runs in a sparkline.
const MAX_RUNS: usize = 40;
/// The minimum width of a name.
const MIN_NAME_WIDTH: usize = 8;

/// An evaluator's mean scores in the runs of an experiment, oldest first.
struct Trend<'a> {
    experiment: &'a str,
    evaluator: &'a str,
    averages: Vec<Option<f64>>,
}

/// The trend lines within `width`, for runs in newest-first order. An experiment with a single run has none.
pub fn trends(runs: &[RunView], width: Option<usize>, paint: Style) -> String {
    let trends = collect_trends(runs);
    let names: Vec<_> = trends.iter().map(Trend::name).collect();
    let widest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
    let figures = columns(&Trend::figures(0.0, 0.0, MAX_RUNS));
    let bars = trends.iter().map(|trend| trend.averages.len()).max().unwrap_or(0);
    let room = width.unwrap_or(usize::MAX).saturating_sub("    ".len() + figures);
    let name_width = widest.min(room.saturating_sub(bars).max(MIN_NAME_WIDTH));
    let bars = bars.min(room.saturating_sub(name_width)).max(1);
    let line = |(trend, name): (&Trend<'_>, &String)| {
        let name = shorten_to_width(name, name_width);
        let space = " ".repeat(name_width.saturating_sub(columns(&name)));
        format!("{name}{space}  {}\n", trend.line(bars, paint))
    };
    trends.iter().zip(&names).map(line).collect()
}

/// The trends of experiments with several runs, in order of first occurrence.
fn collect_trends(runs: &[RunView]) -> Vec<Trend<'_>> {
    let mut experiments: Vec<&str> = Vec::new();
    for run in runs {
        if !experiments.contains(&&*run.experiment) {
            experiments.push(&run.experiment);
        }
    }
    let mut trends = Vec::new();
    for experiment in experiments {
        let mut of_it: Vec<_> =
            runs.iter().filter(|run| run.experiment == experiment).take(MAX_RUNS).collect();
        of_it.reverse();
        let Some(newest) = of_it.last() else { continue };
        for evaluator in newest.scores.keys() {
            let averages: Vec<_> = of_it.iter().map(|run| run.scores.get(evaluator).copied()).collect();
            if averages.iter().flatten().count() > 1 {
                trends.push(Trend { experiment, evaluator, averages });
            }
        }
    }
    trends
}

impl Trend<'_> {
    fn name(&self) -> String {
        format!("{} · {}", one_line(self.experiment), one_line(self.evaluator))
    }

    /// At most `most` bars, for the newest runs, and their range.
    fn line(&self, most: usize, paint: Style) -> String {
        let averages = &self.averages[self.averages.len().saturating_sub(most)..];
        let (lowest, highest) = min_max(averages);
        let figures = Self::figures(lowest, highest, averages.len());
        format!("{}  {}", sparkline(averages), paint.faint(figures))
    }

    fn figures(lowest: f64, highest: f64, runs: usize) -> String {
        format!("{lowest:.3} to {highest:.3}, {}", count(runs, "run"))
    }
}

/// The minimum and the maximum.
fn min_max(averages: &[Option<f64>]) -> (f64, f64) {
    let known = || averages.iter().flatten().copied();
    (known().fold(1.0, f64::min), known().fold(0.0, f64::max))
}

/// A bar for each mean. Small ranges are centred.
fn sparkline(averages: &[Option<f64>]) -> String {
    let (lowest, highest) = min_max(averages);
    let span = (highest - lowest).max(MIN_SPAN);
    let floor = f64::midpoint(lowest, highest) - span / 2.0;
    let bar = |average: f64| {
        let level = (average - floor) / span * BARS.len() as f64;
        // The maximum is at the upper end of the last bar. Scores are finite, so the level is too.
        BARS[(level.max(0.0) as usize).min(BARS.len() - 1)]
    };
    averages.iter().map(|average| average.map_or(GAP, bar)).collect()
}

#[cfg(test)]
mod tests {
    use super::table::tests::run;
    use super::*;

    /// Runs with these means, oldest first.
    fn runs(averages: &[f64]) -> Vec<RunView> {
        averages.iter().rev().map(|average| run("desk", &[("right", *average)], &[])).collect()
    }

    #[test]
    fn averages_go_from_the_oldest_to_the_newest_over_their_own_range() {
        let text = trends(&runs(&[0.2, 0.4, 0.6, 0.8, 0.9]), None, Style::Plain);
        assert_eq!(text, "desk · right  ▁▃▅▇█  0.200 to 0.900, 5 runs\n");
    }

    #[test]
    fn small_differences_look_small() {
        assert_eq!(sparkline(&[Some(0.95), Some(0.96), Some(0.95)]), "▄▅▄");
        assert_eq!(sparkline(&[Some(1.0), Some(1.0)]), "▅▅");
        assert_eq!(sparkline(&[Some(0.0), None, Some(1.0)]), "▁·█");
    }

    #[test]
    fn an_experiment_with_a_single_run_has_no_line() {
        assert_eq!(trends(&runs(&[0.5]), None, Style::Plain), "");
        assert_eq!(
            trends(&[run("a", &[("x", 0.5)], &[]), run("b", &[("x", 0.6)], &[])], None, Style::Plain),
            ""
        );
    }

    #[test]
    fn where_there_is_little_room_the_newest_bars_stay() {
        let averages: Vec<_> = (0..30).map(|run| f64::from(run) / 30.0).collect();
        for width in [50, 60, 80] {
            let text = trends(&runs(&averages), Some(width), Style::Plain);
            assert!(columns(text.trim_end()) <= width, "{width}: {text}");
            assert!(text.contains('█') && text.contains("to 0.967"), "{text}");
        }
        assert!(trends(&runs(&averages), Some(10), Style::Plain).contains('▅'), "and at least one");
    }
}
