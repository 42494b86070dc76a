//! Cost estimates against the original's.

use cobalt::llm::prices::{Price, PriceTable, Tokens, format_cost, price};
use serde_json::Value;

use crate::loader::{Case, Checked, for_each_asserted, read};

/// The models whose price in the original is not the vendor's. Anthropic's price page has 5 and 25 USD for Claude Opus 4.6
/// (the original has those of Opus 4.1), and 1 and 5 USD for Claude Haiku 4.5 (the original has those of Haiku 3.5).
const WRONG_IN_THE_ORIGINAL: [&str; 2] = ["claude-opus-4-6", "claude-haiku-4-5-20251001"];

fn originals_prices() -> Option<Vec<(String, Price)>> {
    let file: Value = serde_json::from_str(&read("model_prices.json")?).expect("model_prices.json is JSON");
    let models = file["models"].as_object().expect("model_prices.json lists models");
    let rate = |price: &Value, field: &str| price[field].as_f64().expect("a rate");
    Some(
        models
            .iter()
            .map(|(name, at)| (name.clone(), Price::new(rate(at, "input"), rate(at, "output"))))
            .collect(),
    )
}

#[test]
fn our_prices_differ_from_the_originals_only_where_the_vendor_does() {
    let Some(models) = originals_prices() else { return };
    assert!(!models.is_empty());
    for (model, original) in models {
        let ours = price(&model).unwrap_or_else(|| panic!("`{model}` has no price"));
        let same = (ours.input, ours.output) == (original.input, original.output);
        assert_eq!(
            same,
            !WRONG_IN_THE_ORIGINAL.contains(&model.as_str()),
            "{model}: {ours:?}, the original {original:?}"
        );
    }
}

#[test]
fn estimates_follow_the_originals_formula() {
    let Some(models) = originals_prices() else { return };
    let mut prices = PriceTable::default();
    for (model, price) in
        models.into_iter().filter(|(model, _)| WRONG_IN_THE_ORIGINAL.contains(&model.as_str()))
    {
        prices.insert(model, price).unwrap();
    }
    for_each_asserted("cobalt_cost.jsonl", |case| match case.input()["fn"].as_str() {
        Some("estimateCost") => check_estimate(case, &prices),
        Some("formatCost") => {
            let ours = format_cost(case.input()["cost"].as_f64().ok_or("the cost is not a number")?);
            if case.expected() == &ours {
                Ok(())
            } else {
                Err(format!("{ours}, expected {}", case.expected()))
            }
        }
        other => Err(format!("unknown function {other:?}")),
    });
}

fn check_estimate(case: &Case, prices: &PriceTable) -> Checked {
    let input = case.input();
    let model = input["model"].as_str().ok_or("no model")?;
    let count = |field: &str| input["tokens"][field].as_u64().ok_or("no count");
    let tokens = Tokens::new(count("input")?, count("output")?);
    case.close_if_any("cost", prices.estimate(model, tokens), case.expected())
}
