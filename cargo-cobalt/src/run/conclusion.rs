//! What several experiments came to, in a line.

use cobalt::report::RunVerdict;
use cobalt::reporters::{ExperimentFinished, Paint, printable};
use cobalt::wording::count;

/// How many of several experiments passed, and which did not, those among them that were not run to their end. Beside them, how
/// many were ignored, and how many had nothing to run. One that `earlier` results still fail has failed, whatever ran of it.
/// Empty where one was run alone, or none was selected.
pub(super) fn conclusion(
    finished: &[ExperimentFinished],
    unfinished: &[String],
    [ignored, skipped]: [usize; 2],
    earlier: &[(String, String)],
    paint: Paint,
) -> String {
    let ran = finished.len() + unfinished.len();
    let all = ran + ignored + skipped;
    if ran == 0 {
        return nothing_run(ignored, skipped);
    }
    if all == 1 {
        return String::new();
    }
    let verdict = |finished: &ExperimentFinished| {
        let still_failed = earlier.iter().any(|(name, _)| *name == finished.report.name);
        if still_failed { RunVerdict::Failed } else { finished.report.verdict }
    };
    let with = |wanted| finished.iter().filter(move |finished| verdict(finished) == wanted);
    let failed: Vec<_> = with(RunVerdict::Failed).map(|finished| printable(&finished.report.name)).collect();
    let not_evaluated = with(RunVerdict::NotEvaluated).count();
    let unfinished: Vec<_> = unfinished.iter().map(|name| printable(name)).collect();
    let mut text = format!("\n{all} experiments: {} passed", with(RunVerdict::Passed).count());
    for (number, what) in
        [(not_evaluated, "not evaluated"), (ignored, "ignored"), (skipped, "with nothing to run")]
    {
        if number > 0 {
            text += &format!(", {number} {what}");
        }
    }
    for (names, what) in [(failed, "FAILED"), (unfinished, "NOT RUN TO THE END")] {
        if !names.is_empty() {
            text += &format!(", {}: {}", paint.bad(format!("{} {what}", names.len())), names.join(", "));
        }
    }
    text + "\n"
}

/// A line for each experiment that earlier results fail, and why.
pub(super) fn still_failed(experiments: &[(String, String)], paint: Paint) -> String {
    let line = |(name, why): &(String, String)| {
        let (name, why) = (paint.strong(printable(name)), printable(why));
        format!("\n{name}: {} by earlier results: {why}\n", paint.bad("still FAILED"))
    };
    experiments.iter().map(line).collect()
}

/// Says that no experiment was run, where there was any.
fn nothing_run(ignored: usize, skipped: usize) -> String {
    let were = if ignored == 1 { "was" } else { "were" };
    let ignored = (ignored > 0).then(|| format!("{} {were} ignored", count(ignored, "experiment")));
    let skipped = (skipped > 0).then(|| format!("{} had no item to run", count(skipped, "experiment")));
    let parts: Vec<_> = ignored.into_iter().chain(skipped).collect();
    if parts.is_empty() { String::new() } else { format!("\nnothing was run: {}\n", parts.join(", ")) }
}
