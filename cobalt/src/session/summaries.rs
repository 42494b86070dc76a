//! Calls the summary functions of a run, and calculates the confidence intervals of their metrics by a bootstrap.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use cobalt_core::redact::redact;
use cobalt_core::report::stats::{Interval, percentile};
use cobalt_core::report::{ItemResult, RunMetric, RunSummaries, RunTable, cluster_numbers};

use crate::experiment::{FnSummary, OutputOf, SummaryItem, SummaryOutput};
use crate::thread_pool::describe_panic;

/// How long a function may take for the items of the run.
const LIMIT: Duration = Duration::from_secs(60);
/// How long all resamples of a function may take.
const BOOTSTRAP_LIMIT: Duration = Duration::from_secs(10);
/// How much longer to wait for a single call.
const GRACE: Duration = Duration::from_secs(5);
const RESAMPLES: usize = 1_000;
const SEED: u64 = 0x5EED_0F50;
/// The share of resamples that may fail, for example because a class is missing.
const MOST_FAILED: f64 = 0.05;

/// Why a metric has no 95% CI, or its ends by metric.
type Intervals = Result<BTreeMap<String, Interval>, String>;

enum Message {
    /// The output for the items of the run.
    Output(Result<SummaryOutput, String>),
    Intervals(Intervals),
}

/// Calls the functions for all trials with an output. A panic, an error or a timeout of one does not affect the others.
pub fn run_summaries(functions: &[FnSummary], items: &mut Vec<ItemResult>) -> RunSummaries {
    let mut summaries = RunSummaries::default();
    let is_measured = items.iter().flat_map(|item| &item.runs).any(|run| run.output.is_some());
    if functions.is_empty() || !is_measured {
        return summaries;
    }
    // Shared with threads that a function may never end.
    let shared = Arc::new(std::mem::take(items));
    for function in functions {
        if let Err(error) = run_one(function, &shared, &mut summaries) {
            summaries.errors.insert(redacted(function.name()), redacted(&error));
        }
    }
    *items = Arc::try_unwrap(shared).unwrap_or_else(|shared| (*shared).clone());
    summaries
}

fn run_one(
    function: &FnSummary,
    items: &Arc<Vec<ItemResult>>,
    summaries: &mut RunSummaries,
) -> Result<(), String> {
    let (sender, results) = mpsc::channel();
    let thread = {
        let (function, items) = (function.clone(), Arc::clone(items));
        std::thread::Builder::new().name("summary".to_owned()).spawn(move || call(&function, &items, &sender))
    };
    let thread = thread.map_err(|error| format!("no thread can be started for it: {error}"))?;
    let output = match results.recv_timeout(LIMIT) {
        Ok(Message::Output(output)) => output?,
        Ok(Message::Intervals(_)) | Err(_) => {
            return Err(format!("it took longer than {} s, the maximum", LIMIT.as_secs()));
        }
    };
    let intervals =
        if output.metrics.is_empty() { Ok(BTreeMap::new()) } else { wait_for_intervals(&results) };
    if intervals.is_ok() {
        // It drops its share of the items.
        let _ = thread.join();
    }
    add(function.name(), output, &intervals, summaries)
}

fn wait_for_intervals(results: &Receiver<Message>) -> Intervals {
    match results.recv_timeout(BOOTSTRAP_LIMIT + GRACE) {
        Ok(Message::Intervals(intervals)) => intervals,
        Ok(Message::Output(_)) | Err(RecvTimeoutError::Timeout) => Err(too_slow()),
        Err(RecvTimeoutError::Disconnected) => Err("its calculation was aborted".to_owned()),
    }
}

fn too_slow() -> String {
    format!(
        "{RESAMPLES} resamples take longer than {} s; use `FnSummary::by_item`, or build with optimizations",
        BOOTSTRAP_LIMIT.as_secs()
    )
}

