//! Checks that compare the calls with those that the item expects.

use serde_json::Value;

use super::share;
use crate::evaluators::Score;
use crate::evaluators::calls::check::Measure;
use crate::evaluators::calls::compare::{Comparison, Pairing};
use crate::evaluators::calls::shown;
use crate::metrics::f_beta;
use crate::wording::{count, decimal};

/// The score of a measure.
pub(in crate::evaluators::calls) fn expected(measure: Measure, calls: &Comparison) -> Score {
    let (expected, made) = (calls.expected.len(), calls.made.len());
    let score = match measure {
        _ if expected == 0 && made == 0 => {
            Score::new(1.0).reason("no calls are expected, and none were made")
        }
        Measure::Arguments => arguments(calls),
        Measure::ExactOrder => ordered(calls, false),
        Measure::InOrder => ordered(calls, true),
        Measure::AnyOrder | Measure::Recall => recall(calls),
        Measure::Precision => precision(calls),
        Measure::F1 => f1(calls),
    };
    score.metadata("expected", expected).metadata("made", made)
}

/// The expected calls that were made in their order, out of them, or, where no more are allowed, out of whatever is longer.
fn ordered(calls: &Comparison, allow_extra: bool) -> Score {
    let pairing = calls.in_order();
    let (expected, made) = (calls.expected.len(), calls.made.len());
    let whole = if allow_extra { expected } else { expected.max(made) };
    let head = format!("{} in order", met_of_expected(calls, &pairing));
    let score = Score::new(share_or_all(pairing.met.len(), whole));
    described(score, head, calls, &pairing, true, !allow_extra)
}

fn recall(calls: &Comparison) -> Score {
    let pairing = calls.in_any_order();
    let score = Score::new(share_or_all(pairing.met.len(), calls.expected.len()));
    described(score, met_of_expected(calls, &pairing), calls, &pairing, true, false)
}

/// A share of a whole; of nothing it is all.
fn share_or_all(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { share(part, whole) }
}

fn met_of_expected(calls: &Comparison, pairing: &Pairing) -> String {
    match calls.expected.len() {
        0 => "no calls are expected".to_owned(),
        expected => format!("{} of {} made", pairing.met.len(), count(expected, "expected call")),
    }
}

fn precision(calls: &Comparison) -> Score {
    let pairing = calls.in_any_order();
    let (met, made) = (pairing.met.len(), calls.made.len());
    if made == 0 {
        let reason = format!("no calls were made, {} expected", calls.expected.len());
        return described(Score::new(0.0), reason, calls, &pairing, false, false);
    }
    let head = format!("{met} of {} as expected", count(made, "call"));
    described(Score::new(share(met, made)), head, calls, &pairing, false, true)
}

fn f1(calls: &Comparison) -> Score {
    let pairing = calls.in_any_order();
    let met = pairing.met.len();
    let (made, expected) = (calls.made.len(), calls.expected.len());
    let score = Score::new(f_beta(met, made - met, expected - met, 1.0));
    let head = format!("{}, {met} of {} as expected", met_of_expected(calls, &pairing), count(made, "call"));
    described(score, head, calls, &pairing, true, true)
}

/// The mean, over the expected calls, of the share of their arguments that a call of the tool has.
fn arguments(calls: &Comparison) -> Score {
    let expected = calls.expected.len();
    if expected == 0 {
        return Score::new(1.0).reason("no calls are expected");
    }
    let pairs = calls.by_arguments();
    // The sum of no floats is -0.
    let sum = pairs.iter().fold(0.0, |sum, (_, _, share)| sum + share);
    let right = pairs.iter().filter(|(_, _, share)| *share == 1.0).count();
    let mut pairing = Pairing::default();
    for (one, other, share) in pairs {
        let kind = if share == 1.0 { &mut pairing.met } else { &mut pairing.other_arguments };
        kind.push((one, other));
    }
    let pairing = calls.complete(pairing);
    let score = Score::new(sum / expected as f64);
    let head = format!(
        "right arguments in {right} of {}, {} on average",
        count(expected, "expected call"),
        decimal(sum / expected as f64, 2)
    );
    described(score, head, calls, &pairing, true, false)
}

/// A score with its reason: what was found, and what is not as it should be.
fn described(
    score: Score,
    head: String,
    calls: &Comparison,
    pairing: &Pairing,
    missing_matters: bool,
    needless_matters: bool,
) -> Score {
    let expected =
        |places: &[usize]| places.iter().map(|place| shown::call(&calls.expected[*place])).collect();
    let made = |places: &[usize]| places.iter().map(|place| shown::call(&calls.made[*place])).collect();
    let wrong = |(one, other): &(usize, usize)| shown::wrong(&calls.expected[*one], &calls.made[*other]);
    let out_of_order: Vec<usize> = pairing.out_of_order.iter().map(|(_, made)| *made).collect();
    let parts: [(&str, &str, Vec<String>, bool); 4] = [
        ("wrong arguments", "wrongArguments", pairing.other_arguments.iter().map(wrong).collect(), true),
        ("out of order", "outOfOrder", made(&out_of_order), true),
        ("missing", "missing", expected(&pairing.missing), missing_matters),
        ("needless", "needless", made(&pairing.needless), needless_matters),
    ];
    let mut reason = head;
    let mut score = score.metadata("matched", pairing.met.len());
    for (title, key, texts, matters) in parts {
        if matters && !texts.is_empty() {
            reason.push_str(&format!("; {title}: {}", shown::list(&texts)));
        }
        if !texts.is_empty() {
            score = score.metadata(key, texts.into_iter().map(Value::from).collect::<Vec<_>>());
        }
    }
    score.reason(reason)
}
