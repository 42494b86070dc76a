use proc_macro2::TokenStream;
use quote::quote;
use syn::parse_quote;

use super::*;
use crate::library::Library;
use crate::snapshot::assert_messages;

/// The messages for one threshold of an experiment with these evaluators.
fn objections_with(evaluators: &Expr, thresholds: &Expr) -> Vec<String> {
    let mut errors = Errors::default();
    let (Expr::Array(evaluators), Expr::Array(thresholds)) = (evaluators, thresholds) else {
        panic!("lists")
    };
    let evaluators =
        Evaluators::parse(&evaluators.elems.iter().collect::<Vec<_>>(), &Library::default(), &mut errors);
    let variants = KnownVariants::Listed(vec!["mini".to_owned(), "large".to_owned(), "gpt-4o".to_owned()]);
    parse(&thresholds.elems.iter().collect::<Vec<_>>(), &evaluators, &variants, &mut errors);
    errors.messages()
}

fn objections(threshold: TokenStream) -> Vec<String> {
    objections_with(&parse_quote!([concise, ExactMatch::new("exact", "answer")]), &parse_quote!([#threshold]))
}

fn objection(threshold: TokenStream) -> String {
    match &objections(threshold)[..] {
        [only] => only.clone(),
        other => panic!("expected one objection, found {other:?}"),
    }
}

#[test]
fn sensible_thresholds_are_taken() {
    for threshold in [
        quote!(score.avg >= 0.8),
        quote!(score.max <= 1),
        quote!(concise.pass_rate > 0.95),
        quote!(concise.pass_rate(0.6) >= 0.9),
        quote!(concise.pass_rate(MARK) >= limits::SHARE),
        quote!(evaluators["any name"].min >= 0.5),
        quote!(evaluators[NAME].p99 >= 0.5),
        quote!(latency.p95 <= 5s),
        quote!(latency.p95 < Duration::from_secs(5)),
        quote!(latency.min >= 10us),
        quote!(latency.total <= 800.5),
        quote!(tokens.total <= 10_000),
        quote!(tokens.avg <= 2 * LIMIT),
        quote!(cost.total <= 0.5),
        quote!(judge_cost.total <= config.limit),
        quote!((score.p50 >= 0.5)),
        quote!(model_calls.max <= 20),
        quote!(tool_calls.avg <= LIMIT),
        quote!(time_to_first_token.p95 <= 800ms),
        quote!(time_to_first_token.avg <= Duration::from_secs(1)),
        quote!(tokens["gpt-4o"].p95 <= 5_000),
        quote!(cost[MODEL].total <= 0.5),
        quote!(metrics["retrieved"].avg >= 5),
        quote!(metrics["drift"].min >= -0.5),
        quote!(metrics["drift"].max <= 0.5),
        quote!(metrics["macro_f1"].value >= 0.8),
        quote!(vs_baseline.metrics["retrieved"].drop <= 1),
        quote!(vs_baseline.score.drop <= 0.02),
        quote!(vs_baseline.concise.drop < LIMIT),
        quote!(vs_baseline.evaluators["any name"].drop <= 0),
        quote!(vs_baseline.evaluators[NAME].drop <= 0),
        quote!(vs_baseline.latency.rise <= 200ms),
        quote!(vs_baseline.latency.ratio <= 1.2),
        quote!(vs_baseline.tokens.ratio <= FACTOR),
        quote!(vs_baseline.cost.rise <= 0.001),
        quote!(variants.mini.concise.pass_rate(0.6) >= 0.9),
        quote!(variants["gpt-4o"].latency.p95 <= 2s),
        quote!(variants.mini.evaluators["any name"].min >= LIMIT),
        quote!(variants.mini.vs_baseline.concise.drop <= 0.02),
        quote!(variants.mini.concise.drop_from(large) <= 0.02),
        quote!(variants.mini.cost.ratio_to("gpt-4o") <= 0.5),
        quote!(latency.rise_from(large) <= 100ms),
        quote!(concise.by("category").min_avg >= 0.7),
        quote!(score.by(category).min_pass_rate(MARK) >= 0.8),
        quote!(variants.mini.latency.by("category").max_avg <= Duration::from_secs(5)),
    ] {
        assert_eq!(objections(threshold.clone()), [""; 0], "{threshold}");
    }
}

#[test]
fn a_figure_that_the_category_lacks_is_refused_with_those_it_has() {
    let thresholds = [
        quote!(score.avrg >= 0.8),
        quote!(score.p90 >= 0.8),
        quote!(latency.median <= 5s),
        quote!(concise.total >= 1),
    ];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
}

#[test]
fn the_originals_maximum_of_a_sum_is_led_to_the_total() {
    let thresholds = [quote!(tokens.max <= 10), quote!(cost.max <= 10)];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
}

#[test]
fn a_bound_on_the_wrong_side_is_turned() {
    let thresholds = [
        quote!(score.avg <= 0.8),
        quote!(latency.p95 > 5s),
        quote!(score.max >= 0.8),
        quote!(evaluators["two words"].min < 0.8),
    ];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
}

#[test]
fn an_equation_is_no_threshold() {
    for (threshold, symbol) in
        [(quote!(score.avg == 0.8), "=="), (quote!(score.avg = 0.8), "="), (quote!(score.avg != 0.8), "!=")]
    {
        let expected = format!("`{symbol}` cannot be used in a threshold: write `score.avg >= 0.8`");
        assert_eq!(objection(threshold), expected);
    }
}

#[test]
fn a_bound_on_the_left_is_turned() {
    let thresholds = [quote!(0.8 <= score.avg), quote!(LIMIT > latency.p95)];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
}

#[test]
fn a_bound_has_the_unit_of_its_category() {
    let thresholds = [
        quote!(score.avg >= 95),
        quote!(score.avg >= -0.1),
        quote!(cost.total <= 5s),
        quote!(latency.p95 <= 5sec),
        quote!(tokens.total <= "many"),
        quote!(latency.p95 <= -1),
    ];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
}

#[test]
fn only_a_pass_rate_has_a_mark() {
    let thresholds = [
        quote!(score.avg(0.5) >= 0.8),
        quote!(score.pass_rate(1.5) >= 0.8),
        quote!(score.pass_rate("x") >= 0.8),
        quote!(score.pass_rate() >= 0.8),
        quote!(score.averge() >= 0.8),
    ];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
}

#[test]
fn half_a_threshold_is_shown_the_whole() {
    let thresholds = [
        quote!(score >= 0.8),
        quote!(judge_cost <= 1),
        quote!(score.avg),
        quote!(0.8),
        quote!(score.avg >= 0.5 && latency.p95 <= 5s),
    ];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
}

#[test]
fn an_evaluator_is_named_in_one_of_two_ways() {
    let thresholds = [
        quote!(evals::concise.avg >= 0.5),
        quote!(evaluators.avg >= 0.5),
        quote!(concise["x"].avg >= 0.5),
        quote!(evaluators[0].avg >= 0.5),
    ];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
}

#[test]
fn models_and_metrics_are_named_in_brackets() {
    let thresholds = [
        quote!(metrics.avg >= 0.5),
        quote!(metrics["x"] >= 0.5),
        quote!(metrics[0].avg >= 0.5),
        quote!(metric["x"].avg >= 0.5),
        quote!(latency["x"].avg <= 5s),
        quote!(tokens["gpt-4o"].max <= 5),
        quote!(cost["gpt-4o"].total >= 5),
        quote!(tool_calls.avg <= 5s),
        quote!(vs_baseline.cost["gpt-4o"].rise <= 5),
    ];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
}

#[test]
fn a_misspelt_category_is_told_the_right_one() {
    let thresholds = [quote!(latancy.p95 <= 5s), quote!(scores.avg >= 0.5)];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
}

#[test]
fn an_evaluator_may_have_a_name_like_a_category() {
    let threshold: Expr = parse_quote!([scores.avg >= 0.5, evaluators["score"].avg >= 0.5]);
    for evaluators in
        [parse_quote!([scores]), parse_quote!([scores()]), parse_quote!([ExactMatch::new("scores", F)])]
    {
        assert_eq!(objections_with(&evaluators, &threshold), [""; 0]);
    }
}

#[test]
fn a_threshold_is_listed_once() {
    let thresholds = [quote!(score.avg >= 0.5, score.avg >= 0.5)];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
    assert_eq!(objections(quote!(score.avg >= 0.5, score.min >= 0.5)), [""; 0]);
}

#[test]
fn each_wrong_threshold_is_reported() {
    assert_eq!(objections(quote!(score.avrg >= 0.5, score.avg <= 0.5, tokens.max <= 1)).len(), 3);
}

#[test]
fn a_figure_against_the_baseline_stands_behind_its_word() {
    let thresholds = [
        quote!(score.drop <= 0.02),
        quote!(vs_baseline.score.avg >= 0.8),
        quote!(vs_baseline.latency.rise >= 1s),
        quote!(vs_baseline.latency.ratio <= 200ms),
        quote!(vs_baseline.score.drop <= 2),
        quote!(vs_baseline.score.drop(0.5) <= 0.02),
        quote!(vs_baseline.judge_cost.rise <= 1),
        quote!(vs_baseline.drop <= 0.02),
        quote!(vs_baseline <= 0.02),
        quote!(vs_baseline.latancy.rise <= 1s),
        quote!(vs_baseline.evaluators.drop <= 0.02),
        quote!(baseline.score.drop <= 0.02),
        quote!(deep.score.drop <= 0.02),
        quote!(0.02 >= vs_baseline.score.drop),
    ];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
}

#[test]
fn a_figure_of_a_variant_names_one_that_is_declared() {
    let thresholds = [
        quote!(variants >= 0.9),
        quote!(variants.mini >= 0.9),
        quote!(variants["mini"] >= 0.9),
        quote!(variants.mini.score >= 0.9),
        quote!(variants[0].score.avg >= 0.9),
        quote!(variants.minni.score.avg >= 0.9),
        quote!(variants["gpt-5"].score.avg >= 0.9),
        quote!(variant.mini.score.avg >= 0.9),
        quote!(variants.mini.latancy.p95 <= 1s),
        quote!(score.drop_from(larg) <= 0.02),
        quote!(score.drop_from(0) <= 0.02),
        quote!(score.drop_from(mini, large) <= 0.02),
        quote!(score.drop_from <= 0.02),
        quote!(score.drop_from(large) >= 0.02),
        quote!(variants.mini.score.drop_from(mini) <= 0.02),
        quote!(vs_baseline.score.drop_from(mini) <= 0.02),
        quote!(tool_calls.rise_from(mini) <= 1),
    ];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
}

#[test]
fn the_worst_group_has_a_field_and_a_metric() {
    let thresholds = [
        quote!(score.min_avg >= 0.7),
        quote!(score.by("category") >= 0.7),
        quote!(score.by().min_avg >= 0.7),
        quote!(score.by("a", "b").min_avg >= 0.7),
        quote!(score.by("category").avg >= 0.7),
        quote!(score.by("category").min_avg <= 0.7),
        quote!(score.by("category").min_avg(0.5) >= 0.7),
        quote!(score.group("category").min_avg >= 0.7),
        quote!(score.by("category").drop_from(mini) <= 0.7),
        quote!(latency.by("category").min_avg >= 1s),
        quote!(judge_cost.by("category").max_avg <= 1),
    ];
    assert_messages!(thresholds.map(|threshold| (threshold.clone(), objections(threshold))));
}

#[test]
fn an_experiment_without_variants_has_no_threshold_for_one() {
    let evaluators = Evaluators::parse(&[], &Library::default(), &mut Errors::default());
    let mut errors = Errors::default();
    let threshold: Expr = parse_quote!(variants.mini.score.avg >= 0.9);
    parse(&[&threshold], &evaluators, &KnownVariants::None, &mut errors);
    let expected =
        "the experiment has no variant `mini`: write `variants = [mini: Config { … }, large: Config { … }]`";
    assert_eq!(errors.messages(), [expected]);
}
