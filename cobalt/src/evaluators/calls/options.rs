//! What can be set of every check, and which checks have what.

use super::call::ToolCall;
use super::check::{Check, Measure};
use crate::evaluators::CheckError;

/// Settings that were made; `None` where nothing was said.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) tool: Option<String>,
    pub(super) match_arguments: Option<bool>,
    pub(super) ignore_failed: Option<bool>,
    pub(super) top_level_only: Option<bool>,
}

impl Options {
    /// The calls that count.
    pub(super) fn of_made(&self, calls: Vec<ToolCall>) -> Vec<ToolCall> {
        let ignore_failed = self.ignore_failed == Some(true);
        self.of_expected(calls).into_iter().filter(|call| !ignore_failed || call.succeeded()).collect()
    }

    /// The expected calls that count.
    pub(super) fn of_expected(&self, calls: Vec<ToolCall>) -> Vec<ToolCall> {
        let is_top = |call: &ToolCall| self.top_level_only != Some(true) || call.depth == 0;
        let is_of_tool = |call: &ToolCall| self.tool.as_ref().is_none_or(|tool| call.name == *tool);
        calls.into_iter().filter(|call| is_top(call) && is_of_tool(call)).collect()
    }

    /// An error where a setting makes no sense for a check.
    pub(super) fn check(&self, check: &Check) -> Result<(), CheckError> {
        let measure = match check {
            Check::Expected(measure, _) => Some(*measure),
            _ => None,
        };
        let contradiction = if self.tool.is_some() && matches!(check, Check::Called(_) | Check::NotCalled(_))
        {
            "names its tool already; leave `tool` out"
        } else if self.match_arguments.is_some()
            && measure.is_none_or(|measure| measure == Measure::Arguments)
        {
            match measure {
                Some(_) => {
                    "is of arguments in any case; leave out whether they are matched, or ask for `recall`"
                }
                None => "compares nothing with what is expected; leave out whether arguments are matched",
            }
        } else if self.ignore_failed.is_some() && matches!(check, Check::Succeeded) {
            "looks for the calls that failed; leave out whether they are ignored"
        } else {
            return Ok(());
        };
        Err(CheckError::new(format!("the check `{}` {contradiction}", check.kind().name())))
    }
}
