//! Where two requests differ.

use std::fmt;

use serde_json::Value;

use super::body::{Body, ReadBlob};
use super::cassette::{Interaction, RecordedRequest};

/// The maximum length of a shown value, in characters.
const MAX_SHOWN: usize = 60;
/// How many characters are shown before the first difference.
const CONTEXT: usize = 20;

/// A difference between two requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path of the field, such as `messages[2].content`.
    pub path: String,
    /// The recorded value, shortened; `None` if it is missing.
    pub recorded: Option<String>,
    /// The new value, shortened; `None` if it is missing.
    pub sent: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.recorded, &self.sent) {
            (Some(recorded), Some(sent)) => write!(f, "`{}`: recorded {recorded}, now {sent}", self.path),
            (Some(recorded), None) => write!(f, "`{}`: recorded {recorded}, now missing", self.path),
            (None, Some(sent)) => write!(f, "`{}`: not recorded, now {sent}", self.path),
            (None, None) => write!(f, "`{}`", self.path),
        }
    }
}

/// The differences between a recorded request and one that was sent, in the order of their fields. `ignore` are the fields that are not
/// compared.
#[must_use]
pub fn differences(recorded: &RecordedRequest, sent: &RecordedRequest, ignore: &[String]) -> Vec<Difference> {
    let (recorded, sent) = (recorded.without(ignore), sent.without(ignore));
    let mut found = Vec::new();
    let shown = |text: &str| Some(format!("`{text}`"));
    for (path, one, other) in
        [("method", &recorded.method, &sent.method), ("path", &recorded.path, &sent.path)]
    {
        if one != other {
            found.push(Difference { path: path.to_owned(), recorded: shown(one), sent: shown(other) });
        }
    }
    match (&recorded.body, &sent.body) {
        (Some(Body::Json(one)), Some(Body::Json(other))) => compare("", one, other, &mut found),
        (one, other) if one != other => {
            found.push(Difference { path: "body".to_owned(), recorded: None, sent: None });
        }
        _ => {}
    }
    found
}

/// The same with the long texts of both requests; `None` if they have none, or if one cannot be read. `sent` is the request and its body.
#[must_use]
pub fn differences_in_full(
    recorded: &RecordedRequest,
    (sent, body): (&RecordedRequest, &[u8]),
    read: ReadBlob<'_>,
    ignore: &[String],
) -> Option<Vec<Difference>> {
    let has_blob = |request: &RecordedRequest| request.body.as_ref().is_some_and(Body::has_blob);
    if !has_blob(recorded) && !has_blob(sent) {
        return None;
    }
    let restored = recorded.body.as_ref().map(|body| body.restored(read)).transpose().ok()?;
    let recorded = RecordedRequest { body: restored, ..recorded.clone() };
    let sent = RecordedRequest { body: Body::of_request_in_full(body), ..sent.clone() };
    Some(differences(&recorded, &sent, ignore))
}

/// The recorded request that is nearest to one that was sent, and the differences: the same method and path first, then the
/// conversation that agrees for longest, then the fewest differences.
#[must_use]
pub fn nearest<'a>(
    recorded: impl Iterator<Item = &'a Interaction>,
    sent: &RecordedRequest,
    ignore: &[String],
) -> Option<(&'a Interaction, Vec<Difference>)> {
    recorded.map(|interaction| (interaction, differences(&interaction.request, sent, ignore))).min_by_key(
        |(interaction, found)| {
            let elsewhere =
                interaction.request.path != sent.path || interaction.request.method != sent.method;
            let agreeing = first_message(found).unwrap_or(usize::MAX);
            (elsewhere, usize::MAX - agreeing, found.len())
        },
    )
}

/// The first message that differs.
fn first_message(found: &[Difference]) -> Option<usize> {
    let number = |difference: &Difference| {
        let rest = ["messages[", "input[", "contents["]
            .iter()
            .find_map(|field| difference.path.strip_prefix(field))?;
        rest.split(']').next()?.parse().ok()
    };
    found.iter().filter_map(number).min()
}

