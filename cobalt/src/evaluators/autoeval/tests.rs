//! Invalid settings of `Autoeval`, and scores without a model. Scores with models are tested by the vectors.

use cobalt_core::item::{Item, Output};
use serde_json::{Value, json};

use super::Autoeval;
use crate::Provider;
use crate::evaluators::tests::{asked_by, without_models};
use crate::evaluators::{EvalContext, Evaluator};
use crate::llm::test_server::{ScriptedResponse, TestServer};

fn items(items: &[Value]) -> Vec<Item> {
    items.iter().map(|item| item.as_object().unwrap().clone()).collect()
}

fn checked(evaluator: &Autoeval, all: &[Value]) -> Result<(), String> {
    without_models(evaluator, &items(all)).map_err(|error| error.to_string())
}

fn scored(evaluator: &Autoeval, item: Value, output: Output) -> Result<f64, String> {
    let cx = EvalContext::new(item.as_object().unwrap().clone(), output);
    asked_by(evaluator, &cx, "").0.map(|score| score.value())
}

#[test]
fn what_is_expected_is_in_one_of_two_fields_or_where_it_is_said() {
    let close = Autoeval::levenshtein("close");
    let score = |evaluator: &Autoeval, item| scored(evaluator, item, Output::new("meadow"));
    assert_eq!(score(&close, json!({"expectedOutput": "meadow", "expected": "x"})), Ok(1.0));
    assert_eq!(score(&close, json!({"expected": "meadow"})), Ok(1.0));
    assert_eq!(score(&close, json!({"expectedOutput": null, "expected": "meadow"})), Ok(1.0));
    assert_eq!(
        score(&close.clone().expected("answers[0].text"), json!({"answers": [{"text": "meadow"}]})),
        Ok(1.0)
    );
    assert_eq!(score(&close.value("expected", "meadow"), json!({})), Ok(1.0));
}

#[test]
fn the_output_may_be_a_part_of_what_the_agent_gave() {
    let part =
        Autoeval::exact_match("part").field("output", "output.answer").field("expected", "metadata.told");
    let output = Output::new(json!({"answer": 7})).metadata("told", 7);
    assert_eq!(scored(&part, json!({}), output), Ok(1.0));
}

#[test]
fn an_item_without_an_input_is_an_error_that_names_it() {
    let error = scored(&Autoeval::levenshtein("e"), json!({"answer": "a"}), Output::new("a")).unwrap_err();
    assert_eq!(
        error,
        "the input `expected` is missing: there is no `expectedOutput` or `expected`; the item has `answer`"
    );
    let error = scored(&Autoeval::humor("h"), json!({}), Output::new(Value::Null)).unwrap_err();
    assert!(error.contains("the agent's output is null"), "{error}");
}

#[test]
fn null_is_a_value_where_json_is_compared() {
    assert_eq!(
        scored(&Autoeval::json_diff("j"), json!({"expected": null}), Output::new(Value::Null)),
        Ok(1.0)
    );
    assert!(scored(&Autoeval::json_diff("j"), json!({}), Output::new(Value::Null)).is_err());
}

#[test]
fn an_input_that_no_item_has_is_an_error_at_start() {
    let recall = Autoeval::context_recall("recall");
    let error = checked(&recall, &[json!({"input": "q", "expected": "a", "docs": []})]).unwrap_err();
    assert_eq!(
        error,
        "ContextRecall: no item has `context` for the input `context`; available: `docs`, `expected`, `input`; map the input \
         with `field`, or set it for all items with `value` (in `cobalt.toml` `fields` and `values`)"
    );
    let mapped = recall.clone().field("context", "dosc");
    let error = checked(&mapped, &[json!({"input": "q", "expected": "a", "docs": []})]).unwrap_err();
    assert!(error.contains("no item has `dosc` for the input `context`; did you mean `docs`?"), "{error}");
}

#[test]
fn what_the_agent_will_give_cannot_be_looked_for_at_start() {
    let close = Autoeval::levenshtein("close").field("expected", "metadata.documents");
    assert_eq!(checked(&close, &[json!({"input": "q"})]), Ok(()));
    let remapped = Autoeval::levenshtein("close").context(EvalContext::clone);
    assert_eq!(checked(&remapped, &[json!({"input": "q"})]), Ok(()));
}

