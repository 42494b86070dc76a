//! Metrics without an evaluator, against RAGAS.

use cobalt::metrics::{average_precision, f_beta, harmonic_mean};

use crate::case::{Case, Checked};

pub(crate) fn check_average_precision(case: &Case) -> Checked {
    let verdicts: Vec<bool> =
        case.numbers("verdicts_in_rank_order").iter().map(|verdict| *verdict == 1.0).collect();
    let ours = average_precision(&verdicts);
    case.close("average precision", ours, &case.expected()["without_epsilon"])?;
    case.close("with epsilon", ours, &case.expected()["average_precision"])
}

pub(crate) fn check_f_beta(case: &Case) -> Checked {
    let count = |field: &str| {
        case.input()[field]
            .as_u64()
            .and_then(|count| usize::try_from(count).ok())
            .ok_or(format!("no {field}"))
    };
    let beta = case.input()["beta"].as_f64().ok_or("no beta")?;
    case.close("F-beta", f_beta(count("tp")?, count("fp")?, count("fn")?, beta), &case.expected()["fbeta"])
}

pub(crate) fn check_harmonic_mean(case: &Case) -> Checked {
    let means = case.numbers("metric_means");
    // RAGAS returns no score for a single metric.
    let ours = harmonic_mean(&means).filter(|_| means.len() > 1);
    case.close_if_any("harmonic mean", ours, &case.expected()["ragas_score"])
}
