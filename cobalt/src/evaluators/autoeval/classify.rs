//! Classifiers: a judge chooses one of several labels, each of which has a score.

use serde_json::{Map, Value, json};

use super::judge::Judge;
use super::rubrics::Rubric;
use crate::evaluators::asking::answer;
use crate::evaluators::asking::answer_schema::{object, string};
use crate::evaluators::{EvalError, Score};
use crate::llm::Schema;

/// A label that a judge may choose.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) label: String,
    pub(super) meaning: Option<&'static str>,
    /// `None` where the choice says that there is nothing to score.
    pub(super) score: Option<f64>,
}

impl Rubric {
    pub(super) fn choices(&self) -> Vec<Choice> {
        let choice = |(label, meaning, score): &(&str, &'static str, f64)| Choice {
            label: (*label).to_owned(),
            meaning: Some(meaning),
            score: Some(*score),
        };
        self.choices.iter().map(choice).collect()
    }
}

/// Says what is wrong with labels.
pub(super) fn problem_with(choices: &[Choice]) -> Option<String> {
    if choices.iter().all(|choice| choice.score.is_none()) {
        return Some("no label has a score".to_owned());
    }
    for (index, choice) in choices.iter().enumerate() {
        let label = choice.label.trim();
        if label.is_empty() {
            return Some("a label is empty; give each a name".to_owned());
        }
        if choices[..index].iter().any(|other| other.label.trim() == label) {
            return Some(format!("two labels are `{label}`; white space around them is left out"));
        }
        if choice.score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
            return Some(format!("the score of the label `{label}` is no number from 0 to 1"));
        }
    }
    None
}

/// Asks for a choice.
pub(super) async fn classify(
    judge: &Judge<'_>,
    question: &str,
    choices: &[Choice],
    chain_of_thought: bool,
) -> Result<Score, EvalError> {
    let prompt = format!("{question}\n\n{}", instruction(choices, chain_of_thought));
    let read = |answer: &Map<String, Value>| {
        let label = answer::text(answer, "choice")?.trim();
        let choice = choices.iter().find(|choice| choice.label.trim() == label);
        let choice = choice.ok_or_else(|| format!("`choice` is `{label}`, which is none of the labels"))?;
        Ok((choice, answer::reasons(answer, "reasons")))
    };
    let (choice, reasons) = judge.ask(prompt, schema(choices, chain_of_thought), 0, read).await?;
    let label = choice.label.trim();
    let score = choice.score.ok_or_else(|| {
        EvalError::new(format!("the judge chose `{label}`, which says that there is nothing to score"))
    })?;
    let score = Score::new(score).metadata("choice", label);
    Ok(match reasons {
        Some(reasons) => score.reason(reasons),
        None => score,
    })
}

fn instruction(choices: &[Choice], chain_of_thought: bool) -> String {
    let choices: Vec<_> = choices
        .iter()
        .map(|choice| match choice.meaning {
            Some(meaning) => format!("- `{}`: {meaning}", choice.label.trim()),
            None => format!("- `{}`", choice.label.trim()),
        })
        .collect();
    let how = if chain_of_thought {
        "First reason step by step, in `reasons`, without naming your choice at the start. Then give the one label that \
         follows from it, exactly as it is written above, in `choice`."
    } else {
        "Give the one label that fits, exactly as it is written above, in `choice`."
    };
    format!("Choose one of these labels:\n{}\n\n{how}", choices.join("\n"))
}

fn schema(choices: &[Choice], chain_of_thought: bool) -> Schema {
    let labels: Vec<_> = choices.iter().map(|choice| choice.label.trim()).collect();
    let choice = ("choice", json!({"type": "string", "enum": labels, "description": "the label"}));
    let schema = if chain_of_thought {
        object(&[("reasons", string("the reasoning, step by step, that leads to the choice")), choice])
    } else {
        object(&[choice])
    };
    Schema { name: "choice", schema }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(labels: &[(&str, f64)]) -> Vec<Choice> {
        let choice = |(label, score): &(&str, f64)| Choice {
            label: (*label).to_owned(),
            meaning: None,
            score: Some(*score),
        };
        labels.iter().map(choice).collect()
    }

    #[test]
    fn labels_are_checked() {
        assert_eq!(problem_with(&choices(&[("Yes", 1.0), ("yes", 0.0)])), None);
        assert!(problem_with(&choices(&[("yes ", 1.0), ("yes", 0.0)])).unwrap().contains("two labels"));
        assert!(problem_with(&choices(&[("", 1.0), ("no", 0.0)])).unwrap().contains("empty"));
        assert!(problem_with(&choices(&[("yes", 7.0), ("no", 0.0)])).unwrap().contains("from 0 to 1"));
        assert_eq!(problem_with(&[]).as_deref(), Some("no label has a score"));
    }
}
