//! Redacts secrets in texts, values and documents.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Number, Value};

use super::assignments::{SecretKind, is_account_name, is_weak_password};
use super::marks::{REDACTED, has_mark, mark};
use super::registry;
use super::scanner::{Match, Scanner};

/// Numbers from this value on may be known secrets: they have at least [`FEWEST_DIGITS`](registry::FEWEST_DIGITS).
const SECRET_NUMBERS: u64 = 10_u64.pow(registry::FEWEST_DIGITS as u32 - 1);

/// Replaces secrets with marks: `[redacted:github-token]`.
pub fn redacted(text: &str) -> Cow<'_, str> {
    redact_with(&registry::scanner(), text)
}

/// Replaces secrets with the same mark, whatever they are: two texts that differ only in their secrets become equal.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let secrets = registry::scanner().find(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let ranges = secrets.into_iter().map(|secret| (secret.range, REDACTED.to_owned()));
    Cow::Owned(replace_ranges(text, ranges))
}

/// The secrets in a text, in order and without overlaps, with the marks for them.
pub fn find_secrets(text: &str) -> Vec<(Range<usize>, String)> {
    registry::scanner().find(text).into_iter().map(marked).collect()
}

/// Redacts a text in place.
pub fn redact(text: &mut String) {
    if let Cow::Owned(shown) = redacted(text) {
        *text = shown;
    }
}

/// Redacts the texts and names in a value, which must not be nested too deeply.
pub fn redact_texts(value: &mut Value) {
    redact_value(&registry::scanner(), value);
}

/// Redacts the texts and names in an item or in metadata.
pub fn redact_fields(fields: &mut Map<String, Value>) {
    redact_map(&registry::scanner(), fields);
}

/// The redacted item; the same one if it has no secrets.
pub fn redacted_item(item: &Arc<Map<String, Value>>) -> Arc<Map<String, Value>> {
    let mut shown = Map::clone(item);
    redact_fields(&mut shown);
    if shown == **item { Arc::clone(item) } else { Arc::new(shown) }
}

/// Whether a text contains something with the format of a key, regardless of the settings.
pub fn looks_like_key(text: &str) -> bool {
    !registry::FORMS.find(text).is_empty()
}

/// Redacts known secrets in a JSON document, which an older version may have stored.
pub fn redacted_document(document: Vec<u8>) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&document) else { return document };
    match registry::scanner().find_in_document(text) {
        secrets if secrets.is_empty() => document,
        secrets => replace_matches(text, secrets).into_bytes(),
    }
}

/// A URL without its password, or its user if there is no password, and without the values of its parameters except harmless ones.
pub fn redacted_url(address: &str) -> String {
    let (address, fragment) = match address.find('#') {
        Some(at) => address.split_at(at),
        None => (address, ""),
    };
    let (place, query) = address.split_once('?').unwrap_or((address, ""));
    let parameter = |parameter: &str| match parameter.split_once('=') {
        Some((name, _)) if !registry::HARMLESS_PARAMETERS.contains(&name) => format!("{name}={}", REDACTED),
        _ => parameter.to_owned(),
    };
    let place = match place
        .split_once("://")
        .and_then(|(scheme, rest)| Some((scheme, rest, rest.split('/').next()?)))
    {
        Some((scheme, rest, authority)) => {
            let user = authority.rfind('@').map_or("", |at| &authority[..at]);
            match user.split_once(':') {
                Some((name, _)) => format!("{scheme}://{name}:{}{}", REDACTED, &rest[user.len()..]),
                None if user.is_empty() => place.to_owned(),
                None => format!("{scheme}://{}{}", REDACTED, &rest[user.len()..]),
            }
        }
        None => place.to_owned(),
    };
    let query = if query.is_empty() {
        String::new()
    } else {
        format!("?{}", query.split('&').map(parameter).collect::<Vec<_>>().join("&"))
    };
    redacted(&(place + &query + fragment)).into_owned()
}

pub fn redact_with<'a>(scanner: &Scanner, text: &'a str) -> Cow<'a, str> {
    let secrets = scanner.find(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replace_matches(text, secrets))
}

pub fn replace_matches(text: &str, secrets: Vec<Match>) -> String {
    replace_ranges(text, secrets.into_iter().map(marked))
}

fn marked(secret: Match) -> (Range<usize>, String) {
    (secret.range, mark(&secret.name.to_string()))
}

fn replace_ranges(text: &str, ranges: impl Iterator<Item = (Range<usize>, String)>) -> String {
    let (mut shown, mut done) = (String::with_capacity(text.len()), 0);
    for (range, mark) in ranges {
        shown.push_str(&text[done..range.start]);
        shown.push_str(&mark);
        done = range.end;
    }
    shown.push_str(&text[done..]);
    shown
}

