//! Statistics against the original's results, numpy, scipy and exact rationals.

use cobalt::report::stats::{
    DescriptiveStats, Interval, bootstrap_mean, describe, mcnemar, normal_quantile, paired_t, pass_at_k,
    pass_hat_k, percentile, root_mean_square_deviation, sign_flip, student_t_quantile, sum, wilson,
};
use serde_json::{Value, json};

use crate::case::{Case, Checked, numbers};

pub(crate) fn check_original(case: &Case) -> Checked {
    match case.input()["fn"].as_str() {
        Some("calculateStats") => {
            let figures = describe(&case.numbers("scores"));
            check_stats(case, "avg", figures, &[])
        }
        Some("calculateRunStats") => {
            let scores = case.numbers("scores");
            let figures = describe(&scores);
            let stddev = figures.map_or(0.0, |figures| figures.stddev_population);
            if scores != numbers(&case.expected()["scores"]) {
                return Err("the scores differ from the input".to_owned());
            }
            check_stats(case, "mean", figures, &[("stddev", stddev)])
        }
        Some("standardDeviation") => {
            let values = case.numbers("values");
            let mean = case.input()["mean"].as_f64();
            let mean = mean.or_else(|| describe(&values).map(|figures| figures.mean));
            // The original returns 0 for fewer than two values, whatever the mean.
            let deviation =
                mean.filter(|_| values.len() > 1).and_then(|mean| root_mean_square_deviation(&values, mean));
            case.close("standard deviation", deviation.unwrap_or(0.0), case.expected())
        }
        other => Err(format!("unknown function {other:?}")),
    }
}

/// The original reports zeros if there are no scores.
fn check_stats(case: &Case, mean: &str, figures: Option<DescriptiveStats>, more: &[(&str, f64)]) -> Checked {
    let mut ours = match figures {
        Some(DescriptiveStats { mean, min, max, p50, p95, p99, .. }) => [mean, min, max, p50, p95, p99],
        None => [0.0; 6],
    }
    .into_iter();
    for field in [mean, "min", "max", "p50", "p95", "p99"] {
        case.close(field, ours.next().unwrap_or(f64::NAN), &case.expected()[field])?;
    }
    more.iter().try_for_each(|(field, ours)| case.close(field, *ours, &case.expected()[*field]))
}

pub(crate) fn check_description(case: &Case) -> Checked {
    let mut scores = case.numbers("scores");
    let figures = describe(&scores).ok_or("no description")?;
    scores.sort_unstable_by(f64::total_cmp);
    let expected = case.expected();
    for (field, ours) in [
        ("n", figures.n as f64),
        ("sum", figures.sum),
        ("mean", figures.mean),
        ("std_population", figures.stddev_population),
        ("min", figures.min),
        ("max", figures.max),
        ("median", figures.p50),
        ("p50_linear", figures.p50),
        ("p95_linear", figures.p95),
        ("p99_linear", figures.p99),
    ] {
        case.close(field, ours, &expected[field])?;
    }
    // Skipped: `pNN_nearest_rank`, because our percentiles interpolate.
    for (p, field) in [(25.0, "p25_linear"), (75.0, "p75_linear"), (90.0, "p90_linear")] {
        case.close_if_any(field, percentile(&scores, p), &expected[field])?;
    }
    let t = student_t_quantile(0.975, (figures.n - 1) as f64);
    case.close_if_any("t_crit_95", t, &expected["t_crit_95"])?;
    case.close_if_any("std_sample", figures.stddev_sample, &expected["std_sample"])?;
    case.close_if_any(
        "var_sample",
        figures.stddev_sample.map(|stddev| stddev * stddev),
        &expected["var_sample"],
    )?;
    case.close_if_any("sem", figures.std_error, &expected["sem"])?;
    check_interval(case, "ci95_t", figures.ci95)?;
    check_interval(case, "ci99_t", figures.mean_interval(0.99))?;
    check_interval(case, "ci95_normal", normal_interval(&figures))
}

fn normal_interval(figures: &DescriptiveStats) -> Option<Interval> {
    let half = normal_quantile(0.975)? * figures.std_error?;
    Some(Interval { low: figures.mean - half, high: figures.mean + half })
}

fn check_interval(case: &Case, field: &str, ours: Option<Interval>) -> Checked {
    let expected = &case.expected()[field];
    case.close_if_any(field, ours.map(|interval| interval.low), &expected[0])?;
    case.close_if_any(field, ours.map(|interval| interval.high), &expected[1])
}

pub(crate) fn check_wilson(case: &Case) -> Checked {
    let passes = count(case.input(), "passes")?;
    let n = count(case.input(), "n")?;
    case.close("rate", passes as f64 / n as f64, &case.expected()["rate"])?;
    // Skipped: `wilsoncc_…` (with continuity correction) and `exact_…` (Clopper-Pearson), which we do not offer.
    for (field, confidence) in [("wilson_90", 0.90), ("wilson_95", 0.95), ("wilson_99", 0.99)] {
        check_interval(case, field, wilson(passes, n, confidence))?;
    }
    Ok(())
}

