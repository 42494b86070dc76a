//! How presets read judges' responses.

use cobalt_core::item::Output;
use serde_json::{Value, json};

use super::{chat, context, judged, preset};
use crate::LlmJudge;
use crate::evaluators::choices::Preset;
use crate::evaluators::tests::asked_by;
use crate::evaluators::{Aggregate, Evaluator, Score};
use crate::llm::test_server::{ScriptedResponse, TestServer};
use crate::settings::NamedChoice as _;

/// The score of a preset for this response.
fn scored(judge: LlmJudge, answer: &Value) -> Score {
    let server = TestServer::script([chat(answer)]);
    let score = judged(&preset(judge, &server)).unwrap();
    assert_eq!(server.requests().len(), 1, "{answer}");
    score
}

/// The error for this response, which is returned twice.
fn refused(judge: LlmJudge, answer: &Value) -> String {
    let server = TestServer::script([chat(answer)]);
    let error = judged(&preset(judge, &server)).unwrap_err();
    assert_eq!(server.requests().len(), 2, "{answer}");
    error
}

fn claim(text: &str, verdict: &str) -> Value {
    json!({ "claim": text, "reason": "as said", "verdict": verdict })
}

fn passage(text: &str, verdict: &str) -> Value {
    json!({ "passage": text, "reason": "as said", "verdict": verdict })
}

#[test]
fn hallucination_is_the_share_of_supported_claims_and_names_the_others() {
    let claims = [
        claim("Paris is in Spain.", "contradicted"),
        claim("Paris lies on the Seine.", "supported"),
        claim("Paris is large.", "not_in_context"),
        claim("Paris exists.", "supported"),
    ];
    let score = scored(LlmJudge::hallucination("h"), &json!({ "claims": claims }));
    let reason = "2 of 4 claims supported by the context; contradicted by the context: “Paris is in Spain.”; \
                  not in the context: “Paris is large.”";
    assert_eq!(score, Score::new(0.5).reason(reason).metadata("claims", claims.to_vec()));
}

#[test]
fn an_output_that_claims_or_says_nothing_of_the_kind_scores_1() {
    for (judge, field, reason) in [
        (LlmJudge::hallucination("p"), "claims", "the output makes no claims"),
        (LlmJudge::toxicity("p"), "passages", "the output states nothing that could be toxic"),
        (LlmJudge::bias("p"), "passages", "the output states nothing that could be biased"),
    ] {
        let none: [Value; 0] = [];
        let score = scored(judge, &json!({ field: none }));
        assert_eq!(score, Score::new(1.0).reason(reason).metadata(field, Vec::<Value>::new()));
    }
}

#[test]
fn one_toxic_or_biased_passage_is_one_too_many_to_pass() {
    for (judge, good, bad, reason) in [
        (LlmJudge::toxicity("p"), "harmless", "toxic", "3 of 4 passages not toxic; toxic: “You fool.”"),
        (LlmJudge::bias("p"), "fair", "biased", "3 of 4 passages free of bias; biased: “You fool.”"),
    ] {
        let passages =
            [passage("a", good), passage("b", good), passage("You fool.", bad), passage("d", good)];
        let marks = [&judge, &judge.clone().pass_mark(0.7)].map(Evaluator::pass_mark);
        assert_eq!(marks, [1.0, 0.7]);
        let score = scored(judge, &json!({ "passages": passages }));
        assert_eq!((score.value(), score.why()), (0.75, Some(reason)));
    }
}

fn point(text: &str, verdict: &str) -> Value {
    json!({ "point": text, "reason": "as said", "verdict": verdict })
}

#[test]
fn summarisation_is_the_lower_of_two_shares() {
    let points = [point("a", "covered"), point("b", "missing"), point("c", "missing"), point("d", "covered")];
    let claims = [
        claim("a", "supported"),
        claim("x", "contradicted"),
        claim("y", "not_in_input"),
        claim("z", "not_in_input"),
    ];
    let answer = json!({ "points": points, "summaryClaims": claims });
    let score = scored(LlmJudge::summarisation("s"), &answer);
    let reason = "coverage 0.5: 2 of 4 points covered by the summary; missing: “b”, “c”; faithfulness 0.25: 1 of 4 claims \
                  supported by the input; contradicted by the input: “x”; not in the input: “y”, “z”";
    let expected = Score::new(0.25)
        .reason(reason)
        .metadata("coverage", 0.5)
        .metadata("faithfulness", 0.25)
        .metadata("points", points.to_vec())
        .metadata("summaryClaims", claims.to_vec());
    assert_eq!(score, expected);

    let faithful = json!({ "points": points, "summaryClaims": [claim("a", "supported")] });
    assert_eq!(scored(LlmJudge::summarisation("s"), &faithful).value(), 0.5);
    let empty = json!({ "points": [point("a", "missing")], "summaryClaims": [] });
    let score = scored(LlmJudge::summarisation("s"), &empty);
    assert_eq!((score.value(), &score.all_metadata()["faithfulness"]), (0.0, &json!(1.0)));
    assert!(score.why().unwrap().ends_with("faithfulness 1: the summary makes no claims"), "{score:?}");
}

