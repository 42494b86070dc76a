//! Text evaluators in experiments, as values and from `cobalt.toml`.

use std::collections::BTreeMap;

use cobalt::{
    Bleu, ChrF, Contains, Dataset, ExactMatch, Experiment, Item, JsonSchema, RegexMatch, Report, Rouge,
    SquadExactMatch, TokenF1, Wer,
};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, fixture};

/// An evaluator of each type, on `output.text`.
const CONFIG: &str = r#"
evaluators = [
  { type = "rouge", variant = "1", field = "right", output = "output.text" },
  { type = "rouge", variant = "lsum", measure = "recall", stemmer = true, field = "right", output = "output.text" },
  { type = "bleu", field = "right", output = "output.text" },
  { type = "chrf", word-order = 2, field = "right", output = "output.text" },
  { type = "wer", field = "right", output = "output.text" },
  { type = "token-f1", field = "right", output = "output.text" },
  { type = "squad-exact-match", field = "right", output = "output.text" },
  { type = "contains", field = "words", require = "any", output = "output.text" },
  { type = "regex", pattern = "[a-z ]+", whole = true, output = "output.text" },
  { type = "json-schema", file = "schemas/answer.json" },
  { type = "exact-match", field = "right", output = "output.text" },
]
thresholds = ["score.min >= 0"]
"#;

/// The same as values.
fn evaluated(experiment: Experiment, schema: &str) -> Experiment {
    let part = "output.text";
    experiment
        .evaluator(Rouge::one("rouge-1", "right").output(part))
        .evaluator(Rouge::lsum("rouge-lsum", "right").recall().stemmer(true).output(part))
        .evaluator(Bleu::new("bleu", "right").output(part))
        .evaluator(ChrF::new("chrf", "right").word_order(2).output(part))
        .evaluator(Wer::new("wer", "right").output(part))
        .evaluator(TokenF1::new("token-f1", "right").output(part))
        .evaluator(SquadExactMatch::new("squad-exact-match", "right").output(part))
        .evaluator(Contains::new("contains", "words").any().output(part))
        .evaluator(RegexMatch::pattern("regex", "[a-z ]+").whole(true).output(part))
        .evaluator(JsonSchema::file("json-schema", schema))
        .evaluator(ExactMatch::new("exact-match", "right").output(part))
}

fn items() -> Vec<Value> {
    let right = "the old mill stands still";
    vec![
        json!({"id": "right", "right": right, "words": ["mill"], "says": {"text": right}}),
        json!({"id": "near", "right": right, "words": ["mill", "wheel"], "says": {"text": "the old mills stand"}}),
        json!({"id": "wrong", "right": right, "words": "mill", "says": {"text": "XYZ", "more": 1}}),
    ]
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_items(items());
    sandbox.write(
        "schemas/answer.json",
        r#"{"properties": {"text": {"type": "string"}}, "additionalProperties": false}"#,
    );
    sandbox
}

/// The score of each item by each evaluator.
fn scores(report: &Report) -> BTreeMap<(String, String), Option<f64>> {
    let of_item = |item: &cobalt::report::ItemResult| -> Vec<_> {
        let evaluations = item.first_trial().evaluations.iter();
        evaluations.map(|(name, found)| ((item.key.clone(), name.to_owned()), found.score)).collect()
    };
    report.items.iter().flat_map(of_item).collect()
}

#[tokio::test]
async fn each_evaluator_scores_the_same_as_a_value_and_from_the_file() {
    let sandbox = sandbox();
    sandbox.write("cobalt.toml", CONFIG);
    sandbox.program(fixture!("silent")).run().code(0);
    let from_file = scores(&sandbox.report());

    let items = items().into_iter().map(|item| item.as_object().expect("an object").clone());
    let experiment = Experiment::new("values", Dataset::from_items(items)).save(false);
    let schema = sandbox.path("schemas/answer.json");
    let report = evaluated(experiment, schema.to_str().expect("a path in Unicode"))
        .run(|item: Item| async move { item["says"].clone() })
        .await
        .unwrap();
    let by_value = scores(&report);
    assert_eq!(from_file, by_value);
    assert_eq!(by_value.len(), 3 * 11);
    for ((item, evaluator), score) in by_value {
        let score = score.unwrap_or_else(|| panic!("{evaluator} gave `{item}` no score"));
        match &*item {
            "right" => assert_eq!(score, 1.0, "{evaluator}"),
            "wrong" => assert_eq!(score, 0.0, "{evaluator}"),
            _ => assert!((0.0..=1.0).contains(&score), "{evaluator}"),
        }
    }
}

#[test]
fn reasons_and_figures_are_kept_in_the_result_file() {
    let sandbox = sandbox();
    sandbox.write("cobalt.toml", CONFIG);
    sandbox.program(fixture!("silent")).run().code(0);
    let report = sandbox.report();
    for item in &report.items {
        for (name, found) in item.first_trial().evaluations.iter() {
            let told = found.score == Some(1.0) || found.reason.as_deref().is_some_and(|why| !why.is_empty());
            assert!(told, "{name} gives no reason for `{}`", item.key);
        }
    }
    let near = report.items[1].first_trial().evaluations.get("wer").unwrap();
    assert_eq!(near.reason.as_deref(), Some("WER 0.6: 2 substitutions, 1 deletion in 5 reference words"));
    assert_eq!((&near.metadata["substitutions"], &near.metadata["deletions"]), (&json!(2), &json!(1)));
}

#[test]
fn what_cannot_work_is_told_with_its_place_before_any_agent_is_called() {
    for (table, problem) in [
        (
            "type = \"rouge\", variant = \"l\", field = \"rigth\"",
            "no item has `rigth` to compare with; did you mean `right`?",
        ),
        (
            "type = \"wer\", field = \"right\", output = \"answer\"",
            "`answer` is not part of the agent's result",
        ),
        ("type = \"json-schema\", file = \"schemas/none.json\"", "the schema in `schemas/none.json`: "),
        (
            "type = \"regex\", field = \"pattern\"",
            "item `near`: the item's `pattern`: invalid regular expression `[a`",
        ),
    ] {
        let sandbox = sandbox();
        let mut items = items();
        items[1]["pattern"] = json!("[a");
        sandbox.write_items(items);
        sandbox.write("cobalt.toml", &format!("\nevaluators = [{{ {table} }}]\n"));
        let finished = sandbox.program(fixture!("silent")).run().code(101);
        finished.says(&["cobalt.toml:2:15: ", problem]);
        assert!(sandbox.calls().is_empty(), "{table}");
    }
}
