//! A difference in a word, and what would settle an open question.

use super::estimate::{Estimate, fewest_clusters};
use super::log_ratio::LogRatio;
use super::paired::Paired;
use super::{Difference, Quantity, SampleSize, Test, Verdict};

/// The level of the tests.
const LEVEL: f64 = 0.05;

/// A difference of scores, or of the share of errors, that matters.
const MARGIN: f64 = 0.05;

/// A difference of latency, tokens or cost that matters, as a share of the base's mean.
const RELATIVE_MARGIN: f64 = 0.1;

/// The standard errors by which a margin has to be larger than a difference of 0 for an interval that lies within it in
/// 80 % of cases: the quantiles of the normal distribution at 97.5 and 90 %, as both of its ends have to.
const TO_RULE_OUT: f64 = 1.959_964 + 1.281_552;

/// The verdict on a difference whose p-value is corrected for so many that are `tested` together, and, where it is open, what
/// would settle it.
pub(super) fn decide(
    difference: &Difference,
    estimate: &Estimate,
    log_ratio: Option<&LogRatio>,
    paired: &Paired,
    tested: usize,
) -> (Verdict, Option<SampleSize>) {
    let margin = margin(difference);
    if difference.p_adjusted.is_some_and(|p| p < LEVEL) && is_clear(difference) {
        let is_larger = difference.difference > 0.0;
        let is_better = is_larger == difference.quantity.more_is_better();
        return (if is_better { Verdict::Better } else { Verdict::Worse }, None);
    }
    let is_within = difference.ci95.is_some_and(|ci| ci.low >= -margin && ci.high <= margin);
    if is_within {
        return (Verdict::WithinNoise, None);
    }
    // As where the interval does not reach 0, but one of several figures has to be farther from it.
    let is_hinted_at = is_clear(difference);
    let tail = 0.5 * LEVEL / tested.max(1) as f64;
    let times_to_show = |size| match log_ratio {
        Some(log_ratio) if is_hinted_at => log_ratio.times_to_show_ratio(tail),
        Some(log_ratio) => log_ratio.times_to_show(size, tail),
        None => estimate.times_to_show(size, tail),
    };
    let size = difference.difference.abs();
    let times = if is_hinted_at {
        times_to_show(size)
    } else {
        let to_rule_out = estimate.times_to_narrow(TO_RULE_OUT, margin);
        times_to_show(size.max(margin)).zip(to_rule_out).map(|(show, rule_out)| show.max(rule_out))
    };
    let fewest = match difference.test {
        Some(Test::LogRatioT | Test::PairedT) => 2,
        _ => fewest_clusters(tail),
    };
    (Verdict::Inconclusive, times.and_then(|times| settled_by(paired, estimate, times, fewest)))
}

/// Whether the interval lies on the difference's side of 0, or, of a ratio, of 1. The interval of scores is of another kind than
/// their test, and may hold 0 where the test finds a difference; the typical item may be faster where a few slow ones make the
/// mean larger: nothing is called better or worse then, nor where one cluster leaves the interval unknown.
fn is_clear(Difference { ci95, ratio, difference, .. }: &Difference) -> bool {
    let (interval, same) = match ratio {
        Some(ratio) => (Some(ratio.ci95), 1.0),
        None => (*ci95, 0.0),
    };
    interval.is_some_and(|ci| (*difference > 0.0 && ci.low > same) || (*difference < 0.0 && ci.high < same))
}

/// The smallest difference that matters.
fn margin(difference: &Difference) -> f64 {
    match difference.quantity {
        Quantity::Score | Quantity::Errors => MARGIN,
        Quantity::Latency | Quantity::Tokens | Quantity::Cost => RELATIVE_MARGIN * difference.base.abs(),
    }
}

/// So many `times` as many items, or runs of these items that do as much; at least so many items that they make
/// `fewest_clusters`, where no number of runs would do.
///
/// The standard error falls with the root of the number of items. More runs lessen only the part of its square that
/// comes from how much the runs of an item differ.
///
/// `None` for one cluster, whose spread is not known, and where no number of items would do.
pub(super) fn settled_by(
    paired: &Paired,
    estimate: &Estimate,
    times: f64,
    fewest_clusters: usize,
) -> Option<SampleSize> {
    let std_error = estimate.std_error.filter(|_| times.is_finite())?;
    let now = paired.len();
    let items = (now as f64 * times).ceil() as u64;
    let fewest = (fewest_clusters * now).div_ceil(estimate.clusters).max(now + 1);
    let are_enough = times > 1.0 && estimate.clusters >= fewest_clusters;
    let runs = if are_enough { runs(paired, std_error, std_error / times.sqrt()) } else { None };
    Some(SampleSize { items: items.max(fewest as u64), runs })
}

/// How many runs of each item bring the standard error down to `wanted`, if any number does.
fn runs(paired: &Paired, std_error: f64, wanted: f64) -> Option<u64> {
    let spread = paired.run_spread()?;
    let of_items = (std_error * std_error - spread.of_all_runs).max(0.0);
    let room = wanted * wanted - of_items;
    (room > 0.0).then(|| (spread.of_one_run / room).ceil() as u64)
}
