//! Says why an item failed: what was expected, what the agent gave, and what each evaluator found.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

use super::printable::printable;
use super::summary::figure;
use crate::dataset::Item;
use crate::experiment::Definition;
use crate::report::{Execution, ItemResult, Status};
use crate::wording::{cut, decimal};

/// The longest text shown of a value, in characters.
const LONGEST: usize = 600;
/// The most numbers that are shown beside a low score.
const MOST_PARTS: usize = 8;
/// Fields in which data sets hold the answer that is hoped for.
const EXPECTED: [&str; 6] =
    ["expectedOutput", "expected_output", "expected", "reference", "target", "answer"];

/// Why an item failed.
pub(crate) fn explain(item: &ItemResult, definition: &Definition) -> String {
    let mut text = format!("item {} of `{}`", item.key, definition.name);
    if let Some(input) = item.input.get("input") {
        line(&mut text, "input", input);
    }
    if let Some(expected) = expected(&item.input) {
        line(&mut text, "expected", expected);
    }
    let several = item.runs.len() > 1;
    for (index, run) in item.runs.iter().enumerate() {
        if several {
            let _ = write!(text, "\n  run {} of {}", index + 1, item.runs.len());
        }
        execution(&mut text, run, definition);
    }
    printable(&text).into_owned()
}

fn execution(text: &mut String, run: &Execution, definition: &Definition) {
    if let Some(output) = &run.output {
        line(text, "output", output.value());
    }
    if let Some(error) = &run.error {
        let what = if run.status == Status::Timeout { "timeout" } else { "error" };
        // Further lines of it are set off from ours.
        let _ = write!(text, "\n  {what}: {}", shortened(error).replace('\n', "\n    "));
    }
    for evaluator in &definition.evaluators {
        let Some(evaluation) = run.evaluations.get(evaluator.name()) else { continue };
        let _ = write!(text, "\n  {}: ", evaluator.name());
        match (evaluation.score, &evaluation.error) {
            (Some(score), _) => {
                text.push_str(&figure(score));
                if score < evaluator.pass_mark() {
                    let _ = write!(text, ", below the pass mark of {}", evaluator.pass_mark());
                    text.push_str(&parts(&evaluation.metadata));
                }
            }
            (None, error) => {
                let _ = write!(text, "no score: {}", error.as_deref().unwrap_or("no reason is known"));
            }
        }
        if let Some(reason) = &evaluation.reason {
            let _ = write!(text, " ({})", shortened(reason));
        }
    }
}

/// The numbers that a score was made of, or that its judges' scores lie between.
fn parts(metadata: &Item) -> String {
    let numbers = metadata.iter().filter_map(|(name, value)| Some((name, value.as_f64()?)));
    let parts = numbers.take(MOST_PARTS).map(|(name, number)| format!("{name} {}", decimal(number, 3)));
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() { String::new() } else { format!(" [{}]", parts.join(", ")) }
}

fn expected(item: &Item) -> Option<&Value> {
    EXPECTED.iter().find_map(|field| item.get(*field))
}

fn line(text: &mut String, name: &str, value: &Value) {
    let _ = write!(text, "\n  {name}: {}", shortened(&value.to_string()));
}

fn shortened(text: &str) -> Cow<'_, str> {
    match cut(text, LONGEST) {
        Cow::Owned(beginning) => format!("{beginning} ({} characters)", text.chars().count()).into(),
        whole => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_score_is_shown_with_the_numbers_that_it_was_made_of() {
        let metadata =
            crate::item! { "min": 0.25, "max": 1.0, "stddev": 0.333_333, "judges": ["a", "b"], "n": 10 };
        assert_eq!(parts(&metadata), " [max 1, min 0.25, n 10, stddev 0.333]");
        assert_eq!(parts(&crate::item! { "choice": "A" }), "");
    }
}