fn compare(path: &str, recorded: &Value, sent: &Value, found: &mut Vec<Difference>) {
    match (recorded, sent) {
        (Value::Object(one), Value::Object(other)) => {
            let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            for (key, value) in one {
                match other.get(key) {
                    Some(now) => compare(&inner(key), value, now, found),
                    None => found.push(missing(inner(key), Some(value), None)),
                }
            }
            for (key, value) in other.iter().filter(|(key, _)| !one.contains_key(*key)) {
                found.push(missing(inner(key), None, Some(value)));
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            for index in 0..one.len().max(other.len()) {
                let inner = format!("{path}[{index}]");
                match (one.get(index), other.get(index)) {
                    (Some(value), Some(now)) => compare(&inner, value, now, found),
                    (value, now) => found.push(missing(inner, value, now)),
                }
            }
        }
        (Value::String(one), Value::String(other)) if one != other => {
            let (recorded, sent) = around_difference(one, other);
            found.push(Difference { path: path.to_owned(), recorded: Some(recorded), sent: Some(sent) });
        }
        (one, other) if one != other => found.push(missing(path.to_owned(), Some(one), Some(other))),
        _ => {}
    }
}

fn missing(path: String, recorded: Option<&Value>, sent: Option<&Value>) -> Difference {
    let shown = |value: &Value| match value {
        Value::String(text) => quote(text, 0),
        value => shorten(&value.to_string(), 0),
    };
    Difference { path, recorded: recorded.map(shown), sent: sent.map(shown) }
}

/// Two texts from shortly before their first difference.
fn around_difference(one: &str, other: &str) -> (String, String) {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let from = same.saturating_sub(CONTEXT);
    (quote(one, from), quote(other, from))
}

fn quote(text: &str, from: usize) -> String {
    format!("{:?}", shorten(text, from))
}

/// The text from a character on, shortened, with `…` where something is left out.
fn shorten(text: &str, from: usize) -> String {
    let mut shown: String = if from > 0 { "…".to_owned() } else { String::new() };
    let mut rest = text.chars().skip(from);
    shown.extend(rest.by_ref().take(MAX_SHOWN));
    if rest.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::recordings::RecordedResponse;

    fn request(body: &Value) -> RecordedRequest {
        let body = Body::of_request(body.to_string().as_bytes());
        RecordedRequest {
            method: "POST".to_owned(),
            path: "openai/chat/completions".to_owned(),
            url: None,
            body,
        }
    }

    fn interaction(body: &Value) -> Interaction {
        Interaction {
            experiment: None,
            recorded_at: None,
            request: request(body),
            response: RecordedResponse::default(),
            latency_ms: 1.0,
            model: None,
            tokens: None,
        }
    }

    #[test]
    fn a_difference_names_its_field_and_shows_both_texts_around_it() {
        let body =
            |text: &str| json!({ "model": "m", "messages": [{ "content": "Hi" }, { "content": text }] });
        let long =
            "The weather in York is fine, with 18 °C and some clouds in the afternoon, and rain later on.";
        let found = differences(&request(&body(long)), &request(&body(&long.replace("18", "21"))), &[]);
        assert_eq!(
            found[0].to_string(),
            "`messages[1].content`: recorded \"… York is fine, with 18 °C and some clouds in the afternoon, …\", \
             now \"… York is fine, with 21 °C and some clouds in the afternoon, …\""
        );
        let found = differences(&request(&json!({ "a": 1 })), &request(&json!({ "b": [true] })), &[]);
        let texts: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["`a`: recorded 1, now missing", "`b`: not recorded, now [true]"]);
    }

    #[test]
    fn fields_that_are_not_compared_are_no_difference() {
        let body = |trace: &[u32], text: &str| json!({ "metadata": { "trace": trace }, "messages": [text] });
        let ignore = ["metadata.trace".to_owned()];
        let (one, two) = (interaction(&body(&[1, 2, 3], "a")), interaction(&body(&[7, 8, 9], "b")));
        let sent = request(&body(&[7, 8, 9], "a"));
        assert_eq!(differences(&one.request, &sent, &ignore), []);
        let found = differences(&two.request, &sent, &ignore);
        assert_eq!((found.len(), &*found[0].path), (1, "messages[0]"));
        let all = [two, one];
        assert_eq!(nearest(all.iter(), &sent, &ignore).unwrap().0, &all[1]);
    }

    #[test]
    fn the_nearest_request_is_the_one_whose_conversation_agrees_for_longest() {
        let body = |texts: &[&str]| json!({ "messages": texts });
        let recorded = [
            interaction(&body(&["a"])),
            interaction(&body(&["a", "b", "c"])),
            interaction(&body(&["x", "b", "d"])),
        ];
        let (found, differences) = nearest(recorded.iter(), &request(&body(&["a", "b", "d"])), &[]).unwrap();
        assert_eq!(found, &recorded[1]);
        assert_eq!(differences[0].path, "messages[2]");
    }
}