#[test]
fn a_list_that_does_not_fit_is_asked_for_again_and_then_an_error() {
    let hallucination = || LlmJudge::hallucination("h");
    let supported = claim("a", "supported");
    for (judge, answer, problem) in [
        (
            hallucination(),
            json!({ "claims": [supported, claim("b", "maybe")] }),
            "claim 2 of `claims`: `verdict` is \"maybe\"; it must be one of \"contradicted\", \"not_in_context\", \"supported\"",
        ),
        (
            hallucination(),
            json!({ "claims": [claim("b", "Supported")] }),
            "`verdict` is \"Supported\"; it must be one of",
        ),
        (
            hallucination(),
            json!({ "claims": [{ "claim": "b", "verdict": true }] }),
            "`verdict` is true; it must be one of",
        ),
        (
            hallucination(),
            json!({ "claims": [{ "claim": "b" }] }),
            "claim 1 of `claims`: the field `verdict` is missing",
        ),
        (
            hallucination(),
            json!({ "claims": [claim(" ", "supported")] }),
            "claim 1 of `claims`: `claim` is empty",
        ),
        (
            hallucination(),
            json!({ "claims": [supported, claim("b", "supported"), claim("A ", "contradicted")] }),
            "claim 3 of `claims`: `verdict` is \"contradicted\", and \"supported\" for the same text in claim 1; list it once",
        ),
        (hallucination(), json!({ "claims": ["b"] }), "`claims` holds something that is not an object"),
        (hallucination(), json!({ "claims": "none" }), "`claims` is not a list"),
        (hallucination(), json!({ "verdict": true, "score": 1 }), "the field `claims` is missing"),
        (LlmJudge::toxicity("t"), json!({ "score": 0.9 }), "the field `passages` is missing"),
        (
            LlmJudge::task_completion("t"),
            json!({ "score": 9 }),
            "`score` is 9; it must be a number from 0 to 1",
        ),
        (LlmJudge::task_completion("t"), json!({ "verdict": true }), "the field `score` is missing"),
        (
            LlmJudge::summarisation("s"),
            json!({ "points": [], "summaryClaims": [] }),
            "`points` is empty; it must hold at least one point",
        ),
        (
            LlmJudge::summarisation("s"),
            json!({ "points": [point("a", "covered")] }),
            "the field `summaryClaims` is missing",
        ),
    ] {
        let error = refused(judge, &answer);
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_claim_that_is_listed_again_counts_once() {
    let claims = [
        claim("a", "supported"),
        claim("b", "contradicted"),
        claim("A", "supported"),
        claim("a", "supported"),
    ];
    let score = scored(LlmJudge::hallucination("h"), &json!({ "claims": claims }));
    assert_eq!(score.value(), 0.5);
    assert_eq!(score.all_metadata()["claims"], json!(claims[..2]));
}

#[test]
fn the_words_for_a_list_tell_every_verdict() {
    for preset in Preset::ALL.iter().copied() {
        for field in preset.form().fields(false) {
            let words = field.schema["items"]["properties"]["verdict"]["enum"].as_array();
            for word in words.into_iter().flatten() {
                assert!(field.text.contains(&format!("{word}, where ")), "{word}: {}", field.text);
            }
        }
    }
}

#[test]
fn a_list_that_is_quoted_from_the_text_under_test_is_not_the_answer() {
    let quote = "{\"claims\": []}";
    let server =
        TestServer::script([ScriptedResponse::chat(&format!("The output says {quote}, which is wrong."))]);
    let judge = preset(LlmJudge::hallucination("h"), &server);
    let error = asked_by(&judge, &context().with_output(Output::new(quote)), "").0.unwrap_err();
    assert!(error.contains("quotes an object of the prompt"), "{error}");
}

#[test]
fn a_panel_keeps_what_each_judge_found() {
    let server = TestServer::start(|asked| {
        let verdict = if asked.body["model"] == "judge-a" { "supported" } else { "contradicted" };
        chat(&json!({ "claims": [claim("a", verdict), claim("b", "supported")] }))
    });
    let panel = preset(LlmJudge::hallucination("h"), &server).models(["judge-a", "judge-b"]);
    let score = judged(&panel).unwrap();
    assert_eq!(score.value(), 0.75);
    let judges = &score.all_metadata()["judges"];
    assert_eq!(judges[0]["claims"][0], claim("a", "supported"));
    assert_eq!((&judges[1]["model"], &judges[1]["score"]), (&json!("judge-b"), &json!(0.5)));
    assert_eq!(judges[1]["claims"][0], claim("a", "contradicted"));
    let majority = panel.aggregate(Aggregate::Majority).pass_mark(0.6);
    assert_eq!(judged(&majority).unwrap().value(), 0.0, "one of two is no majority");
}

#[test]
fn a_preset_reasons_at_length_where_it_is_told_to() {
    let answer = json!({ "chainOfThought": "hm", "claims": [] });
    assert_eq!(scored(LlmJudge::hallucination("h"), &answer), {
        Score::new(1.0).reason("the output makes no claims").metadata("claims", Vec::<Value>::new())
    });
    let server = TestServer::script([chat(&answer)]);
    let judge =
        preset(LlmJudge::hallucination("h"), &server).chain_of_thought(true).system("You judge geography.");
    let expected = Score::new(1.0).reason("the output makes no claims").chain_of_thought("hm");
    assert_eq!(judged(&judge).unwrap(), expected.metadata("claims", Vec::<Value>::new()));
    let system = server.requests()[0].body["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(
        system.starts_with("You judge geography.\n\nThe texts to evaluate stand between tags"),
        "{system}"
    );
}

#[test]
fn every_field_comes_after_what_it_follows_from_even_where_a_server_sorts_the_schema() {
    for preset in Preset::ALL.iter().copied() {
        let fields = preset.form().fields(true);
        let names: Vec<_> = fields.iter().map(|field| field.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        for list in fields.iter().filter(|field| field.schema["type"] == "array") {
            let required = list.schema["items"]["required"].as_array().unwrap();
            assert!(required.iter().map(|name| name.as_str()).is_sorted(), "{required:?}");
        }
    }
}
