//! Quantiles of the standard normal and of Student's t distribution.

use std::f64::consts::PI;

/// From this many degrees of freedom on, the asymptotic series is exact to 1e-13 at every probability that a double
/// can hold: its first omitted term is below `7e-5 (z² / dof)⁵`, and `z² < 1500`.
const SERIES_FROM: f64 = 1e5;

/// The quantile of the standard normal distribution: the `z` that a normal variable stays below with probability `p`.
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

/// The quantile of Student's t distribution with `dof` degrees of freedom: the `t` that such a variable stays below with
/// probability `p`. With infinitely many it is the normal quantile.
///
/// In closed form for 1 and 2 degrees of freedom, by Newton's method within a bracket on the regularised incomplete beta
/// function below 10^5, and by the asymptotic series in `1 / dof` beyond (Abramowitz and Stegun, "Handbook of
/// mathematical functions", 26.5.8, 26.7.1 and 26.7.5); accurate to about 1 part in 10^12. `None` outside of
/// `0 < p < 1`, for fewer than 1 degree of freedom and for NaN.
pub fn student_t_quantile(p: f64, dof: f64) -> Option<f64> {
    let z = normal_quantile(p)?;
    if dof.is_nan() || dof < 1.0 {
        return None;
    }
    if dof == f64::INFINITY || z == 0.0 {
        return Some(z);
    }
    if dof >= SERIES_FROM {
        return Some(asymptotic(z, dof));
    }
    // The distribution is symmetric. Of the two differences, the one that the case needs is exact.
    let (tail, centre) = (p.min(1.0 - p), (p - 0.5).abs());
    let t = if dof == 1.0 {
        cauchy(tail, centre)
    } else if dof == 2.0 {
        2.0 * centre / (2.0 * tail * (1.0 - tail)).sqrt()
    } else {
        solve(tail, centre, dof, z.abs())
    };
    Some(t.copysign(z))
}

/// The distribution function of Student's t with `dof` degrees of freedom: the chance that such a variable is at most
/// `t`. With infinitely many it is the normal one.
///
/// Precise in both tails: `P(T > t)` is this function at `-t`. `None` where `t` is NaN, and for fewer than 1 degree of
/// freedom.
#[must_use]
pub fn student_t_cdf(t: f64, dof: f64) -> Option<f64> {
    if t.is_nan() || dof.is_nan() || dof < 1.0 {
        return None;
    }
    if t == 0.0 {
        return Some(0.5);
    }
    let beyond = if t.is_infinite() {
        0.0
    } else if dof > 1e8 {
        normal_tail(t.abs())
    } else {
        upper_tail(t.abs(), dof)
    };
    Some(if t < 0.0 { beyond } else { 1.0 - beyond })
}

fn normal_tail(z: f64) -> f64 {
    let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
    if z < 2.5 {
        let (mut term, mut total, mut k) = (z, 0.0, 1.0);
        while term > f64::EPSILON * total {
            total += term;
            k += 2.0;
            term *= z * z / k;
        }
        0.5 - density * total
    } else {
        let fraction = (1..=200).rev().fold(z, |fraction, k| z + f64::from(k) / fraction);
        density / fraction
    }
}

/// The upper quantile for 1 degree of freedom.
fn cauchy(tail: f64, centre: f64) -> f64 {
    if tail < 0.25 { 1.0 / (PI * tail).tan() } else { (PI * centre).tan() }
}

