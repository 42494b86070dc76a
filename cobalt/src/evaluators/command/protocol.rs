//! The protocol of `CommandEvaluator`: requests and responses as lines of JSON.

use std::io::{self, Write};

use cobalt_core::item::Item;
use cobalt_core::wording::{self, truncate};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value};

use crate::evaluators::{EvalContext, EvalError, IntoScore, Score};

/// The fields of a response object.
const FIELDS: [&str; 6] = ["score", "reason", "chainOfThought", "metadata", "error", "notApplicable"];
/// The fields of which a response object has one.
const OUTCOMES: [&str; 3] = ["score", "error", "notApplicable"];
/// The maximum length of quoted output in messages, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// An invalid response: the program may be out of sync with its requests.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidResponse(pub(super) String);

/// Reads the response to a request: a score, or the program's error.
pub fn parse_response(bytes: &[u8], request: u64) -> Result<Result<Score, EvalError>, InvalidResponse> {
    let text = str::from_utf8(bytes).map_err(|_| {
        InvalidResponse(format!(
            "the program's answer is not UTF-8: {}",
            quoted(&String::from_utf8_lossy(bytes))
        ))
    })?;
    let text = text.trim_start_matches('\u{feff}').trim();
    let refuse = |expected: &str| {
        Err(InvalidResponse(format!("the program's answer is {}, not {expected}", quoted(text))))
    };
    match serde_json::from_str(text) {
        Ok(Value::Bool(holds)) => Ok(Ok(holds.into())),
        Ok(Value::Number(number)) => Ok(check_range(number.as_f64().unwrap_or(f64::NAN)).map(Score::new)),
        Ok(Value::Object(fields)) if is_for_another(&fields, request) => {
            refuse(&format!("for the request with `id` {request}"))
        }
        Ok(Value::Object(fields)) if OUTCOMES.iter().any(|name| fields.contains_key(*name)) => {
            Ok(parse_fields(fields))
        }
        Ok(Value::Object(fields)) => Err(InvalidResponse(without_score(text, &fields))),
        Ok(_) => refuse("a score: a number from 0 to 1, true, false, or an object with `score`"),
        Err(error) => Err(InvalidResponse(not_json(text, &error))),
    }
}

/// Whether a response has the `id` of another request.
fn is_for_another(fields: &Map<String, Value>, request: u64) -> bool {
    fields.get("id").is_some_and(|id| !id.is_null() && *id != request)
}

/// Quotes output for a message.
pub fn quoted(text: &str) -> String {
    format!("`{}`", truncate(text.trim(), MAX_QUOTED_CHARS).escape_debug())
}

fn not_json(text: &str, error: &serde_json::Error) -> String {
    if text.is_empty() {
        return "the program wrote only white space; write a score as JSON to stdout".to_owned();
    }
    let hint = if error.is_eof() {
        "the JSON is incomplete; write it on one line"
    } else if has_non_finite_number(text) {
        "JSON has no NaN or Infinity; if there is no score, set `error`"
    } else {
        "write nothing else to stdout: other output, including that of libraries, belongs on stderr"
    };
    format!("the program's answer {} is not JSON ({error}); {hint}", quoted(text))
}

/// Whether it contains what some languages write instead of a number.
fn has_non_finite_number(text: &str) -> bool {
    let mut names = ["NaN", "Infinity", "-Infinity"].into_iter();
    names.any(|name| text == name || text.starts_with('{') && text.contains(name))
}

fn without_score(text: &str, fields: &Map<String, Value>) -> String {
    let meant = fields.keys().find_map(|name| wording::closest(name, OUTCOMES));
    let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    format!("the program's answer {} has neither `score` nor `error`{meant}", quoted(text))
}

fn parse_fields(mut fields: Map<String, Value>) -> Result<Score, EvalError> {
    // Unknown fields may be for newer versions; one with nearly a known name is probably a typo.
    for name in fields.keys().filter(|name| !FIELDS.contains(&&***name)) {
        if let Some(meant) = wording::closest(name, FIELDS) {
            return Err(EvalError::new(format!(
                "the program's answer has the unknown field `{name}`; did you mean `{meant}`?"
            )));
        }
    }
    if let Some(error) = take_text(&mut fields, "error")? {
        return Err(EvalError::new(format!("the program reported an error: {error}")));
    }
    match fields.remove("notApplicable") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::Bool(true)) => return not_applicable(fields),
        Some(other) => return Err(wrong_type("notApplicable", &other, "true or false")),
    }
    let value = match fields.get("score") {
        Some(Value::Bool(holds)) => f64::from(u8::from(*holds)),
        Some(Value::Number(number)) => check_range(number.as_f64().unwrap_or(f64::NAN))?,
        other => {
            let found = other.unwrap_or(&Value::Null).to_string();
            return Err(EvalError::new(format!(
                "the `score` of the program's answer is {}, not a number from 0 to 1, true or false; if there is no \
                 score, set `error`",
                quoted(&found)
            )));
        }
    };
    add_details(Score::new(value), fields)
}