/// Adds a function's output. A name that another function has used is an error.
fn add(
    function: &str,
    output: SummaryOutput,
    intervals: &Intervals,
    summaries: &mut RunSummaries,
) -> Result<(), String> {
    for (name, value) in output.metrics {
        let name = name.unwrap_or_else(|| function.to_owned());
        let interval = intervals.as_ref().map(|known| known.get(&name).copied());
        let metric = RunMetric {
            value: value.value,
            ci95: interval.ok().flatten(),
            note: interval.err().map(|why| redacted(why)),
            unit: value.unit,
            better: value.better,
        };
        insert(&mut summaries.metrics, "metric", &name, metric)?;
    }
    for (name, mut table) in output.tables {
        redact_table(&mut table);
        insert(&mut summaries.tables, "table", &name.unwrap_or_else(|| function.to_owned()), table)?;
    }
    Ok(())
}

fn insert<T>(known: &mut BTreeMap<String, T>, what: &str, name: &str, value: T) -> Result<(), String> {
    match known.insert(redacted(name), value) {
        None => Ok(()),
        Some(_) => Err(format!("two summary functions return a {what} `{name}`; rename one")),
    }
}

fn redacted(text: &str) -> String {
    let mut text = text.to_owned();
    redact(&mut text);
    text
}

fn redact_table(RunTable { label, columns, rows }: &mut RunTable) {
    std::iter::once(label).chain(columns).chain(rows.iter_mut().map(|(name, _)| name)).for_each(redact);
}

/// Calls the function for the items, and then for resamples of them.
fn call(function: &FnSummary, items: &[ItemResult], results: &Sender<Message>) {
    let texts: Vec<Vec<Cow<'_, str>>> = items.iter().map(SummaryItem::texts).collect();
    let clusters = cluster_numbers(items);
    let (mut trials, mut members) = (Vec::new(), vec![Vec::new(); items.len()]);
    for ((item, texts), cluster) in items.iter().zip(&texts).zip(clusters) {
        for trial in SummaryItem::of(item, texts) {
            members[cluster].push(trials.len());
            trials.push(trial);
        }
    }
    members.retain(|members| !members.is_empty());
    let everything: Vec<_> = (0..trials.len()).collect();
    let output_of = match catch(|| Ok(function.prepare(&trials))) {
        Ok(output_of) => output_of,
        // The receiver may have given up.
        Err(error) => return drop(results.send(Message::Output(Err(error)))),
    };
    let output = catch(|| output_of(&everything));
    let names = output.as_ref().map_or_else(|_| Vec::new(), |output| metric_names(output, function.name()));
    let _ = results.send(Message::Output(output));
    if !names.is_empty() {
        let intervals = bootstrap(&output_of, &members, function.name(), names);
        let _ = results.send(Message::Intervals(intervals));
    }
}

/// Calls user code; a panic becomes an error.
fn catch<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(describe_panic(&*panic)))
}

fn metric_names(output: &SummaryOutput, function: &str) -> Vec<String> {
    let names = output.metrics.iter().map(|(name, _)| name.as_deref().unwrap_or(function).to_owned());
    names.collect()
}