/// Newton's method for `ln t`, in which the probability is close to a straight line both near 0 (all curves start
/// linearly) and far out (all tails are powers of `t`). The root lies between the quantiles for infinitely many and for
/// 1 degree of freedom; a step that leaves the bracket is replaced by a bisection.
fn solve(tail: f64, centre: f64, dof: f64, z: f64) -> f64 {
    let by_tail = tail < 0.25;
    let (mut low, mut high) = (z.ln(), cauchy(tail, centre).ln());
    let mut u = asymptotic(z, dof).ln().clamp(low, high);
    for _ in 0..100 {
        let t = u.exp();
        let density = density(t, dof);
        // `miss` has the sign of `t` minus the root, and its slope is positive.
        let (miss, slope) = if by_tail {
            let beyond = upper_tail(t, dof);
            (tail.ln() - beyond.ln(), density * t / beyond)
        } else {
            let within = half_centre(t, dof);
            (within.ln() - centre.ln(), density * t / within)
        };
        if miss > 0.0 {
            high = u
        } else {
            low = u
        }
        let newton = u - miss / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        let step = (next - u).abs();
        u = next;
        // `u` is a logarithm, so that its absolute error is the relative one of `t`.
        if step <= 4.0 * f64::EPSILON * u.abs().max(0.25) {
            break;
        }
    }
    u.exp()
}

/// `P(T > t)` for `t > 0`.
fn upper_tail(t: f64, dof: f64) -> f64 {
    let (x, rest) = beta_arguments(t, dof);
    0.5 * incomplete_beta(dof / 2.0, 0.5, x, rest, t, dof)
}

/// `P(0 < T < t)` for `t > 0`.
fn half_centre(t: f64, dof: f64) -> f64 {
    let (x, rest) = beta_arguments(t, dof);
    0.5 * incomplete_beta(0.5, dof / 2.0, rest, x, t, dof)
}

/// `dof / (dof + t²)` and `t² / (dof + t²)`, neither of them as a difference.
fn beta_arguments(t: f64, dof: f64) -> (f64, f64) {
    let s = t / dof.sqrt();
    (1.0 / (1.0 + s * s), 1.0 / (1.0 + 1.0 / (s * s)))
}

/// The regularised incomplete beta function `I_x(a, b)`, where `{a, b} = {dof / 2, 1 / 2}`, `rest = 1 - x`, and `t` is the
/// value that `x` belongs to, by the continued fraction that converges fast below the mean.
fn incomplete_beta(a: f64, b: f64, x: f64, rest: f64, t: f64, dof: f64) -> f64 {
    // x^a (1-x)^b / B(a, b) is the same from both sides: the density times t.
    let front = density(t, dof) * t;
    if x <= (a + 1.0) / (a + b + 2.0) {
        front / a * beta_fraction(a, b, x)
    } else {
        1.0 - front / b * beta_fraction(b, a, rest)
    }
}

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8) by the method of Lentz
/// ("Generating Bessel functions in Mie scattering calculations", Applied Optics 15, 1976), without its factor in front.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    // Keeps a vanishing denominator from dividing by 0.
    let nonzero = |value: f64| if value.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    // It takes about sqrt(max(a, b)) steps: a few hundred at most.
    for step in 1..10_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / nonzero(1.0 + even * d);
        c = nonzero(1.0 + even / c);
        value *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / nonzero(1.0 + odd * d);
        c = nonzero(1.0 + odd / c);
        value *= c * d;
        if (c * d - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    value
}

/// The density of Student's t: `Γ((dof+1)/2) / (Γ(dof/2) √(π dof)) · (1 + t²/dof)^(-(dof+1)/2)`.
fn density(t: f64, dof: f64) -> f64 {
    let s = t / dof.sqrt();
    // The square of a far quantile overflows.
    let log = if s < 1e100 { (s * s).ln_1p() } else { 2.0 * s.ln() };
    gamma_ratio(dof / 2.0) / (PI * dof).sqrt() * (-0.5 * (dof + 1.0) * log).exp()
}

/// `Γ(a + 1/2) / Γ(a)`, whose logarithm would lose the digits that large gamma functions have in common: by its
/// asymptotic series (Abramowitz and Stegun 6.1.47 for this case), reached upward through `Γ(a + 1) = a Γ(a)`.
pub(super) fn gamma_ratio(a: f64) -> f64 {
    let mut ratio = 1.0;
    let mut a = a;
    while a < 20.0 {
        ratio *= a / (a + 0.5);
        a += 1.0;
    }
    let r = 1.0 / (a * a);
    let series =
        (-1.0 / 8.0 + r * (1.0 / 192.0 + r * (-1.0 / 640.0 + r * (17.0 / 14336.0 - r * 31.0 / 18432.0)))) / a;
    ratio * a.sqrt() * series.exp()
}

