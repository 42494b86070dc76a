//! What kept a command from doing what it was asked for, in Markdown.

use std::fmt::Write as _;

use cobalt::command::wording::count;

use crate::markdown::{code, fenced};
use crate::mcp::plain::Diagnostic;

/// Where more is to be read.
const MORE: &str = "\nMore errors stand in the structured part.\n";

/// The errors of the compiler, in full for as long as half of the room lasts, and other errors: in so many bytes, and [`MORE`].
pub fn failures(compile: &[Diagnostic], more: usize, errors: &[String], room: usize) -> String {
    let mut text = String::new();
    if !compile.is_empty() {
        let all = compile.len() + more;
        let _ =
            write!(text, "\nThe build fails with {}; mend the source and call again.\n", count(all, "error"));
    }
    for error in compile {
        let place = match (&error.file, error.line) {
            (Some(file), Some(line)) => code(&format!("{file}:{line}")),
            _ => "the build".to_owned(),
        };
        let mut told = format!("\nAt {place}:\n\n{}", fenced(error.rendered.trim_end()));
        if text.len() + told.len() > room / 2 {
            told = format!("\nAt {place}: {}\n", code(&error.message));
        }
        if text.len() + told.len() > room {
            return text + MORE;
        }
        text += &told;
    }
    for error in errors {
        let told = format!("\nError:\n\n{}", fenced(error));
        if text.len() + told.len() > room {
            return text + MORE;
        }
        text += &told;
    }
    text
}
