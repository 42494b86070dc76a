//! The checks by their names, and which settings each is made of.

use serde::Serialize;

use super::evaluator::ToolCalls;

/// What can be asked of calls, as `cobalt.toml` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CallCheck {
    /// Whether `tool` was called.
    Called,
    /// Whether `tool` was left alone.
    NotCalled,
    /// Whether the expected calls were made in their order, and no others.
    ExactOrder,
    /// Whether the expected calls were made in their order.
    InOrder,
    /// Whether the expected calls were made.
    AnyOrder,
    /// How far the arguments are as expected.
    Arguments,
    /// The share of the calls that are expected.
    Precision,
    /// The share of the expected calls that were made.
    Recall,
    /// The harmonic mean of both.
    F1,
    /// The share of the calls that did not fail.
    Succeeded,
    /// Whether there are at most `limit` calls.
    AtMost,
    /// Whether at most `limit` calls repeat another.
    RepeatsAtMost,
}

impl CallCheck {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Called => "called",
            Self::NotCalled => "not-called",
            Self::ExactOrder => "exact-order",
            Self::InOrder => "in-order",
            Self::AnyOrder => "any-order",
            Self::Arguments => "arguments",
            Self::Precision => "precision",
            Self::Recall => "recall",
            Self::F1 => "f1",
            Self::Succeeded => "succeeded",
            Self::AtMost => "at-most",
            Self::RepeatsAtMost => "repeats-at-most",
        }
    }

    /// Makes the evaluator of what a table says. `tool` restricts the checks that do not name one.
    ///
    /// # Errors
    ///
    /// Names the setting that is missing, or that the check does not have.
    pub(crate) fn evaluator(
        self,
        name: String,
        tool: Option<String>,
        expected: Option<String>,
        limit: Option<usize>,
    ) -> Result<ToolCalls, String> {
        let refused = |key: &str, why: &str| Err(format!("the check `{}` {why} `{key}`", self.name()));
        if limit.is_some() && !matches!(self, Self::AtMost | Self::RepeatsAtMost) {
            return refused("limit", "counts nothing; leave out");
        }
        let of_made = matches!(
            self,
            Self::Called | Self::NotCalled | Self::Succeeded | Self::AtMost | Self::RepeatsAtMost
        );
        if expected.is_some() && of_made {
            return refused("expected", "compares with nothing that is expected; leave out");
        }
        let of_field = |make: fn(String, String) -> ToolCalls, name| match expected.clone() {
            Some(field) => Ok(make(name, field)),
            None => refused("expected", "compares with the calls that a field of the item names; add"),
        };
        let of_limit = |make: fn(String, usize) -> ToolCalls, name| match limit {
            Some(limit) => Ok(make(name, limit)),
            None => refused("limit", "needs the largest number that is allowed; add"),
        };
        let made = match (self, tool) {
            (Self::Called, Some(tool)) => return Ok(ToolCalls::called(name, tool)),
            (Self::NotCalled, Some(tool)) => return Ok(ToolCalls::not_called(name, tool)),
            (Self::Called | Self::NotCalled, None) => return refused("tool", "is of one tool; add"),
            (Self::ExactOrder, tool) => (of_field(ToolCalls::exact_order, name)?, tool),
            (Self::InOrder, tool) => (of_field(ToolCalls::in_order, name)?, tool),
            (Self::AnyOrder, tool) => (of_field(ToolCalls::any_order, name)?, tool),
            (Self::Arguments, tool) => (of_field(ToolCalls::arguments, name)?, tool),
            (Self::Precision, tool) => (of_field(ToolCalls::precision, name)?, tool),
            (Self::Recall, tool) => (of_field(ToolCalls::recall, name)?, tool),
            (Self::F1, tool) => (of_field(ToolCalls::f1, name)?, tool),
            (Self::Succeeded, tool) => (ToolCalls::succeeded(name), tool),
            (Self::AtMost, tool) => (of_limit(ToolCalls::at_most, name)?, tool),
            (Self::RepeatsAtMost, tool) => (of_limit(ToolCalls::repeats_at_most, name)?, tool),
        };
        Ok(match made {
            (calls, Some(tool)) => calls.tool(tool),
            (calls, None) => calls,
        })
    }
}
