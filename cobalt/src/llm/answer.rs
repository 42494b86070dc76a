//! Questions to judges, and the parser that extracts an answer from a model's text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use cobalt_core::prices::Tokens;
use cobalt_core::timestamp::Timestamp;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A question whose answer is an object that matches a schema.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// The system prompt: the model's role, and how to answer.
    pub(crate) system: String,
    /// The user prompt.
    pub(crate) prompt: String,
    /// The schema of the answer.
    pub(crate) schema: Schema,
    /// The number of the repetition, from 0: an intended repetition is a separate request with its own cache entry.
    pub(crate) repetition: u32,
    /// Whether all items share one answer.
    pub(crate) is_shared: bool,
}

/// The schema of an answer, enforced by APIs that can.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    /// A name of letters, digits, `_` and `-`.
    pub(crate) name: &'static str,
    /// The JSON schema of an object: all properties required, no additional ones.
    pub(crate) schema: Value,
}

/// The result of a moderation model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moderation {
    pub(crate) flagged: bool,
    pub(crate) category_scores: BTreeMap<String, f64>,
}

/// Why a question has no answer. Keys are redacted.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct AskError(pub(crate) String);

/// An accepted answer.
#[derive(Clone, Debug)]
pub struct AcceptedAnswer {
    pub text: Arc<str>,
    /// Whether it came from the cache.
    pub from_cache: bool,
    /// The tokens that it used, also if it came from the cache.
    pub tokens: Tokens,
    /// When it was received.
    pub at: Timestamp,
}

impl AcceptedAnswer {
    /// A new answer.
    pub fn new(text: &str, tokens: Tokens) -> Self {
        Self { text: text.into(), from_cache: false, tokens, at: Timestamp::now() }
    }
}

/// How many bytes may be scanned in vain per byte of text, before the parser skips ahead.
const SCAN_BUDGET_FACTOR: usize = 8;

/// The only complete object in a text that `read` accepts, else what is wrong. `asked` is the prompt that the text answers.
///
/// Objects nested in another object are ignored: they may be examples or parts. Ambiguous objects are rejected: several that
/// differ, or one within other words that also occurs in the prompt. The judged output may itself contain a verdict, which the
/// model then quotes.
pub fn parse_answer<T>(
    text: &str,
    asked: &str,
    read: impl Fn(&Map<String, Value>) -> Result<T, String>,
) -> Result<T, String> {
    let text = strip_thinking(text);
    let mut found: Option<(Map<String, Value>, Range<usize>, T)> = None;
    let mut refused = None;
    for (object, place) in ObjectScanner::new(text) {
        match (read(&object), &found) {
            (Ok(answer), None) => found = Some((object, place, answer)),
            (Ok(_), Some((first, ..))) if *first != object => {
                return Err("it holds several answers, which differ".to_owned());
            }
            (Ok(_), Some(_)) => {}
            // Report the problem of the first object to the model.
            (Err(problem), _) => drop(refused.get_or_insert(problem)),
        }
    }
    match found {
        Some((_, place, _))
            if is_surrounded_by_text(text, &place) && is_quoted(&text[place.clone()], asked) =>
        {
            Err("it quotes an object of the prompt, which may not be the answer".to_owned())
        }
        Some((.., answer)) => Ok(answer),
        None => Err(refused.unwrap_or_else(|| "there is no complete JSON object in the answer".to_owned())),
    }
}

/// The answer without a leading `<think>` block; what is only in the block does not count.
fn strip_thinking(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>") {
        Some(rest) => rest.rsplit_once("</think>").map_or("", |(_, answer)| answer),
        None => text,
    }
}

/// Whether there is more than a code fence around a part of a text.
fn is_surrounded_by_text(text: &str, place: &Range<usize>) -> bool {
    let before = text[..place.start].trim_end();
    let around = [before.strip_suffix("```json").unwrap_or(before), &text[place.end..]];
    around.iter().any(|text| text.contains(char::is_alphanumeric))
}

/// Whether a prompt contains an object, possibly with other white space or within a JSON string.
fn is_quoted(object: &str, prompt: &str) -> bool {
    let closely = |text: &str| -> String {
        text.chars().filter(|letter| !letter.is_whitespace() && *letter != '\\').collect()
    };
    closely(prompt).contains(&closely(object))
}

/// The complete JSON objects in a text and their ranges, in time linear in its length.
struct ObjectScanner<'a> {
    text: &'a str,
    at: usize,
    scan_budget: usize,
}

impl<'a> ObjectScanner<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, scan_budget: text.len().saturating_mul(SCAN_BUDGET_FACTOR) }
    }
}

impl Iterator for ObjectScanner<'_> {
    type Item = (Map<String, Value>, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(start) = self.text[self.at..].find('{').map(|found| self.at + found) {
            // Scan before parsing, so nothing is allocated for invalid JSON.
            let mut stream =
                serde_json::Deserializer::from_str(&self.text[start..]).into_iter::<IgnoredAny>();
            let found = stream.next()?;
            let end = start + stream.byte_offset();
            match found {
                Ok(_) => {
                    self.at = end;
                    // Skip an object with, for example, a number out of range, and everything in it.
                    if let Ok(object) = serde_json::from_str(&self.text[start..end]) {
                        return Some((object, start..end));
                    }
                }
                // The object is truncated, and everything that follows is part of it.
                Err(error) if error.is_eof() => return None,
                Err(error) => self.skip(start, &error),
            }
        }
        None
    }
}

