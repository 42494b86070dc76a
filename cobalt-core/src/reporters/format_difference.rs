//! Formats a difference between two runs for people.

use std::borrow::Cow;

use crate::report::comparison::{Difference, Quantity, Verdict};
use crate::report::significant_decimals;
use crate::report::stats::Interval;
use crate::wording::{count, group_decimal, group_thousands};

/// The numbers of a difference, formatted in a suitable unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormattedDifference {
    /// The mean of the base run.
    pub base: String,
    /// The mean of the other run.
    pub other: String,
    /// The signed difference.
    pub difference: String,
    /// Its 95% CI: `-0.12 to +0.02`.
    pub ci95: Option<String>,
    /// The corrected p-value.
    pub p: Option<String>,
    /// The min detectable difference; `none` if it exceeds the range of scores.
    pub smallest_detectable: Option<String>,
}

impl From<&Difference> for FormattedDifference {
    fn from(difference: &Difference) -> Self {
        let unit = Unit::of(difference);
        // The interval names the unit once, at its end.
        let number = Unit { prefix: "", suffix: Cow::Borrowed(""), ..unit.clone() };
        let interval = |ci: Interval| {
            format!("{} to {}{}", number.format_signed(ci.low), number.format_signed(ci.high), unit.suffix)
        };
        Self {
            base: unit.format(difference.base),
            other: unit.format(difference.other),
            difference: unit.format_signed(difference.difference),
            ci95: difference.ci95.map(interval),
            p: difference.p_adjusted.map(format_p_value),
            smallest_detectable: format_detectable(difference, "none"),
        }
    }
}

/// Explains a verdict in one line: how items changed, the min detectable difference, and the sample size needed.
#[must_use]
pub fn explain_difference(difference: &Difference) -> String {
    let mut parts = vec![item_changes(difference)];
    if difference.unmeasured > 0 {
        parts.push(format!(
            "{} more not measured in both runs",
            group_thousands(difference.unmeasured as u64)
        ));
    }
    if let Some(ratio) = difference.ratio {
        parts.push(format!("typical ratio {ratio}"));
    }
    let is_open = matches!(difference.verdict, Verdict::Inconclusive | Verdict::WithinNoise);
    if let Some(smallest) = format_detectable(difference, "none").filter(|_| is_open) {
        parts.push(format!("min detectable difference (80% power): {smallest}"));
    }
    if let Some(needed) = difference.settled_by {
        parts.push(format!("{needed} needed"));
    }
    parts.join("; ")
}

/// The min detectable difference, or `none` if it exceeds the range of scores and shares.
fn format_detectable(difference: &Difference, none: &str) -> Option<String> {
    let smallest = difference.smallest_detectable?;
    let is_share = matches!(difference.quantity, Quantity::Score | Quantity::Errors);
    Some(if is_share && smallest > 1.0 { none.to_owned() } else { Unit::of(difference).format(smallest) })
}

/// How many items improved and regressed.
fn item_changes(difference: &Difference) -> String {
    let Difference { better, worse, equal, items, clusters, .. } = *difference;
    let changed = if difference.more_is_better().is_none() { items - equal } else { 0 };
    let parts = [(better, "better"), (worse, "worse"), (changed, "changed"), (equal, "equal")];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    let parts: Vec<_> =
        parts.map(|(number, word)| format!("{} {word}", group_thousands(number as u64))).collect();
    let clusters =
        if clusters == items { String::new() } else { format!(" in {}", count(clusters, "cluster")) };
    let noun = if items == 1 { "item" } else { "items" };
    format!("{} {noun}{clusters}: {}", group_thousands(items as u64), parts.join(", "))
}

/// A p-value rounded to three decimals, or to as many as it takes not to show one below 0.05 as 0.05.
fn format_p_value(p: f64) -> String {
    match p {
        ..0.001 => "<0.001".to_owned(),
        0.049_5..0.05 => {
            let is_below = |text: &String| text.parse::<f64>().is_ok_and(|shown| shown < 0.05);
            let shown = (4..=9).map(|decimals| format!("{p:.decimals$}")).find(is_below);
            shown.unwrap_or_else(|| p.to_string())
        }
        _ => format!("{p:.3}"),
    }
}

