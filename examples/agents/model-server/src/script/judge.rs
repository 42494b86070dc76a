//! The judges' model: it fills the schema that it is asked for.
//!
//! An answer agrees with a reference if it has the reference's numbers and names. A reply is helpful if it names a date, an amount or a next
//! step. Everything else passes.

use serde_json::{Map, Value};

use crate::conversation::Conversation;
use crate::text::{has_any, lower_words, tagged, words};

/// A judgement.
struct Finding {
    passes: bool,
    /// From 0 to 1.
    score: f64,
    reason: String,
}

const NEXT_STEPS: [&str; 8] = [
    "please",
    "should arrive",
    "will email",
    "working days",
    "cannot refund",
    "needs a colleague",
    "you can",
    "?",
];

pub(super) fn answer(conversation: &Conversation, schema: &Value) -> Value {
    let prompt = conversation.question();
    let (reference, reply) = (tagged(prompt, "reference"), tagged(prompt, "reply"));
    let finding = match (reference, tagged(prompt, "answer"), reply) {
        (Some(reference), Some(answer), _) => {
            agrees(tagged(prompt, "question").unwrap_or_default(), reference, answer)
        }
        (_, _, Some(reply)) => helps(reply),
        _ => Finding { passes: true, score: 1.0, reason: "Nothing speaks against it.".to_owned() },
    };
    fill(schema, "", &finding)
}

/// Whether the answer has the numbers and names of the reference that the question does not have.
fn agrees(question: &str, reference: &str, answer: &str) -> Finding {
    let (asked, said) = (lower_words(question), lower_words(answer));
    let decides = |word: &&str| word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
    let facts = words(reference)
        .skip(1)
        .filter(decides)
        .chain(words(reference).take(1).filter(|word| number_like(word)));
    let facts: Vec<&str> = facts.filter(|fact| !asked.contains(&fact.to_lowercase())).collect();
    if facts.is_empty() {
        let shared: Vec<_> = lower_words(reference).into_iter().filter(|word| said.contains(word)).collect();
        let share = shared.len() as f64 / words(reference).count().max(1) as f64;
        let passes = share >= 0.5;
        let reason = if passes {
            "The answer says the same as the reference."
        } else {
            "The answer says something else than the reference."
        };
        return Finding { passes, score: round(share), reason: reason.to_owned() };
    }
    let plain = |word: &str| word.replace(',', "").to_lowercase();
    let said: Vec<String> = said.iter().map(|word| plain(word)).collect();
    let missing: Vec<&str> = facts.iter().copied().filter(|fact| !said.contains(&plain(fact))).collect();
    let score = round(1.0 - missing.len() as f64 / facts.len() as f64);
    let reason = if missing.is_empty() {
        format!("The answer agrees with the reference on {}.", facts.join(", "))
    } else {
        format!("The answer does not say {}, which the reference does.", missing.join(", "))
    };
    Finding { passes: missing.is_empty(), score, reason }
}

fn number_like(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

fn helps(reply: &str) -> Finding {
    let passes = has_any(reply, &NEXT_STEPS);
    let reason = if passes {
        "The reply tells the customer what happens next or what to do."
    } else {
        "The reply states a fact, but neither what happens next nor what the customer can do."
    };
    Finding { passes, score: if passes { 0.9 } else { 0.3 }, reason: reason.to_owned() }
}

fn round(score: f64) -> f64 {
    (score * 100.0).round() / 100.0
}

/// A value of the schema, for the property with this name.
fn fill(schema: &Value, name: &str, finding: &Finding) -> Value {
    match (name, schema["type"].as_str()) {
        ("chainOfThought", _) => format!("I compare the text with the criterion. {}", finding.reason).into(),
        (_, Some("object")) => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let filled: Map<_, _> =
                properties.map(|(name, schema)| (name.clone(), fill(schema, name, finding))).collect();
            filled.into()
        }
        (_, Some("boolean")) => finding.passes.into(),
        (_, Some("number")) => finding.score.into(),
        (_, Some("integer")) => if finding.passes { 5 } else { 2 }.into(),
        (_, Some("array")) => Value::Array(Vec::new()),
        _ => match schema["enum"].get(0) {
            Some(first) => first.clone(),
            None => (*finding.reason).into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversation::Turn;

    fn judge(prompt: &str) -> Value {
        let schema = json!({ "type": "object", "properties": {
            "chainOfThought": { "type": "string" },
            "reason": { "type": "string" },
            "verdict": { "type": "boolean" },
        } });
        let turns = vec![Turn::User(prompt.to_owned())];
        answer(&Conversation { turns, ..Conversation::default() }, &schema)
    }

    #[test]
    fn an_answer_must_have_the_numbers_and_names_of_the_reference() {
        let prompt = |answer: &str| {
            format!(
                "<question>Who designed the Red Bridge, and when?</question>\n\
                 <reference>It was designed by Ada Lovelace in 1,840.</reference>\n<answer>{answer}</answer>"
            )
        };
        let right = judge(&prompt("Ada Lovelace designed it in 1840 [red]."));
        assert_eq!((&right["verdict"], right.as_object().unwrap().len()), (&json!(true), 3));
        let wrong = judge(&prompt("Ada Byron did, in 1840."));
        assert_eq!(wrong["verdict"], false);
        assert_eq!(wrong["reason"], "The answer does not say Lovelace, which the reference does.");
    }

    #[test]
    fn a_reply_must_say_what_happens_next() {
        assert_eq!(judge("<reply>Order T-1 was delivered on 6 November.</reply>")["verdict"], false);
        assert_eq!(judge("<reply>It should arrive on 6 November.</reply>")["verdict"], true);
    }
}