/// The first five terms of the series of the t quantile in `1 / dof` (Abramowitz and Stegun 26.7.5), at the normal
/// quantile `z`.
fn asymptotic(z: f64, dof: f64) -> f64 {
    let w = z * z;
    let first = (w + 1.0) / 4.0;
    let second = ((5.0 * w + 16.0) * w + 3.0) / 96.0;
    let third = (((3.0 * w + 19.0) * w + 17.0) * w - 15.0) / 384.0;
    let fourth = ((((79.0 * w + 776.0) * w + 1482.0) * w - 1920.0) * w - 945.0) / 92_160.0;
    z * (1.0 + (first + (second + (third + fourth / dof) / dof) / dof) / dof)
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

    /// Lower probability and quantile, worked out with 40 digits.
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

    /// Upper probability, degrees of freedom and quantile, worked out with 40 digits.
    const STUDENT: [(f64, f64, f64); 63] = [
        (0.499_9, 1.0, 0.000_314_159_275_694_370_7),
        (0.3, 1.0, 0.726_542_528_005_360_9),
        (0.249_9, 1.0, 1.000_628_516_005_521_7),
        (0.1, 1.0, 3.077_683_537_175_253),
        (0.025, 1.0, 12.706_204_736_174_705),
        (0.005, 1.0, 63.656_741_162_871_58),
        (1e-09, 1.0, 318_309_886.183_790_6),
        (1e-40, 1.0, 3.183098861837907e39),
        (0.499_9, 1.5, 0.000_293_483_228_561_816),
        (0.3, 1.5, 0.651_795_482_602_357_1),
        (0.249_9, 1.5, 0.873_085_060_680_584_2),
        (0.1, 1.5, 2.196_398_417_565_537),
        (0.025, 1.5, 6.016_663_104_427_931_5),
        (0.005, 1.5, 17.820_310_514_462_808),
        (1e-09, 1.5, 521_946.942_733_437_23),
        (1e-40, 1.5, 2.4226631011346152e26),
        (0.499_9, 3.0, 0.000_272_069_909_110_473_37),
        (0.3, 3.0, 0.584_389_727_439_818_8),
        (0.249_9, 3.0, 0.765_280_928_532_242_2),
        (0.1, 3.0, 1.637_744_353_696_210_2),
        (0.025, 3.0, 3.182_446_305_283_709_5),
        (0.005, 3.0, 5.840_909_309_733_357),
        (1e-09, 3.0, 1_033.109_674_503_807_8),
        (1e-40, 3.0, 22_257_698_238_224.42),
        (0.499_9, 4.2, 0.000_265_895_475_189_707_45),
        (0.3, 4.2, 0.566_438_332_571_429_3),
        (0.249_9, 4.2, 0.737_691_779_887_396_5),
        (0.1, 4.2, 1.519_206_438_446_972_3),
        (0.025, 4.2, 2.725_072_722_592_374_8),
        (0.005, 4.2, 4.457_770_305_318_88),
        (1e-09, 4.2, 190.170_278_134_558_3),
        (1e-40, 4.2, 4_572_104_756.135_74),
        (0.499_9, 29.0, 0.000_252_832_626_350_954_54),
        (0.3, 29.0, 0.530_214_395_709_160_8),
        (0.249_9, 29.0, 0.683_365_116_478_006_8),
        (0.1, 29.0, 1.311_433_647_301_551),
        (0.025, 29.0, 2.045_229_642_132_704_3),
        (0.005, 29.0, 2.756_385_903_670_605_3),
        (1e-09, 29.0, 8.556_427_307_611_301),
        (1e-40, 29.0, 117.751_303_800_760_3),
        (0.499_9, 1318.0, 0.000_250_710_380_656_354_4),
        (0.3, 1318.0, 0.524_527_359_714_957_8),
        (0.249_9, 1318.0, 0.674_990_798_959_019_8),
        (0.1, 1318.0, 1.282_194_219_615_278_2),
        (0.025, 1318.0, 1.961_765_512_767_315_3),
        (0.005, 1318.0, 2.579_564_703_968_318_3),
        (1e-09, 1318.0, 6.040_125_602_909_733),
        (1e-40, 1318.0, 13.773_818_748_215_945),
        (0.499_9, 99_999.0, 0.000_250_663_456_752_172_04),
        (0.249_9, 99_999.0, 0.674_806_925_353_515_4),
        (0.025, 99_999.0, 1.959_987_707_771_844_8),
        (0.005, 99_999.0, 2.575_878_470_400_052_6),
        (1e-09, 99_999.0, 5.998_361_467_224_039),
        (0.499_9, 100_000.0, 0.000_250_663_456_745_905_4),
        (0.249_9, 100_000.0, 0.674_806_925_328_962_8),
        (0.025, 100_000.0, 1.959_987_707_534_609_5),
        (0.005, 100_000.0, 2.575_878_469_908_375),
        (1e-09, 100_000.0, 5.998_361_461_679_076),
        (0.499_9, 1_000_000.0, 0.000_250_662_892_753_726_76),
        (0.249_9, 1_000_000.0, 0.674_804_715_631_729),
        (0.025, 1_000_000.0, 1.959_966_356_814_107),
        (0.005, 1_000_000.0, 2.575_834_220_105_334),
        (1e-09, 1_000_000.0, 5.997_862_455_710_895),
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
    fn t_quantiles_match_the_reference() {
        for (upper, dof, expected) in STUDENT {
            let actual = -student_t_quantile(upper, dof).unwrap();
            assert!(
                relative_error(actual, expected) < 1e-12,
                "{upper} of {dof}: {actual}, expected {expected}"
            );
        }
    }

    #[test]
    fn a_probability_outside_of_0_to_1_has_no_quantile() {
        for p in [0.0, 1.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(normal_quantile(p), None, "{p}");
            assert_eq!(student_t_quantile(p, 5.0), None, "{p}");
        }
    }

    #[test]
    fn fewer_than_one_degree_of_freedom_have_no_quantile() {
        for dof in [0.0, 0.99, -1.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(student_t_quantile(0.9, dof), None, "{dof}");
        }
    }

    #[test]
    fn infinitely_many_degrees_of_freedom_are_normal() {
        assert_eq!(student_t_quantile(0.975, f64::INFINITY), normal_quantile(0.975));
    }

    #[test]
    fn the_two_methods_meet_where_they_change() {
        for p in [0.51, 0.7, 0.8, 0.975, 0.9999, 1.0 - 1e-12] {
            let z = normal_quantile(p).unwrap();
            let solved = solve(1.0 - p, p - 0.5, SERIES_FROM, z);
            assert!(relative_error(solved, asymptotic(z, SERIES_FROM)) < 1e-12, "{p}");
        }
    }

    proptest! {
        #[test]
        fn t_quantiles_are_finite_symmetric_and_between_normal_and_cauchy(p in 1e-300..0.499_f64, dof in 1.0..3e5_f64) {
            let t = student_t_quantile(p, dof).unwrap();
            prop_assert!(t <= normal_quantile(p).unwrap() * (1.0 - 1e-12));
            prop_assert!(t >= student_t_quantile(p, 1.0).unwrap() * (1.0 + 1e-12));
            let q = 1.0 - p;
            prop_assert_eq!(student_t_quantile(q, dof).unwrap(), -student_t_quantile(1.0 - q, dof).unwrap());
        }

        #[test]
        fn any_bits_give_a_finite_quantile_or_none(p in any::<f64>(), dof in any::<f64>()) {
            prop_assert!(student_t_quantile(p, dof).is_none_or(f64::is_finite));
        }

        #[test]
        fn tiny_probabilities_have_finite_quantiles(exponent in -300..-1, dof in 1.0..100.0_f64) {
            let t = student_t_quantile(10.0_f64.powi(exponent), dof).unwrap();
            prop_assert!(t.is_finite() && t < 0.0);
        }
    }
}