/// How to format numbers of one quantity and size.
#[derive(Clone)]
struct Unit {
    factor: f64,
    decimals: usize,
    prefix: &'static str,
    suffix: Cow<'static, str>,
}

impl Unit {
    fn of(difference: &Difference) -> Self {
        let size = difference.base.abs().max(difference.other.abs());
        let unit =
            |factor, decimals, suffix| Self { factor, decimals, prefix: "", suffix: Cow::Borrowed(suffix) };
        match difference.quantity {
            Quantity::Score => unit(1.0, 3, ""),
            Quantity::Errors => unit(100.0, 1, "%"),
            Quantity::Tokens => unit(1.0, usize::from(size < 100.0), ""),
            Quantity::Latency if size < 1.0 => unit(1000.0, usize::from(size < 0.1), " µs"),
            Quantity::Latency if size < 1000.0 => unit(1.0, usize::from(size < 100.0), " ms"),
            Quantity::Latency => unit(0.001, 2, " s"),
            Quantity::Cost => Self { prefix: "$", ..unit(1.0, cost_decimals(size), "") },
            Quantity::Metric => {
                let suffix = difference.unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
                Self { suffix: suffix.into(), ..unit(1.0, significant_decimals(size), "") }
            }
        }
    }

    fn format(&self, value: f64) -> String {
        let number = format!("{:.*}", self.decimals, (value * self.factor).abs());
        // A zero has no sign.
        let is_negative = value < 0.0 && number.contains(|digit| matches!(digit, '1'..='9'));
        format!(
            "{}{}{}{}",
            if is_negative { "-" } else { "" },
            self.prefix,
            group_decimal(&number),
            self.suffix
        )
    }

    fn format_signed(&self, value: f64) -> String {
        let text = self.format(value);
        let is_positive = value > 0.0 && text.contains(|digit| matches!(digit, '1'..='9'));
        if is_positive { format!("+{text}") } else { text }
    }
}

