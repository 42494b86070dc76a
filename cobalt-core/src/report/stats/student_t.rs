//! Student's t distribution: quantiles and CDF.

use std::f64::consts::PI;

use super::{normal_cdf, normal_quantile};

/// From this many degrees of freedom on, the asymptotic series is accurate to 1e-13 at every probability that a double can hold:
/// its first omitted term is below `7e-5 (z² / dof)⁵`, and `z² < 1500`. The inverted series of the CDF changes the probability by
/// a share of about `t^10 / (14 dof⁴)`.
const SERIES_FROM: f64 = 1e5;

/// The quantile of Student's t distribution with `dof` degrees of freedom: the `t` with `P(T < t) = p`. With infinitely many, it
/// is the normal quantile.
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
        return Some(quantile_by_series(z, dof));
    }
    // The distribution is symmetric. The difference that each case needs is exact.
    let (tail, centre) = (p.min(1.0 - p), (p - 0.5).abs());
    let t = if dof == 1.0 {
        cauchy_quantile(tail, centre)
    } else if dof == 2.0 {
        2.0 * centre / (2.0 * tail * (1.0 - tail)).sqrt()
    } else {
        quantile_by_newton(tail, centre, dof, z.abs())
    };
    Some(t.copysign(z))
}

/// The CDF of Student's t with `dof` degrees of freedom: `P(T <= t)`. With infinitely many, it is the normal CDF.
///
/// Precise in both tails: `P(T > t)` is this function at `-t`. By the incomplete beta function (Abramowitz and Stegun 26.7.1) below
/// 10^5 degrees of freedom, and as the normal CDF of a transformed `t` beyond; accurate to about 1 part in 10^10, and to 1 in 10^5
/// for probabilities as small as 10^-300. `None` if `t` is NaN, and for fewer than 1 degree of freedom.
#[must_use]
pub fn student_t_cdf(t: f64, dof: f64) -> Option<f64> {
    if t.is_nan() || dof.is_nan() || dof < 1.0 {
        return None;
    }
    if dof >= SERIES_FROM {
        return normal_cdf(equivalent_normal(t, dof));
    }
    let beyond = match t.abs() {
        0.0 => 0.5,
        f64::INFINITY => 0.0,
        distance => upper_tail(distance, dof),
    };
    Some(if t < 0.0 { beyond } else { 1.0 - beyond })
}

/// The normal quantile at the CDF of `t`: the first terms of the series in `1 / dof` that inverts the series of the quantile
/// (Wallace, "Bounds on normal approximations to Student's and the chi-square distributions", Annals of
/// Mathematical Statistics 30, 1959).
fn equivalent_normal(t: f64, dof: f64) -> f64 {
    // Beyond, the probability is too small for a double, and the series diverges.
    let t = t.clamp(-40.0, 40.0);
    let w = t * t;
    let first = -(w + 1.0) / 4.0;
    let second = ((13.0 * w + 8.0) * w + 3.0) / 96.0;
    let third = -(((35.0 * w + 19.0) * w + 1.0) * w - 15.0) / 384.0;
    t * (1.0 + (first + (second + third / dof) / dof) / dof)
}

/// The upper quantile for 1 degree of freedom.
fn cauchy_quantile(tail: f64, centre: f64) -> f64 {
    if tail < 0.25 { 1.0 / (PI * tail).tan() } else { (PI * centre).tan() }
}

/// Newton's method for `ln t`, in which the log probability is almost linear both near 0 (all curves start linearly) and far out
/// (all tails are powers of `t`). The root is between the quantiles for infinitely many and for 1 degree of freedom; a step that
/// leaves the bracket is replaced by a bisection.
fn quantile_by_newton(tail: f64, centre: f64, dof: f64, z: f64) -> f64 {
    let by_tail = tail < 0.25;
    let (mut low, mut high) = (z.ln(), cauchy_quantile(tail, centre).ln());
    let mut u = quantile_by_series(z, dof).ln().clamp(low, high);
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
        // `u` is a logarithm: its absolute error is the relative error of `t`.
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

/// `dof / (dof + t²)` and `t² / (dof + t²)`, both without cancellation.
fn beta_arguments(t: f64, dof: f64) -> (f64, f64) {
    let s = t / dof.sqrt();
    (1.0 / (1.0 + s * s), 1.0 / (1.0 + 1.0 / (s * s)))
}

/// The regularized incomplete beta function `I_x(a, b)` with `{a, b} = {dof / 2, 1 / 2}`, `rest = 1 - x` and the `t` that
/// corresponds to `x`, by the continued fraction that converges fast below the mean.
fn incomplete_beta(a: f64, b: f64, x: f64, rest: f64, t: f64, dof: f64) -> f64 {
    // x^a (1-x)^b / B(a, b) is the same from both sides: the density times t.
    let front = density(t, dof) * t;
    if x <= (a + 1.0) / (a + b + 2.0) {
        front / a * beta_fraction(a, b, x)
    } else {
        1.0 - front / b * beta_fraction(b, a, rest)
    }
}

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8) by Lentz's method
/// ("Generating Bessel functions in Mie scattering calculations", Applied Optics 15, 1976), without its prefactor.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    // Keeps a vanishing denominator from dividing by 0.
    let nonzero = |value: f64| if value.abs() < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    // Takes about sqrt(max(a, b)) steps: a few hundred at most.
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
    // The square of a far quantile would overflow.
    let log = if s < 1e100 { (s * s).ln_1p() } else { 2.0 * s.ln() };
    gamma_ratio(dof / 2.0) / (PI * dof).sqrt() * (-0.5 * (dof + 1.0) * log).exp()
}

