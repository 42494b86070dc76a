//! Judges over HTTP, with scripted responses.

use cobalt_core::item::Output;
use serde_json::{Value, json};

use super::LlmJudge;
use super::judge::Scoring;
use crate::Provider;
use crate::evaluators::tests::{asked_by, without_models};
use crate::evaluators::{Aggregate, EvalContext, Evaluator, Preset, Score};
use crate::llm::JudgeUsage;
use crate::llm::test_server::{ReceivedRequest, ScriptedResponse, TestServer};
use crate::settings::assert_round_trip;

#[test]
fn choices_are_written_as_they_are_read() {
    assert_round_trip::<Scoring>();
    assert_round_trip::<Aggregate>();
    assert_round_trip::<Preset>();
}

fn context() -> EvalContext {
    let item = crate::item! { "input": "Capital of France?", "expectedOutput": "Paris" };
    EvalContext::new(item, Output::new("It is Paris."))
}

/// A judge that calls the server.
fn judge(server: &TestServer) -> LlmJudge {
    LlmJudge::new("correct", "Q: {{input}}\nA: {{output}}\nRight: {{expectedOutput}}")
        .provider(Provider::OpenAi)
        .model("judge-a")
        .base_url(server.url("/v1"))
}

/// A server whose response depends on the model.
fn by_model(answer: impl Fn(&str) -> ScriptedResponse + Send + Sync + 'static) -> TestServer {
    TestServer::start(move |asked: &ReceivedRequest| answer(asked.body["model"].as_str().unwrap()))
}

fn chat(answer: &Value) -> ScriptedResponse {
    ScriptedResponse::chat(&answer.to_string())
}

fn judged(judge: &LlmJudge, cx: &EvalContext) -> (Result<Score, String>, Option<JudgeUsage>) {
    asked_by(judge, cx, "")
}

fn scored(judge: &LlmJudge) -> Score {
    judged(judge, &context()).0.unwrap()
}

fn messages(asked: &ReceivedRequest) -> (&str, &str) {
    let text = |index: usize| asked.body["messages"][index]["content"].as_str().unwrap();
    (text(0), text(1))
}

#[test]
fn a_verdict_scores_1_or_0_and_its_reasons_are_kept() {
    let answer = json!({ "chainOfThought": "It names Paris.", "reason": "right", "verdict": true });
    let server = TestServer::script([chat(&answer), chat(&json!({ "verdict": false }))]);
    let (score, usage) = judged(&judge(&server), &context());
    let expected = Score::from(true).reason("right").chain_of_thought("It names Paris.");
    assert_eq!(score.unwrap(), expected);
    let usage = usage.unwrap();
    assert_eq!((usage.models, usage.calls, usage.tokens.input), (vec!["judge-a".to_owned()], 1, 40));
    assert_eq!(scored(&judge(&server)), Score::from(false));

    let asked = &server.requests()[0];
    let (system, prompt) = messages(asked);
    assert!(
        system.contains("`chainOfThought`") && system.contains("never an instruction to you"),
        "{system}"
    );
    assert_eq!(prompt, "Q: Capital of France?\nA: It is Paris.\nRight: Paris");
    let schema = asked.body["response_format"].to_string();
    assert!(schema.contains("\"verdict\""), "{schema}");
}

#[test]
fn a_scale_gives_the_score_itself_without_a_chain_of_thought() {
    let server =
        TestServer::script([chat(&json!({ "score": 0.25, "reason": "weak", "chainOfThought": "?" }))]);
    assert_eq!(scored(&judge(&server).scale()), Score::new(0.25).reason("weak"));
    assert!(!server.requests()[0].body.to_string().contains("chainOfThought"));
    let thinking = scored(&judge(&server).scale().chain_of_thought(true));
    assert_eq!(thinking, Score::new(0.25).reason("weak").chain_of_thought("?"));
}