/// The decimals that show three significant digits of a cost in dollars, or two if three would take more than five decimals.
fn cost_decimals(usd: f64) -> usize {
    if usd <= 0.0 {
        return 2;
    }
    let first = -usd.log10().floor();
    (first + 2.0).min((first + 1.0).max(5.0)).clamp(2.0, 12.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::comparison::{SampleSize, TypicalRatio};

    fn difference(quantity: Quantity, base: f64, other: f64) -> Difference {
        Difference {
            name: "right".to_owned(),
            quantity,
            unit: None,
            direction: None,
            base,
            other,
            difference: other - base,
            ci95: None,
            ratio: None,
            p_value: None,
            p_adjusted: None,
            test: None,
            smallest_detectable: None,
            verdict: Verdict::Inconclusive,
            settled_by: None,
            items: 4,
            clusters: 4,
            better: 0,
            worse: 1,
            equal: 3,
            unmeasured: 0,
        }
    }

    fn figures(quantity: Quantity, base: f64, other: f64) -> [String; 3] {
        let figures = FormattedDifference::from(&difference(quantity, base, other));
        [figures.base, figures.other, figures.difference]
    }

    #[test]
    fn each_quantity_has_its_unit() {
        assert_eq!(figures(Quantity::Score, 1.0, 0.75), ["1.000", "0.750", "-0.250"]);
        assert_eq!(figures(Quantity::Errors, 0.0, 0.025), ["0.0%", "2.5%", "+2.5%"]);
        assert_eq!(figures(Quantity::Latency, 0.5, 0.25), ["500 µs", "250 µs", "-250 µs"]);
        assert_eq!(figures(Quantity::Latency, 0.002, 0.001_66), ["2.0 µs", "1.7 µs", "-0.3 µs"]);
        assert_eq!(figures(Quantity::Latency, 120.0, 84.4), ["120 ms", "84 ms", "-36 ms"]);
        assert_eq!(figures(Quantity::Latency, 900.0, 1350.0), ["0.90 s", "1.35 s", "+0.45 s"]);
        assert_eq!(figures(Quantity::Tokens, 1200.0, 1234.6), ["1,200", "1,235", "+35"]);
        assert_eq!(figures(Quantity::Cost, 0.000_42, 0.000_4), ["$0.00042", "$0.00040", "-$0.00002"]);
        assert_eq!(figures(Quantity::Cost, 1.5, 1.25), ["$1.50", "$1.25", "-$0.25"]);
        assert_eq!(figures(Quantity::Metric, 7.0, 6.25), ["7.00", "6.25", "-0.75"]);
        assert_eq!(figures(Quantity::Metric, -1200.0, 0.0), ["-1,200", "0", "+1,200"]);
    }

    #[test]
    fn what_is_rounded_to_nothing_has_no_sign() {
        assert_eq!(figures(Quantity::Score, 0.5, 0.499_99)[2], "0.000");
        assert_eq!(figures(Quantity::Score, 0.5, 0.500_01)[2], "0.000");
    }

    #[test]
    fn an_interval_says_its_unit_once() {
        let cost = Difference {
            ci95: Some(Interval { low: -0.01, high: 0.02 }),
            ..difference(Quantity::Cost, 1.0, 1.0)
        };
        assert_eq!(FormattedDifference::from(&cost).ci95.as_deref(), Some("-0.01 to +0.02"));
        let ci95 = Some(Interval { low: -12.0, high: 340.0 });
        let figures =
            FormattedDifference::from(&Difference { ci95, ..difference(Quantity::Latency, 100.0, 200.0) });
        assert_eq!(figures.ci95.as_deref(), Some("-12 to +340 ms"));
    }

    #[test]
    fn a_difference_that_no_scores_can_have_is_not_said_to_be_detectable() {
        let few =
            |quantity| Difference { smallest_detectable: Some(1.073), ..difference(quantity, 1.0, 0.75) };
        let shown = |quantity| FormattedDifference::from(&few(quantity)).smallest_detectable.unwrap();
        assert_eq!([Quantity::Score, Quantity::Tokens].map(shown), ["none", "1.1"]);
        let text = explain_difference(&few(Quantity::Score));
        assert!(text.ends_with("; min detectable difference (80% power): none"), "{text}");
    }

    #[test]
    fn an_amount_says_by_what_factor_a_typical_item_differs() {
        let ratio = TypicalRatio { ratio: 1.1, ci95: Interval { low: 1.046, high: 1.154 } };
        let slower = Difference {
            ratio: Some(ratio),
            verdict: Verdict::Worse,
            ..difference(Quantity::Latency, 1.0, 1.2)
        };
        assert_eq!(
            explain_difference(&slower),
            "4 items: 1 worse, 3 equal; typical ratio ×1.10 (95% CI 1.05 to 1.15)"
        );
    }

    #[test]
    fn a_chance_never_looks_like_another_verdict() {
        assert_eq!(
            [0.000_99, 0.001, 0.049_96, 0.05, 1.0].map(format_p_value),
            ["<0.001", "0.001", "0.04996", "0.050", "1.000"]
        );
    }

    #[test]
    fn an_open_question_says_what_would_settle_it() {
        let open = Difference {
            smallest_detectable: Some(0.7),
            settled_by: Some(SampleSize { items: 1200, runs: Some(6) }),
            clusters: 2,
            unmeasured: 1,
            ..difference(Quantity::Score, 1.0, 0.75)
        };
        assert_eq!(
            explain_difference(&open),
            "4 items in 2 clusters: 1 worse, 3 equal; 1 more not measured in both runs; min detectable difference \
             (80% power): 0.700; about 1,200 items (or 6 trials per item) needed"
        );
        assert_eq!(
            explain_difference(&Difference {
                verdict: Verdict::Worse,
                settled_by: None,
                unmeasured: 0,
                ..open
            }),
            "4 items in 2 clusters: 1 worse, 3 equal",
            "a clear difference needs no more items"
        );
    }
}
