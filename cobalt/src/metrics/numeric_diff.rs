//! How near two numbers are.

/// Nearness of two numbers in relation to their size: `1 - |a - b| / (|a| + |b|)`. Two zeros are equal: 1. Numbers of
/// different signs are as far apart as can be: 0. A number that is not finite is near to nothing, and gives 0.
///
/// ```
/// assert_eq!(cobalt::metrics::numeric_diff(8.0, 6.0), 1.0 - 2.0 / 14.0);
/// ```
#[must_use]
pub fn numeric_diff(a: f64, b: f64) -> f64 {
    if !(a.is_finite() && b.is_finite()) {
        return 0.0;
    }
    if a == b {
        return 1.0;
    }
    let far = (a - b).abs() / (a.abs() + b.abs());
    // The sum of two huge numbers is infinite; that of their halves is not.
    let far = if far.is_finite() && (a.abs() + b.abs()).is_finite() {
        far
    } else {
        (a / 2.0 - b / 2.0).abs() / (a.abs() / 2.0 + b.abs() / 2.0)
    };
    (1.0 - far).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_the_numbers_decides_what_is_near() {
        assert_eq!(numeric_diff(1.0, 2.0), 1.0 - 1.0 / 3.0);
        assert_eq!(numeric_diff(100.0, 101.0), 1.0 - 1.0 / 201.0);
        assert_eq!(numeric_diff(0.0, -0.0), 1.0);
        assert_eq!(numeric_diff(0.0, 1e-300), 0.0);
        assert_eq!(numeric_diff(-3.0, 3.0), 0.0);
    }

    #[test]
    fn the_largest_numbers_are_compared() {
        assert!((numeric_diff(f64::MAX, 1e308) - 0.714_874_685_532_095_3).abs() < 1e-12);
        assert_eq!(numeric_diff(f64::MAX, f64::MAX), 1.0);
        assert_eq!(numeric_diff(1.7e308, -1.7e308), 0.0);
        assert_eq!(numeric_diff(f64::NAN, 1.0), 0.0);
    }
}
