//! `cargo cobalt run --estimate`: says from earlier runs what a run would cost.

use std::io;
use std::process::ExitCode;

use cobalt::command::config::Flags;
use cobalt_core::report::{Report, Timestamp};
use cobalt_core::reporters::{Listed, format_cost_precise};
use cobalt_core::store::{Layout, StoreError, read_report, result_files};
use cobalt_core::wording::{count, group_thousands};

use crate::cli::{Color, RunOptions};
use crate::config::settings;
use crate::error::Error;
use crate::list::{Experiments, no_experiments, query};
use crate::terminal::{Align, paint, print, table};

const TITLES: [(&str, Align); 6] = [
    ("experiment", Align::Left),
    ("items", Align::Right),
    ("agent", Align::Right),
    ("judges", Align::Right),
    ("total", Align::Right),
    ("from", Align::Left),
];

/// The cost of one trial in an earlier run, in USD.
#[derive(Debug, PartialEq)]
struct TrialCost {
    /// `None` if no price or no usage is known.
    agent: Option<f64>,
    judges: Option<f64>,
    run: String,
    timestamp: Timestamp,
}

/// Estimates each selected experiment, and prints a table. Nothing is run.
pub fn estimate(options: &RunOptions, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let Experiments { rows, errors, built } = query(&options.selection, &options.build, flags, color)?;
    if rows.is_empty() && errors.is_empty() {
        return Err(no_experiments(&options.selection, &built));
    }
    let (mut cells, mut sum, mut is_whole) = (Vec::new(), 0.0, true);
    for row in &rows {
        let trials = trials(&row.experiment, flags);
        let known = latest_cost(settings.layout(), &row.experiment.name)?;
        let scaled = |cost: Option<f64>| cost.map(|cost| cost * trials as f64);
        let (agent, judges) = match &known {
            Some(cost) => (scaled(cost.agent), scaled(cost.judges)),
            None => (None, None),
        };
        let total = agent.into_iter().chain(judges).reduce(|one, other| one + other);
        is_whole &= total.is_some();
        sum += total.unwrap_or(0.0);
        let usd = |cost: Option<f64>| cost.map_or_else(|| "unknown".to_owned(), format_cost_precise);
        let from = known.map_or_else(
            || "no earlier run with a cost".to_owned(),
            |cost| format!("run {} ({})", &cost.run, &cost.timestamp.to_string()[..10]),
        );
        let items = row.experiment.items.map_or_else(String::new, |items| group_thousands(items as u64));
        cells.push([row.experiment.name.clone(), items, usd(agent), usd(judges), usd(total), from]);
    }
    let number = cells.len();
    print(&table(TITLES, cells, paint(&io::stdout()))).map_err(Error::Print)?;
    let at_least = if is_whole { "" } else { "at least " };
    let total = format!("\n{}: {at_least}{}\n", count(number, "experiment"), format_cost_precise(sum));
    print(&total).map_err(Error::Print)?;
    if errors.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Multiple(errors)) }
}

/// The number of trials that a run would have.
fn trials(experiment: &Listed, flags: &Flags) -> usize {
    experiment.items.unwrap_or(0) * flags.runs.map_or(experiment.runs.max(1), std::num::NonZeroUsize::get)
}

/// The cost of a trial in the latest run of an experiment that knows it.
fn latest_cost(layout: &Layout, experiment: &str) -> Result<Option<TrialCost>, StoreError> {
    let mut files = result_files(layout, experiment)?;
    files.sort_unstable_by(|one, other| other.cmp(one));
    // A file that cannot be read, or that belongs to another experiment of a similar name, tells nothing.
    let reports = files.iter().filter_map(|(_, path)| read_report(path).ok());
    Ok(reports.filter(|report| report.name == experiment).find_map(|report| cost_of(&report)))
}

/// `None` if the run knows no cost.
fn cost_of(report: &Report) -> Option<TrialCost> {
    let summary = &report.summary;
    let trials = (summary.total_items * report.config.runs.max(1)).max(1) as f64;
    let agent = summary.estimated_cost.filter(|_| summary.unpriced_items == 0);
    // Answers from the cache were free, and may not be there the next time.
    let judges = summary.judge_cost.map(|cost| match (summary.judge_calls, summary.judge_cached) {
        (Some(calls), Some(cached)) if calls > 0 => cost * (calls + cached) as f64 / calls as f64,
        _ => cost,
    });
    (agent.is_some() || judges.is_some()).then(|| TrialCost {
        agent: agent.map(|cost| cost / trials),
        judges: judges.map(|cost| cost / trials),
        run: report.id.clone(),
        timestamp: report.timestamp,
    })
}
