//! A figure of a threshold as people read it: with its unit, and with as many decimals as it needs.

use super::threshold::{Category, Metric, Threshold};
use crate::wording::decimal;

/// The decimals of scores and ratios.
const OF_SHARES: usize = 3;
/// In milliseconds.
const SECOND: f64 = 1000.0;

/// A figure with its unit. What is rounded to the other side of the bound is shown with more decimals, or in full.
pub(crate) fn with_unit(threshold: &Threshold, actual: f64) -> String {
    let is_ratio = threshold.metric() == Metric::Ratio;
    let (unit, name) = match threshold.category() {
        Category::Latency if !is_ratio && actual.abs() >= SECOND => (SECOND, "s"),
        _ => (1.0, "ms"),
    };
    let (amount, fewest) = match threshold.category() {
        Category::Latency | Category::Tokens | Category::Cost | Category::JudgeCost if !is_ratio => {
            (actual / unit, three_digits(actual / unit))
        }
        _ => (actual, OF_SHARES),
    };
    let keeps_its_side = |figure: &String| {
        figure.parse::<f64>().is_ok_and(|it| threshold.holds(it * unit) == threshold.holds(actual))
    };
    let figure = (fewest..=fewest + 4).map(|decimals| decimal(amount, decimals)).find(keeps_its_side);
    let figure = figure.unwrap_or_else(|| amount.to_string());
    match threshold.category() {
        _ if is_ratio => figure,
        Category::Latency => format!("{figure} {name}"),
        Category::Cost | Category::JudgeCost => match figure.strip_prefix('-') {
            Some(figure) => format!("-${figure}"),
            None => format!("${figure}"),
        },
        _ => figure,
    }
}

/// The decimals that show three digits of an amount; six for what is smaller than that shows.
fn three_digits(amount: f64) -> usize {
    let first = if amount == 0.0 { 0.0 } else { amount.abs().log10().floor() };
    (2.0 - first).clamp(0.0, 6.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(threshold: &str, actual: f64) -> String {
        with_unit(&threshold.parse().unwrap(), actual)
    }

    #[test]
    fn a_figure_has_the_digits_that_are_read() {
        for (threshold, actual, expected) in [
            ("score.avg >= 0.8", 2.0 / 3.0, "0.667"),
            ("vs_baseline.latency.ratio <= 1.2", 1.234_567, "1.235"),
            ("latency.avg <= 5s", 1_234.567_891, "1.23 s"),
            ("latency.p95 <= 2m", 62_345.6, "62.3 s"),
            ("vs_baseline.latency.rise <= 5s", -1_500.0, "-1.5 s"),
            ("latency.avg <= 5s", 999.6, "999.6 ms"),
            ("latency.avg <= 5s", 12.345_678, "12.3 ms"),
            ("latency.avg <= 5s", 0.000_213_4, "0.000213 ms"),
            ("vs_baseline.latency.rise <= 5ms", -0.000_000_12, "0 ms"),
            ("tokens.total <= 9", 1234.0, "1234"),
            ("cost.total <= 1", 0.012_345_6, "$0.0123"),
            ("vs_baseline.cost.rise <= 1", -0.012_345_6, "-$0.0123"),
        ] {
            assert_eq!(shown(threshold, actual), expected, "{threshold}");
        }
    }

    #[test]
    fn a_figure_is_shown_on_its_side_of_the_bound() {
        let shown = |score| shown("e.avg >= 0.8", score);
        assert_eq!(
            [0.5, 0.799_6, 0.799_999_999, 0.800_000_001].map(shown),
            ["0.5", "0.7996", "0.799999999", "0.8"]
        );
        assert_eq!(super::with_unit(&"latency.p95 <= 4s".parse().unwrap(), 4_000.4), "4.0004 s");
    }
}