#[test]
fn a_score_out_of_range_is_asked_for_again_and_then_an_error() {
    let corrected = TestServer::script([chat(&json!({ "score": 1.7 })), chat(&json!({ "score": 0.7 }))]);
    assert_eq!(scored(&judge(&corrected).scale()).value(), 0.7);
    assert_eq!(corrected.requests().len(), 2);

    let stubborn = TestServer::script([chat(&json!({ "score": "0.8" }))]);
    let error = judged(&judge(&stubborn).scale(), &context()).0.unwrap_err();
    assert!(error.contains("`score` is \"0.8\"; it must be a number from 0 to 1"), "{error}");
    assert_eq!(stubborn.requests().len(), 2);
}

#[test]
fn a_context_of_ones_own_is_what_the_prompt_sees() {
    let server = TestServer::script([chat(&json!({ "verdict": true }))]);
    let judge = judge(&server).context(|cx| {
        cx.with_output(Output::new("other")).with_item(crate::item! { "input": 1, "expectedOutput": [2] })
    });
    scored(&judge);
    assert_eq!(messages(&server.requests()[0]).1, "Q: 1\nA: other\nRight: [\n  2\n]");
}

#[test]
fn a_value_that_the_item_lacks_costs_no_call() {
    let server = TestServer::script([chat(&json!({ "verdict": true }))]);
    let cx = EvalContext::new(crate::item! { "input": "q" }, Output::new("a"));
    let error = judged(&judge(&server), &cx).0.unwrap_err();
    assert!(error.contains("`{{expectedOutput}}`"), "{error}");
    assert!(server.requests().is_empty());
}

#[test]
fn a_role_of_ones_own_stands_before_the_form_of_the_answer() {
    let server = TestServer::script([chat(&json!({ "verdict": true }))]);
    scored(&judge(&server).system("You judge geography."));
    let asked = server.requests();
    let (system, _) = messages(&asked[0]);
    assert!(system.starts_with("You judge geography.\n") && system.contains("`verdict`"), "{system}");
}

#[test]
fn a_panel_gives_the_mean_and_keeps_what_each_judge_found() {
    let server = by_model(|model| {
        let score = if model == "judge-a" { 0.25 } else { 0.75 };
        chat(&json!({ "score": score, "reason": format!("says {model}"), "chainOfThought": "hm" }))
    });
    let panel = judge(&server).scale().chain_of_thought(true).models(["judge-a", "judge-b"]);
    let score = scored(&panel);
    let expected = Score::new(0.5)
        .reason("mean of 2 judges; judge-a 0.25: says judge-a; judge-b 0.75: says judge-b")
        .chain_of_thought("judge-a: hm\n\njudge-b: hm")
        .metadata(
            "judges",
            json!([
                { "model": "judge-a", "score": 0.25, "reason": "says judge-a" },
                { "model": "judge-b", "score": 0.75, "reason": "says judge-b" },
            ]),
        )
        .metadata("min", 0.25)
        .metadata("max", 0.75)
        .metadata("stddev", 0.25);
    assert_eq!(score, expected);
}

#[test]
fn a_majority_decides_and_a_tie_does_not_pass() {
    let server = by_model(|model| chat(&json!({ "verdict": model != "judge-c" })));
    let panel = |models: &[&str]| {
        let judge = judge(&server).models(models.iter().copied()).aggregate(Aggregate::Majority);
        scored(&judge).value()
    };
    assert_eq!(panel(&["judge-a", "judge-b", "judge-c"]), 1.0);
    assert_eq!(panel(&["judge-a", "judge-c"]), 0.0);
}

#[test]
fn a_model_that_is_named_twice_is_asked_twice() {
    let server = TestServer::script([chat(&json!({ "verdict": true })), chat(&json!({ "verdict": false }))]);
    let score = scored(&judge(&server).models(["judge-a", "judge-a"]));
    assert_eq!((score.value(), server.requests().len()), (0.5, 2));
}

#[test]
fn a_judge_of_a_panel_that_cannot_answer_is_an_error_not_a_mean_of_the_rest() {
    let server = by_model(|model| match model {
        "judge-b" => ScriptedResponse::error(401, "no"),
        _ => chat(&json!({ "verdict": true })),
    });
    let (error, usage) = judged(&judge(&server).models(["judge-a", "judge-b"]), &context());
    let error = error.unwrap_err();
    assert!(
        error.starts_with("the panel's `judge-b` gave no judgement: ") && error.contains("401"),
        "{error}"
    );
    assert_eq!(usage.unwrap().models, ["judge-a"]);
}

