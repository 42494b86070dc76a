//! `cargo cobalt run --estimate`: says from earlier runs what a run would cost.

mod cost_range;
mod past_cost;

use std::io;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use cobalt::command::config::Flags;
use cobalt::recording::RecordMode;
use cobalt_core::reporters::{Listed, Style};
use cobalt_core::store::{Layout, StoreError};
use cobalt_core::wording::{count, group_thousands};

use crate::cli::RunOptions;
use crate::error::Error;
use crate::list::{Experiments, no_experiments, query_source};
use crate::project::BinarySource;
use crate::terminal::{Align, paint, print, table};
use cost_range::CostRange;
use past_cost::{PartCost, PastCost};

const TITLES: [(&str, Align); 8] = [
    ("experiment", Align::Left),
    ("items", Align::Right),
    ("mode", Align::Left),
    ("agent cost", Align::Right),
    ("judge cost", Align::Right),
    ("user cost", Align::Right),
    ("total cost", Align::Right),
    ("from", Align::Left),
];

/// Estimates each selected experiment, and prints a table. Nothing is run.
pub fn estimate(options: &RunOptions, source: &dyn BinarySource, flags: &Flags) -> Result<ExitCode, Error> {
    if !options.harness.is_empty() {
        return Err(Error::Arguments(
            "`--estimate` counts all items of an experiment and cannot be used with arguments after `--`; select \
             experiments with `--experiment` or `--filter`"
                .to_owned(),
        ));
    }
    let settings = source.settings(&source.flags(flags))?;
    let Experiments { rows, mut errors, built } = query_source(&options.selection, source, flags)?;
    if rows.is_empty() && errors.is_empty() {
        return Err(no_experiments(&options.selection, &built));
    }
    errors.extend(rows.iter().filter_map(|row| row.experiment.error.clone()));
    let estimated = |experiment: &Listed| Estimate::new(experiment, flags, settings.layout());
    let estimates: Vec<_> =
        rows.iter().map(|row| estimated(&row.experiment)).collect::<Result<_, StoreError>>()?;
    if !estimates.is_empty() {
        print(&estimate_table(&estimates, paint(&io::stdout()))).map_err(Error::Print)?;
        print(&format!("\n{}\n", total_line(&estimates))).map_err(Error::Print)?;
    }
    if errors.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Multiple(errors)) }
}

/// The table; the cost of simulated users has a column if there are any.
fn estimate_table(estimates: &[Estimate], paint: Style) -> String {
    let cells = estimates.iter().map(Estimate::cells);
    match estimates.iter().all(|estimate| estimate.users == CostRange::NOTHING) {
        true => table(without_users(TITLES), cells.map(without_users), paint),
        false => table(TITLES, cells, paint),
    }
}

fn without_users<T>(cells: [T; TITLES.len()]) -> [T; TITLES.len() - 1] {
    let [experiment, items, mode, agent, judges, _, total, from] = cells;
    [experiment, items, mode, agent, judges, total, from]
}

/// What all experiments would cost, and what they would cost without recordings.
fn total_line(estimates: &[Estimate]) -> String {
    let sum = |of: fn(&Estimate) -> CostRange| {
        estimates.iter().map(of).fold(CostRange::NOTHING, |sum, cost| sum + cost)
    };
    let is_replayed = estimates.iter().any(|estimate| estimate.sent == Sent::None);
    let live =
        if is_replayed { format!("; live total cost {}", sum(Estimate::live_total)) } else { String::new() };
    format!("{}: total cost {}{live}", count(estimates.len(), "experiment"), sum(Estimate::total))
}

/// What an experiment would cost.
#[derive(Debug)]
struct Estimate {
    experiment: String,
    /// The number of items, if it is known.
    items: Option<usize>,
    mode: String,
    sent: Sent,
    /// The costs if everything was sent to a provider.
    agent: CostRange,
    judges: CostRange,
    /// Of simulated users.
    users: CostRange,
    from: String,
}

