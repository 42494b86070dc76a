//! What can be asked of calls.

use super::expected::ExpectedCalls;
use super::kind::CallCheck;

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
    /// What it is, without what it is asked with.
    pub(super) fn kind(&self) -> CallCheck {
        match self {
            Self::Called(_) => CallCheck::Called,
            Self::NotCalled(_) => CallCheck::NotCalled,
            Self::Expected(Measure::ExactOrder, _) => CallCheck::ExactOrder,
            Self::Expected(Measure::InOrder, _) => CallCheck::InOrder,
            Self::Expected(Measure::AnyOrder, _) => CallCheck::AnyOrder,
            Self::Expected(Measure::Arguments, _) => CallCheck::Arguments,
            Self::Expected(Measure::Precision, _) => CallCheck::Precision,
            Self::Expected(Measure::Recall, _) => CallCheck::Recall,
            Self::Expected(Measure::F1, _) => CallCheck::F1,
            Self::Succeeded => CallCheck::Succeeded,
            Self::AtMost(_) => CallCheck::AtMost,
            Self::RepeatsAtMost(_) => CallCheck::RepeatsAtMost,
        }
    }
}