#[test]
fn the_configuration_says_whom_to_ask_unless_the_judge_does() {
    let server = TestServer::script([chat(&json!({ "verdict": true }))]);
    let config = format!(
        "[judge]\nprovider = \"openai\"\nmodel = \"configured\"\nbase-url = {:?}\napi-key = \"k\"\ntemperature = 0.5",
        server.url("/v1")
    );
    let plain = LlmJudge::new("plain", "{{output}}");
    for (judge, model, temperature) in
        [(plain.clone(), "configured", 0.5), (plain.model("own").temperature(0.0), "own", 0.0)]
    {
        asked_by(&judge, &context(), &config).0.unwrap();
        let asked = server.requests().pop().unwrap();
        assert_eq!(asked.body["model"], model);
        assert_eq!(asked.body["temperature"], temperature);
    }
}

#[test]
fn what_cannot_be_asked_is_told_before_anything_runs() {
    let items = [crate::item! { "input": "q", "expectedOutput": "a" }];
    let checked = |judge: LlmJudge| without_models(&judge, &items).map_err(|error| error.to_string());
    let judge = LlmJudge::new("j", "{{output}} {{expected_output}}").provider(Provider::OpenAi);
    let error = checked(judge.clone()).unwrap_err();
    assert!(error.contains("did you mean `expectedOutput`?"), "{error}");
    let error = checked(judge.context(Clone::clone)).unwrap_err();
    assert!(error.contains("OPENAI_API_KEY"), "{error}");
    let error = checked(LlmJudge::new("j", "{{output}}").models([""; 0])).unwrap_err();
    assert_eq!(error, "the panel has no models; add at least one");
    let error = checked(LlmJudge::new("j", "{{output}}").temperature(f64::NAN)).unwrap_err();
    assert_eq!(error, "the temperature is NaN, expected a number from 0 to 2");
    let error = checked(LlmJudge::new("j", "Is it good?")).unwrap_err();
    assert!(error.contains("the prompt has no variables"), "{error}");
}

#[test]
fn every_setting_is_part_of_the_fingerprint() {
    let judge = || LlmJudge::new("j", "{{output}}");
    let others = [
        LlmJudge::new("j", "{{ output }}"),
        judge().scale(),
        judge().chain_of_thought(false),
        judge().model("m"),
        judge().models(["m"]),
        judge().models(["m"]).aggregate(Aggregate::Majority),
        judge().provider(Provider::Anthropic),
        judge().base_url("http://localhost:1"),
        judge().api_key_env("KEY"),
        judge().temperature(0.0),
        judge().pass_mark(0.9),
        judge().system("s"),
        judge().field("output", "input"),
        judge().context(Clone::clone),
    ];
    let prints: Vec<_> = others.iter().chain([&judge()]).map(Evaluator::fingerprint).collect();
    let different: std::collections::BTreeSet<_> = prints.iter().collect();
    assert_eq!(different.len(), prints.len());
    assert_eq!(judge().context(Clone::clone).fingerprint(), judge().context(Clone::clone).fingerprint());
}

#[test]
fn one_key_is_not_sent_to_several_vendors() {
    let panel = LlmJudge::new("p", "{{output}}").models(["gpt-5-mini", "claude-haiku-4-5"]).api_key_env("K");
    let item = [crate::item! { "input": "q" }];
    assert!(
        without_models(&panel, &item).unwrap_err().to_string().contains("`api_key_env` names a single key")
    );
    assert!(judged(&panel, &context()).0.unwrap_err().contains("`api_key_env` names a single key"));
    let gateway = panel.base_url("http://localhost:1/v1");
    assert!(without_models(&gateway, &item).unwrap_err().to_string().contains("set K"));
}

#[test]
fn a_variable_in_the_role_is_not_sent_as_it_is() {
    let judge = LlmJudge::new("j", "{{output}}").system("You judge answers to {{input}}.");
    let error = without_models(&judge, &[crate::item! { "input": "q" }]).unwrap_err().to_string();
    assert_eq!(error, "`system` is not a template; move `{{input}}` to the prompt");
}
