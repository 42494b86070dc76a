//! A run that is killed at any moment and resumed has the same results as an undisturbed one.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use cobalt::Report;
use cobalt::files::{JournalError, read_journal};
use serde_json::Value;

use crate::sandbox::{Finished, Program, Running, Sandbox, fixture, numbered};

const ITEMS: usize = 60;
const CONCURRENCY: usize = 4;
/// Maximum number of kills per run.
const MOST_KILLS: usize = 3;
/// Number of runs to kill; for a manual stress test: `COBALT_KILL_ROUNDS=300`.
const ROUNDS: usize = 16;

#[test]
fn a_run_killed_at_any_moment_loses_nothing_and_repeats_only_what_was_in_flight() {
    let rounds = std::env::var("COBALT_KILL_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let setups = [Setup::undisturbed(1), Setup::undisturbed(3)];
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut total = Tally::default();
    for round in 0..rounds {
        let tally = setups[round % setups.len()].round(&mut random);
        assert!(
            tally.repeated <= CONCURRENCY * tally.kills,
            "round {round} of seed {seed}: {tally:?}: only items in flight during a kill run twice"
        );
        total.kills += tally.kills;
        total.repeated += tally.repeated;
        total.kept += tally.kept;
        total.restarted += tally.restarted;
    }
    println!("{rounds} rounds: {total:?}");
    assert!(total.kept > 0, "at least one kill happened after an item had finished: {total:?}");
}

/// The history of a run that was killed at least once.
#[derive(Debug, Default)]
struct Tally {
    kills: usize,
    /// Items in the journal at each kill.
    kept: usize,
    /// Items that were started again.
    repeated: usize,
    /// Runs that were killed before their journal had a header.
    restarted: usize,
}

/// An experiment and its undisturbed results.
struct Setup {
    runs: usize,
    expected: Value,
    took: Duration,
}

impl Setup {
    fn undisturbed(runs: usize) -> Self {
        let sandbox = Sandbox::with_items(numbered(ITEMS, 2));
        let finished = program(&sandbox, runs).run().code(0);
        let report = sandbox.report();
        assert_eq!(report.items.len(), ITEMS);
        assert!(report.summary.total_tokens.is_some() && report.summary.estimated_cost.is_some());
        assert!(report.ci_status.as_ref().is_some_and(|status| status.passed));
        Self { runs, expected: lasting(&report), took: finished.took }
    }

    /// Kills and resumes a run at random moments until it finishes.
    fn round(&self, random: &mut fastrand::Rng) -> Tally {
        let sandbox = Sandbox::with_items(numbered(ITEMS, 2));
        let mut tally = Tally::default();
        let mut done = BTreeSet::new();
        let mut cut_short: Option<String> = None;
        let end = loop {
            let resuming = match &cut_short {
                Some(id) => program(&sandbox, self.runs).env("COBALT_RESUME", id),
                None => program(&sandbox, self.runs),
            };
            let called_before = sandbox.calls().len();
            let mut running = resuming.start();
            let killed =
                tally.kills < MOST_KILLS && kill_after(&mut running, self.took.mul_f64(moment(random)));
            let finished = running.finish();
            // Items in the journal are not run again.
            let again = keys_started(&sandbox.calls()[called_before..]);
            assert!(again.is_disjoint(&done), "{:?} were finished\n{finished}", again.intersection(&done));
            if !killed {
                break finished.code(0);
            }
            tally.kills += 1;
            match journal_of(&sandbox) {
                Some((id, finished_items)) => {
                    assert!(cut_short.is_none_or(|before| before == id));
                    cut_short = Some(id);
                    assert!(finished_items.is_superset(&done), "finished items stay in the journal");
                    tally.kept += finished_items.len() - done.len();
                    done = finished_items;
                }
                // Killed before the header was complete, or after the journal was removed.
                None if sandbox.result_files().iter().any(|path| !is_draft(path)) => break finished,
                None => {
                    assert!(done.is_empty(), "a journal disappeared");
                    sandbox.journals().iter().for_each(|path| std::fs::remove_file(path).unwrap());
                    sandbox.forget_calls();
                    tally.restarted += 1;
                }
            }
        };
        self.check(&sandbox, &end);
        // Trials of an item run one after another, so each attempt starts with the first.
        let attempts = sandbox.calls().iter().filter(|call| is_first_run(call)).count();
        tally.repeated = attempts - ITEMS;
        tally
    }

    fn check(&self, sandbox: &Sandbox, end: &Finished) {
        let results = sandbox.result_files();
        assert_eq!(results.len(), 1, "no draft remains: {results:?}\n{end}");
        let report = cobalt::files::read_report(&results[0]).unwrap();
        assert_eq!(lasting(&report), self.expected, "{end}");
    }
}

fn program(sandbox: &Sandbox, runs: usize) -> Program {
    sandbox.program(fixture!("gated")).env("E2E_RUNS", runs).env("E2E_CONCURRENCY", CONCURRENCY)
}

/// A fraction of the run time. Every third is near the end, when the result file is written.
fn moment(random: &mut fastrand::Rng) -> f64 {
    if random.u8(0..3) == 0 { 0.7 + 0.4 * random.f64() } else { random.f64() }
}

/// Kills the program after a while, unless it exits first.
fn kill_after(running: &mut Running, wait: Duration) -> bool {
    std::thread::sleep(wait);
    if running.has_ended() {
        return false;
    }
    running.kill();
    true
}

/// A result file that was being written during a kill.
fn is_draft(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "tmp")
}

/// The run ID and the keys of finished items, from the journal.
fn journal_of(sandbox: &Sandbox) -> Option<(String, BTreeSet<String>)> {
    let journals = sandbox.journals();
    assert!(journals.len() <= 1, "a resumed run appends to its own journal: {journals:?}");
    let bytes = std::fs::read(journals.first()?).unwrap();
    match read_journal(&bytes) {
        Ok(contents) => {
            assert_eq!(contents.damaged, 0);
            Some((contents.header.id, contents.items.into_iter().map(|item| item.key).collect()))
        }
        Err(JournalError::Empty) => None,
        Err(error) => panic!("{error}"),
    }
}

fn is_first_run(call: &str) -> bool {
    call.starts_with("start ") && call.ends_with(" 0")
}

fn keys_started(calls: &[String]) -> BTreeSet<String> {
    let started = calls.iter().filter_map(|call| call.strip_prefix("start "));
    started.map(|place| place.rsplit_once(' ').unwrap().0.to_owned()).collect()
}

/// A report without fields that differ in each run: ID, times and source state.
fn lasting(report: &Report) -> Value {
    let mut json: Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    forget(&mut json, &["id", "timestamp", "git"], false);
    forget(&mut json, &["totalDurationMs", "avgLatencyMs", "latencyMs", "latency"], true);
    let thresholds = json["ciStatus"]["thresholds"].as_array_mut().into_iter().flatten();
    for threshold in thresholds.filter(|it| it["name"].as_str().unwrap().starts_with("latency.")) {
        forget(threshold, &["actual", "figure", "message"], false);
    }
    json
}

fn forget(json: &mut Value, fields: &[&str], deep: bool) {
    match json {
        Value::Object(object) => {
            object.retain(|field, _| !fields.contains(&field.as_str()));
            if deep {
                object.values_mut().for_each(|value| forget(value, fields, deep));
            }
        }
        Value::Array(array) if deep => array.iter_mut().for_each(|value| forget(value, fields, deep)),
        _ => {}
    }
}