/// Which requests of agents, judges and simulated users would be sent to a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    All,
    /// What is not recorded, or was recorded too long ago.
    Part,
    None,
}

impl Estimate {
    fn new(experiment: &Listed, flags: &Flags, layout: &Layout) -> Result<Self, StoreError> {
        let Listed { name, items, evaluators, error, ignored_without, .. } = experiment;
        let (mode, sent) = mode(experiment);
        let mut estimate = Self {
            experiment: name.clone(),
            items: *items,
            mode,
            sent,
            agent: CostRange::UNKNOWN,
            judges: CostRange::UNKNOWN,
            users: CostRange::NOTHING,
            from: String::new(),
        };
        if let Some(variable) = ignored_without {
            (estimate.agent, estimate.judges) = (CostRange::NOTHING, CostRange::NOTHING);
            estimate.from = format!("{variable} is not set");
        } else if error.is_some() {
            estimate.sent = Sent::All;
            "the experiment cannot run".clone_into(&mut estimate.from);
        } else {
            let known = PastCost::search(layout, name, evaluators)?;
            let trials = trials(experiment, flags) as f64;
            let scaled = |part: &Option<PartCost>| {
                part.as_ref().map_or(CostRange::UNKNOWN, |part| CostRange::exactly(part.per_trial * trials))
            };
            (estimate.agent, estimate.judges) = (scaled(&known.agent), scaled(&known.judges));
            // Without an earlier run, it is not known whether there are any.
            if known.agent.is_some() || known.users.is_some() {
                estimate.users = scaled(&known.users);
            }
            estimate.from = known.to_string();
        }
        Ok(estimate)
    }

    /// The part of a cost that would be paid.
    fn paid(&self, cost: CostRange) -> CostRange {
        match self.sent {
            Sent::All => cost,
            Sent::Part => cost.or_less(),
            Sent::None => CostRange::NOTHING,
        }
    }

    fn total(&self) -> CostRange {
        self.paid(self.live_total())
    }

    /// The total cost if everything was sent to a provider.
    fn live_total(&self) -> CostRange {
        self.agent + self.judges + self.users
    }

    fn cells(&self) -> [String; TITLES.len()] {
        let live = match self.sent {
            Sent::All | Sent::Part => String::new(),
            Sent::None => format!("live total cost {}; ", self.live_total()),
        };
        [
            self.experiment.clone(),
            self.items.map_or_else(|| "?".to_owned(), |items| group_thousands(items as u64)),
            self.mode.clone(),
            self.paid(self.agent).to_string(),
            self.paid(self.judges).to_string(),
            self.paid(self.users).to_string(),
            self.total().to_string(),
            live + &self.from,
        ]
    }
}

/// The name of the mode in which an experiment would run, and what would be sent.
fn mode(experiment: &Listed) -> (String, Sent) {
    let mode = experiment.record_mode.as_deref().and_then(|mode| mode.parse().ok());
    let has_recordings = experiment.recordings.as_ref().is_some_and(|found| found.folder.is_dir());
    let sent = match mode {
        Some(RecordMode::Replay) if !experiment.renews_recordings => Sent::None,
        Some(RecordMode::Replay) => Sent::Part,
        Some(RecordMode::Auto) if has_recordings => Sent::Part,
        _ => Sent::All,
    };
    let name = match mode {
        _ if experiment.ignored_without.is_some() => "ignored",
        None | Some(RecordMode::Off) => "live",
        Some(mode) => mode.name(),
    };
    (name.to_owned(), sent)
}

/// The number of trials that a run would have.
fn trials(experiment: &Listed, flags: &Flags) -> usize {
    experiment.items.unwrap_or(0) * flags.runs.map_or(experiment.runs.max(1), NonZeroUsize::get)
}

#[cfg(test)]
mod tests {
    use cobalt_core::reporters::ListedRecordings;
    use serde_json::{from_value, json};

    use super::*;