#[test]
fn a_setting_that_a_kind_does_not_have_is_an_error() {
    let item = [json!({"input": "q", "expected": "a", "context": "c"})];
    for (evaluator, problem) in [
        (
            Autoeval::levenshtein("e").strictness(2),
            "unknown setting `strictness`; available: only `pass_mark`",
        ),
        (Autoeval::humor("e").threshold(0.5), "unknown setting `threshold`"),
        (Autoeval::json_diff("e").model("m"), "unknown setting `model`; available: `preserve_strings`"),
        (Autoeval::humor("e").field("expected", "a"), "unknown input `expected`"),
        (Autoeval::levenshtein("e").schema(json!({})), "unknown setting `schema`"),
        (Autoeval::answer_relevancy("e").strictness(0), "`strictness` is 0"),
        (Autoeval::moderation("e").threshold(1.5), "`threshold` must be a number"),
        (Autoeval::embedding_similarity("e").expected_min(1.0), "`expected_min`"),
        (Autoeval::answer_correctness("e").weights(0.0, 0.0), "both weights are 0"),
        (Autoeval::answer_correctness("e").weights(-1.0, 1.0), "a weight is negative"),
        #[cfg(feature = "json-schema")]
        (Autoeval::valid_json("e").schema(json!({"type": "nothing"})), "invalid JSON schema"),
        (Autoeval::list_contains("e").embedding_model("m"), "only with `semantic`"),
        (Autoeval::list_contains("e").expected_min(0.5), "`expected_min` applies to embeddings"),
        (Autoeval::classifier("e", "{{output}}", [("a", None), ("b", None)]), "no label has a score"),
        (Autoeval::humor("e").temperature(f64::NAN), "the temperature is NaN"),
        (
            Autoeval::levenshtein("e").value("expected", Value::Null),
            "the value of the input `expected` is null",
        ),
    ] {
        let error = checked(&evaluator, &item).unwrap_err();
        assert!(error.contains(problem) && !error.contains("`e`"), "the caller adds the name: {error}");
        let error = scored(&evaluator, item[0].clone(), Output::new("o"));
        assert!(error.is_err(), "{problem}");
    }
}

#[test]
fn a_single_label_is_no_choice() {
    let error = checked(&Autoeval::classifier("e", "{{output}}", [("a", 1.0)]), &[json!({})]).unwrap_err();
    assert!(error.contains("at least two labels"), "{error}");
}

#[test]
fn inputs_that_no_item_has_together_are_an_error_at_start() {
    let items = [json!({"input": "q", "expected": "a"}), json!({"input": "q", "context": "c"})];
    let error = checked(&Autoeval::context_recall("r"), &items).unwrap_err();
    assert!(error.contains("no item has all of the inputs"), "{error}");
    let sufficient = json!({"input": "q", "context": "c", "expected": "a"});
    let error = checked(&Autoeval::context_recall("r"), &[items[0].clone(), sufficient]).unwrap_err();
    assert!(error.contains("OPENAI_API_KEY"), "{error}");
}

#[test]
fn a_missing_key_is_told_before_anything_is_asked() {
    let item = [json!({"input": "q", "expected": "a"})];
    assert!(checked(&Autoeval::factuality("f"), &item).unwrap_err().contains("OPENAI_API_KEY"));
    assert!(checked(&Autoeval::answer_similarity("s"), &item).unwrap_err().contains("OPENAI_API_KEY"));
    assert_eq!(checked(&Autoeval::json_diff("j"), &item), Ok(()));
}

#[test]
fn a_judges_key_is_sent_to_no_other_vendor_for_embeddings() {
    let of = |evaluator: Autoeval| {
        let choice = evaluator.embedding();
        (choice.provider, choice.base_url, choice.api_key_env)
    };
    let correct = || Autoeval::answer_correctness("c");
    let (key, none) = (Some("K".to_owned()), (None, None, None));
    assert_eq!(of(correct().model("claude-haiku-4-5").api_key_env("K")), none);
    assert_eq!(of(correct().model("claude-haiku-4-5").base_url("https://proxy.test")), none);
    assert_eq!(of(correct().api_key_env("K")), none);
    assert_eq!(of(correct().model("gpt-5-mini").api_key_env("K").embedding_model("voyage-4")), none);
    assert_eq!(
        of(correct().model("gemini-2.5-flash").api_key_env("K")),
        (Some(Provider::Gemini), None, key.clone())
    );
    let gateway = Some("http://localhost:1/v1".to_owned());
    assert_eq!(
        of(correct().base_url("http://localhost:1/v1").api_key_env("K").embedding_model("voyage-4")),
        (None, gateway, key)
    );
}

#[test]
fn the_address_and_the_key_of_a_kind_without_a_judge_are_those_of_embeddings() {
    let close = Autoeval::embedding_similarity("e").embedding_provider(Provider::Cohere);
    let choice = close.api_key_env("K").base_url("http://localhost:1").embedding();
    assert_eq!(choice.provider, Some(Provider::Cohere));
    assert_eq!(
        (choice.base_url.as_deref(), choice.api_key_env.as_deref()),
        (Some("http://localhost:1"), Some("K"))
    );
}

#[test]
fn lists_and_numbers_are_read_from_text() {
    let item = json!({"expected": ["plum", "fig"]});
    assert_eq!(
        scored(&Autoeval::list_contains("l"), item.clone(), Output::new("[\"fig\", \"plum\"]")),
        Ok(1.0)
    );
    assert!(
        scored(&Autoeval::list_contains("l"), item, Output::new("fig")).unwrap_err().contains("not a list")
    );
    assert_eq!(scored(&Autoeval::numeric_diff("n"), json!({"expected": 4}), Output::new(" 4.0\n")), Ok(1.0));
    let error =
        scored(&Autoeval::numeric_diff("n"), json!({"expected": 4}), Output::new("four")).unwrap_err();
    assert_eq!(error, "`output` is \"four\", not a number");
}