/// The percentile intervals of the metrics over resamples of the clusters (Efron and Tibshirani, "An introduction to the bootstrap", 1993,
/// chapter 13).
fn bootstrap(
    output_of: &OutputOf<'_>,
    clusters: &[Vec<usize>],
    function: &str,
    names: Vec<String>,
) -> Intervals {
    if clusters.len() < 2 {
        return Err("a single item or cluster says nothing about the spread".to_owned());
    }
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut values: BTreeMap<String, Vec<f64>> =
        names.into_iter().map(|name| (name, Vec::with_capacity(RESAMPLES))).collect();
    let (started, mut failed, mut drawn) = (Instant::now(), 0_usize, Vec::new());
    for resample in 0..RESAMPLES {
        drawn.clear();
        (0..clusters.len()).for_each(|_| drawn.extend(&clusters[random.usize(..clusters.len())]));
        match catch_unwind(AssertUnwindSafe(|| output_of(&drawn))) {
            Ok(Ok(output)) => {
                for (name, metric) in output.metrics {
                    let known = values.get_mut(name.as_deref().unwrap_or(function));
                    known.into_iter().for_each(|values| values.push(metric.value));
                }
            }
            Ok(Err(_)) => failed += 1,
            Err(panic) => {
                return Err(format!("with a resample of the items, it {}", describe_panic(&*panic)));
            }
        }
        let elapsed = started.elapsed();
        // The first call may be slower than those that follow.
        if elapsed > BOOTSTRAP_LIMIT || resample == 0 && elapsed > BOOTSTRAP_LIMIT.mul_f64(0.005) {
            return Err(too_slow());
        }
    }
    let most = (MOST_FAILED * RESAMPLES as f64) as usize;
    let intervals = values.into_iter().map(|(name, mut values)| {
        let missing = failed.max(RESAMPLES - values.len().min(RESAMPLES));
        if missing > most {
            return Err(format!("it gives no value for {missing} of {RESAMPLES} resamples of the items"));
        }
        values.sort_unstable_by(f64::total_cmp);
        let end = |p| percentile(&values, p);
        let interval = end(2.5).zip(end(97.5)).map(|(low, high)| Interval { low, high });
        Ok((name, interval.ok_or("it gives values that are not finite")?))
    });
    intervals.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use cobalt_core::report::builders::{Metric, Table};

    /// Items with an output each; `None` for a trial that failed.
    fn items(trials: &[&[Option<f64>]]) -> Vec<ItemResult> {
        let run = |value: &Option<f64>| match value {
            Some(value) => json!({ "output": { "output": value }, "latencyMs": 1, "status": "ok" }),
            None => json!({ "latencyMs": 1, "status": "error", "error": "no" }),
        };
        let item = |(index, trials): (usize, &&[Option<f64>])| {
            let runs: Vec<_> = trials.iter().map(run).collect();
            let item =
                json!({ "index": index, "key": index.to_string(), "input": { "n": index }, "runs": runs });
            serde_json::from_value(item).unwrap()
        };
        trials.iter().enumerate().map(item).collect()
    }

    fn values(values: impl IntoIterator<Item = f64>) -> Vec<ItemResult> {
        let trials: Vec<_> = values.into_iter().map(|value| [Some(value)]).collect();
        items(&trials.iter().map(<[Option<f64>; 1]>::as_slice).collect::<Vec<_>>())
    }

    fn mean(items: &[SummaryItem<'_>]) -> f64 {
        items.iter().filter_map(|it| it.output().as_f64()).sum::<f64>() / items.len() as f64
    }

    fn run(functions: &[FnSummary], mut items: Vec<ItemResult>) -> RunSummaries {
        let before = items.clone();
        let summaries = run_summaries(functions, &mut items);
        assert_eq!(items, before);
        summaries
    }

    fn error(function: FnSummary) -> String {
        let mut summaries = run(&[function], values([1.0, 2.0]));
        assert!(summaries.metrics.is_empty() && summaries.tables.is_empty());
        summaries.errors.remove("it").unwrap()
    }

    #[test]
    fn a_metric_has_the_interval_of_its_resamples() {
        let found = run(&[FnSummary::new("mean", mean)], values((0..100).map(f64::from)));
        let RunMetric { value, ci95, note, .. } = &found.metrics["mean"];
        let Interval { low, high } = ci95.unwrap();
        // The standard error is 2.89.
        assert!(*value == 49.5 && (low - 43.8).abs() < 0.8 && (high - 55.2).abs() < 0.8, "{low} {high}");
        assert_eq!((note, found.errors.len()), (&None, 0));
        let again = run(&[FnSummary::new("mean", mean)], values((0..100).map(f64::from)));
        assert_eq!(again, found, "the seed is fixed");
        let by_item = |it: &SummaryItem<'_>| it.output().as_f64().unwrap_or_default();
        let combine = |values: &[&f64]| values.iter().copied().sum::<f64>() / values.len() as f64;
        let prepared = run(&[FnSummary::by_item("mean", by_item, combine)], values((0..100).map(f64::from)));
        assert_eq!(prepared, found);
    }

    #[test]
    fn items_of_one_cluster_are_drawn_together_and_failed_trials_are_left_out() {
        let mut trials = items(&[&[Some(0.0), None], &[Some(0.0)], &[Some(1.0), Some(1.0)], &[None]]);
        let count = FnSummary::new("count", |items: &[SummaryItem<'_>]| items.len());
        let found = run(&[FnSummary::new("mean", mean), count.clone()], trials.clone());
        assert_eq!((found.metrics["mean"].value, found.metrics["count"].value), (0.5, 4.0));
        for item in &mut trials[..2] {
            Arc::make_mut(&mut item.input).insert("cluster".to_owned(), json!("a"));
        }
        let count = &run(&[count], trials).metrics["count"];
        assert_eq!((count.ci95.unwrap().low, count.ci95.unwrap().high), (4.0, 4.0), "two clusters of two");
    }

    #[test]
    fn metrics_and_tables_have_their_own_names_units_and_directions() {
        let both = FnSummary::new("both", |items: &[SummaryItem<'_>]| {
            let metric = Metric::new("total", items.len()).unit("items").lower_is_better();
            (metric, Table::new(["n"]).label("what").row("items", [items.len()]))
        });
        let found = run(&[both], values([1.0, 2.0]));
        let metric = &found.metrics["total"];
        assert_eq!((metric.value, metric.unit.as_deref(), metric.ci95.is_some()), (2.0, Some("items"), true));
        assert_eq!(
            json!(found.tables["both"]),
            json!({ "label": "what", "columns": ["n"], "rows": [["items", [2.0]]] })
        );
    }

    #[test]
    fn errors_panics_and_values_that_cannot_be_stored_are_errors_of_their_function() {
        let fails = FnSummary::new("it", |_: &[SummaryItem<'_>]| Err::<f64, _>("no labels"));
        assert_eq!(error(fails), "no labels");
        let panics = FnSummary::new("it", |_: &[SummaryItem<'_>]| -> f64 { panic!("no labels") });
        assert!(error(panics).ends_with("no labels"));
        let endless = FnSummary::new("it", |_: &[SummaryItem<'_>]| f64::NAN);
        assert_eq!(error(endless), "the value is NaN, expected a finite number");
        let short = FnSummary::new("it", |_: &[SummaryItem<'_>]| Table::new(["a", "b"]).row("c", [1]));
        assert!(error(short).starts_with("the row `c` has 1 values for 2 columns"));
        let prepared = |_: &SummaryItem<'_>| -> f64 { panic!("cannot be read") };
        let prepared = FnSummary::by_item("it", prepared, |values: &[&f64]| values.len());
        assert!(error(prepared).ends_with("cannot be read"));
        let again = FnSummary::new("it", |_: &[SummaryItem<'_>]| Metric::new("a", 1));
        let found = run(&[FnSummary::new("a", mean), again], values([1.0, 2.0]));
        assert_eq!(found.errors["it"], "two summary functions return a metric `a`; rename one");
    }

    #[test]
    fn a_metric_without_an_interval_says_why() {
        let note = |function: FnSummary, values: Vec<ItemResult>| {
            let found = run(&[function], values).metrics.remove("it").unwrap();
            assert_eq!(found.ci95, None);
            found.note.unwrap()
        };
        let mean = || FnSummary::new("it", mean);
        assert_eq!(note(mean(), values([1.0])), "a single item or cluster says nothing about the spread");
        let rare = FnSummary::new("it", |items: &[SummaryItem<'_>]| {
            let rare = items.iter().any(|it| it.output() == &json!(7.0));
            rare.then_some(1).ok_or("no item of the class")
        });
        let found = note(rare, values([7.0, 1.0, 1.0, 1.0]));
        assert!(
            found.starts_with("it gives no value for ") && found.ends_with("resamples of the items"),
            "{found}"
        );
        let slow = FnSummary::new("it", |items: &[SummaryItem<'_>]| {
            std::thread::sleep(Duration::from_millis(60));
            items.len()
        });
        assert!(note(slow, values([1.0, 2.0])).starts_with("1000 resamples take longer than 10 s"));
    }

    #[test]
    fn without_any_output_nothing_is_called() {
        let panics = FnSummary::new("it", |_: &[SummaryItem<'_>]| -> f64 { panic!("called") });
        assert_eq!(run(&[panics], items(&[&[None]])), RunSummaries::default());
    }
}
