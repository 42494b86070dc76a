//! What the compiler says, by file and line.

use cargo_metadata::Message;
use cargo_metadata::diagnostic::DiagnosticLevel;
use cobalt::redact::redacted;
use cobalt::wording::cut;
use schemars::JsonSchema;
use serde::Serialize;

use super::shown::keep;

/// The most errors of a build that are told: the others often follow from the first.
const MOST: usize = 20;
/// The longest message, in characters.
const LONGEST_MESSAGE: usize = 400;
/// The most that is told of what the compiler prints of an error, in characters.
const LONGEST_RENDERED: usize = 1500;

/// The errors of a build: the first of them, and how many there are.
#[derive(Clone, Debug, Default)]
pub(super) struct CompileErrors {
    pub(super) first: Vec<Diagnostic>,
    /// How many there are beside them.
    pub(super) more: usize,
}

impl CompileErrors {
    /// Takes in a line of what a command prints; whether it is an error of the compiler.
    pub(super) fn hear(&mut self, line: &str) -> bool {
        let Some(error) = Diagnostic::read(line) else { return false };
        if self.first.contains(&error) {
            // Of a file that is part of several targets.
        } else if self.first.len() < MOST {
            self.first.push(error);
        } else {
            self.more += 1;
        }
        true
    }

    /// Keeps the first errors that have room, and counts the others.
    pub(super) fn cut(&mut self, room: usize) {
        let all = self.first.len();
        keep(&mut self.first, room, "compileErrors", &mut Vec::new());
        self.more += all - self.first.len();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }
}

/// An error of the compiler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Diagnostic {
    /// What is wrong, in a sentence.
    pub(super) message: String,
    /// The compiler's code for it, such as `E0308`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<String>,
    /// The file, as the compiler names it: as seen from the root of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    /// The line in that file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    /// The column in that line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) column: Option<usize>,
    /// All of it, as the compiler prints it.
    pub(super) rendered: String,
}

impl Diagnostic {
    /// The error in a line of what a command prints, if it is one.
    pub(super) fn read(line: &str) -> Option<Self> {
        if !line.starts_with(r#"{"reason":"compiler-message""#) {
            return None;
        }
        let Ok(Message::CompilerMessage(message)) = serde_json::from_str(line) else { return None };
        let diagnostic = message.message;
        let is_error = matches!(diagnostic.level, DiagnosticLevel::Error | DiagnosticLevel::Ice);
        // It counts the others.
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
            rendered: told(&diagnostic.rendered.unwrap_or_default(), LONGEST_RENDERED),
            message: told(&diagnostic.message, LONGEST_MESSAGE),
        })
    }
}

/// Source text may hold a key.
fn told(text: &str, most: usize) -> String {
    cut(&redacted(text), most).into_owned()
}
