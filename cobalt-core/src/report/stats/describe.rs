//! The descriptive statistics of one sample: sum, mean, SD, percentiles and the CI of the mean.

use super::{Interval, student_t_quantile};

/// The descriptive statistics of one sample, all in the unit of its values.
///
/// Statistics that need two values (`stddev_sample` and those derived from it) are `None` for a sample of one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DescriptiveStats {
    /// The number of values, at least one.
    pub n: usize,
    /// The sum of the values, see [`sum()`].
    pub sum: f64,
    /// The arithmetic mean, `sum / n`.
    pub mean: f64,
    /// The population standard deviation (divisor `n`).
    pub stddev_population: f64,
    /// The sample standard deviation (Bessel's divisor `n - 1`).
    pub stddev_sample: Option<f64>,
    /// The standard error of the mean, `stddev_sample / sqrt(n)`.
    pub std_error: Option<f64>,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 95% CI of the mean, see [`DescriptiveStats::mean_interval`].
    pub ci95: Option<Interval>,
}

impl DescriptiveStats {
    /// The confidence interval of the mean by Student's t: `mean ± t · std_error`, where t is the
    /// `(1 + confidence) / 2` quantile with `n - 1` degrees of freedom (Student, "The probable error of a mean",
    /// Biometrika 6, 1908).
    ///
    /// It may exceed the range of possible values. `None` for a sample of one, and for a confidence outside of
    /// `0 < confidence < 1`.
    pub fn mean_interval(&self, confidence: f64) -> Option<Interval> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return None;
        }
        let std_error = self.std_error?;
        let t = student_t_quantile(0.5 + 0.5 * confidence, (self.n - 1) as f64)?;
        Some(Interval { low: self.mean - t * std_error, high: self.mean + t * std_error })
    }
}

/// Values beyond this are scaled before they are squared.
const LARGE: f64 = 1e130;
/// The scale of large values, a power of two, which causes no rounding: 2⁻⁶⁰⁰.
const SCALE: f64 = 2.409_919_865_102_884e-181;

/// Calculates the [`DescriptiveStats`] of `values`, in any order; `O(n log n)`.
///
/// `None` without values, and if one of them is NaN or infinite. If the sum overflows, `sum` is infinite; the other statistics are not
/// affected, but the sample's are `None` if they are not finite themselves. A negative zero counts as zero. The mean of equal values is
/// that value, and their deviation is exactly 0.
pub fn describe(values: &[f64]) -> Option<DescriptiveStats> {
    if !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    // Adding 0 turns a negative zero into zero, as reports should print it.
    let mut sorted: Vec<f64> = values.iter().map(|value| value + 0.0).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (min, max) = (*sorted.first()?, *sorted.last()?);

    let n = sorted.len();
    let scale = if min < -LARGE || max > LARGE { SCALE } else { 1.0 };
    let scaled = sorted.iter().map(|value| value * scale);
    let scaled_sum = sum(scaled.clone());
    // Rounding may put the mean an ulp outside of the values.
    let scaled_mean = (scaled_sum / n as f64).clamp(min * scale, max * scale);
    let squares = corrected_sum_of_squares(scaled, scaled_mean);
    let finite = |value: f64| value.is_finite().then_some(value);
    let stddev_sample = if n > 1 { finite((squares / (n - 1) as f64).sqrt() / scale) } else { None };

    let mut description = DescriptiveStats {
        n,
        sum: scaled_sum / scale,
        mean: scaled_mean / scale,
        stddev_population: (squares / n as f64).sqrt() / scale,
        stddev_sample,
        std_error: stddev_sample.map(|stddev| stddev / (n as f64).sqrt()),
        min,
        max,
        p50: percentile(&sorted, 50.0)?,
        p95: percentile(&sorted, 95.0)?,
        p99: percentile(&sorted, 99.0)?,
        ci95: None,
    };
    let interval = description.mean_interval(0.95);
    description.ci95 = interval.filter(|interval| interval.low.is_finite() && interval.high.is_finite());
    Some(description)
}

