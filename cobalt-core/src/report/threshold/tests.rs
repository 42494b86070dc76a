use super::*;

fn parsed(text: &str) -> Threshold {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    text.parse::<Threshold>().unwrap_err().to_string()
}

fn evaluator(name: &str) -> Category {
    Category::Evaluator(name.to_owned())
}

fn custom(name: &str) -> Category {
    Category::CustomMetric(name.to_owned())
}

#[test]
fn a_threshold_is_read_from_text() {
    for (text, category, metric, comparison, bound) in [
        ("score.avg >= 0.8", Category::Score, Metric::Avg, Comparison::AtLeast, 0.8),
        ("score.max<0.9", Category::Score, Metric::Max, Comparison::Below, 0.9),
        ("latency.p95 <= 5s", Category::Latency, Metric::P95, Comparison::AtMost, 5000.0),
        ("latency.p95 <= 1.5 ms", Category::Latency, Metric::P95, Comparison::AtMost, 1.5),
        ("latency.min > 20", Category::Latency, Metric::Min, Comparison::Above, 20.0),
        ("tokens.total <= 10_000", Category::Tokens, Metric::Total, Comparison::AtMost, 10_000.0),
        ("cost.p50 <= 1e-3", Category::Cost, Metric::P50, Comparison::AtMost, 0.001),
        ("user_cost.total <= 0.5", Category::UserCost, Metric::Total, Comparison::AtMost, 0.5),
        ("judge_cost.total <= 1", Category::JudgeCost, Metric::Total, Comparison::AtMost, 1.0),
        ("model_calls.max <= 20", Category::ModelCalls, Metric::Max, Comparison::AtMost, 20.0),
        ("tool_calls.min >= 1", Category::ToolCalls, Metric::Min, Comparison::AtLeast, 1.0),
        ("time_to_first_token.p95 < 0.8s", Category::TimeToFirstToken, Metric::P95, Comparison::Below, 800.0),
        (
            r#"cost["gpt-4.1"].total <= 0.5"#,
            Category::ModelCost("gpt-4.1".to_owned()),
            Metric::Total,
            Comparison::AtMost,
            0.5,
        ),
        (
            r#"tokens["gpt-4o"].p95 <= 5_000"#,
            Category::ModelTokens("gpt-4o".to_owned()),
            Metric::P95,
            Comparison::AtMost,
            5000.0,
        ),
        (r#"metrics["a b"].avg >= -5"#, custom("a b"), Metric::Avg, Comparison::AtLeast, -5.0),
        (r#"metrics["f1"].value > 0.8"#, custom("f1"), Metric::Value, Comparison::Above, 0.8),
        (r#"vs_baseline.metrics["f1"].rise <= 2"#, custom("f1"), Metric::Rise, Comparison::AtMost, 2.0),
        ("x.pass_rate ( 0.6 ) >= 0.9", evaluator("x"), Metric::PassRate(Some(0.6)), Comparison::AtLeast, 0.9),
        ("edit-distance.min >= 0.5", evaluator("edit-distance"), Metric::Min, Comparison::AtLeast, 0.5),
        (
            "gpt-4.1.pass_rate(0.6) >= 0.5",
            evaluator("gpt-4.1"),
            Metric::PassRate(Some(0.6)),
            Comparison::AtLeast,
            0.5,
        ),
        (
            r#"evaluators["a >= \"b\""].min >= 0.5"#,
            evaluator(r#"a >= "b""#),
            Metric::Min,
            Comparison::AtLeast,
            0.5,
        ),
        (r#"evaluators["score"].min >= 0.5"#, evaluator("score"), Metric::Min, Comparison::AtLeast, 0.5),
        ("vs_baseline.score.drop <= 0.02", Category::Score, Metric::Drop, Comparison::AtMost, 0.02),
        ("vs_baseline.gpt-4.1.drop < 0.1", evaluator("gpt-4.1"), Metric::Drop, Comparison::Below, 0.1),
        (
            r#"vs_baseline.evaluators["a b"].drop <= 0"#,
            evaluator("a b"),
            Metric::Drop,
            Comparison::AtMost,
            0.0,
        ),
        ("vs_baseline.latency.rise <= 0.2s", Category::Latency, Metric::Rise, Comparison::AtMost, 200.0),
        ("vs_baseline.latency.ratio <= 1.2", Category::Latency, Metric::Ratio, Comparison::AtMost, 1.2),
        ("vs_baseline.cost.rise <= 0.001", Category::Cost, Metric::Rise, Comparison::AtMost, 0.001),
    ] {
        let threshold = parsed(text);
        assert_eq!(threshold.category(), &category, "{text}");
        assert_eq!(threshold.metric(), metric, "{text}");
        assert_eq!(threshold.comparison(), comparison, "{text}");
        assert_eq!(threshold.bound(), bound, "{text}");
    }
}

#[test]
fn every_unit_is_read() {
    for (unit, nanos) in cobalt_thresholds::DURATION_UNITS {
        assert_eq!(parsed(&format!("latency.avg <= 2{unit}")).bound(), 2.0 * nanos as f64 / 1e6);
    }
}

#[test]
fn a_test_case_is_named_as_the_threshold_was_written() {
    for (text, name) in [
        ("correctness.pass_rate >= 0.95", "correctness.pass_rate>=0.95"),
        ("score.avg >= 0.80", "score.avg>=0.80"),
        ("tokens.total <= 1_000", "tokens.total<=1000"),
        ("latency.p95 <= 5 s", "latency.p95<=5s"),
        ("x.pass_rate(0.6) >= 0.9", "x.pass_rate(0.6)>=0.9"),
        (r#"evaluators["any name"].min >= 0.5"#, "any-name.min>=0.5"),
        (r#"cost["gpt-4o"].total <= 0.5"#, "cost.gpt-4o.total<=0.5"),
        (r#"metrics["any name"].avg >= 5"#, "metrics.any-name.avg>=5"),
        ("vs_baseline.latency.rise <= 200 ms", "vs_baseline.latency.rise<=200ms"),
        (r#"vs_baseline.evaluators["any name"].drop <= 0.1"#, "vs_baseline.any-name.drop<=0.1"),
    ] {
        assert_eq!(parsed(text).case_name(), name);
    }
}

#[test]
fn a_computed_bound_is_named_by_its_value() {
    let threshold = Threshold::new(Category::Latency, Metric::P95, Comparison::AtMost, 5000.0);
    assert_eq!(threshold.case_name(), "latency.p95<=5000");
    let threshold = Threshold::new(Category::Score, Metric::Avg, Comparison::AtLeast, 0.1 + 0.2);
    assert_eq!(threshold.case_name(), "score.avg>=0.30000000000000004");
}

#[test]
fn the_text_form_is_read_back() {
    for text in [
        "score.avg >= 0.8",
        "latency.p95 <= 5s",
        "x.pass_rate(0.6) >= 0.9",
        r#"evaluators["any name"].min >= 0.5"#,
        r#"evaluators["a \"b\" \\ c"].min >= 0.5"#,
        r#"evaluators["tokens"].min >= 0.5"#,
        r#"evaluators["evaluators"].min >= 0.5"#,
        r#"evaluators["vs_baseline"].min >= 0.5"#,
        r#"tokens["gpt-4o"].p95 <= 5000"#,
        r#"metrics["a \"b\""].avg < -1.5"#,
        r#"evaluators["metrics"].min >= 0.5"#,
        r#"vs_baseline.metrics["retrieved"].drop <= 2"#,
        "vs_baseline.concise.drop <= 0.02",
        r#"vs_baseline.evaluators["any name"].drop <= 0.02"#,
        "vs_baseline.tokens.ratio < 1.5",
    ] {
        let threshold = parsed(text);
        assert_eq!(threshold.to_string(), text);
        assert_eq!(parsed(&threshold.to_string()), threshold);
    }
}

#[test]
fn a_refusal_quotes_the_threshold_and_says_what_to_write() {
    let expected = "threshold `score.avg <= 0.8`: `score.avg` needs a lower bound: write `score.avg >= 0.8`";
    assert_eq!(refused("score.avg <= 0.8"), expected);
    for (text, expected) in [
        ("score.avrg >= 0.8", "did you mean `avg`?"),
        ("tokens.max <= 5", "write `tokens.total`"),
        ("score.avg == 0.8", "`==` cannot be used in a threshold"),
        ("score.avg >= 80", "for 80% write `0.8`"),
        ("score.avg >= many", "a number from 0 to 1, not `many`"),
        ("score.avg >= 5s", "a number from 0 to 1, not `5s`"),
        ("score.avg >= inf", "not `inf`"),
        ("score.avg >=", "expected a threshold such as"),
        ("score.avg", "expected a threshold such as"),
        ("", "missing metric"),
        (".avg >= 0.8", "missing category"),
        ("latency <= 5s", "write, for example, `latency.avg`"),
        ("latency.p95 <= 5 parsec", "unknown time unit `parsec`"),
        ("latency.p95 <= -5s", "not a valid duration"),
        ("x.pass_rate(2) >= 0.5", "for 2% write `0.02`"),
        ("x.pass_rate(a) >= 0.5", "a pass mark is a number"),
        ("x.avg(0.5) >= 0.5", "only `pass_rate` takes a pass mark"),
        (r#"evaluators["x.avg >= 0.5"#, "unclosed name in brackets"),
        ("model_calls.total >= 5", "write `model_calls.total <= 5`"),
        ("model_calls.max <= 5s", "must be a number of calls, not `5s`"),
        ("time_to_first_token.total <= 5s", "`time_to_first_token` has no metric `total`"),
        (r#"tokens["gpt-4o"].max <= 5"#, r#"write `tokens["gpt-4o"].total`"#),
        (r#"cost["gpt-4o.total <= 5"#, "unclosed name in brackets"),
        ("metrics.avg <= 5", r#"missing metric name: write `metrics["any name"]`"#),
        (r#"metrics["x"].avg == 5"#, r#"write `metrics["x"].avg >= 5`"#),
        (r#"metrics["x"].pass_rate >= 0.5"#, "has no metric `pass_rate`"),
        (r#"vs_baseline.metrics["x"].drop <= -1"#, "must be at least 0"),
        (r#"vs_baseline.tokens["gpt-4o"].rise <= 1"#, "cannot be compared with a baseline"),
        ("score.drop <= 0.02", "to compare with a baseline, write `vs_baseline.score.drop`"),
        (
            "vs_baseline.score.avg >= 0.8",
            "`vs_baseline.score` has no metric `avg`: its only metric is `drop`",
        ),
        ("vs_baseline.latency.drop <= 1s", "its metrics are `rise` and `ratio`"),
        ("vs_baseline.tokens.increase <= 9", "did you mean `rise`?"),
        ("vs_baseline.judge_cost.rise <= 1", "cannot be compared with a baseline"),
        ("vs_baseline.score.drop >= 0.02", "write `vs_baseline.score.drop <= 0.02`"),
        ("vs_baseline.score.drop == 0.02", "write `vs_baseline.score.drop <= 0.02`"),
        ("vs_baseline.score.drop <= 2", "for 2% write `0.02`"),
        ("vs_baseline.latency.ratio <= 200ms", "`vs_baseline.latency.ratio` must be a number such as `1.1`"),
        ("vs_baseline.drop <= 0.02", "write, for example, `vs_baseline.score.drop <= 0.02`"),
        ("vs_baseline <= 0.02", "missing metric"),
        ("vs_baseline.score <= 0.02", "missing metric: write, for example, `vs_baseline.score.drop`"),
        ("vs_baseline.latency <= 5s", "write, for example, `vs_baseline.latency.rise`"),
        (r#"vs_baseline.evaluators["x.drop <= 0"#, r#"write `vs_baseline.evaluators["name"].drop <= 0.02`"#),
    ] {
        let refusal = refused(text);
        assert!(refusal.contains(expected), "{refusal}");
    }
}

#[test]
fn what_text_cannot_say_is_found_by_validation() {
    use Comparison::{AtLeast, AtMost};

    assert!(Threshold::new(Category::Score, Metric::Avg, AtLeast, 0.5).validate().is_ok());
    for (category, metric, comparison, bound) in [
        (Category::Score, Metric::Total, AtLeast, 0.5),
        (Category::Tokens, Metric::PassRate(None), AtMost, 0.5),
        (Category::Score, Metric::Avg, AtMost, 0.5),
        (Category::Score, Metric::Avg, AtLeast, f64::NAN),
        (Category::Score, Metric::PassRate(Some(f64::NAN)), AtLeast, 0.5),
        (Category::Cost, Metric::Total, AtMost, f64::INFINITY),
        (Category::Latency, Metric::Drop, AtMost, 0.1),
        (Category::Score, Metric::Ratio, AtMost, 1.1),
        (Category::Score, Metric::Drop, AtLeast, 0.1),
        (Category::JudgeCost, Metric::Rise, AtMost, 0.1),
    ] {
        let threshold = Threshold::new(category, metric, comparison, bound);
        assert!(threshold.validate().is_err(), "{threshold}");
    }
}

#[test]
fn bounds_are_kept_as_they_are_compared() {
    assert!(parsed("score.avg >= 0.8").is_met_by(0.8));
    assert!(!parsed("score.avg > 0.8").is_met_by(0.8));
    assert!(parsed("latency.p95 <= 5s").is_met_by(5000.0));
    assert!(!parsed("latency.p95 < 5s").is_met_by(5000.0));
    for text in ["score.avg >= 0", "score.max <= 1"] {
        assert!(!parsed(text).is_met_by(f64::NAN));
    }
}

#[test]
fn a_threshold_may_be_for_a_variant_against_a_variant_or_for_groups() {
    for (text, case_name, variant, against, by) in [
        ("variants.mini.x.pass_rate >= 0.9", "variants.mini.x.pass_rate>=0.9", Some("mini"), None, None),
        (
            r#"variants["gpt-4o"].latency.p95 <= 2s"#,
            "variants.gpt-4o.latency.p95<=2s",
            Some("gpt-4o"),
            None,
            None,
        ),
        ("x.drop_from(large) <= 0.02", "x.drop_from(large)<=0.02", None, Some("large"), None),
        (
            r#"variants.mini.cost.ratio_to("gpt-4o (new)") <= 0.5"#,
            "variants.mini.cost.ratio_to(gpt-4o-(new))<=0.5",
            Some("mini"),
            Some("gpt-4o (new)"),
            None,
        ),
        (
            "variants.mini.latency.rise_from(large) <= 100ms",
            "variants.mini.latency.rise_from(large)<=100ms",
            Some("mini"),
            Some("large"),
            None,
        ),
        (r#"x.by("category").min_avg >= 0.7"#, "x.by(category).min_avg>=0.7", None, None, Some("category")),
        (
            r#"variants.mini.evaluators["a b"].by("a (b)").min_pass_rate(0.6) >= 0.7"#,
            "variants.mini.a-b.by(a-(b)).min_pass_rate(0.6)>=0.7",
            Some("mini"),
            None,
            Some("a (b)"),
        ),
        (
            r#"latency.by("category").max_avg <= 5s"#,
            "latency.by(category).max_avg<=5s",
            None,
            None,
            Some("category"),
        ),
        (
            "variants.mini.vs_baseline.x.drop <= 0.02",
            "variants.mini.vs_baseline.x.drop<=0.02",
            Some("mini"),
            None,
            None,
        ),
    ] {
        let threshold = parsed(text);
        assert_eq!(threshold.to_string(), text);
        assert_eq!(threshold.case_name(), case_name);
        assert_eq!((threshold.variant(), threshold.against(), threshold.by()), (variant, against, by));
        assert_eq!(threshold.is_against_variant(), against.is_some(), "{text}");
        assert_eq!(threshold.is_against_baseline(), text.contains("vs_baseline"), "{text}");
        assert!(threshold.validate().is_ok(), "{text}");
    }
    assert_eq!(parsed("score.by( category ).min_avg>=0.7"), parsed(r#"score.by("category").min_avg>=0.7"#));
    assert_eq!(parsed("variants.gpt-4o.score.avg >= 1").variant(), Some("gpt-4o"));
}

#[test]
fn an_evaluator_named_variants_is_still_read() {
    for text in ["variants.avg >= 0.5", "variants.pass_rate(0.6)>=0.5", "vs_baseline.variants.drop <= 0.1"] {
        assert_eq!(parsed(text).category(), &evaluator("variants"), "{text}");
    }
    let written = parsed("variants.avg >= 0.5").to_string();
    assert_eq!(written, r#"evaluators["variants"].avg >= 0.5"#);
    assert_eq!(parsed(&written).category(), &evaluator("variants"));
}

#[test]
fn a_variant_has_its_own_thresholds_and_those_of_all() {
    let of = |text: &str, variant: &str| parsed(text).for_variant(variant).map(|it| it.case_name());
    assert_eq!(of("variants.mini.x.pass_rate >= 0.9", "mini").as_deref(), Some("x.pass_rate>=0.9"));
    assert_eq!(of("variants.mini.x.pass_rate >= 0.9", "large"), None);
    assert_eq!(of("x.avg >= 0.90", "large").as_deref(), Some("x.avg>=0.90"));
    let drop = "variants.mini.x.drop_from(large) <= 0.02";
    assert_eq!(of(drop, "mini").as_deref(), Some("x.drop_from(large)<=0.02"));
    assert_eq!(of("x.drop_from(large) <= 0.02", "large"), None, "it is not compared with itself");
}

#[test]
fn a_refusal_of_a_variant_or_a_group_says_what_to_write() {
    for (text, expected) in [
        ("variants >= 0.9", "missing variant: write, for example, `variants.mini.score.avg >= 0.8`"),
        ("variants.mini >= 0.9", "missing category: write, for example, `variants.mini.score.avg >= 0.8`"),
        (r#"variants["gpt.avg >= 0.9"#, r#"write `variants["name"].score.avg >= 0.8`"#),
        ("variants.mini.score.avrg >= 0.9", "did you mean `avg`?"),
        (
            "variants.mini.score.avg <= 0.9",
            "`variants.mini.score.avg` needs a lower bound: write `variants.mini.score.avg >= 0.9`",
        ),
        ("score.drop <= 0.02", "with a variant, `score.drop_from(name)`"),
        ("score.drop_from <= 0.02", "needs the variant to compare with: write `score.drop_from(name)`"),
        ("score.drop_form(x) <= 0.02", "did you mean `drop_from(name)`?"),
        ("latency.drop_from(x) <= 2s", "against a variant: its metrics are `rise_from` and `ratio_to`"),
        ("judge_cost.rise_from(x) <= 2", "`judge_cost` cannot be compared with a variant"),
        ("user_cost.rise_from(x) <= 2", "`user_cost` cannot be compared with a variant"),
        ("score.drop_from(x) >= 0.02", "write `score.drop_from(x) <= 0.02`"),
        ("latency.ratio_to(x) <= 2s", "a number such as `1.1`, for 10% more than variant `x`"),
        ("vs_baseline.score.drop_from(x) <= 0.1", "write `score.drop_from(x)`"),
        ("variants.x.score.drop_from(x) <= 0.1", "variant `x` is compared with itself"),
        (r#"score.drop_from("x" <= 0.1"#, "unclosed parenthesis after `drop_from`"),
        ("score.min_avg >= 0.7", r#"write `score.by("category").min_avg`"#),
        ("score.by >= 0.7", r#"`by` needs a field of the items: write `score.by("category").min_avg`"#),
        (r#"score.by("c") >= 0.7"#, r#"missing metric: write, for example, `score.by("c").min_avg`"#),
        (r#"score.by("c").avg >= 0.7"#, "did you mean `min_avg`?"),
        (r#"latency.by("c").avg <= 7s"#, "did you mean `max_avg`? (its only metric is `max_avg`)"),
        (r#"score.by("c").min_avg <= 0.7"#, r#"write `score.by("c").min_avg >= 0.7`"#),
        (r#"score.by("").min_avg >= 0.7"#, "`by` needs a field of the items"),
        (r#"score.by("c").drop_from(x) <= 0.7"#, "groups cannot be compared with a variant"),
        (r#"vs_baseline.score.by("c").min_avg >= 0.7"#, "groups cannot be compared with a baseline"),
        (r#"tool_calls.by("c").max_avg <= 7"#, "`tool_calls` cannot be measured by groups"),
    ] {
        let refusal = refused(text);
        assert!(refusal.contains(expected), "{refusal}");
    }
}

mod written {
    use proptest::prelude::*;

    use super::*;

    fn any_threshold() -> impl Strategy<Value = Threshold> {
        let category = prop_oneof![
            Just(Category::Score),
            any::<String>().prop_map(Category::Evaluator),
            r#"[a-z ."<>=()\[\]\\_-]{1,12}"#.prop_map(Category::Evaluator),
            prop_oneof![Just("score"), Just("vs_baseline"), Just("evaluators"), Just("latency")]
                .prop_map(|name| Category::Evaluator(name.to_owned())),
            Just(Category::Latency),
            Just(Category::Tokens),
            Just(Category::Cost),
            Just(Category::JudgeCost),
            Just(Category::ToolCalls),
            any::<String>().prop_map(Category::ModelCost),
            any::<String>().prop_map(Category::CustomMetric),
        ];
        let metric = prop_oneof![
            Just(Metric::Avg),
            Just(Metric::Max),
            Just(Metric::P95),
            Just(Metric::PassRate(None)),
            (0.0..=1.0).prop_map(|mark| Metric::PassRate(Some(mark))),
            Just(Metric::Total),
            Just(Metric::Drop),
            Just(Metric::Ratio),
            Just(Metric::MinAvg),
            (0.0..=1.0).prop_map(|mark| Metric::MinPassRate(Some(mark))),
        ];
        let name = || prop_oneof![Just(None), r#"[a-z ."<>=()\[\]\\-]{1,8}"#.prop_map(Some)];
        let qualifiers = (name(), name(), name());
        let comparison = prop_oneof![
            Just(Comparison::AtLeast),
            Just(Comparison::Above),
            Just(Comparison::AtMost),
            Just(Comparison::Below)
        ];
        let bound = prop_oneof![0.0..=1.0, 0.0..1e12, Just(0.1 + 0.2), Just(1e-9)];
        let label = prop_oneof![Just(None), Just(Some("5s".to_owned())), any::<Option<String>>()];
        let fits = |threshold: &Threshold| threshold.validate().is_ok();
        (category, metric, comparison, bound, label, qualifiers)
            .prop_map(|(category, metric, comparison, bound, label, (variant, against, by))| {
                let mut threshold = Threshold::new(category, metric, comparison, bound);
                threshold.figure.variant = variant;
                if metric.compares_runs() {
                    threshold.figure.against = against;
                }
                if matches!(metric, Metric::MinAvg | Metric::MinPassRate(_)) {
                    threshold.figure.by = by;
                }
                label.map_or(threshold.clone(), |label| threshold.with_bound_text(label))
            })
            .prop_filter("only thresholds that can be declared", fits)
    }

    proptest! {
        #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::default() })]

        #[test]
        fn a_threshold_that_a_file_keeps_is_read_as_it_was(threshold in any_threshold()) {
            let mut config = crate::report::RunConfig::default();
            config.set_thresholds(std::slice::from_ref(&threshold));
            let read = config.parse_thresholds().unwrap().remove(0);
            prop_assert_eq!(read.case_name(), threshold.case_name());
            prop_assert_eq!(&read.figure, &threshold.figure);
            prop_assert_eq!((read.comparison(), read.bound()), (threshold.comparison(), threshold.bound()));
        }
    }

    #[test]
    fn a_file_without_the_written_form_is_read_by_the_names() {
        let thresholds = vec!["correct.pass_rate(0.6)>=0.95".to_owned(), "latency.p95<=5s".to_owned()];
        let config = crate::report::RunConfig { thresholds: thresholds.clone(), ..Default::default() };
        let read = config.parse_thresholds().unwrap();
        assert_eq!(read.iter().map(Threshold::case_name).collect::<Vec<_>>(), thresholds);
        let cut = crate::report::RunConfig {
            written_thresholds: vec!["correct.pass_rate(0.6) >= 0.95".to_owned()],
            ..config
        };
        assert_eq!(cut.parse_thresholds().unwrap().len(), 2, "no threshold is dropped");
    }
}
