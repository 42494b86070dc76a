//! What all evaluators of text look at.

use serde_json::{Value, json};

use super::{checked, scored, value};
use crate::evaluators::{EvalContext, Evaluator};
use crate::experiment::Output;
use crate::{Contains, RegexMatch};

#[test]
fn a_part_of_what_the_agent_gave_is_looked_at_where_asked() {
    let part = Contains::text("c", "Paris").output("output.answer");
    assert_eq!(value(&part, json!({}), json!({"answer": "Paris", "place": "Rome"})).0, 1.0);
    let (score, why) = value(&part, json!({}), json!({"answer": "Rome", "place": "Paris"}));
    assert_eq!((score, &*why.unwrap()), (0.0, "`output.answer` does not contain `Paris`"));
    let error = scored(&part, json!({}), json!({"place": "Paris"})).unwrap_err();
    assert_eq!(error, "the agent's `output.answer` is missing or null");
    let error = checked(&part.output("answer"), json!([])).unwrap_err();
    assert!(error.starts_with("`answer` is nothing that an agent gives; write `output`"), "{error}");
}

#[test]
fn what_is_looked_at_can_be_exchanged() {
    let other =
        |cx: &EvalContext| cx.with_output(Output::new("Paris")).with_item(crate::item! { "w": "Paris" });
    assert_eq!(value(&Contains::new("c", "w").context(other), json!({}), json!("Rome")).0, 1.0);
}

#[test]
fn an_output_of_null_is_an_error_not_a_score() {
    let error = scored(&Contains::text("c", "null"), json!({}), Value::Null).unwrap_err();
    assert_eq!(error, "the agent's `output` is missing or null");
}

#[test]
fn a_field_that_no_item_has_is_told_before_anything_runs() {
    let items = json!([{"input": "q", "keywords": "a"}, {"input": "r"}]);
    assert_eq!(checked(&Contains::new("c", "keywords"), items.clone()), Ok(()));
    for evaluator in [&Contains::new("c", "keyword") as &dyn Evaluator, &RegexMatch::new("r", "keyword")] {
        assert_eq!(
            checked(evaluator, items.clone()).unwrap_err(),
            "no item has `keyword` to compare with; did you mean `keywords`? there are `input`, `keywords`"
        );
    }
    let error = scored(&Contains::new("c", "keywords"), json!({"input": "r"}), json!("a")).unwrap_err();
    assert_eq!(error, "the item's `keywords` is missing or null; the item has `input`");
}