    /// The cells of an experiment of which a live run costs one cent for the agent and two for judges, and the total.
    fn shown(
        mode: Option<&str>,
        has_recordings: bool,
        renews: bool,
    ) -> (String, [String; TITLES.len() - 1], String) {
        let folder = tempfile::tempdir().unwrap();
        let listed: Listed = from_value(json!({
            "name": "desk", "tags": [], "items": 1_000, "runs": 1, "evaluators": [], "thresholds": [], "file": "", "line": 1,
        }))
        .unwrap();
        let path = folder.path().to_owned();
        let recordings =
            has_recordings.then(|| ListedRecordings { root: path.clone(), folder: path, unused: None });
        let record_mode = mode.map(str::to_owned);
        let listed = Listed { record_mode, recordings, renews_recordings: renews, ..listed };
        let (mode, sent) = super::mode(&listed);
        let estimate = Estimate {
            experiment: listed.name,
            items: listed.items,
            mode: mode.clone(),
            sent,
            agent: CostRange::exactly(0.01),
            judges: CostRange::exactly(0.02),
            users: CostRange::NOTHING,
            from: "run a".to_owned(),
        };
        (mode, without_users(estimate.cells()), total_line(&[estimate]))
    }

    #[test]
    fn the_cost_of_simulated_users_is_part_of_the_total_and_has_a_column_if_there_are_any() {
        let cent = CostRange::exactly(0.01);
        let estimate = |users| Estimate {
            experiment: "desk".to_owned(),
            items: Some(1),
            mode: "live".to_owned(),
            sent: Sent::All,
            agent: cent,
            judges: cent,
            users,
            from: "run a".to_owned(),
        };
        let shown = |users| estimate_table(&[estimate(users)], Style::Plain);
        let line = |table: String| {
            table.lines().last().unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            line(shown(cent)),
            ["desk", "1", "live", "$0.010", "$0.010", "$0.010", "$0.030", "run", "a"]
        );
        assert_eq!(
            line(shown(CostRange::NOTHING)),
            ["desk", "1", "live", "$0.010", "$0.010", "$0.020", "run", "a"]
        );
        assert!(shown(cent).contains("user cost") && !shown(CostRange::NOTHING).contains("user cost"));
    }

    #[test]
    fn what_is_replayed_costs_nothing_and_what_is_recorded_at_most_what_it_costs_live() {
        for (mode, has_recordings, renews, costs, from, total) in [
            (None, false, false, ["$0.010", "$0.020", "$0.030"], "run a", "$0.030"),
            (Some("record"), true, false, ["$0.010", "$0.020", "$0.030"], "run a", "$0.030"),
            (
                Some("replay"),
                true,
                false,
                ["$0.00"; 3],
                "live total cost $0.030; run a",
                "$0.00; live total cost $0.030",
            ),
            (
                Some("replay"),
                false,
                false,
                ["$0.00"; 3],
                "live total cost $0.030; run a",
                "$0.00; live total cost $0.030",
            ),
            (
                Some("replay"),
                true,
                true,
                ["up to $0.010", "up to $0.020", "up to $0.030"],
                "run a",
                "up to $0.030",
            ),
            (
                Some("replay"),
                false,
                true,
                ["up to $0.010", "up to $0.020", "up to $0.030"],
                "run a",
                "up to $0.030",
            ),
            (
                Some("auto"),
                true,
                false,
                ["up to $0.010", "up to $0.020", "up to $0.030"],
                "run a",
                "up to $0.030",
            ),
            (Some("auto"), false, false, ["$0.010", "$0.020", "$0.030"], "run a", "$0.030"),
        ] {
            let (name, cells, line) = shown(mode, has_recordings, renews);
            assert_eq!(name, mode.unwrap_or("live"));
            let [agent, judges, all] = costs;
            assert_eq!(cells, ["desk", "1,000", &name, agent, judges, all, from].map(str::to_owned));
            assert_eq!(line, format!("1 experiment: total cost {total}"));
        }
    }
}
