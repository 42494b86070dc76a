//! What the compiler says, by file and line.

use cargo_metadata::Message;
use cargo_metadata::diagnostic::DiagnosticLevel;
use schemars::JsonSchema;
use serde::Serialize;

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
            rendered: diagnostic.rendered.unwrap_or_default(),
            message: diagnostic.message,
        })
    }
}
