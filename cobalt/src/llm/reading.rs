//! Reads the object of an answer out of whatever a model wrote around it: fences, prose, a list, further objects.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// How many bytes of what turns out to be no object are read for each byte of a text, before less of it is looked at.
const PATIENCE: usize = 8;

/// The complete object in a text that `read` accepts, else what is wrong.
///
/// A text that begins with it has said its answer. One that says something else before may quote what it judges, or try
/// an answer out: objects that differ are then no answer, since none of them is known to be the one that counts. An
/// object within another one is not looked at: what stands there may be an example, or a part.
pub(super) fn read_answer<T>(
    text: &str,
    read: impl Fn(&Map<String, Value>) -> Result<T, String>,
) -> Result<T, String> {
    let mut refused = None;
    let mut found: Option<(Map<String, Value>, T)> = None;
    for object in Objects::of(text) {
        match (read(&object), &found) {
            (Ok(_), Some((before, _))) if *before != object => {
                return Err("it holds several JSON objects that differ; give one".to_owned());
            }
            (Ok(answer), None) if is_at_start(text) && refused.is_none() => return Ok(answer),
            (Ok(answer), None) => found = Some((object, answer)),
            (Ok(_), Some(_)) => {}
            // What is wrong with the first is what the model should know.
            (Err(problem), _) => drop(refused.get_or_insert(problem)),
        }
    }
    let problem = || refused.unwrap_or_else(|| "there is no complete JSON object in the answer".to_owned());
    found.map(|(_, answer)| answer).ok_or_else(problem)
}

/// Whether a text begins with an object, be it in a fence.
fn is_at_start(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let text = text.strip_prefix("```").map_or(text, |fenced| {
        fenced.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric()).trim_start()
    });
    text.starts_with('{')
}

/// The complete JSON objects of a text, in time that is linear in its length whatever it holds.
struct Objects<'a> {
    text: &'a str,
    at: usize,
    patience: usize,
}

impl<'a> Objects<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, at: 0, patience: text.len().saturating_mul(PATIENCE) }
    }
}

impl Iterator for Objects<'_> {
    type Item = Map<String, Value>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(start) = self.text[self.at..].find('{').map(|found| self.at + found) {
            // Found before it is read: of what is no object, nothing is built up.
            let mut stream =
                serde_json::Deserializer::from_str(&self.text[start..]).into_iter::<IgnoredAny>();
            let found = stream.next()?;
            let end = start + stream.byte_offset();
            let object = found.and_then(|_| serde_json::from_str(&self.text[start..end]));
            match object {
                Ok(object) => {
                    self.at = end;
                    return Some(object);
                }
                Err(error) => self.skip(start, &error),
            }
        }
        None
    }
}

impl Objects<'_> {
    /// Goes on behind a brace that begins no object; behind all that was read in vain, once too much was.
    fn skip(&mut self, start: usize, error: &serde_json::Error) {
        let read = read_until(&self.text[start..], error).max(1);
        let step = if read <= self.patience { 1 } else { read };
        self.patience = self.patience.saturating_sub(read);
        self.at = (start + step..self.text.len())
            .find(|at| self.text.is_char_boundary(*at))
            .unwrap_or(self.text.len());
    }
}

/// How many bytes were read before an error.
fn read_until(text: &str, error: &serde_json::Error) -> usize {
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

    #[test]
    fn an_object_is_found_in_whatever_is_around_it() {
        for text in [
            r#"{"verdict": true}"#,
            "```json\n{\"verdict\": true}\n```",
            r#"Here is my verdict: {"verdict": true}. I hope that helps {you}!"#,
            r#"[{"verdict": true}]"#,
            r#"As asked for, in the form {"verdict": …}: {"verdict": true}"#,
            r#"{"example": 1} and then {"verdict": true} and again {"verdict": true}"#,
            "```json\n{\"verdict\": true}\n```\nOf another output I would say {\"verdict\": false}.",
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
    fn what_is_quoted_before_the_answer_is_not_taken_for_it() {
        for text in [
            r#"The output says {"verdict": true}. My answer: {"verdict": false}"#,
            r#"{"example": 1} and then {"verdict": true} and {"verdict": false}"#,
        ] {
            let problem = read_answer(text, verdict).unwrap_err();
            assert_eq!(problem, "it holds several JSON objects that differ; give one", "{text}");
        }
    }

    #[test]
    fn an_object_within_a_refused_one_is_not_taken_for_the_answer() {
        let text = r#"{"verdict": "no", "example": {"verdict": true}}"#;
        assert_eq!(read_answer(text, verdict).unwrap_err(), "`verdict` is \"no\"");
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