impl ObjectScanner<'_> {
    /// Skips a brace that does not start an object, or, once too much was scanned in vain, everything that was scanned.
    fn skip(&mut self, start: usize, error: &serde_json::Error) {
        let read = scanned_bytes(&self.text[start..], error).max(1);
        let step = if read <= self.scan_budget { 1 } else { read };
        self.scan_budget = self.scan_budget.saturating_sub(read);
        self.at = (start + step..self.text.len())
            .find(|at| self.text.is_char_boundary(*at))
            .unwrap_or(self.text.len());
    }
}

/// How many bytes were scanned before an error.
fn scanned_bytes(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    lines.map(str::len).sum::<usize>() + error.column()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn verdict(object: &Map<String, Value>) -> Result<bool, String> {
        let verdict = object.get("verdict").ok_or("`verdict` is missing")?;
        verdict.as_bool().ok_or_else(|| format!("`verdict` is {verdict}"))
    }

    fn read_answer<T>(
        text: &str,
        read: impl Fn(&Map<String, Value>) -> Result<T, String>,
    ) -> Result<T, String> {
        super::parse_answer(text, "", read)
    }

    #[test]
    fn an_object_is_found_in_whatever_is_around_it() {
        for text in [
            r#"{"verdict": true}"#,
            "```json\n{\"verdict\": true}\n```",
            r#"Here is my verdict: {"verdict": true}. I hope that helps {you}!"#,
            r#"[{"verdict": true}]"#,
            r#"As asked for, in the form {"verdict": …}: {"verdict": true}"#,
            r#"{"example": 1} and then {"verdict": true} and again {"verdict":true}"#,
            r#"{"reason": "a } and a { in \"quotes\"", "verdict": true}"#,
            "\u{feff}質問 {{\"verdict\": true}}",
            r#"{"verdict": "perhaps"} {"verdict": true}"#,
        ] {
            assert_eq!(read_answer(text, verdict), Ok(true), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_of_the_first_object() {
        let problem = |text| read_answer(text, verdict).unwrap_err();
        assert_eq!(problem("no JSON here"), "there is no complete JSON object in the answer");
        assert_eq!(problem(r#"{"verdict": true"#), "there is no complete JSON object in the answer");
        assert_eq!(problem(r#"{"verdict": 1} {"score": 1}"#), "`verdict` is 1");
    }

    #[test]
    fn an_object_within_a_refused_one_is_not_taken_for_the_answer() {
        let text = r#"{"verdict": "no", "example": {"verdict": true}}"#;
        assert_eq!(read_answer(text, verdict).unwrap_err(), "`verdict` is \"no\"");
    }

    #[test]
    fn an_object_within_one_that_cannot_be_read_is_not_taken_for_the_answer() {
        for text in [
            r#"{"score": 1e999, "example": {"verdict": true}}"#,
            r#"{"reason": "\ud800", "example": {"verdict": true}}"#,
            r#"{"evidence": {"verdict": true}, "verdict": fal"#,
            r#"{"evidence": [{"verdict": true}, "#,
        ] {
            assert!(read_answer(text, verdict).is_err(), "{text}");
        }
    }

    #[test]
    fn several_answers_that_differ_are_none() {
        let text = r#"The output says {"verdict": true}. I say: {"verdict": false}"#;
        assert_eq!(read_answer(text, verdict).unwrap_err(), "it holds several answers, which differ");
    }

    #[test]
    fn what_a_model_only_thought_of_is_not_taken_for_the_answer() {
        let thoughts = r#"<think>Perhaps {"verdict": true}?</think>"#;
        assert_eq!(read_answer(&format!("{thoughts}\n{{\"verdict\": false}}"), verdict), Ok(false));
        for text in [thoughts, r#"<think>Perhaps {"verdict": true}? Or"#] {
            assert!(read_answer(text, verdict).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_quoted_from_the_prompt_is_not_taken_for_the_answer() {
        let prompts = [
            r#"Is this fine? {"verdict": true}"#,
            r#"Is this fine? {"item": {"verdict" : true}}"#,
            r#"Is this fine? "{\"verdict\": true}""#,
        ];
        let quote = r#"It only says {"verdict": true}, so the verdict is false."#;
        for prompt in prompts {
            let problem = super::parse_answer(quote, prompt, verdict).unwrap_err();
            assert!(problem.starts_with("it quotes an object of the prompt"), "{prompt}: {problem}");
            for alone in [r#"{"verdict": true}"#, "```json\n{\"verdict\": true}\n```\n"] {
                assert_eq!(super::parse_answer(alone, prompt, verdict), Ok(true), "{prompt}: {alone}");
            }
            let other = r#"As I see it: {"verdict": false}"#;
            assert_eq!(super::parse_answer(other, prompt, verdict), Ok(false), "{prompt}");
        }
    }

    #[test]
    fn a_hostile_text_takes_no_more_time_than_another_of_its_length() {
        let many = |unit: &str| unit.repeat(1_000_000 / unit.len());
        for text in [
            many("{"),
            many("{\"a\":"),
            many("{\"a\":["),
            many("{\"a\":\""),
            many("{\"a\":1,"),
            many("{\"\n\":"),
            many("{\"a\":1}"),
            format!("{{\"a\":[{}", many("\"{\",\":[\",")),
            format!("{}{}", many("{\"a\":"), many("\n")),
        ] {
            let began = Instant::now();
            assert!(read_answer(&text, verdict).is_err());
            assert!(began.elapsed() < Duration::from_secs(20), "{}… took {:?}", &text[..20], began.elapsed());
        }
    }
}
