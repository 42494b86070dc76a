//! The lines on a run as it goes on: what is about to run, and what came of an item.

use std::fmt::Write as _;

use cobalt::report::DatasetSummary;
use cobalt::reporters::{ExperimentStarted, ItemFinished, Paint, fetched, printable, time};
use cobalt::wording::count;

use crate::terminal::columns;

/// What came of an item of an experiment that runs, in a terminal of so many columns.
pub(super) fn item(
    item: &ItemFinished,
    started: Option<&ExperimentStarted>,
    width: Option<usize>,
    paint: Paint,
) -> String {
    let experiment = started.map_or_else(String::new, |started| format!("{}::", started.name));
    let name = printable(&format!("{experiment}{}", item.item)).into_owned();
    let sign = match (item.fails(), item.low.is_empty()) {
        (true, _) => paint.bad("✗"),
        (false, false) => paint.odd("~"),
        (false, true) => paint.good("✓"),
    };
    let mut line = format!("  {sign} {}  {name}", paint.faint(format!("{:>6}", time(item.latency_ms))));
    let room = width.map(|width| width.saturating_sub(12 + columns(&name)));
    line += &scores(item, started.map_or(&[], |started| &started.evaluators), room, paint);
    match (&item.why, &item.error) {
        // The first line names the item.
        (Some(why), _) => why.lines().skip(1).for_each(|reason| {
            let _ = write!(line, "\n    {}", reason.trim_end());
        }),
        (None, Some(error)) => {
            let _ = write!(line, "  {}", paint.bad(printable(error).replace('\n', " ")));
        }
        (None, None) => {}
    }
    line
}

/// An item's scores, with so many columns left: all of them where they fit, else the low ones.
fn scores(item: &ItemFinished, evaluators: &[String], room: Option<usize>, paint: Paint) -> String {
    let scored = || evaluators.iter().filter_map(|name| Some((name, *item.scores.get(name)?)));
    let named: usize = scored().map(|(name, _)| columns(name) + "   0.00".len()).sum();
    let fits = room.is_none_or(|room| named <= room);
    let score = |(name, score): (&String, f64)| {
        let text = format!("{} {score:.2}", printable(name));
        let is_low = item.low.contains(name);
        let text = if is_low { paint.odd(text) } else { text };
        (fits || is_low).then(|| format!("  {text}"))
    };
    scored().filter_map(score).collect()
}

/// What is about to run, in a line, and in another what data was fetched for it.
pub(super) fn header(started: &ExperimentStarted, paint: Paint) -> String {
    let ExperimentStarted {
        name, dataset, items, runs, evaluators, concurrency, timeout_ms, done, why, ..
    } = started;
    let mut line = format!(
        "{}: {} × {} × {}, {concurrency} at a time, timeout {}",
        paint.strong(printable(name)),
        count(*items, "item"),
        count(*runs, "run"),
        count(evaluators.len(), "evaluator"),
        timeout(*timeout_ms),
    );
    if *done > 0 {
        let _ = write!(line, ", {done} done before");
    }
    if started.partial {
        line += ", partial run";
    }
    if let Some(why) = why {
        let _ = write!(line, " ({})", printable(why));
    }
    if let Some(DatasetSummary { source, fetched: Some(fetch), .. }) = dataset {
        let _ = write!(line, "\n  data: {}", fetched(source, fetch));
    }
    line
}

/// A limit as it is written: `30s`, `500ms`.
fn timeout(milliseconds: u64) -> String {
    if milliseconds.is_multiple_of(1000) {
        format!("{}s", milliseconds / 1000)
    } else {
        format!("{milliseconds}ms")
    }
}
