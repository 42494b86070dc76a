//! Autoevals against the original scores, with model responses from a test server.

use cobalt::{Autoeval, AutoevalKind, EvalContext, Evaluator, Item, Output, Score};
use serde_json::{Value, json};

use crate::case::{Case, Checked};
use crate::scripted;

pub(crate) fn check(case: &Case) -> Checked {
    let server = scripted::serve(case);
    let evaluator = configured(evaluator(case)?, case);
    let evaluator = if asks_models(case) { evaluator.base_url(server.url("")) } else { evaluator };
    let cx = context(case)?;
    let score = evaluated(&evaluator, &cx);
    case.check_score(score.as_ref().map(Score::value).map_err(Clone::clone))?;
    score.map_or(Ok(()), |score| check_metadata(case, &score))
}

/// The outcome of an evaluator.
pub(crate) fn evaluated(evaluator: &dyn Evaluator, cx: &EvalContext) -> Result<Score, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let score = runtime.block_on(evaluator.evaluate(cx)).map_err(|error| error.to_string())?;
    // A value that the engine rejects is not a score.
    if (0.0..=1.0).contains(&score.value()) {
        Ok(score)
    } else {
        Err(format!("{} is not a score", score.value()))
    }
}

fn evaluator(case: &Case) -> Result<Autoeval, String> {
    match case.evaluator() {
        "SemanticListContains" => Ok(Autoeval::list_contains("case").semantic(true)),
        "LLMClassifier" => {
            let labels = case.input()["choiceScores"].as_object().ok_or("no labels")?;
            let labels = labels.iter().map(|(label, score)| (label.clone(), score.as_f64()));
            Ok(Autoeval::classifier("case", "Grade this text.\n{{output}}", labels))
        }
        name => name.parse().map(|kind| Autoeval::new(kind, "case")).map_err(|error| format!("{error}")),
    }
}

/// Whether the script contains model responses.
fn asks_models(case: &Case) -> bool {
    case.scripted().is_object()
}

fn configured(mut evaluator: Autoeval, case: &Case) -> Autoeval {
    let input = case.input();
    let flag = |name: &str| input[name].as_bool();
    let number = |name: &str| input[name].as_f64();
    if let Some(on) = flag("useCoT") {
        evaluator = evaluator.chain_of_thought(on);
    }
    if let Some(preserve) = flag("preserveStrings") {
        evaluator = evaluator.preserve_strings(preserve);
    }
    if let Some(allow) = flag("allowExtraEntities") {
        evaluator = evaluator.allow_extra(allow);
    }
    if let Some(least) = number("expectedMin") {
        evaluator = evaluator.expected_min(least);
    }
    if let Some(threshold) = number("threshold") {
        evaluator = evaluator.threshold(threshold);
    }
    if let Some(questions) = input["strictness"].as_u64() {
        evaluator = evaluator.strictness(u32::try_from(questions).unwrap_or(u32::MAX));
    }
    let weights = ["factualityWeight", "answerSimilarityWeight"].map(number);
    if weights.iter().any(Option::is_some) {
        evaluator = evaluator.weights(weights[0].unwrap_or(0.75), weights[1].unwrap_or(0.25));
    }
    evaluator
}

/// The item and the output of a case. We treat a missing input as an error. If the case expects a score anyway, this passes what the
/// library produces: an empty string for a judge, `null` for a comparison of JSON.
fn context(case: &Case) -> Result<EvalContext, String> {
    let given = case.input().as_object().ok_or("no input")?;
    let compares_json = ["ExactMatch", "JsonDiff", "ValidJSON"].contains(&case.evaluator());
    let is_choice = ["answer", "answers", "fault"].iter().any(|field| case.scripted().get(field).is_some());
    let prefixed = |value: &Value| match (given.get("prefix"), value) {
        (Some(Value::String(prefix)), Value::String(text)) => json!(format!("{prefix}{text}")),
        _ => value.clone(),
    };
    let mut item = Item::new();
    for name in ["input", "expected", "context", "criteria", "instructions", "language", "schema"] {
        if let Some(value) = given.get(name) {
            item.insert(name.to_owned(), prefixed(value));
        } else if name == "expected" && compares_json {
            item.insert(name.to_owned(), Value::Null);
        } else if is_choice && !case.expects_error() && is_of_a_classifier(case) {
            item.insert(name.to_owned(), json!(""));
        }
    }
    let output = given.get("output").map_or(Value::Null, prefixed);
    Ok(EvalContext::new(item, Output::new(output)))
}

fn is_of_a_classifier(case: &Case) -> bool {
    use AutoevalKind::{Battle, ClosedQa, Factuality, Humor, Possible, Security, Sql, Summary, Translation};
    let kinds = [Battle, ClosedQa, Factuality, Humor, Possible, Security, Sql, Summary, Translation];
    kinds.iter().any(|kind| kind.name() == case.evaluator())
}

fn check_metadata(case: &Case, score: &Score) -> Checked {
    let (ours, expected) = (score.all_metadata(), case.metadata());
    if let Some(choice) = expected["choice"].as_str()
        && ours.get("choice") != Some(&json!(choice.trim()))
    {
        return Err(format!("the choice is {:?}, expected {choice}", ours.get("choice")));
    }
    let rationale = match &expected["rationale"] {
        Value::String(text) if text == "[undefined]" => Some(None),
        Value::String(text) => Some(Some(text.clone())),
        Value::Array(texts) => {
            Some(Some(texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")))
        }
        _ => None,
    };
    if let Some(rationale) = rationale
        && score.why() != rationale.as_deref()
    {
        return Err(format!("the reason is {:?}, expected {rationale:?}", score.why()));
    }
    for field in ["factualityScore", "answerSimilarityScore"] {
        // Unused inputs are not requested.
        if let (Some(ours), true) = (ours.get(field), expected[field].is_number()) {
            case.close(field, ours.as_f64().ok_or("no number")?, &expected[field])?;
        }
    }
    if case.evaluator() == "Ragas" {
        for component in ["ContextPrecision", "ContextRecall", "Faithfulness", "AnswerRelevancy"] {
            let ours = ours.get(component).and_then(Value::as_f64).ok_or("a component is missing")?;
            case.close(component, ours, &case.components()[component])?;
        }
    }
    Ok(())
}
