//! Questions to judges: known, or on their way already, or asked, and once more where the answer is of no use.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::batches::Spent;
use super::client::{ClientError, Ordered, Target};
use super::flights::Landed;
use super::models::Models;
use super::vendors::Role;
use super::{Meter, ModelChoice, cache};
use crate::prices::Tokens;
use crate::redact::redacted;

/// How often a question is asked until its answer is of use.
const ATTEMPTS: usize = 2;

/// An answer that was accepted.
#[derive(Clone, Debug)]
pub(super) struct Given {
    text: Arc<str>,
    /// Whether it came from the cache.
    known: bool,
}

impl Models {
    /// Asks a judge. `read` takes an object of the answer, or says what is wrong with it; then the question is asked once
    /// more, with that as a stricter instruction.
    pub(crate) async fn ask<T>(
        &self,
        choice: &ModelChoice,
        question: &Question,
        meter: &Meter,
        read: impl Fn(&Map<String, Value>) -> Result<T, String>,
    ) -> Result<T, AskError> {
        let target = self.target(Role::Judge, choice)?;
        let key = cache::of_question(&target, question);
        let accepts = |text: &str| read_answer(text, &question.prompt, |object| read(object).map(drop));
        let ask = async {
            if let Some(text) = self.kept_text(&key).filter(|text| accepts(text).is_ok()) {
                return Ok(Given { text: text.into(), known: true });
            }
            let text = self.accepted(&target, question, meter, accepts).await?;
            // What was judged may hold a key, and the answer repeat it.
            self.keep(&key, redacted(&text).as_bytes());
            Ok(Given { text: text.into(), known: false })
        };
        let given = self.landed(&target, &key, meter, ask).await?;
        read_answer(&given, &question.prompt, read).map_err(|problem| useless(&target, &problem))
    }

    /// What a moderation model finds in a text.
    pub(crate) async fn moderate(
        &self,
        choice: &ModelChoice,
        text: &str,
        meter: &Meter,
    ) -> Result<Moderation, AskError> {
        let target = self.target(Role::Moderation, choice)?;
        let key = cache::of_text("moderation", &target, text);
        let ask = async {
            let is_whole = |text: &String| serde_json::from_str::<Moderation>(text).is_ok();
            if let Some(text) = self.kept_text(&key).filter(is_whole) {
                return Ok(Given { text: text.into(), known: true });
            }
            let found = self.moderation(&target, text, meter).await?;
            let text = serde_json::to_string(&found).map_err(|error| AskError(error.to_string()))?;
            self.keep(&key, text.as_bytes());
            Ok(Given { text: text.into(), known: false })
        };
        let given = self.landed(&target, &key, meter, ask).await?;
        serde_json::from_str(&given).map_err(|error| useless(&target, &error.to_string()))
    }

    /// The outcome of a request that may be on its way already.
    async fn landed(
        &self,
        target: &Target,
        key: &str,
        meter: &Meter,
        ask: impl Future<Output = Result<Given, AskError>>,
    ) -> Result<Arc<str>, AskError> {
        let Landed { outcome, shared } = self.answers.join(key, ask).await;
        let Given { text, known } = outcome?;
        if shared || known {
            self.known(meter, target);
        }
        Ok(text)
    }

    /// Asks until an answer is accepted.
    async fn accepted(
        &self,
        target: &Target,
        question: &Question,
        meter: &Meter,
        accepts: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String, AskError> {
        let Question { system, prompt, schema, .. } = question;
        let mut prompt = prompt.clone();
        let mut problem = String::new();
        for _ in 0..ATTEMPTS {
            match self.client.chat(target, system, &prompt, schema).await {
                Ok(reply) => {
                    self.charge(meter, target, Spent::call(reply.tokens));
                    match accepts(&reply.text) {
                        Ok(()) => return Ok(reply.text),
                        Err(wrong) => {
                            prompt = stricter(question, &wrong);
                            problem = useless(target, &wrong).0;
                        }
                    }
                }
                Err(ClientError::Malformed { problem: wrong, tokens }) => {
                    self.charge(meter, target, Spent::call(tokens));
                    prompt = stricter(question, "it was empty, cut off, or in another form");
                    problem = wrong;
                }
                Err(ClientError::Failed(problem) | ClientError::Refused(problem)) => {
                    return Err(AskError(problem));
                }
            }
        }
        Err(AskError(format!("{problem}; asked twice")))
    }

    /// Asks a moderation model, once more where the answer is of no use.
    async fn moderation(&self, target: &Target, text: &str, meter: &Meter) -> Result<Moderation, AskError> {
        let mut found = self.client.moderate(target, text).await;
        if let Err(ClientError::Malformed { tokens, .. }) = found {
            self.charge(meter, target, Spent::call(tokens));
            found = self.client.moderate(target, text).await;
        }
        match found {
            Ok(found) => {
                self.charge(meter, target, Spent::call(Tokens::default()));
                Ok(found)
            }
            Err(ClientError::Malformed { problem, tokens }) => {
                self.charge(meter, target, Spent::call(tokens));
                Err(AskError(format!("{problem}; asked twice")))
            }
            Err(ClientError::Failed(problem) | ClientError::Refused(problem)) => Err(AskError(problem)),
        }
    }

    fn kept_text(&self, key: &str) -> Option<String> {
        String::from_utf8(self.kept(key)?).ok()
    }
}

/// The prompt of a question whose answer could not be used.
fn stricter(Question { prompt, schema, .. }: &Question, wrong: &str) -> String {
    format!(
        "{prompt}\n\n---\nThis was asked before, and the answer could not be used: {wrong}. Answer with one JSON object \
         and nothing else: no text before or after it, and no fence around it. It has to match this JSON schema:\n{}",
        Ordered(&schema.schema).text()
    )
}

fn useless(target: &Target, problem: &str) -> AskError {
    AskError(format!("{} `{}` gave no answer of use: {problem}", target.provider, target.model))
}

/// A question whose answer is an object of a certain form.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// What the model is to be, and how it is to answer.
    pub(crate) system: String,
    /// What it is asked.
    pub(crate) prompt: String,
    /// The form of the answer.
    pub(crate) schema: Schema,
    /// Which time the same is asked on purpose, from 0: a further time is a request of its own, whatever is in the cache.
    pub(crate) which: u32,
}