pub fn redact_value(scanner: &Scanner, value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(shown) = redact_with(scanner, text) {
                *text = shown;
            }
        }
        Value::Array(values) => match &mut values[..] {
            // Headers may be pairs.
            [Value::String(name), value @ Value::String(_)] if SecretKind::of(name.as_bytes()).is_some() => {
                redact_field(scanner, name, value);
            }
            values => values.iter_mut().for_each(|value| redact_value(scanner, value)),
        },
        Value::Object(fields) => redact_map(scanner, fields),
        Value::Number(number) => {
            if let Some(shown) = redacted_number(scanner, number) {
                *value = Value::String(shown);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// The mark for a number that is a known secret, such as a numeric key.
fn redacted_number(scanner: &Scanner, number: &Number) -> Option<String> {
    if !scanner.knows_secrets()
        || number.as_i64().is_some_and(|number| number.unsigned_abs() < SECRET_NUMBERS)
    {
        return None;
    }
    match redact_with(scanner, &number.to_string()) {
        Cow::Owned(shown) => Some(shown),
        Cow::Borrowed(_) => None,
    }
}

fn redact_map(scanner: &Scanner, fields: &mut Map<String, Value>) {
    let label = label(fields);
    let has_account = fields.keys().any(|name| is_account_name(name));
    for (name, value) in fields.iter_mut() {
        redact_field(scanner, label.as_deref().filter(|_| name == "value").unwrap_or(name), value);
        let is_password = SecretKind::of(name.as_bytes()) == Some(SecretKind::Password);
        if scanner.finds_forms()
            && is_password
            && has_account
            && value.as_str().is_some_and(|text| is_weak_password(text.as_bytes()))
        {
            *value = Value::String(mark(SecretKind::Password.id()));
        }
    }
    if fields.contains_key("kty") {
        redact_web_key(scanner, fields);
    }
    if fields.keys().any(|name| matches!(redact_with(scanner, name), Cow::Owned(_))) {
        *fields = redact_names(scanner, std::mem::take(fields));
    }
}

/// The name in `{ "name": "API_KEY", "value": "…" }`.
fn label(fields: &Map<String, Value>) -> Option<String> {
    fields.get("value").filter(|value| value.is_string())?;
    if ["httpOnly", "sameSite"].iter().any(|field| fields.contains_key(*field)) {
        // A cookie of a browser.
        return Some("token".to_owned());
    }
    let label = ["name", "key"].iter().find_map(|field| fields.get(*field)?.as_str())?;
    SecretKind::of(label.as_bytes()).map(|_| label.to_owned())
}

/// Redacts the value of a field, whose name may mark it as secret.
fn redact_field(scanner: &Scanner, name: &str, value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(shown) = redacted_field(scanner, name, text) {
                *text = shown;
            }
        }
        Value::Array(values) if SecretKind::of(name.as_bytes()).is_some() => {
            for value in values {
                redact_field(scanner, name, value);
            }
        }
        value => redact_value(scanner, value),
    }
}

/// Redacts the private fields of a JSON Web Key.
fn redact_web_key(scanner: &Scanner, fields: &mut Map<String, Value>) {
    let is_private = |name: &str| ["d", "p", "q", "dp", "dq", "qi", "k"].contains(&name);
    for (_, value) in fields.iter_mut().filter(|(name, value)| is_private(name) && is_long(value)) {
        if scanner.finds_forms() {
            *value = Value::String(mark("private-key"));
        }
    }
}

fn is_long(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() >= 20 && !has_mark(text))
}

/// The redacted text of a field, if it has secrets. The field's name may mark the whole text as secret.
fn redacted_field(scanner: &Scanner, name: &str, text: &str) -> Option<String> {
    let secrets = scanner.find_in_field(name, text);
    (!secrets.is_empty()).then(|| replace_matches(text, secrets))
}

/// Redacts the names of fields. Names that become equal are numbered.
fn redact_names(scanner: &Scanner, fields: Map<String, Value>) -> Map<String, Value> {
    let mut renamed = Map::new();
    let mut changed = Vec::new();
    for (name, value) in fields {
        match redact_with(scanner, &name) {
            Cow::Borrowed(_) => drop(renamed.insert(name, value)),
            Cow::Owned(shown) => changed.push((shown, value)),
        }
    }
    let mut numbers = HashMap::new();
    for (shown, value) in changed {
        let number = numbers.entry(shown.clone()).or_insert(1_usize);
        let mut name = shown.clone();
        while *number > 1 || renamed.contains_key(&name) {
            *number = (*number).max(2);
            name = format!("{shown} ({number})");
            if !renamed.contains_key(&name) {
                break;
            }
            *number += 1;
        }
        *number += 1;
        renamed.insert(name, value);
    }
    renamed
}
