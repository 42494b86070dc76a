//! Colours on a terminal.

use std::fmt::Display;

/// Sets text off where a terminal shows it, and leaves it as it is elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paint {
    /// Text as it is.
    #[default]
    Plain,
    /// With the escape sequences of ANSI terminals. They name colours of the terminal's own palette, so that they can be
    /// read on light and on dark ground.
    Coloured,
}

impl Paint {
    /// What went well: green.
    pub fn good(self, text: impl Display) -> String {
        self.with("32", text)
    }

    /// What went wrong: red.
    pub fn bad(self, text: impl Display) -> String {
        self.with("31", text)
    }

    /// What deserves a look: yellow.
    pub fn odd(self, text: impl Display) -> String {
        self.with("33", text)
    }

    /// A heading: bold.
    pub fn strong(self, text: impl Display) -> String {
        self.with("1", text)
    }

    /// What is beside the point: faint.
    pub fn faint(self, text: impl Display) -> String {
        self.with("2", text)
    }

    fn with(self, code: &str, text: impl Display) -> String {
        match self {
            Self::Plain => text.to_string(),
            Self::Coloured => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}