/// The form of an answer, which the model is forced to where its API can.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    /// A name of letters, digits, `_` and `-`.
    pub(crate) name: &'static str,
    /// The JSON schema of an object: every property required, none besides.
    pub(crate) schema: Value,
}

/// What a moderation model finds in a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moderation {
    pub(crate) flagged: bool,
    pub(crate) category_scores: BTreeMap<String, f64>,
}

/// Why a model gave no answer. Keys are redacted in all texts.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct AskError(pub(crate) String);

/// How many bytes of what turns out to be no object are read for each byte of a text, before less of it is looked at.
const PATIENCE: usize = 8;

/// The only complete object in a text that `read` accepts, else what is wrong. `asked` is the prompt that the text answers.
///
/// An object within another one is not looked at: what stands there may be an example, or a part. Nor is one taken for the
/// answer of which it cannot be told whether it is: one of several that differ, or one among other words that stands in the
/// prompt, too. What is to be judged may well hold a verdict, which the model then quotes.
pub fn read_answer<T>(
    text: &str,
    asked: &str,
    read: impl Fn(&Map<String, Value>) -> Result<T, String>,
) -> Result<T, String> {
    let text = without_thoughts(text);
    let mut found: Option<(Map<String, Value>, Range<usize>, T)> = None;
    let mut refused = None;
    for (object, place) in Objects::of(text) {
        match (read(&object), &found) {
            (Ok(answer), None) => found = Some((object, place, answer)),
            (Ok(_), Some((first, ..))) if *first != object => {
                return Err("it holds several answers, which differ".to_owned());
            }
            (Ok(_), Some(_)) => {}
            // What is wrong with the first is what the model should know.
            (Err(problem), _) => drop(refused.get_or_insert(problem)),
        }
    }
    match found {
        Some((_, place, _)) if is_among_words(text, &place) && is_quoted(&text[place.clone()], asked) => {
            Err("it quotes an object of the prompt, which may not be the answer".to_owned())
        }
        Some((.., answer)) => Ok(answer),
        None => Err(refused.unwrap_or_else(|| "there is no complete JSON object in the answer".to_owned())),
    }
}

/// The answer of a model whose thoughts come before it in the same text. What it only thought of it has not answered.
fn without_thoughts(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>") {
        Some(rest) => rest.rsplit_once("</think>").map_or("", |(_, answer)| answer),
        None => text,
    }
}

/// Whether there is more than a fence around a part of a text.
fn is_among_words(text: &str, place: &Range<usize>) -> bool {
    let before = text[..place.start].trim_end();
    let around = [before.strip_suffix("```json").unwrap_or(before), &text[place.end..]];
    around.iter().any(|text| text.contains(char::is_alphanumeric))
}

/// Whether a prompt holds an object, maybe with other white space or within a text of JSON.
fn is_quoted(object: &str, prompt: &str) -> bool {
    let closely = |text: &str| -> String {
        text.chars().filter(|letter| !letter.is_whitespace() && *letter != '\\').collect()
    };
    closely(prompt).contains(&closely(object))
}

/// The complete JSON objects of a text and their places, in time that is linear in its length whatever it holds.
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
    type Item = (Map<String, Value>, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(start) = self.text[self.at..].find('{').map(|found| self.at + found) {
            // Found before it is read: of what is no object, nothing is built up.
            let mut stream =
                serde_json::Deserializer::from_str(&self.text[start..]).into_iter::<IgnoredAny>();
            let found = stream.next()?;
            let end = start + stream.byte_offset();
            match found {
                Ok(_) => {
                    self.at = end;
                    // One with a number out of range, say, is none; nor is what stands in it.
                    if let Ok(object) = serde_json::from_str(&self.text[start..end]) {
                        return Some((object, start..end));
                    }
                }
                // The object is cut off, and all that follows is a part of it.
                Err(error) if error.is_eof() => return None,
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

    fn read_answer<T>(
        text: &str,
        read: impl Fn(&Map<String, Value>) -> Result<T, String>,
    ) -> Result<T, String> {
        super::read_answer(text, "", read)
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
            let problem = super::read_answer(quote, prompt, verdict).unwrap_err();
            assert!(problem.starts_with("it quotes an object of the prompt"), "{prompt}: {problem}");
            for alone in [r#"{"verdict": true}"#, "```json\n{\"verdict\": true}\n```\n"] {
                assert_eq!(super::read_answer(alone, prompt, verdict), Ok(true), "{prompt}: {alone}");
            }
            let other = r#"As I see it: {"verdict": false}"#;
            assert_eq!(super::read_answer(other, prompt, verdict), Ok(false), "{prompt}");
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