/// `Γ(a + 1/2) / Γ(a)`. A difference of log-gamma values would lose precision, so it uses the asymptotic series (Abramowitz and
/// Stegun 6.1.47), reached upward by `Γ(a + 1) = a Γ(a)`.
pub fn gamma_ratio(a: f64) -> f64 {
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
fn quantile_by_series(z: f64, dof: f64) -> f64 {
    let w = z * z;
    let first = (w + 1.0) / 4.0;
    let second = ((5.0 * w + 16.0) * w + 3.0) / 96.0;
    let third = (((3.0 * w + 19.0) * w + 17.0) * w - 15.0) / 384.0;
    let fourth = ((((79.0 * w + 776.0) * w + 1482.0) * w - 1920.0) * w - 945.0) / 92_160.0;
    z * (1.0 + (first + (second + (third + fourth / dof) / dof) / dof) / dof)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Upper probability, degrees of freedom and quantile, calculated with 40 digits.
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

    /// `t`, degrees of freedom and the probability above `t`, calculated with 40 digits.
    const BEYOND: [(f64, f64, f64); 18] = [
        (1e-9, 1.0, 0.499_999_999_681_690_1),
        (0.7, 1.0, 0.305_599_887_785_785_22),
        (60.0, 1.0, 0.005_304_673_632_623_271),
        (0.1, 2.5, 0.463_903_272_031_244_8),
        (4.5, 2.5, 0.014_947_029_504_366_997),
        (1.0, 4.0, 0.186_950_483_150_029_44),
        (60.0, 4.0, 2.3105343638175643e-7),
        (2.0, 29.0, 0.027_471_818_591_483_595),
        (12.0, 29.0, 4.530_354_166_568_59e-13),
        (0.1, 1_318.0, 0.460_179_766_739_544_2),
        (12.0, 1_318.0, 7.330_578_925_815_874e-32),
        (2.0, 99_999.0, 0.022_751_481_742_251_236),
        (4.5, 99_999.0, 3.4014959199702414e-6),
        (2.0, 100_000.0, 0.022_751_481_728_753_232),
        (12.0, 100_000.0, 1.8722529059781755e-33),
        (4.5, 1_000_000.0, 3.3980552524769493e-6),
        (2.0, 1e9, 0.022_750_132_083_156_624),
        (5.0, f64::INFINITY, 2.866_515_718_791_939e-7),
    ];

    fn relative_error(actual: f64, expected: f64) -> f64 {
        (actual / expected - 1.0).abs()
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
    fn the_distribution_function_matches_the_reference_on_both_sides() {
        for (t, dof, expected) in BEYOND {
            let (above, below) = (student_t_cdf(-t, dof).unwrap(), student_t_cdf(t, dof).unwrap());
            assert!(relative_error(above, expected) < 1e-10, "{t} of {dof}: {above}, expected {expected}");
            assert!(relative_error(below, 1.0 - expected) < 1e-13, "{t} of {dof}: {below}");
        }
    }

    #[test]
    fn the_ends_of_the_distribution_are_0_and_1_and_its_middle_is_one_half() {
        for dof in [1.0, 7.0, 1e5, 1e300, f64::INFINITY] {
            let at = |t| student_t_cdf(t, dof).unwrap();
            assert_eq!((at(f64::NEG_INFINITY), at(0.0), at(f64::INFINITY)), (0.0, 0.5, 1.0), "{dof}");
        }
    }

    #[test]
    fn neither_a_nan_nor_half_a_degree_of_freedom_has_a_distribution() {
        for (t, dof) in [(f64::NAN, 3.0), (1.0, f64::NAN), (1.0, 0.5), (1.0, f64::NEG_INFINITY)] {
            assert_eq!(student_t_cdf(t, dof), None, "{t} {dof}");
        }
    }

    #[test]
    fn a_probability_outside_of_0_to_1_has_no_quantile() {
        for p in [0.0, 1.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
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
            let solved = quantile_by_newton(1.0 - p, p - 0.5, SERIES_FROM, z);
            assert!(relative_error(solved, quantile_by_series(z, SERIES_FROM)) < 1e-12, "{p}");
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
        fn the_distribution_function_undoes_the_quantile(p in 1e-20..0.5_f64, dof in 1.0..1e6_f64) {
            let again = student_t_cdf(student_t_quantile(p, dof).unwrap(), dof).unwrap();
            prop_assert!(relative_error(again, p) < 1e-10, "{}", again);
        }

        #[test]
        fn any_bits_have_a_chance_from_0_to_1_or_none(t in any::<f64>(), dof in any::<f64>()) {
            prop_assert!(student_t_cdf(t, dof).is_none_or(|chance| (0.0..=1.0).contains(&chance)));
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
