//! What can be said wrong of an `Autoeval`, and what it makes of items without a model. What models answer is compared with
//! the vectors.

use serde_json::{Value, json};

use super::Autoeval;
use crate::dataset::Item;
use crate::evaluators::tests::{asked_by, without_models};
use crate::evaluators::{EvalContext, Evaluator};
use crate::experiment::Output;

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
        "ContextRecall: no item has `context` for the input `context`; there are `docs`, `expected`, `input`; map the input \
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
            "there is no setting `strictness`; there are none but `pass_mark`",
        ),
        (Autoeval::humor("e").threshold(0.5), "there is no setting `threshold`"),
        (Autoeval::json_diff("e").model("m"), "there is no setting `model`; there are `preserve_strings`"),
        (Autoeval::humor("e").field("expected", "a"), "there is no input `expected`"),
        (Autoeval::levenshtein("e").schema(json!({})), "there is no setting `schema`"),
        (Autoeval::answer_relevancy("e").strictness(0), "`strictness` is 0"),
        (Autoeval::moderation("e").threshold(1.5), "`threshold` is no number"),
        (Autoeval::embedding_similarity("e").expected_min(1.0), "`expected_min`"),
        (Autoeval::answer_correctness("e").weights(0.0, 0.0), "both weights are 0"),
        (Autoeval::answer_correctness("e").weights(-1.0, 1.0), "a weight is negative"),
        (Autoeval::valid_json("e").schema(json!({"type": "nothing"})), "no valid JSON schema"),
        (Autoeval::list_contains("e").embedding_model("m"), "only with `semantic`"),
        (Autoeval::classifier("e", "{{output}}", [("a", 1.0)]), "at least two labels"),
    ] {
        let error = checked(&evaluator, &item).unwrap_err();
        assert!(error.contains(problem) && !error.contains("`e`"), "the name is told by who asks: {error}");
        let error = scored(&evaluator, item[0].clone(), Output::new("o"));
        assert!(error.is_err(), "{problem}");
    }
}

#[test]
fn a_missing_key_is_told_before_anything_is_asked() {
    let item = [json!({"input": "q", "expected": "a"})];
    assert!(checked(&Autoeval::factuality("f"), &item).unwrap_err().contains("OPENAI_API_KEY"));
    assert!(checked(&Autoeval::answer_similarity("s"), &item).unwrap_err().contains("OPENAI_API_KEY"));
    assert_eq!(checked(&Autoeval::json_diff("j"), &item), Ok(()));
}

#[test]
fn lists_and_numbers_are_read_from_text() {
    let item = json!({"expected": ["plum", "fig"]});
    assert_eq!(
        scored(&Autoeval::list_contains("l"), item.clone(), Output::new("[\"fig\", \"plum\"]")),
        Ok(1.0)
    );
    assert!(scored(&Autoeval::list_contains("l"), item, Output::new("fig")).unwrap_err().contains("no list"));
    assert_eq!(scored(&Autoeval::numeric_diff("n"), json!({"expected": 4}), Output::new(" 4.0\n")), Ok(1.0));
    let error =
        scored(&Autoeval::numeric_diff("n"), json!({"expected": 4}), Output::new("four")).unwrap_err();
    assert_eq!(error, "`output` is \"four\", which is no number");
}

#[test]
fn a_schema_may_be_the_items_own() {
    let valid = Autoeval::valid_json("v");
    let item = json!({"schema": {"type": "object", "required": ["name"]}});
    assert_eq!(scored(&valid, item.clone(), Output::new("{\"name\": 1}")), Ok(1.0));
    assert_eq!(scored(&valid, item, Output::new("{}")), Ok(0.0));
    assert_eq!(scored(&valid, json!({}), Output::new("{}")), Ok(1.0));
}

#[test]
fn long_texts_do_not_hold_up_the_runtime() {
    let close = Autoeval::levenshtein("close");
    let text = "a".repeat(20_000);
    let cx = EvalContext::new(crate::item! { "expected": text.clone() }, Output::new(format!("{text}b")));
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
