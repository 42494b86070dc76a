//! What can be asked of calls.

use super::expected::ExpectedCalls;

/// A check of the calls that were made.
#[derive(Clone, Debug)]
pub(super) enum Check {
    Called(String),
    NotCalled(String),
    Expected(Measure, ExpectedCalls),
    Succeeded,
    AtMost(usize),
    RepeatsAtMost(usize),
}

/// What is measured of calls and the expected ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    ExactOrder,
    InOrder,
    AnyOrder,
    Arguments,
    Precision,
    Recall,
    F1,
}

impl Check {
    /// As `cobalt.toml` names it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Called(_) => "called",
            Self::NotCalled(_) => "not-called",
            Self::Expected(Measure::ExactOrder, _) => "exact-order",
            Self::Expected(Measure::InOrder, _) => "in-order",
            Self::Expected(Measure::AnyOrder, _) => "any-order",
            Self::Expected(Measure::Arguments, _) => "arguments",
            Self::Expected(Measure::Precision, _) => "precision",
            Self::Expected(Measure::Recall, _) => "recall",
            Self::Expected(Measure::F1, _) => "f1",
            Self::Succeeded => "succeeded",
            Self::AtMost(_) => "at-most",
            Self::RepeatsAtMost(_) => "repeats-at-most",
        }
    }
}
