//! `cargo cobalt compare`: which of two runs is better or worse, and in which items; or which of several runs is best.

mod group;
mod large;
pub mod markdown;
mod ranking;
mod text;
pub mod view;

pub use self::large::changed_items_of;
use self::large::most_changed_items;
pub use self::ranking::ranking_section;
use self::view::ComparedRuns;
pub use self::view::regressions;

use std::io;
use std::panic::resume_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::thread;

use cobalt::command::config::Flags;
use cobalt_core::prices::PriceTable;
use cobalt_core::report::Measurements;
use cobalt_core::report::comparison::{self, Comparison, Difference, Verdict};
use cobalt_core::report::ranking::{RankInput, Ranking, rank};
use cobalt_core::reporters::render_ranking;
use cobalt_core::store::{ReportFile, read_measurements};
use cobalt_core::wording::count;
use serde::Serialize;

use crate::cli::Compare;
use crate::config::settings;
use crate::error::Error;
use crate::lookup::RunLookup;
use crate::terminal::{eprint_wrapped, one_line, paint, print, print_json, stdout_width, wrap_for_stdout};

pub fn compare(arguments: &Compare, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let lookup = RunLookup::open(&settings)?;
    let mut found = lookup.resolve(&arguments.runs)?;
    if let [run] = &*found {
        found = group::runs_of_group(&lookup, run)?;
    }
    for note in found.iter().filter_map(|run| run.note.as_ref()) {
        eprint_wrapped(&format!("note: {}", one_line(note)));
    }
    let paths: Vec<_> = found.iter().map(|run| &*run.path).collect();
    let runs = read_all(&paths, settings.prices())?;
    let compared = compare_runs(&runs, arguments.items)?;
    let is_ranked = runs.len() > 2 || arguments.runs.len() == 1;
    let ranking = if is_ranked { rank_runs(&runs) } else { None };
    let shown = show(&compared, ranking.as_ref(), arguments).map_err(Error::Print);
    // The exit code must be right even if the output is closed.
    if !arguments.fail_on_regression || !shown.as_ref().is_err_and(Error::is_broken_pipe) {
        shown?;
    }
    Ok(if arguments.fail_on_regression { regression_exit_code(&compared) } else { ExitCode::SUCCESS })
}

/// Prints the comparisons in the requested format; of several runs, the ranking.
fn show(compared: &[ComparedRuns], ranking: Option<&Ranking>, arguments: &Compare) -> io::Result<()> {
    #[derive(Serialize)]
    struct Comparisons<'a> {
        comparisons: &'a [ComparedRuns],
        #[serde(skip_serializing_if = "Option::is_none")]
        ranking: Option<&'a Ranking>,
    }

    if arguments.json {
        print_json(&Comparisons { comparisons: compared, ranking })
    } else if let Some(ranking) = ranking {
        if arguments.markdown {
            print(ranking_section(ranking).trim_start())
        } else {
            print(&wrap_for_stdout(&render_ranking(ranking, paint(&io::stdout()))))
        }
    } else if arguments.markdown {
        print(&compared.iter().map(markdown::markdown).collect::<Vec<_>>().join("\n"))
    } else {
        let (width, paint) = (stdout_width(), paint(&io::stdout()));
        let texts = compared.iter().map(|compared| text::text(compared, width, paint));
        print(&wrap_for_stdout(&texts.collect::<Vec<_>>().join("\n")))
    }
}

/// A loaded run.
struct LoadedRun {
    measurements: Measurements,
    /// Absent for a baseline file, which contains only metrics.
    file: Option<ReportFile>,
}

impl LoadedRun {
    fn read(path: &Path, prices: &PriceTable) -> Result<Self, cobalt::Error> {
        match ReportFile::open(path) {
            Ok(file) => Ok(Self { measurements: file.measurements(prices)?, file: Some(file) }),
            Err(_) => Ok(Self { measurements: read_measurements(path, prices)?, file: None }),
        }
    }
}

/// Reads the runs in parallel.
fn read_all(paths: &[&Path], prices: &PriceTable) -> Result<Vec<LoadedRun>, Error> {
    thread::scope(|scope| {
        let read = |path| scope.spawn(move || LoadedRun::read(path, prices));
        let readers: Vec<_> = paths.iter().copied().map(read).collect();
        let runs =
            readers.into_iter().map(|reader| reader.join().unwrap_or_else(|panic| resume_unwind(panic)));
        Ok(runs.collect::<Result<_, _>>()?)
    })
}

/// Compares the first run with each of the others.
fn compare_runs(runs: &[LoadedRun], items: usize) -> Result<Vec<ComparedRuns>, Error> {
    let Some((base, others)) = runs.split_first() else { return Ok(Vec::new()) };
    let measurements: Vec<_> = others.iter().map(|run| &run.measurements).collect();
    let comparisons = comparison::compare(&base.measurements, &measurements);
    let with_items = |(comparison, other): (Comparison, &LoadedRun)| {
        let comparison = require_matches(comparison)?;
        let files = base.file.as_ref().zip(other.file.as_ref());
        let most_changed = files.map(|(before, after)| {
            most_changed_items((before, &base.measurements), (after, &other.measurements), items)
        });
        Ok(ComparedRuns {
            comparison,
            most_changed: most_changed.transpose().map_err(cobalt::Error::from)?.unwrap_or_default(),
            is_without_outputs: files.is_none(),
            is_with_baseline: base.file.is_none(),
        })
    };
    comparisons.into_iter().zip(others).map(with_items).collect()
}

/// Ranks the runs; `None` if one is a baseline file, which has no summary.
fn rank_runs(runs: &[LoadedRun]) -> Option<Ranking> {
    let inputs = runs.iter().map(|LoadedRun { measurements, file }| {
        file.as_ref().map(|file| RankInput { report: file.report(), measurements })
    });
    Some(rank(&inputs.collect::<Option<Vec<_>>>()?))
}

/// Fails if the runs have no items in common.
fn require_matches(comparison: Comparison) -> Result<Comparison, Error> {
    match comparison.items.matched {
        0 => Err(Error::NothingMatched(view::no_common_items_message(&comparison))),
        _ => Ok(comparison),
    }
}

/// Compares two runs.
pub fn compare_measured(base: &Measurements, other: &Measurements) -> Result<Comparison, Error> {
    require_matches(comparison::compare(base, &[other]).remove(0))
}

/// Fails if an evaluator or the error rate is worse, if a score dropped too far to ignore, or if no evaluator could be compared.
fn regression_exit_code(compared: &[ComparedRuns]) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for ComparedRuns { comparison, .. } in compared {
        let worse: Vec<_> = regressions(comparison).map(|it| format!("`{}`", one_line(it.label()))).collect();
        let is_large_drop =
            |it: &&Difference| it.verdict == Verdict::Inconclusive && -it.difference >= comparison::COLLAPSE;
        let reason = if !worse.is_empty() {
            format!("worse in {}", worse.join(", "))
        } else if let Some(it) = comparison.evaluators.iter().find(is_large_drop) {
            format!(
                "`{}` dropped by {:.3}, which is too much to ignore, although {} cannot rule out noise",
                one_line(it.label()),
                -it.difference,
                count(it.items, "item")
            )
        } else if comparison.evaluators.is_empty() {
            "no evaluator has scores in both runs".to_owned()
        } else {
            continue;
        };
        eprint_wrapped(&format!(
            "regression: run {} vs. run {}: {reason}",
            comparison.other.id, comparison.base.id
        ));
        code = ExitCode::FAILURE;
    }
    code
}
