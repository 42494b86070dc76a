//! What can be asked of calls: the checks by their names, what each is made of, and the calls that an item expects.

use serde::Serialize;
use serde_json::Value;

use crate::dataset::Item;
use crate::evaluators::calls::call::{ToolCall, ToolCallError};
use crate::evaluators::calls::evaluator::ToolCalls;
use crate::evaluators::calls::read::Reader;
use crate::evaluators::places::ItemField;
use crate::evaluators::{CheckError, EvalError, Setup};
use crate::metrics::tree_of;
use crate::suggest;

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

/// A field of the item with the expected calls.
#[derive(Clone, Debug)]
pub(super) struct ExpectedCalls(ItemField);

impl ExpectedCalls {
    pub(super) fn new(path: &str) -> Self {
        Self(ItemField::new(path))
    }

    pub(super) fn read(&self, item: &Item) -> Result<Vec<ToolCall>, EvalError> {
        let value = self.0.find(item)?;
        self.calls_of(value).map_err(|error| EvalError::new(format!("the item's {error}")))
    }

    fn calls_of(&self, value: &Value) -> Result<Vec<ToolCall>, ToolCallError> {
        // A text that is no JSON is the name of a tool, as in a cell of a CSV file.
        let name = value.as_str().filter(|text| !text.trim().is_empty() && tree_of(text).is_none());
        let alone = name.map(|name| Value::Array(vec![Value::from(name.trim())]));
        Reader::strict().read(alone.as_ref().unwrap_or(value), self.0.name())
    }

    /// An error where no item has the field, where what an item expects cannot be read, or where nothing that is expected
    /// is a call of the only tool that counts.
    pub(super) fn check(&self, setup: &Setup, tool: Option<&str>) -> Result<(), CheckError> {
        self.0.check(setup)?;
        let mut names = Vec::new();
        for (index, item) in setup.items().enumerate() {
            let Ok(value) = self.0.find(item) else { continue };
            let calls = self.calls_of(value);
            let calls = calls.map_err(|error| CheckError::new(format!("item {index} (from 0): {error}")))?;
            names.extend(calls.into_iter().map(|call| call.name));
        }
        names.sort_unstable();
        names.dedup();
        match tool.filter(|tool| !names.is_empty() && names.iter().all(|name| name != tool)) {
            None => Ok(()),
            Some(tool) => Err(CheckError::new(format!(
                "no item expects a call of `{tool}` in `{}`; {}",
                self.0.name(),
                suggest::instead(tool, names.iter().map(String::as_str))
            ))),
        }
    }
}