/// The percentile `p` (0 to 100) of values sorted in ascending order, by linear interpolation between the two nearest
/// ranks: the value at position `p / 100 · (n - 1)` (R's type 7; Hyndman and Fan, "Sample quantiles in statistical
/// packages", The American Statistician 50, 1996).
///
/// `None` without values, if one is NaN, and for a `p` that is NaN or outside of 0 to 100. The result is meaningless unless
/// the values are sorted by [`f64::total_cmp`].
pub fn percentile(sorted: &[f64], p: f64) -> Option<f64> {
    let (first, last) = (sorted.first()?, sorted.last()?);
    // In the total order a NaN comes first or last, depending on its sign.
    if first.is_nan() || last.is_nan() || !(0.0..=100.0).contains(&p) {
        return None;
    }
    let position = p / 100.0 * (sorted.len() - 1) as f64;
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    // Equal neighbors need no interpolation, which avoids rounding and infinity minus infinity.
    let distance = above - below;
    Some(match position.fract() {
        _ if below == above => below,
        share if distance.is_finite() => below + distance * share,
        share => below * (1.0 - share) + above * share,
    })
}

/// The compensated sum of `values`, whose error does not grow with their number (Neumaier, "Rundungsfehleranalyse einiger
/// Verfahren zur Summation endlicher Summen", ZAMM 54, 1974).
///
/// 0 without values; NaN if a value is NaN or infinite; infinite if the sum overflows. Sums of some of the values may overflow.
pub fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut total, mut lost, mut scale) = (0.0_f64, 0.0_f64, 1.0);
    for value in values {
        let mut value = value * scale;
        let mut next = total + value;
        if next.is_infinite() && value.is_finite() && total.is_finite() {
            (total, lost, value, scale) = (total * SCALE, lost * SCALE, value * SCALE, SCALE);
            next = total + value;
        }
        lost += if total.abs() >= value.abs() { (total - next) + value } else { (value - next) + total };
        total = next;
    }
    (total + lost) / scale
}

/// The root mean square distance of `values` from `centre`: around their mean it is the population standard deviation, around
/// any other point it is larger.
///
/// `None` without values, and if the result is not finite (a NaN, an infinity, an overflow).
pub fn root_mean_square_deviation(values: &[f64], centre: f64) -> Option<f64> {
    let squares = sum(values.iter().map(|value| (value - centre).powi(2)));
    let deviation = (squares / values.len() as f64).sqrt();
    deviation.is_finite().then_some(deviation)
}