/// The response of a program that does not apply to the item.
fn not_applicable(mut fields: Map<String, Value>) -> Result<Score, EvalError> {
    if let Some(score) = fields.get("score").filter(|score| !score.is_null()) {
        return Err(EvalError::new(format!(
            "the program's answer has `notApplicable` and the `score` {}; leave out one of them",
            quoted(&score.to_string())
        )));
    }
    match take_text(&mut fields, "reason")? {
        Some(reason) => add_details(Score::not_applicable(reason), fields),
        None => add_details(None::<Score>.into_score()?, fields),
    }
}

/// Adds the reason, the reasoning and the metadata of a response.
fn add_details(mut score: Score, mut fields: Map<String, Value>) -> Result<Score, EvalError> {
    if let Some(reason) = take_text(&mut fields, "reason")? {
        score = score.reason(reason);
    }
    if let Some(thoughts) = take_text(&mut fields, "chainOfThought")? {
        score = score.chain_of_thought(thoughts);
    }
    match fields.remove("metadata") {
        None | Some(Value::Null) => Ok(score),
        Some(Value::Object(figures)) => {
            Ok(figures.into_iter().fold(score, |score, (name, figure)| score.metadata(name, figure)))
        }
        Some(other) => Err(wrong_type("metadata", &other, "an object")),
    }
}

fn check_range(value: f64) -> Result<f64, EvalError> {
    match (0.0..=1.0).contains(&value) {
        true => Ok(value),
        false => Err(EvalError::new(format!(
            "the program's score is {value}; it must be a number from 0 (bad) to 1 (good): divide by the maximum, or \
             invert it"
        ))),
    }
}

/// An optional text field.
fn take_text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, EvalError> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong_type(name, &other, "text")),
    }
}

fn wrong_type(field: &str, found: &Value, expected: &str) -> EvalError {
    let found = quoted(&found.to_string());
    EvalError::new(format!("the `{field}` of the program's answer is {found}, not {expected}"))
}

/// The protocol version. It increases if programs for the previous version can no longer read requests; new fields do not
/// count.
const VERSION: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestBody<'a> {
    version: u32,
    id: u64,
    evaluator: &'a str,
    item: &'a Item,
    output: &'a Value,
    metadata: &'a Item,
    key: &'a str,
    index: usize,
    run_index: usize,
}

/// A request, as a program reads it.
#[derive(Debug)]
pub struct Request {
    /// The ID, which a response may repeat.
    pub(super) id: u64,
    /// The JSON, with a trailing line break.
    pub(super) line: Vec<u8>,
}

impl Request {
    /// Creates the request for an evaluator.
    ///
    /// # Errors
    ///
    /// Fails only if a value cannot be represented in JSON, which does not happen for items and outputs.
    pub fn new(id: u64, cx: &EvalContext, evaluator: &str) -> Result<Self, serde_json::Error> {
        let fields = RequestBody {
            version: VERSION,
            id,
            evaluator,
            item: cx.item(),
            output: cx.output(),
            metadata: cx.metadata(),
            key: cx.key(),
            index: cx.index(),
            run_index: cx.run_index(),
        };
        let mut line = Vec::new();
        fields.serialize(&mut Serializer::with_formatter(&mut line, AsciiFormatter))?;
        line.push(b'\n');
        Ok(Self { id, line })
    }
}

/// Escapes everything that is not ASCII. The encoding then does not matter, and no program mistakes a Unicode line separator
/// for the end of the line.
struct AsciiFormatter;

impl Formatter for AsciiFormatter {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, letter)) = rest.char_indices().find(|(_, letter)| !letter.is_ascii()) {
            writer.write_all(&rest.as_bytes()[..at])?;
            for unit in letter.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + letter.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use cobalt_core::item::Output;

    use super::*;

    fn score(answer: &str) -> Result<Score, String> {
        parse_response(answer.as_bytes(), 7).expect("an answer").map_err(|error| error.to_string())
    }

    fn refused(answer: &str) -> String {
        parse_response(answer.as_bytes(), 7).expect_err("no answer").0
    }

