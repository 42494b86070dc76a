//! Two tables: texts with secrets, and ordinary texts that resemble them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::{has_mark, redact_texts, redacted};
use super::keys;

/// A text of the table, filled in.
struct Filled {
    text: String,
    /// What must not be shown.
    secrets: Vec<String>,
}

fn lines(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter(|line| !line.starts_with("# ") && !line.is_empty())
}

/// Fills in the placeholders of a line, which may be nested.
fn fill(template: &str, seed: &mut u64) -> Filled {
    let mut filled = Filled { text: String::new(), secrets: Vec::new() };
    let mut rest = template;
    while let Some((before, placeholder, after)) = next_placeholder(rest) {
        filled.text += before;
        rest = after;
        if let Some((encoding, content)) = placeholder.split_once(':') {
            let inner = fill(content, seed);
            let (encoded, hides) = encode(encoding, &inner.text);
            filled.secrets.extend(if hides { vec![encoded.clone()] } else { inner.secrets });
            filled.text += &encoded;
        } else {
            let secret = secret(placeholder, seed);
            filled.text += &secret;
            // Short digits are part of a longer secret.
            if secret.len() > 5 {
                filled.secrets.push(secret);
            }
        }
    }
    filled.text += rest;
    filled.text = filled.text.replace('⏎', "\n");
    filled
}

/// The text before the first placeholder, the placeholder, and the text after it.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let is_placeholder = |rest: &str| {
        let digits = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
        rest.starts_with("P>")
            || ["64:", "url:", "json:"].iter().any(|encoding| rest.starts_with(encoding))
            || rest.starts_with(|letter: char| "AHUBCLD".contains(letter))
                && rest[1..].trim_start_matches(|letter: char| letter.is_ascii_digit()).starts_with('>')
                && digits == rest
    };
    let start = text.match_indices('<').map(|(at, _)| at).find(|at| is_placeholder(&text[at + 1..]))?;
    let mut depth = 0;
    for (at, letter) in text[start..].char_indices() {
        match letter {
            '<' if is_placeholder(&text[start + at + 1..]) => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..start], &text[start + 1..start + at], &text[start + at + 1..]));
        }
    }
    None
}

fn secret(placeholder: &str, seed: &mut u64) -> String {
    *seed += 1;
    let (kind, length) = placeholder.split_at(1);
    let alphabet = match kind {
        "P" => return "S3cr3tPassw0rd".to_owned(),
        "A" => keys::ALNUM,
        "H" => keys::HEX,
        "U" => keys::URL_SAFE,
        "B" => keys::BASE64,
        "C" => keys::CAPITALS,
        "L" => keys::SMALL,
        _ => "123456789",
    };
    keys::random(*seed, alphabet, length.parse().unwrap())
}

/// The encoded text, and whether that hides what is in it.
fn encode(encoding: &str, text: &str) -> (String, bool) {
    match encoding {
        "64" => (STANDARD.encode(text), true),
        "json" => {
            let quoted = serde_json::to_string(text).unwrap();
            (quoted[1..quoted.len() - 1].to_owned(), false)
        }
        _ => {
            let encode = |byte: u8| match byte {
                b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
                byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            };
            let encoded: String = text.bytes().map(encode).collect();
            (encoded, text.bytes().any(|byte| b"+/=".contains(&byte)) && !text.contains(['"', ':', '&']))
        }
    }
}

/// The redacted text and, if it is JSON, the redacted value.
fn shown(text: &str) -> Vec<String> {
    let value = serde_json::from_str::<Value>(text).ok().filter(|value| value.is_object());
    let value = value.map(|mut value| {
        redact_texts(&mut value);
        value.to_string()
    });
    [redacted(text).into_owned()].into_iter().chain(value).collect()
}

#[test]
fn secrets_are_redacted() {
    let table = include_str!("secrets.txt");
    let (mut all, mut missed) = (0, Vec::new());
    let mut seed = 4000;
    for line in lines(table) {
        all += 1;
        // Random keys may happen to look like words.
        let filled: Vec<_> = (0..5).map(|_| fill(line, &mut seed)).collect();
        let is_missed = |Filled { text, secrets }: &&Filled| {
            shown(text)
                .iter()
                .any(|shown| !has_mark(shown) || secrets.iter().any(|secret| shown.contains(&**secret)))
        };
        if let Some(Filled { text, .. }) = filled.iter().find(is_missed) {
            missed.push((line, shown(text)));
        }
    }
    assert!(all >= 200 && missed.is_empty(), "{} of {all} missed: {missed:#?}", missed.len());
}

#[test]
fn ordinary_texts_stay_unchanged() {
    let table = include_str!("ordinary.txt");
    let (mut all, mut changed) = (0, Vec::new());
    for line in lines(table) {
        all += 1;
        let text = line.replace('⏎', "\n");
        let value = serde_json::from_str::<Value>(&text).ok().filter(Value::is_object);
        let same = [Some(text.clone()), value.map(|value| value.to_string())];
        for (shown, expected) in shown(&text).iter().zip(same.iter().flatten()) {
            if shown != expected {
                changed.push((line, shown.clone()));
            }
        }
    }
    assert!(all >= 150 && changed.is_empty(), "{} of {all} changed: {changed:#?}", changed.len());
}
