//! The standard normal distribution: quantiles and CDF.

use std::f64::consts::PI;

/// Below, the series is the more precise method for the CDF; above, the continued fraction.
const SERIES_BELOW: f64 = 2.5;

/// The quantile of the standard normal distribution: the `z` with `P(Z < z) = p`.
///
/// By the rational approximations of algorithm AS 241 (PPND16; Wichura, "The percentage points of the normal
/// distribution", Applied Statistics 37, 1988), accurate to about 1 part in 10^16. `None` outside of `0 < p < 1` and for
/// NaN.
pub fn normal_quantile(p: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    let centred = p - 0.5;
    if centred.abs() <= 0.425 {
        let r = 0.180625 - centred * centred;
        return Some(centred * polynomial(&CENTRE_OVER, r) / polynomial(&CENTRE_UNDER, r));
    }
    let tail = if centred < 0.0 { p } else { 1.0 - p };
    let r = (-tail.ln()).sqrt();
    let z = if r <= 5.0 {
        polynomial(&TAIL_OVER, r - 1.6) / polynomial(&TAIL_UNDER, r - 1.6)
    } else {
        polynomial(&FAR_OVER, r - 5.0) / polynomial(&FAR_UNDER, r - 5.0)
    };
    Some(z.copysign(centred))
}

/// The CDF of the standard normal distribution: `P(Z <= z)`.
///
/// Precise in both tails: `P(Z > z)` is this function at `-z`. By the series of Abramowitz and Stegun ("Handbook of
/// mathematical functions", 26.2.11) near the center and by the continued fraction 26.2.14 beyond, accurate to about 1 part
/// in 10^13. `None` for NaN.
#[must_use]
pub fn normal_cdf(z: f64) -> Option<f64> {
    if z.is_nan() {
        return None;
    }
    let beyond = upper_tail(z.abs());
    Some(if z < 0.0 { beyond } else { 1.0 - beyond })
}

/// `P(Z > z)` for `z >= 0`.
fn upper_tail(z: f64) -> f64 {
    let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
    if z >= SERIES_BELOW {
        // Evaluates the levels that these `z` need, from the innermost outward.
        let fraction = (1..=100).rev().fold(z, |fraction, level| z + f64::from(level) / fraction);
        return density / fraction;
    }
    let (mut term, mut series, mut odd) = (z, 0.0, 1.0);
    while term > 0.5 * f64::EPSILON * series {
        series += term;
        odd += 2.0;
        term *= z * z / odd;
    }
    0.5 - density * series
}

/// `c[0] + c[1] x + c[2] x² + …`
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

// The coefficients of AS 241, constant term first.
const CENTRE_OVER: [f64; 8] = [
    3.387_132_872_796_366_5,
    1.331_416_678_917_843_8e2,
    1.971_590_950_306_551_3e3,
    1.373_169_376_550_946e4,
    4.592_195_393_154_987e4,
    6.726_577_092_700_87e4,
    3.343_057_558_358_813e4,
    2.509_080_928_730_122_7e3,
];
const CENTRE_UNDER: [f64; 8] = [
    1.0,
    4.231_333_070_160_091e1,
    6.871_870_074_920_579e2,
    5.394_196_021_424_751e3,
    2.121_379_430_158_659_7e4,
    3.930_789_580_009_271e4,
    2.872_908_573_572_194_3e4,
    5.226_495_278_852_854e3,
];
const TAIL_OVER: [f64; 8] = [
    1.423_437_110_749_683_5,
    4.630_337_846_156_546,
    5.769_497_221_460_691,
    3.647_848_324_763_204_5,
    1.270_458_252_452_368_4,
    2.417_807_251_774_506e-1,
    2.272_384_498_926_918_4e-2,
    7.745_450_142_783_414e-4,
];
const TAIL_UNDER: [f64; 8] = [
    1.0,
    2.053_191_626_637_759,
    1.676_384_830_183_803_8,
    6.897_673_349_851e-1,
    1.481_039_764_274_800_8e-1,
    1.519_866_656_361_645_7e-2,
    5.475_938_084_995_345e-4,
    1.050_750_071_644_416_9e-9,
];
const FAR_OVER: [f64; 8] = [
    6.657_904_643_501_103,
    5.463_784_911_164_114,
    1.784_826_539_917_291_3,
    2.965_605_718_285_048_7e-1,
    2.653_218_952_657_612_4e-2,
    1.242_660_947_388_078_4e-3,
    2.711_555_568_743_487_6e-5,
    2.010_334_399_292_288_1e-7,
];
const FAR_UNDER: [f64; 8] = [
    1.0,
    5.998_322_065_558_88e-1,
    1.369_298_809_227_358e-1,
    1.487_536_129_085_061_5e-2,
    7.868_691_311_456_133e-4,
    1.846_318_317_510_054_8e-5,
    1.421_511_758_316_446e-7,
    2.044_263_103_389_939_8e-15,
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Lower probability and quantile, calculated with 40 digits.
    const NORMAL: [(f64, f64); 9] = [
        (0.4, -0.253_347_103_135_799_7),
        (0.1, -1.281_551_565_544_600_4),
        (0.075, -1.439_531_470_938_456),
        (0.025, -1.959_963_984_540_054_3),
        (0.005, -2.575_829_303_548_901),
        (1e-05, -4.264_890_793_922_825),
        (1e-10, -6.361_340_902_404_057),
        (1e-20, -9.262_340_089_798_407),
        (1e-300, -37.047_096_299_361_2),
    ];

    fn relative_error(actual: f64, expected: f64) -> f64 {
        (actual / expected - 1.0).abs()
    }

    #[test]
    fn normal_quantiles_match_the_reference() {
        for (p, expected) in NORMAL {
            let actual = normal_quantile(p).unwrap();
            assert!(relative_error(actual, expected) < 2e-15, "p {p}: {actual}, expected {expected}");
        }
        assert_eq!(normal_quantile(0.5), Some(0.0));
    }

    #[test]
    fn a_probability_outside_of_0_to_1_has_no_quantile() {
        for p in [0.0, 1.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(normal_quantile(p), None, "{p}");
        }
    }

    #[test]
    fn the_distribution_function_matches_the_reference_in_both_tails() {
        for (z, expected) in [
            (1e-9, 0.499_999_999_601_057_72),
            (1.0, 0.158_655_253_931_457_05),
            (2.4, 0.008_197_535_924_596_131),
            (2.5, 0.006_209_665_325_776_135),
            (10.0, 7.619_853_024_160_525e-24),
            (37.0, 5.725_571_222_524_577e-300),
        ] {
            let (above, below) = (normal_cdf(-z).unwrap(), normal_cdf(z).unwrap());
            assert!(relative_error(above, expected) < 1e-13, "{z}: {above}, expected {expected}");
            assert!(relative_error(below, 1.0 - expected) < 1e-15, "{z}: {below}");
        }
        assert_eq!(normal_cdf(0.0), Some(0.5));
        assert_eq!(normal_cdf(f64::NEG_INFINITY), Some(0.0));
        assert_eq!(normal_cdf(f64::INFINITY), Some(1.0));
        assert_eq!(normal_cdf(f64::NAN), None);
    }

    proptest! {
        #[test]
        fn the_distribution_function_undoes_the_quantile(p in 1e-300..1.0_f64) {
            let again = normal_cdf(normal_quantile(p).unwrap()).unwrap();
            prop_assert!(relative_error(again, p) < 1e-12, "{}", again);
        }
    }
}
