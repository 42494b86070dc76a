//! What is found in a data set: how bad it is, and where.

use serde::Serialize;
use serde_json::Value;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Level {
    /// Something is lost, or read wrongly.
    Error,
    /// Something deserves a look.
    Note,
}

/// What was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Check {
    /// A place that holds no item.
    Unreadable,
    /// Items without an input, where others have one.
    NoInput,
    /// An id that several items have.
    RepeatedId,
    /// Equal inputs with different expected outputs.
    Conflict,
    /// Items without an id or an expected output, where others have one.
    Missing,
    /// A field with values of several types.
    MixedTypes,
    /// Values of white space alone.
    Blank,
    /// Text that was read in another encoding than it was written in.
    Encoding,
    /// Equal items, or equal inputs.
    Duplicate,
    /// Inputs that are nearly the same.
    NearDuplicate,
}

impl Check {
    pub(super) fn level(self) -> Level {
        match self {
            Self::Unreadable | Self::NoInput | Self::RepeatedId | Self::Conflict => Level::Error,
            Self::Missing
            | Self::MixedTypes
            | Self::Blank
            | Self::Encoding
            | Self::Duplicate
            | Self::NearDuplicate => Level::Note,
        }
    }
}

/// Something that was found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Finding {
    pub(super) check: Check,
    pub(super) level: Level,
    pub(super) message: String,
    /// The items that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) items: Vec<Place>,
}

impl Finding {
    pub(super) fn new(check: Check, message: impl Into<String>, items: Vec<Place>) -> Self {
        Self { check, level: check.level(), message: message.into(), items }
    }
}

/// An item that something was found of.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Place {
    /// Its place among the items that can be read, from 0.
    pub(super) index: usize,
    pub(super) key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    /// The value that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<Value>,
    /// How similar its input is to that of the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) similarity: Option<f64>,
}
