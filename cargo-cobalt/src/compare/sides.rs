//! What two runs made of an item, as texts that are short enough to be set side by side.

use cobalt::report::Status;
use cobalt::report::comparison::{ItemChange, ItemSide, ScoreChange};

/// So many equal characters at the beginning of two texts are left out.
const LONG_BEGINNING: usize = 60;
/// So many of them are kept.
const KEPT: usize = 20;

/// The item's input, or all of the item where it has no field of that name.
pub(super) fn input(change: &ItemChange) -> String {
    match change.input.get("input") {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => serde_json::Value::Object(change.input.clone()).to_string(),
    }
}

/// How an item's scores changed: `right 1.000 → 0.000`.
pub(crate) fn scores(change: &ItemChange, quote: impl Fn(&str) -> String) -> String {
    let score = |score: Option<f64>| score.map_or("no score".to_owned(), |score| format!("{score:.3}"));
    let changed =
        |it: &ScoreChange| format!("{} {} → {}", quote(&it.evaluator), score(it.base), score(it.other));
    change.scores.iter().map(changed).collect::<Vec<_>>().join(", ")
}

/// Both outputs, or the errors in their place. Of long texts that begin alike, the beginning is left out, so that the
/// difference is in sight; `most` characters have room.
pub(super) fn outputs(change: &ItemChange, most: usize) -> [String; 2] {
    let texts = [&change.base, &change.other].map(output);
    let alike = texts[0].chars().zip(texts[1].chars()).take_while(|(one, two)| one == two).count();
    let is_long = texts.iter().any(|text| text.chars().count() > most);
    if !is_long || alike < LONG_BEGINNING || texts[0] == texts[1] {
        return texts;
    }
    texts.map(|text| format!("…{}", text.chars().skip(alike - KEPT).collect::<String>()))
}

fn output(side: &ItemSide) -> String {
    match (&side.output, &side.error) {
        (Some(output), _) => output.text().into_owned(),
        (None, error) => {
            let what = if side.status == Status::Timeout { "timeout" } else { "error" };
            format!("({what}: {})", error.as_deref().unwrap_or("no reason is known"))
        }
    }
}

/// What the evaluators whose scores changed said of one side, those that gave no reason left out.
pub(crate) fn reasons(change: &ItemChange, side: &ItemSide, quote: impl Fn(&str) -> String) -> Vec<String> {
    let said = |score: &ScoreChange| {
        let evaluation = side.evaluations.get(&score.evaluator)?;
        let reason = evaluation.reason.as_ref().or(evaluation.error.as_ref())?;
        let figure = evaluation.score.map_or("no score".to_owned(), |score| format!("{score:.3}"));
        Some(format!("{} {figure}: {reason}", quote(&score.evaluator)))
    };
    change.scores.iter().filter_map(said).collect()
}
