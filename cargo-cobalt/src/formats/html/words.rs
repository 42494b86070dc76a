//! What the parts of the page say alike: verdicts, names, counts.

use cobalt::report::RunVerdict;
use cobalt::reporters::printable;
use maud::{Markup, html};

/// How something came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Good,
    Bad,
    Odd,
    None,
}

impl Mark {
    pub(super) fn of(passed: bool) -> Self {
        if passed { Self::Good } else { Self::Bad }
    }

    pub(super) fn of_verdict(verdict: RunVerdict) -> Self {
        match verdict {
            RunVerdict::Passed => Self::Good,
            RunVerdict::NotEvaluated => Self::Odd,
            RunVerdict::Failed => Self::Bad,
        }
    }

    /// The class of what is marked so.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Odd => "odd",
            Self::None => "plain",
        }
    }

    /// The sign before the word, which tells it without colours.
    fn sign(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Bad => "✕",
            Self::Odd => "!",
            Self::None => "≈",
        }
    }
}

/// A verdict in a word, set off by its colour and its sign.
pub(super) fn badge(mark: Mark, word: &str) -> Markup {
    html! { span.badge.(mark.class()) { span aria-hidden="true" { (mark.sign()) " " } (word) } }
}

/// The verdict on a run.
pub(super) fn verdict_badge(verdict: RunVerdict) -> Markup {
    badge(Mark::of_verdict(verdict), &verdict.to_string())
}

/// A text that others wrote, in letters of one width. It keeps to itself whichever way it is written.
pub(super) fn code(text: &str) -> Markup {
    html! { code dir="auto" { (printable(text)) } }
}

/// A name that others chose, which may go on in another line behind what joins its words.
pub(super) fn name(text: &str) -> Markup {
    let text = printable(text);
    let parts = text.split_inclusive(['_', '-', '.', '/']).enumerate();
    html! { bdi { @for (index, part) in parts { @if index > 0 { wbr; } (part) } } }
}
