//! Several judges of one output, and what they say together.

use serde_json::{Value, json};

use super::super::choices::Aggregate;
use super::super::{DEFAULT_PASS_MARK, Score};
use super::answer::Judgement;
use super::form::Form;
use crate::report::stats::describe;
use crate::wording::count;

/// What a model of the panel found.
pub(super) type Vote = (String, Judgement);

/// Makes one score of at least one vote. Each vote, and how far they lie apart, is kept in the metadata.
pub(super) fn together(votes: Vec<Vote>, aggregate: Aggregate, form: Form, pass_mark: f64) -> Score {
    let scores: Vec<f64> = votes.iter().map(|(_, judgement)| judgement.score).collect();
    let spread = describe(&scores).expect("a panel has a judge, and a judgement is from 0 to 1");
    // A verdict passes by itself; its 1 must not be measured by a mark that is meant for the share of judges.
    let mark = if form.is_verdict() { DEFAULT_PASS_MARK } else { pass_mark };
    let passing = scores.iter().filter(|score| **score >= mark).count();
    let judges = count(votes.len(), "judge");
    let (value, what) = match aggregate {
        Aggregate::Mean => (spread.mean, format!("mean of {judges}")),
        Aggregate::Majority => {
            (if 2 * passing > votes.len() { 1.0 } else { 0.0 }, format!("{passing} of {judges} let it pass"))
        }
    };
    let score = Score::new(value)
        .reason(reason(&what, &votes))
        .metadata("judges", votes.iter().map(as_json).collect::<Vec<_>>())
        .metadata("min", spread.min)
        .metadata("max", spread.max)
        .metadata("stddev", spread.stddev_population);
    match thoughts(&votes) {
        Some(thoughts) => score.chain_of_thought(thoughts),
        None => score,
    }
}

fn reason(what: &str, votes: &[Vote]) -> String {
    let each = votes.iter().map(|(model, Judgement { score, reason, .. })| match reason {
        Some(reason) => format!("{model} {score}: {reason}"),
        None => format!("{model} {score}"),
    });
    format!("{what}; {}", each.collect::<Vec<_>>().join("; "))
}

fn as_json((model, judgement): &Vote) -> Value {
    let mut judge = json!({ "model": model, "score": judgement.score, "reason": judgement.reason });
    judge.as_object_mut().into_iter().for_each(|judge| judge.extend(judgement.figures.clone()));
    judge
}

/// Those of all judges, each after the name of its model.
fn thoughts(votes: &[Vote]) -> Option<String> {
    let each = votes.iter().filter_map(|(model, judgement)| {
        let thoughts = judgement.chain_of_thought.as_ref()?;
        Some(format!("{model}: {thoughts}"))
    });
    let all: Vec<_> = each.collect();
    (!all.is_empty()).then(|| all.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Item;

    fn score(scores: &[f64], aggregate: Aggregate, form: Form) -> Score {
        let judgement =
            |score| Judgement { score, reason: None, chain_of_thought: None, figures: Item::new() };
        let votes = scores.iter().map(|score| ("m".to_owned(), judgement(*score))).collect();
        together(votes, aggregate, form, 0.7)
    }

    #[test]
    fn the_mean_of_verdicts_is_the_share_of_yes() {
        assert_eq!(score(&[1.0, 0.0, 0.0, 1.0], Aggregate::Mean, Form::Verdict).value(), 0.5);
    }

    #[test]
    fn a_majority_is_more_than_half_and_a_tie_does_not_pass() {
        let majority = |scores: &[f64]| score(scores, Aggregate::Majority, Form::Verdict).value();
        assert_eq!(majority(&[1.0, 0.0, 1.0]), 1.0);
        assert_eq!(majority(&[1.0, 0.0]), 0.0);
        assert_eq!(majority(&[1.0]), 1.0);
    }

    #[test]
    fn scores_vote_by_the_pass_mark() {
        let majority = |scores: &[f64]| score(scores, Aggregate::Majority, Form::Scale);
        assert_eq!(majority(&[0.7, 0.9, 0.1]).value(), 1.0);
        assert_eq!(majority(&[0.6, 0.69, 1.0]).value(), 0.0);
        assert_eq!(majority(&[0.6, 1.0, 0.8]).why(), Some("2 of 3 judges let it pass; m 0.6; m 1; m 0.8"));
    }

    #[test]
    fn the_spread_is_the_populations() {
        let score = score(&[0.25, 0.75], Aggregate::Mean, Form::Scale);
        let figures = ["min", "max", "stddev"].map(|figure| score.all_metadata()[figure].as_f64());
        assert_eq!(figures, [Some(0.25), Some(0.75), Some(0.25)]);
    }
}
