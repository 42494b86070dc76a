//! Keys in the output of agents and evaluators: visible to evaluators, but stored nowhere.

use cobalt::{Dataset, Experiment, FnEvaluator, Item, Output, Score};
use serde_json::json;

const KEY: &str = "sk-proj-aB3dE5gH7jK9mN1pQ2rS4";

async fn careless(item: Item) -> Result<Output, String> {
    match item["input"].as_str() {
        Some("fail") => Err(format!("401: the key {KEY} is refused")),
        _ => Ok(Output::new(json!({ "calls": [{ "authorization": format!("Bearer {KEY}") }] }))
            .metadata("debug", KEY)),
    }
}

#[tokio::test]
async fn keys_are_seen_by_evaluators_and_kept_nowhere() {
    let items = [cobalt::item! { "input": "answer" }, cobalt::item! { "input": "fail" }];
    let report = Experiment::new("careless", Dataset::from_items(items))
        .evaluator(FnEvaluator::new("leaks", |cx| {
            let score = Score::from(cx.output_text().contains(KEY)).reason(format!("it says {KEY}"));
            score.chain_of_thought(KEY).metadata("found", json!([KEY]))
        }))
        .evaluator(FnEvaluator::new("broken", |_| Err::<bool, _>(format!("refused: {KEY}"))))
        .save(false)
        .run(careless)
        .await
        .unwrap();
    assert_eq!(report.summary.scores["leaks"].avg, 1.0, "the evaluator saw the key");
    let json = report.to_json().unwrap();
    assert!(!json.contains(KEY) && json.contains("it says [redacted:openai-key]"), "{json}");
}
