//! Why a source gave no items.

use std::fmt;

/// Why a source gave no items, without its name.
#[derive(Debug)]
pub enum FetchError {
    /// The server says so: with what status, and what it says, on one line.
    Refused { status: u16, message: String },
    /// Anything else: what is wrong, and what to do.
    Problem(String),
}

impl FetchError {
    pub(super) fn problem(text: impl Into<String>) -> Self {
        Self::Problem(text.into())
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { status, message } if message.is_empty() => write!(f, "status {status}"),
            Self::Refused { status, message } => write!(f, "status {status}: {message}"),
            Self::Problem(problem) => f.write_str(problem),
        }
    }
}