    #[test]
    fn a_number_or_a_verdict_is_enough() {
        let values = ["0.25", "1", "true", "false", " 0.5\r\n", "\u{feff}1.0"];
        assert_eq!(values.map(|answer| score(answer).unwrap().value()), [0.25, 1.0, 1.0, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn an_object_may_say_more() {
        let answer = r#"{"score": 0.5, "reason": "half", "chainOfThought": "so", "metadata": {"n": 2}, "error": null}"#;
        let expected = Score::new(0.5).reason("half").chain_of_thought("so").metadata("n", 2);
        assert_eq!(score(answer).unwrap(), expected);
        assert_eq!(score(r#"{"score": true, "reason": null, "metadata": null}"#).unwrap(), true.into());
    }

    #[test]
    fn a_program_may_say_that_it_does_not_apply() {
        let answer =
            r#"{"notApplicable": true, "reason": "no list asked", "metadata": {"n": 2}, "score": null}"#;
        assert_eq!(score(answer).unwrap(), Score::not_applicable("no list asked").metadata("n", 2));
        let without_reason = score(r#"{"notApplicable": true}"#).unwrap();
        assert!(!without_reason.is_applicable() && without_reason.why().is_none());
        assert_eq!(score(r#"{"notApplicable": false, "score": 1}"#).unwrap(), Score::new(1.0));
        for (answer, part) in [
            (
                r#"{"notApplicable": true, "score": 1}"#,
                "has `notApplicable` and the `score` `1`; leave out one",
            ),
            (
                r#"{"notApplicable": "no list"}"#,
                "`notApplicable` of the program's answer is `\"no list\"`, not true or false",
            ),
            (r#"{"notApplicable": false}"#, "the `score` of the program's answer is `null`"),
            (r#"{"notApplicable": true, "error": "down"}"#, "reported an error: down"),
        ] {
            let error = score(answer).unwrap_err();
            assert!(error.replace("\\\"", "\"").contains(part), "{error}");
        }
        assert!(refused(r#"{"notAplicable": true}"#).ends_with("did you mean `notApplicable`?"));
    }

    #[test]
    fn an_error_is_no_score() {
        let error = "the program reported an error: the model is down";
        for answer in [r#"{"error": "the model is down"}"#, r#"{"score": 1, "error": "the model is down"}"#] {
            assert_eq!(score(answer).unwrap_err(), error);
        }
    }

    #[test]
    fn further_fields_are_left_out_but_those_that_look_like_a_slip() {
        assert_eq!(score(r#"{"score": 1, "success": true, "costUsd": 0.1}"#).unwrap(), true.into());
        let error = score(r#"{"score": 1, "chain_of_thought": "so"}"#).unwrap_err();
        assert!(error.ends_with("field `chain_of_thought`; did you mean `chainOfThought`?"), "{error}");
        let error = refused(r#"{"Score": 1}"#);
        assert!(error.ends_with("has neither `score` nor `error`; did you mean `score`?"), "{error}");
    }

    #[test]
    fn the_answer_to_another_request_is_none() {
        assert_eq!(score(r#"{"id": 7, "score": 1}"#).unwrap(), true.into());
        assert_eq!(score(r#"{"id": null, "score": 1}"#).unwrap(), true.into());
        for answer in [r#"{"id": 6, "score": 1}"#, r#"{"id": "7", "error": "no key"}"#] {
            let error = refused(answer);
            assert!(error.ends_with(", not for the request with `id` 7"), "{error}");
        }
    }

    #[test]
    fn a_score_out_of_range_and_fields_of_another_type_are_errors() {
        for (answer, expected) in [
            ("7", "score is 7; it must be a number from 0 (bad) to 1 (good)"),
            (r#"{"score": -0.5}"#, "score is -0.5;"),
            (r#"{"score": null}"#, "`score` of the program's answer is `null`, not a number"),
            (r#"{"score": "0.5"}"#, "is `\\\"0.5\\\"`, not a number"),
            (
                r#"{"score": 1, "reason": ["a"]}"#,
                "`reason` of the program's answer is `[\\\"a\\\"]`, not text",
            ),
            (r#"{"score": 1, "metadata": 3}"#, "`metadata` of the program's answer is `3`, not an object"),
        ] {
            let error = score(answer).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn what_is_no_answer_is_shown() {
        for (answer, expected) in [
            ("Loading model …", "`Loading model …` is not JSON ("),
            ("Loading model …", "belongs on stderr"),
            ("{\"score\":", "the JSON is incomplete; write it on one line"),
            ("\"good\"", "`\\\"good\\\"`, not a score: a number from 0 to 1"),
            ("", "the program wrote only white space"),
            (r#"{"score": NaN}"#, "JSON has no NaN or Infinity; if there is no score, set `error`"),
            ("-Infinity", "JSON has no NaN"),
            ("Infinity war: loading", "belongs on stderr"),
        ] {
            let error = refused(answer);
            assert!(error.contains(expected), "{error}");
        }
        assert!(refused(&"x".repeat(1000)).len() < 500);
        assert!(parse_response(b"\xff1", 7).unwrap_err().0.contains("not UTF-8"));
    }

    #[test]
    fn a_request_is_one_line_of_ascii_that_reads_as_what_was_meant() {
        let text = "Grüße\n質問 \u{2028}\u{85} 🚲 \"quoted\" \\ \u{7f}";
        let cx = EvalContext::new(crate::item! { text: text }, Output::new(text).metadata("model", "m"));
        let Request { line, .. } = Request::new(7, &cx, "bridge").unwrap();
        assert!(line.is_ascii());
        assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
        assert_eq!(
            serde_json::from_slice::<Value>(&line).unwrap(),
            json!({
                "version": 1, "id": 7, "evaluator": "bridge", "item": { text: text }, "output": text,
                "metadata": { "model": "m" }, "key": "", "index": 0, "runIndex": 0,
            })
        );
    }
}