/// The sum of the squared distances from the mean, in two passes, corrected for the rounding error of the mean (Chan,
/// Golub and LeVeque, "Algorithms for computing the sample variance", The American Statistician 37, 1983).
fn corrected_sum_of_squares(values: impl ExactSizeIterator<Item = f64> + Clone, mean: f64) -> f64 {
    let count = values.len() as f64;
    let squares = sum(values.clone().map(|value| (value - mean).powi(2)));
    let off = sum(values.map(|value| value - mean));
    let corrected = squares - off * off / count;
    // Not `max`, which would turn the NaN of an overflow into 0.
    if corrected < 0.0 { 0.0 } else { corrected }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_values_have_no_description() {
        assert_eq!(describe(&[]), None);
        assert_eq!(percentile(&[], 50.0), None);
        assert_eq!(root_mean_square_deviation(&[], 0.0), None);
        assert_eq!(sum([]), 0.0);
    }

    #[test]
    fn a_nan_or_an_infinity_leaves_no_description() {
        for odd in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(describe(&[0.5, odd, 0.7]), None, "{odd}");
        }
        assert_eq!(root_mean_square_deviation(&[1.0, f64::NAN], 0.0), None);
        assert_eq!(root_mean_square_deviation(&[1.0], f64::INFINITY), None);
    }

    #[test]
    fn overflowing_sums_have_a_finite_mean() {
        let equal = describe(&[1e308, 1e308]).unwrap();
        assert_eq!((equal.sum, equal.mean, equal.stddev_population), (f64::INFINITY, 1e308, 0.0));
        assert_eq!((equal.p50, equal.p95, equal.stddev_sample), (1e308, 1e308, Some(0.0)));
        let opposite = describe(&[-f64::MAX, f64::MAX]).unwrap();
        assert_eq!((opposite.sum, opposite.mean, opposite.p50), (0.0, 0.0, 0.0));
        assert_eq!((opposite.stddev_population, opposite.stddev_sample), (f64::MAX, None));
        assert_eq!(opposite.ci95, None);
        let mixed = describe(&[1e308, 1e308, 4e307]).unwrap();
        assert!((mixed.mean / 8e307 - 1.0).abs() < 1e-15, "{}", mixed.mean);
    }

    #[test]
    fn partial_sums_may_overflow() {
        assert_eq!(sum([1e308, 1e308, -1e308]), 1e308);
        assert_eq!(sum([-1e308, -1e308]), f64::NEG_INFINITY);
        assert!(sum([f64::INFINITY, 1.0]).is_nan());
    }

    #[test]
    fn a_percentile_of_sorted_values_with_a_nan_is_undefined() {
        assert_eq!(percentile(&[0.1, 0.2, f64::NAN], 0.0), None);
        assert_eq!(percentile(&[-f64::NAN, 0.1, 0.2], 100.0), None);
    }

    #[test]
    fn a_percentile_outside_of_0_to_100_is_undefined() {
        for p in [-0.1, 100.1, f64::NAN, f64::INFINITY] {
            assert_eq!(percentile(&[1.0, 2.0], p), None, "{p}");
        }
        assert_eq!(percentile(&[1.0, 2.0], 0.0), Some(1.0));
        assert_eq!(percentile(&[1.0, 2.0], 100.0), Some(2.0));
    }

    #[test]
    fn a_percentile_between_infinities_is_not_nan() {
        let sorted = [f64::NEG_INFINITY, 1.0, f64::INFINITY, f64::INFINITY];
        assert_eq!(percentile(&sorted, 90.0), Some(f64::INFINITY));
    }

    #[test]
    fn one_value_has_no_sample_deviation_and_no_interval() {
        let one = describe(&[0.25]).unwrap();
        assert_eq!((one.mean, one.stddev_population, one.p50, one.p99), (0.25, 0.0, 0.25, 0.25));
        assert_eq!((one.stddev_sample, one.std_error, one.ci95), (None, None, None));
    }

    #[test]
    fn equal_values_have_exactly_that_mean_and_no_deviation() {
        for n in 1..200 {
            let equal = describe(&vec![0.1; n]).unwrap();
            assert_eq!((equal.mean, equal.stddev_population), (0.1, 0.0), "{n} values");
        }
    }

    #[test]
    fn a_negative_zero_is_described_as_zero() {
        let zero = describe(&[-0.0, -0.0]).unwrap();
        for figure in [zero.sum, zero.mean, zero.min, zero.max, zero.p50] {
            assert!(figure == 0.0 && figure.is_sign_positive());
        }
    }

    #[test]
    fn the_sum_keeps_what_a_plain_sum_loses() {
        assert_eq!(sum([1.0, 1e100, 1.0, -1e100]), 2.0);
        let tenths = vec![0.1; 1_000_000];
        assert_eq!(sum(tenths), 100_000.0);
    }

    #[test]
    fn the_deviation_survives_a_large_offset() {
        let offset: Vec<f64> = [4.0, 7.0, 13.0, 16.0].iter().map(|value| value + 1e9).collect();
        assert_eq!(describe(&offset).unwrap().stddev_sample, Some(30.0_f64.sqrt()));
    }

    #[test]
    fn an_interval_needs_a_confidence_between_0_and_1() {
        let two = describe(&[0.4, 0.9]).unwrap();
        for confidence in [0.0, 1.0, -0.5, 95.0, f64::NAN] {
            assert_eq!(two.mean_interval(confidence), None, "{confidence}");
        }
    }

    proptest! {
        #[test]
        fn the_figures_are_in_order(values in prop::collection::vec(-1e6..1e6_f64, 1..80)) {
            let figures = describe(&values).unwrap();
            prop_assert!(figures.min <= figures.p50 && figures.p50 <= figures.p95);
            prop_assert!(figures.p95 <= figures.p99 && figures.p99 <= figures.max);
            prop_assert!(figures.min <= figures.mean && figures.mean <= figures.max);
            prop_assert!((figures.mean - figures.sum / values.len() as f64).abs() <= 1e-12 * figures.mean.abs().max(1.0));
            if let Some(interval) = figures.ci95 {
                prop_assert!(interval.low <= figures.mean && figures.mean <= interval.high);
            }
        }

        #[test]
        fn any_bits_are_described_with_finite_figures_or_not_at_all(values in prop::collection::vec(any::<f64>(), 0..20)) {
            if let Some(figures) = describe(&values) {
                prop_assert!(figures.mean.is_finite() && figures.stddev_population.is_finite());
            }
        }
    }
}
