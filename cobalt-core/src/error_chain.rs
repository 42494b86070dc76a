//! Formats errors of user code with their causes in one line.

use std::error::Error;

/// Any error, as produced by `?`.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The maximum number of causes, in case of an endless chain.
const MAX_CAUSES: usize = 32;

/// An error that an agent or an evaluator may return.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of an agent or an evaluator",
    label = "neither a string nor a `std::error::Error + Send + Sync`",
    note = "return `String`, `anyhow::Error`, `cobalt::BoxError` or any error that is `Send`, `Sync` and `'static`; for any other, write `.map_err(|error| error.to_string())`"
)]
pub trait IntoReason: Sized {
    /// The error as a value.
    fn into_boxed(self) -> BoxError;

    /// Formats the error with its causes.
    fn into_reason(self) -> String {
        format_with_causes(&*self.into_boxed())
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> IntoReason for E {
    fn into_boxed(self) -> BoxError {
        self.into()
    }
}

/// The causes of an error, from the outermost to the innermost, without the error itself.
pub fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let next = |cause: &&'a (dyn Error + 'static)| (*cause).source();
    std::iter::successors(error.source(), next).take(MAX_CAUSES)
}

/// Formats an error and its causes, from the outermost to the innermost. Causes that a previous message already includes are
/// skipped.
pub fn format_with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    // Some types expose their causes only in the alternate form.
    let alternate = format!("{error:#}");
    if alternate.starts_with(&text) {
        text = alternate;
    }
    for cause in causes(error) {
        let cause = cause.to_string();
        if !contains_words(&text, cause.trim()) {
            text.truncate(text.trim_end().len());
            text.push_str(": ");
            text.push_str(cause.trim());
        }
    }
    text
}

/// Whether a text contains another one at word boundaries.
fn contains_words(text: &str, part: &str) -> bool {
    text.match_indices(part).any(|(start, found)| {
        let before = text[..start].chars().next_back();
        let after = text[start + found.len()..].chars().next();
        [before, after].into_iter().flatten().all(|letter| !letter.is_alphanumeric())
            || part.chars().all(|letter| !letter.is_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Link {
        text: &'static str,
        source: Option<Box<Self>>,
    }

    /// A chain of errors with these texts, each caused by the next.
    fn chain(texts: &[&'static str]) -> String {
        let link = texts.iter().rev().fold(None, |source, text| Some(Box::new(Link { text, source })));
        format_with_causes(&*link.unwrap())
    }

    #[test]
    fn all_causes_are_written() {
        assert_eq!(
            chain(&["HTTP error", "connection refused", "os error 111"]),
            "HTTP error: connection refused: os error 111"
        );
        assert_eq!(chain(&["alone"]), "alone");
    }

    #[test]
    fn a_cause_that_is_stated_already_is_not_repeated() {
        assert_eq!(
            chain(&["HTTP error: refused (os error 111)", "refused (os error 111)"]),
            "HTTP error: refused (os error 111)"
        );
        assert_eq!(chain(&["a: b: c", "b: c", "c"]), "a: b: c");
        assert_eq!(chain(&["a: b; try again", "b", "c"]), "a: b; try again: c");
        assert_eq!(chain(&["the roof", "eof"]), "the roof: eof", "a match within a word does not count");
        assert_eq!(chain(&["blank", "", "c"]), "blank: c");
    }

    #[test]
    fn text_and_boxed_errors_are_reasons() {
        assert_eq!("no".into_reason(), "no");
        assert_eq!(String::from("no").into_reason(), "no");
        let boxed: BoxError =
            Box::new(Link { text: "outer", source: Some(Box::new(Link { text: "inner", source: None })) });
        assert_eq!(boxed.into_reason(), "outer: inner");
        assert_eq!(io::Error::other("no").into_reason(), "no");
    }

    #[test]
    fn the_alternate_form_is_taken_where_it_says_more() {
        #[derive(Debug)]
        struct Report;
        impl std::fmt::Display for Report {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(if f.alternate() { "no answer: refused" } else { "no answer" })
            }
        }
        impl Error for Report {}
        assert_eq!(Report.into_reason(), "no answer: refused");
    }
}