pub(crate) fn check_pass_at_k(case: &Case) -> Checked {
    let k = count(case.input(), "k")?;
    let tasks = match case.input()["tasks"].as_array() {
        Some(tasks) => tasks.clone(),
        None => vec![json!({"n": case.input()["n"], "c": case.input()["c"]})],
    };
    // Skipped: the plug-in estimates `…_plugin` and `…_plugin_biased`, which are biased.
    for (field, estimate) in [("pass_at_k", pass_at_k as fn(u64, u64, u64) -> _), ("pass_hat_k", pass_hat_k)]
    {
        let ours = tasks
            .iter()
            .map(|task| Ok(estimate(count(task, "n")?, count(task, "c")?, k)))
            .collect::<Result<Option<Vec<f64>>, String>>()?;
        let ours = ours.map(|estimates| sum(estimates.iter().copied()) / estimates.len() as f64);
        if case.expects_error() != ours.is_none() {
            return Err(format!("{field}: {ours:?}"));
        }
        case.close_if_any(field, ours, &case.expected()[field])?;
    }
    Ok(())
}

pub(crate) fn check_paired(case: &Case) -> Checked {
    let (a, b) = (case.numbers("a"), case.numbers("b"));
    let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
    let (b_better, a_better) =
        (differences.iter().filter(|d| **d > 0.0).count(), differences.iter().filter(|d| **d < 0.0).count());
    let figures = describe(&differences).ok_or("no description")?;
    let expected = case.expected();
    for (field, ours) in [
        ("n", differences.len() as f64),
        ("mean_a", describe(&a).map_or(f64::NAN, |figures| figures.mean)),
        ("mean_b", describe(&b).map_or(f64::NAN, |figures| figures.mean)),
        ("mean_diff", figures.mean),
        ("n_b_better", b_better as f64),
        ("n_a_better", a_better as f64),
        ("n_tied", (differences.len() - b_better - a_better) as f64),
        ("sign_test_p", mcnemar(a_better as u64, b_better as u64).p),
    ] {
        case.close(field, ours, &expected[field])?;
    }
    // Only for pairs of 0 and 1.
    if let Some(p) = expected.get("mcnemar_exact_p") {
        case.close("mcnemar_exact_p", mcnemar(a_better as u64, b_better as u64).p, p)?;
    }
    // Skipped: `scipy_permutation_p`, the same value; and Wilcoxon, Welch and Mann-Whitney, which we do not offer.
    let p = sign_flip(&differences).map(|test| test.p);
    case.close_if_any("permutation_sign_flip_p", p, &expected["permutation_sign_flip_p"])?;
    check_paired_t(case, &differences, figures.ci95)
}

/// Values that are `null` if the differences have no spread.
fn check_paired_t(case: &Case, differences: &[f64], interval: Option<Interval>) -> Checked {
    let expected = case.expected();
    let ours = paired_t(differences);
    if ours.is_none() != expected["paired_t"].is_null() {
        return Err(format!("paired_t: {ours:?}, expected {}", expected["paired_t"]));
    }
    let Some(ours) = ours else { return Ok(()) };
    case.close("t", ours.t, &expected["paired_t"]["t"])?;
    case.close("df", ours.dof, &expected["paired_t"]["df"])?;
    case.close("p_two_sided", ours.p, &expected["paired_t"]["p_two_sided"])?;
    case.close("cohen_dz", ours.t / (differences.len() as f64).sqrt(), &expected["cohen_dz"])?;
    check_interval(case, "mean_diff_ci95", interval)
}

pub(crate) fn check_bootstrap(case: &Case) -> Checked {
    let scores = case.numbers("scores");
    let resampled = bootstrap_mean(&scores).ok_or("not resampled")?;
    let expected = case.expected();
    case.close("mean", describe(&scores).ok_or("no description")?.mean, &expected["mean"])?;
    case.close("bootstrap_se_exact", resampled.std_error(), &expected["bootstrap_se_exact"])?;
    // For a few scores all resamples are enumerated, for more they are drawn.
    for (field, ours) in [
        ("percentile_ci95_exact", resampled.percentile_interval(0.95)),
        ("percentile_ci90_exact", resampled.percentile_interval(0.90)),
        ("percentile_ci95", resampled.percentile_interval(0.95)),
        ("bca_ci95", resampled.bca_interval(0.95)),
    ] {
        if expected.get(field).is_some() {
            check_interval(case, field, ours)?;
        }
    }
    Ok(())
}

fn count(fields: &Value, field: &str) -> Result<u64, String> {
    fields[field].as_u64().ok_or_else(|| format!("{field} is {}, not a count", fields[field]))
}
