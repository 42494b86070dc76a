use proc_macro2::TokenStream;
use quote::quote;
use syn::parse_quote;

use super::*;

/// What is said about one threshold of an experiment with these evaluators.
fn objections_with(evaluators: &Expr, thresholds: &Expr) -> Vec<String> {
    let mut errors = Errors::default();
    let (Expr::Array(evaluators), Expr::Array(thresholds)) = (evaluators, thresholds) else {
        panic!("lists")
    };
    let evaluators = Evaluators::parse(&evaluators.elems.iter().collect::<Vec<_>>(), &mut errors);
    parse(&thresholds.elems.iter().collect::<Vec<_>>(), &evaluators, &mut errors);
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
        quote!(vs_baseline.score.drop <= 0.02),
        quote!(vs_baseline.concise.drop < LIMIT),
        quote!(vs_baseline.evaluators["any name"].drop <= 0),
        quote!(vs_baseline.evaluators[NAME].drop <= 0),
        quote!(vs_baseline.latency.rise <= 200ms),
        quote!(vs_baseline.latency.ratio <= 1.2),
        quote!(vs_baseline.tokens.ratio <= FACTOR),
        quote!(vs_baseline.cost.rise <= 0.001),
    ] {
        assert_eq!(objections(threshold.clone()), [""; 0], "{threshold}");
    }
}

#[test]
fn a_figure_that_the_category_lacks_is_refused_with_those_it_has() {
    let said = objection(quote!(score.avrg >= 0.8));
    assert!(
        said.starts_with("`score` has no metric `avrg`: did you mean `avg`? (it has `avg`, `min`"),
        "{said}"
    );
    assert!(objection(quote!(score.p90 >= 0.8)).starts_with("`score` has no metric `p90`: it has "));
    assert!(objection(quote!(latency.median <= 5s)).contains("did you mean `p50`?"));
    assert!(objection(quote!(concise.total >= 1)).contains("no metric `total`"));
}

#[test]
fn the_originals_maximum_of_a_sum_is_led_to_the_total() {
    let expected = "`tokens` has no `max`: for the sum over all items write `tokens.total`";
    assert_eq!(objection(quote!(tokens.max <= 10)), expected);
    assert!(objection(quote!(cost.max <= 10)).ends_with("write `cost.total`"));
}