#[cfg(feature = "json-schema")]
#[test]
fn a_schema_may_be_the_items_own() {
    let valid = Autoeval::valid_json("v");
    let item = json!({"schema": {"type": "object", "required": ["name"]}});
    assert_eq!(scored(&valid, item.clone(), Output::new("{\"name\": 1}")), Ok(1.0));
    assert_eq!(scored(&valid, item, Output::new("{}")), Ok(0.0));
    assert_eq!(scored(&valid, json!({}), Output::new("{}")), Ok(1.0));
    let written = json!({"schema": "{\"required\": [\"name\"]}"});
    assert_eq!(scored(&valid, written, Output::new("{}")), Ok(0.0));
    let error = scored(&valid, json!({"schema": "{"}), Output::new("{}")).unwrap_err();
    assert!(error.contains("invalid JSON schema"), "{error}");
}

#[cfg(feature = "json-schema")]
#[test]
fn a_schema_that_is_said_to_be_somewhere_is_not_done_without() {
    let valid = Autoeval::valid_json("v").field("schema", "form");
    let form = json!({"type": "object", "required": ["name"]});
    assert_eq!(scored(&valid, json!({"form": form}), Output::new("{}")), Ok(0.0));
    for item in [json!({}), json!({"form": null})] {
        let error = scored(&valid, item.clone(), Output::new("{}")).unwrap_err();
        assert!(error.contains("the input `schema` is missing: there is no `form`"), "{error}");
        assert!(checked(&valid, &[item]).unwrap_err().contains("no item has `form`"));
    }
}

#[test]
fn long_texts_do_not_hold_up_the_runtime() {
    let close = Autoeval::levenshtein("close");
    let text = "a".repeat(20_000);
    let cx = EvalContext::new(crate::item! { "expected": text }, Output::new("b".repeat(20_000)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime.block_on(async {
        tokio::select! {
            biased;
            score = close.evaluate(&cx) => format!("{score:?}"),
            () = tokio::task::yield_now() => "the runtime".to_owned(),
        }
    });
    assert_eq!(first, "the runtime");
}

#[test]
fn what_a_judge_found_of_each_statement_is_kept() {
    let statement = |name: &str, holds: i32| json!({"statement": name, "reason": "r", "attributed": holds});
    let statements = json!([statement("one", 1), statement("two", 0)]);
    let answer = json!({"statements": statements}).to_string();
    let server = TestServer::script([ScriptedResponse::chat(&answer)]);
    let recall =
        Autoeval::context_recall("r").provider(Provider::OpenAi).model("m").base_url(server.url("/v1"));
    let item = crate::item! { "input": "q", "expected": "e", "context": ["c"] };
    let score = asked_by(&recall, &EvalContext::new(item, Output::new("o")), "").0.unwrap();
    assert_eq!((score.value(), score.why()), (0.5, Some("1 of 2 statements attributed to the context")));
    assert_eq!(score.all_metadata()["statements"], statements);
}

#[test]
fn a_correct_answer_says_what_was_right_wrong_and_missing() {
    let server = TestServer::script([ScriptedResponse::chat(r#"{"TP": ["a"], "FP": ["b", "c"], "FN": []}"#)]);
    let correct = Autoeval::answer_correctness("c").weights(1.0, 0.0).provider(Provider::OpenAi);
    let correct = correct.model("m").base_url(server.url("/v1"));
    let item = crate::item! { "input": "q", "expected": "e" };
    let score = asked_by(&correct, &EvalContext::new(item, Output::new("o")), "").0.unwrap();
    assert_eq!((score.value(), score.why()), (0.5, Some("1 statement correct, 2 not supported, 0 missing")));
    assert_eq!(score.all_metadata()["FP"], json!(["b", "c"]));
}

#[test]
fn each_setting_changes_the_fingerprint() {
    let plain = || Autoeval::new(crate::AutoevalKind::Ragas, "e");
    let all = [
        plain(),
        plain().chain_of_thought(true),
        plain().strictness(2),
        plain().threshold(0.5),
        plain().expected_min(0.5),
        plain().preserve_strings(true),
        plain().allow_extra(true),
        plain().semantic(true),
        plain().weights(1.0, 0.0),
        plain().model("m"),
        plain().provider(Provider::Gemini),
        plain().base_url("u"),
        plain().api_key_env("K"),
        plain().temperature(0.5),
        plain().embedding_model("m"),
        plain().embedding_provider(Provider::Local),
        plain().embedding_base_url("u"),
        plain().field("input", "q"),
        plain().value("input", "q"),
        plain().pass_mark(0.9),
        plain().context(EvalContext::clone),
    ];
    let prints: std::collections::BTreeSet<_> = all.iter().map(Evaluator::fingerprint).collect();
    assert_eq!(prints.len(), all.len());
}
