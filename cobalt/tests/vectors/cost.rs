//! Cost estimates against the original's.

use std::fs;
use std::path::Path;

use cobalt::llm::prices::{Price, PriceTable, Tokens, builtin_price, format_cost};
use serde_json::Value;

use crate::case::{Case, Checked};
use crate::folder::folder;

/// Models with a wrong price in the original. Anthropic's price page lists 5 and 25 USD for Claude Opus 4.6 (the original has those of
/// Opus 4.1), and 1 and 5 USD for Claude Haiku 4.5 (the original has those of Haiku 3.5).
const WRONG_IN_THE_ORIGINAL: [&str; 2] = ["claude-opus-4-6", "claude-haiku-4-5-20251001"];

/// The original's table; `None` if the directory has none.
pub(crate) fn originals_prices(folder: &Path) -> Option<Vec<(String, Price)>> {
    let text = fs::read_to_string(folder.join("model_prices.json")).ok()?;
    let file: Value = serde_json::from_str(&text).expect("model_prices.json is JSON");
    let models = file["models"].as_object().expect("model_prices.json lists models");
    let rate = |price: &Value, field: &str| price[field].as_f64().expect("a rate");
    let price = |at: &Value| Price::new(rate(at, "input"), rate(at, "output"));
    Some(models.iter().map(|(name, at)| (name.clone(), price(at))).collect())
}

/// Our prices differ from the original's only where the provider's do.
pub(crate) fn prices_differ_where_known(models: &[(String, Price)]) -> Checked {
    for (model, original) in models {
        let ours = builtin_price(model).ok_or_else(|| format!("`{model}` has no price"))?;
        let same = (ours.input, ours.output) == (original.input, original.output);
        if same == WRONG_IN_THE_ORIGINAL.contains(&model.as_str()) {
            return Err(format!("{model}: {ours:?}, the original {original:?}"));
        }
    }
    println!("model_prices.json: {} prices compared", models.len());
    Ok(())
}

/// Estimates follow the original's formula. It prices unknown models as another one; we do not.
pub(crate) fn check(case: &Case) -> Checked {
    match case.input()["fn"].as_str() {
        Some("estimateCost") => check_estimate(case),
        // The recommended `null` does not say how to format a cost below 0.
        Some("formatCost") if case.expected().is_null() => Ok(()),
        Some("formatCost") => {
            case.same(&format_cost(case.input()["cost"].as_f64().ok_or("the cost is not a number")?).into())
        }
        other => Err(format!("unknown function {other:?}")),
    }
}

fn check_estimate(case: &Case) -> Checked {
    let mut prices = PriceTable::default();
    let models =
        folder().and_then(|folder| originals_prices(&folder)).ok_or("model_prices.json is missing")?;
    let known = models.iter().any(|(model, _)| case.input()["model"] == model.as_str());
    for (model, price) in models {
        prices.insert(model, price).map_err(|error| error.to_string())?;
    }
    let input = case.input();
    let model = input["model"].as_str().ok_or("no model")?;
    if !case.is_asserted() && !known && prices.price(model).is_some() {
        // Unknown to the original, known to us.
        return Ok(());
    }
    let count = |field: &str| input["tokens"][field].as_u64().ok_or("no count");
    let tokens = Tokens::new(count("input")?, count("output")?);
    case.close_if_any("cost", prices.estimate(model, tokens), case.expected())
}
