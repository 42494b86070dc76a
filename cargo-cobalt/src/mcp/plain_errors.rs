//! Plain error messages for an assistant: deserializer errors without Rust types, and compiler errors with file and line.

use cargo_metadata::Message;
use cargo_metadata::diagnostic::DiagnosticLevel;
use cobalt_core::redact::redacted;
use cobalt_core::wording::truncate;
use schemars::JsonSchema;
use serde::Serialize;

use super::view::keep_fitting;

/// The separator between the actual and the expected value in serde's errors.
const EXPECTED: &str = ", expected ";
/// How serde's errors about a value begin.
const COMPLAINTS: [&str; 2] = ["invalid type: ", "invalid value: "];
/// Serde's names of value types, and plain ones.
const KINDS: [(&str, &str); 8] = [
    ("string ", "the string "),
    ("integer ", "the number "),
    ("floating point ", "the number "),
    ("boolean ", ""),
    ("character ", "the string "),
    ("sequence", "a list"),
    ("map", "an object"),
    ("unit value", "nothing"),
];

/// Rewrites a message without Rust types and serde terms.
pub fn simplify(message: &str) -> String {
    let mut text = message.to_owned();
    for complaint in COMPLAINTS {
        let mut done = String::new();
        while let Some((before, after)) = text.split_once(complaint) {
            let Some((found, rest)) = after.split_once(EXPECTED) else { break };
            let end = end_of_expected(rest);
            done += &format!("{before}expected {}, not {}", plain_type(&rest[..end]), plain_value(found));
            text = rest[end..].to_owned();
        }
        text = done + &text;
    }
    for (words, instead) in [
        ("unknown variant ", "unknown value "),
        (", there are no fields", ", but no fields are allowed here"),
    ] {
        text = text.replace(words, instead);
    }
    // The name of the type follows.
    if let Some((before, after)) = text.split_once("data did not match any variant of untagged enum ") {
        let name = after.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(after.len());
        text = format!("{before}the value matches none of the allowed forms{}", &after[name..]);
    }
    text
}

/// The end of the expected part: before the position in a file, or at the end of the line.
fn end_of_expected(text: &str) -> usize {
    [" at line ", "\n", "; "].iter().filter_map(|mark| text.find(mark)).min().unwrap_or(text.len())
}

fn plain_value(found: &str) -> String {
    let named = KINDS.iter().find_map(|(kind, name)| Some((name, found.strip_prefix(kind)?)));
    named.map_or_else(|| found.to_owned(), |(name, rest)| format!("{name}{rest}"))
}

/// The expected value, with plain names for Rust types.
fn plain_type(words: &str) -> String {
    let bare = words.trim_start_matches("a nonzero ").trim_start_matches("a ");
    let name = match bare {
        "string" | "str" | "borrowed string" | "char" => "a string",
        "usize" | "u8" | "u16" | "u32" | "u64" | "u128" => "an integer, 0 or more",
        "isize" | "i8" | "i16" | "i32" | "i64" | "i128" => "an integer",
        "f32" | "f64" => "a number",
        "bool" | "boolean" => "`true` or `false`",
        "sequence" => "a list",
        "map" => "an object",
        _ if bare.starts_with("struct ") || bare.starts_with("internally tagged ") => "an object",
        _ => return words.to_owned(),
    };
    if words.starts_with("a nonzero ") { "an integer, 1 or more".to_owned() } else { name.to_owned() }
}

/// The maximum number of build errors: later ones often follow from the first.
const MAX_ERRORS: usize = 20;
/// The longest message, in characters.
const LONGEST_MESSAGE: usize = 400;
/// The longest rendered error, in characters.
const LONGEST_RENDERED: usize = 1500;

/// The first errors of a build, and the number of others.
#[derive(Clone, Debug, Default)]
pub struct CompileErrors {
    pub first: Vec<Diagnostic>,
    /// Number of further errors.
    pub more: usize,
}

impl CompileErrors {
    /// Adds the error in a line of a command's output. Returns whether it is a compiler error.
    pub fn parse_line(&mut self, line: &str) -> bool {
        let Some(error) = Diagnostic::parse(line) else { return false };
        if self.first.contains(&error) {
            // The file is part of several targets.
        } else if self.first.len() < MAX_ERRORS {
            self.first.push(error);
        } else {
            self.more += 1;
        }
        true
    }