#[test]
fn a_bound_on_the_wrong_side_is_turned() {
    let said = objection(quote!(score.avg <= 0.8));
    assert_eq!(said, "`score.avg` must not fall below its bound: write `score.avg >= 0.8`");
    let said = objection(quote!(latency.p95 > 5s));
    assert_eq!(said, "`latency.p95` must not rise above its bound: write `latency.p95 < 5s`");
    assert!(objection(quote!(score.max >= 0.8)).ends_with("write `score.max <= 0.8`"));
    assert!(
        objection(quote!(evaluators["two words"].min < 0.8))
            .contains(r#"`evaluators["two words"].min > 0.8`"#)
    );
}

#[test]
fn an_equation_is_no_threshold() {
    for (threshold, symbol) in
        [(quote!(score.avg == 0.8), "=="), (quote!(score.avg = 0.8), "="), (quote!(score.avg != 0.8), "!=")]
    {
        let expected = format!("a threshold is a bound, not `{symbol}`: write `score.avg >= 0.8`");
        assert_eq!(objection(threshold), expected);
    }
}

#[test]
fn a_bound_on_the_left_is_turned() {
    let expected = "the bound stands on the right: write `score.avg >= 0.8`";
    assert_eq!(objection(quote!(0.8 <= score.avg)), expected);
    let expected = "the bound stands on the right: write `latency.p95 < LIMIT`";
    assert_eq!(objection(quote!(LIMIT > latency.p95)), expected);
}

#[test]
fn a_bound_has_the_unit_of_its_category() {
    assert!(objection(quote!(score.avg >= 95)).ends_with("for 95 percent write `0.95`"));
    assert!(objection(quote!(score.avg >= -0.1)).contains("lie between 0 and 1"));
    assert!(objection(quote!(cost.total <= 5s)).contains("an amount in US dollars, not `5s`"));
    assert!(objection(quote!(latency.p95 <= 5sec)).contains("write `5s`"));
    assert!(objection(quote!(tokens.total <= "many")).contains("a number of tokens, not `\"many\"`"));
    assert!(objection(quote!(latency.p95 <= -1)).contains("from 0 upwards"));
}

#[test]
fn only_a_pass_rate_has_a_mark() {
    assert!(objection(quote!(score.avg(0.5) >= 0.8)).contains("only `pass_rate` takes a mark"));
    assert!(objection(quote!(score.pass_rate(1.5) >= 0.8)).contains("between 0 and 1"));
    assert!(objection(quote!(score.pass_rate("x") >= 0.8)).contains("a mark is a number"));
    assert!(objection(quote!(score.pass_rate() >= 0.8)).contains("takes one mark, or none"));
    assert!(objection(quote!(score.averge() >= 0.8)).contains("did you mean `avg`?"));
}

#[test]
fn half_a_threshold_is_shown_the_whole() {
    assert!(objection(quote!(score >= 0.8)).ends_with("write, for example, `score.avg >= 0.8`"));
    assert!(objection(quote!(judge_cost <= 1)).contains("`judge_cost.total <= 1`"));
    assert!(objection(quote!(score.avg)).contains("needs a bound"));
    assert!(objection(quote!(0.8)).contains("is written like"));
    assert!(objection(quote!(score.avg >= 0.5 && latency.p95 <= 5s)).contains("separate them by commas"));
}

#[test]
fn an_evaluator_is_named_in_one_of_two_ways() {
    assert!(objection(quote!(evals::concise.avg >= 0.5)).contains("write `concise`"));
    assert!(objection(quote!(evaluators.avg >= 0.5)).contains("which evaluator?"));
    assert!(objection(quote!(concise["x"].avg >= 0.5)).contains(r#"`evaluators["any name"]`"#));
    assert!(objection(quote!(evaluators[0].avg >= 0.5)).contains("is text"));
}

#[test]
fn a_misspelt_category_is_told_the_right_one() {
    let said = objection(quote!(latancy.p95 <= 5s));
    assert!(said.starts_with("no category or evaluator `latancy`: did you mean `latency`?"), "{said}");
    assert!(objection(quote!(scores.avg >= 0.5)).contains(r#"written `evaluators["scores"]`"#));
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
    assert_eq!(objection(quote!(score.avg >= 0.5, score.avg >= 0.5)), "this threshold is listed twice");
    assert_eq!(objections(quote!(score.avg >= 0.5, score.min >= 0.5)), [""; 0]);
}

#[test]
fn each_wrong_threshold_is_reported() {
    assert_eq!(objections(quote!(score.avrg >= 0.5, score.avg <= 0.5, tokens.max <= 1)).len(), 3);
}

#[test]
fn a_figure_against_the_baseline_stands_behind_its_word() {
    for (threshold, expected) in [
        (quote!(score.drop <= 0.02), "against a baseline write `vs_baseline.score.drop`"),
        (
            quote!(vs_baseline.score.avg >= 0.8),
            "against a baseline, `score` has no metric `avg`: it has `drop`",
        ),
        (quote!(vs_baseline.latency.rise >= 1s), "write `vs_baseline.latency.rise <= 1s`"),
        (quote!(vs_baseline.latency.ratio <= 200ms), "is a number such as `1.1`"),
        (quote!(vs_baseline.score.drop <= 2), "for 2 percent write `0.02`"),
        (quote!(vs_baseline.score.drop(0.5) <= 0.02), "write `vs_baseline.score.drop` without parentheses"),
        (quote!(vs_baseline.judge_cost.rise <= 1), "is held against no baseline"),
        (quote!(vs_baseline.drop <= 0.02), "which figure against the baseline?"),
        (quote!(vs_baseline <= 0.02), "which figure against the baseline?"),
        (quote!(vs_baseline.latancy.rise <= 1s), "did you mean `latency`?"),
        (quote!(vs_baseline.evaluators.drop <= 0.02), "which evaluator?"),
        (quote!(baseline.score.drop <= 0.02), "is written like `vs_baseline.score.drop <= 0.02`"),
        (quote!(deep.score.drop <= 0.02), "not a category or an evaluator"),
        (quote!(0.02 >= vs_baseline.score.drop), "write `vs_baseline.score.drop <= 0.02`"),
    ] {
        let said = objection(threshold);
        assert!(said.contains(expected), "{said}");
    }
}