    /// Keeps the first errors that fit, and counts the others.
    pub fn cut(&mut self, room: usize) {
        let all = self.first.len();
        keep_fitting(&mut self.first, room, "compileErrors", &mut Vec::new());
        self.more += all - self.first.len();
    }

    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }
}

/// A compiler error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// What is wrong, in a sentence.
    pub message: String,
    /// The error code, such as `E0308`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The file, relative to the workspace root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The whole error as rendered by the compiler.
    pub rendered: String,
}

impl Diagnostic {
    /// Parses a line of a command's output.
    pub fn parse(line: &str) -> Option<Self> {
        if !line.starts_with(r#"{"reason":"compiler-message""#) {
            return None;
        }
        let Ok(Message::CompilerMessage(message)) = serde_json::from_str(line) else { return None };
        let diagnostic = message.message;
        let is_error = matches!(diagnostic.level, DiagnosticLevel::Error | DiagnosticLevel::Ice);
        // "aborting due to … errors" only counts the others.
        let is_count = diagnostic.spans.is_empty() && diagnostic.message.starts_with("aborting due to ");
        if !is_error || is_count {
            return None;
        }
        let span = diagnostic.spans.iter().find(|span| span.is_primary);
        Some(Self {
            code: diagnostic.code.map(|code| code.code),
            file: span.map(|span| span.file_name.clone()),
            line: span.map(|span| span.line_start),
            column: span.map(|span| span.column_start),
            rendered: excerpt(&diagnostic.rendered.unwrap_or_default(), LONGEST_RENDERED),
            message: excerpt(&diagnostic.message, LONGEST_MESSAGE),
        })
    }
}

/// The text, redacted and truncated: source code may contain a key.
fn excerpt(text: &str, most: usize) -> String {
    truncate(&redacted(text), most).into_owned()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only what is wrong with them is read")]
    struct Fields {
        text: Option<String>,
        number: Option<usize>,
        count: Option<NonZeroUsize>,
        part: Option<f64>,
        flag: Option<bool>,
        list: Option<Vec<String>>,
        word: Option<Word>,
        inner: Option<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        One,
        Two,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only what is wrong with it is read")]
    struct Inner {
        needed: u8,
    }

    #[test]
    fn deserializer_errors_become_plain() {
        let told = [
            r#"{"text": 7}"#,
            r#"{"number": "many"}"#,
            r#"{"number": -1}"#,
            r#"{"count": 0}"#,
            r#"{"part": []}"#,
            r#"{"flag": "yes"}"#,
            r#"{"list": {}}"#,
            r#"{"word": "six"}"#,
            r#"{"inner": {}}"#,
            r#"{"inner": 7}"#,
            r#"{"txt": 7}"#,
        ]
        .map(|json| {
            let error = serde_json::from_str::<Fields>(json).unwrap_err();
            format!("{json}: {}", simplify(&error.to_string()))
        });
        insta::assert_snapshot!(told.join("\n"), @r#"
        {"text": 7}: expected a string, not the number `7` at line 1 column 10
        {"number": "many"}: expected an integer, 0 or more, not the string "many" at line 1 column 17
        {"number": -1}: expected an integer, 0 or more, not the number `-1` at line 1 column 13
        {"count": 0}: expected an integer, 1 or more, not the number `0` at line 1 column 11
        {"part": []}: expected a number, not a list at line 1 column 9
        {"flag": "yes"}: expected `true` or `false`, not the string "yes" at line 1 column 14
        {"list": {}}: expected a list, not an object at line 1 column 9
        {"word": "six"}: unknown value `six`, expected `one` or `two` at line 1 column 14
        {"inner": {}}: missing field `needed` at line 1 column 12
        {"inner": 7}: expected an object, not the number `7` at line 1 column 11
        {"txt": 7}: unknown field `txt`, expected one of `text`, `number`, `count`, `part`, `flag`, `list`, `word`, `inner` at line 1 column 6
        "#);
    }

    #[test]
    fn other_messages_are_unchanged() {
        for message in
            ["no run is named `x`", "the type is invalid, expected nothing", "invalid type: cut off", ""]
        {
            assert_eq!(simplify(message), message);
        }
        let two = "a: invalid type: integer `7`, expected a string\nb: invalid type: map, expected u16";
        assert_eq!(
            simplify(two),
            "a: expected a string, not the number `7`\nb: expected an integer, 0 or more, not an object"
        );
    }
}
