//! `ToolCalls`: the evaluator, its checks by name, and the calls that an item expects.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::{ToolCall, ToolCallError};
use super::compare::Comparison;
use super::places::CallsPlace;
use super::read::Reader;
use super::score;
use crate::evaluators::places::ItemField;
use crate::evaluators::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup, options};
use crate::metrics::tree_of;
use crate::settings::{self, Limit, NoKeys, Word, names};
use cobalt_core::item::Item;
use cobalt_core::wording;

/// Scores the calls of tools that an agent made.
///
/// Where the calls are looked for, in which shapes they are read, how each score is made and what counts is described in
/// [`calls`](crate::calls). Nobody is asked. Unlike with other evaluators, an output passes only with a full score, unless
/// [`pass_mark`](Self::pass_mark) is set: one missing call in three is a score of 2/3 and does not pass.
///
/// ```
/// use cobalt::ToolCalls;
///
/// let made = ToolCalls::recall("calls-made", "expectedCalls");
/// let order = ToolCalls::in_order("order", "expectedCalls").match_arguments(false);
/// let booked = ToolCalls::called("books", "book_seats");
/// let steps = ToolCalls::at_most("few-steps", 5).ignore_failed(true);
/// let loops = ToolCalls::repeats_at_most("no-loops", 0);
/// ```
#[derive(Clone, Debug)]
pub struct ToolCalls {
    name: String,
    check: Check,
    calls: CallsPlace,
    options: Options,
    pass_mark: f64,
}

/// The keys of `type = "tool-calls"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("allOf" = by_check())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ToolCallsOptions {
    /// What is asked of the calls.
    check: CallCheckName,
    /// The name in reports; that of the check unless it is set.
    name: Option<Word>,
    /// The tool that is to be called or not; for other checks, the only one whose calls count.
    tool: Option<Word>,
    /// The field of the item with the expected calls, for checks that compare with them.
    expected: Option<Word>,
    /// How many calls, or repeated calls, there may be, for the checks that count them.
    limit: Option<Limit>,
    /// Where the agent reports its calls, such as "output.steps"; the usual places unless it is set.
    calls: Option<Word>,
    /// Whether a call must have the arguments that are expected of it; it must unless this is false.
    match_arguments: Option<bool>,
    /// Whether calls that failed are left out; they are not unless this is true.
    ignore_failed: Option<bool>,
    /// Whether calls that were made within others are left out; they are not unless this is true.
    top_level_only: Option<bool>,
    /// From which score an output passes; 1 unless it is set.
    pass_mark: Option<settings::Score>,
}

impl ToolCallsOptions {
    /// The evaluator, or what keeps the settings from being one.
    fn evaluator(self) -> Result<ToolCalls, String> {
        let CallCheckName(check) = self.check;
        let name = self.name.map_or_else(|| check.name().to_owned(), |Word(name)| name);
        let tool = self.tool.map(|Word(tool)| tool);
        let expected = self.expected.map(|Word(field)| field);
        let usual = check.evaluator(name, tool, expected, self.limit.map(|Limit(limit)| limit))?;
        let calls = ToolCalls {
            calls: self.calls.map_or(usual.calls, |Word(path)| CallsPlace::at(&path)),
            options: Options {
                match_arguments: self.match_arguments,
                ignore_failed: self.ignore_failed,
                top_level_only: self.top_level_only,
                ..usual.options
            },
            pass_mark: self.pass_mark.map_or(usual.pass_mark, |settings::Score(mark)| mark),
            ..usual
        };
        calls.check_settings().map_err(|error| error.to_string()).map(|()| calls)
    }
}

impl options::Options for ToolCallsOptions {
    type Shared = NoKeys;

    fn checked(self, _: &NoKeys) -> Result<Self, String> {
        self.clone().evaluator().map(|_| self)
    }

    fn make(self, _: NoKeys) -> Result<Arc<dyn Evaluator>, String> {
        self.evaluator().map(|calls| Arc::new(calls) as Arc<dyn Evaluator>)
    }
}

names! {
    /// What is asked of calls.
    CallCheckName(CallCheck), "check of calls", "checks": "called" => Called, "not-called" => NotCalled,
        "exact-order" => ExactOrder, "in-order" => InOrder, "any-order" => AnyOrder, "arguments" => Arguments,
        "precision" => Precision, "recall" => Recall, "f1" => F1, "succeeded" => Succeeded, "at-most" => AtMost,
        "repeats-at-most" => RepeatsAtMost;
}

/// What the checks need and refuse, as a schema has it.
#[cfg(feature = "schema")]
fn by_check() -> serde_json::Value {
    use CallCheck::{AtMost, Called, NotCalled, RepeatsAtMost, Succeeded};

    let one_of = |checks: &[CallCheck]| serde_json::json!({ "properties": { "check": { "enum": checks } } });
    serde_json::json!([
        { "if": one_of(&[Called, NotCalled]), "then": { "required": ["tool"] } },
        {
            "if": one_of(&[Called, NotCalled, Succeeded, AtMost, RepeatsAtMost]),
            "then": { "properties": { "expected": false } },
            "else": { "required": ["expected"] },
        },
        {
            "if": one_of(&[AtMost, RepeatsAtMost]),
            "then": { "required": ["limit"] },
            "else": { "properties": { "limit": false } },
        },
    ])
}

impl ToolCalls {
    /// Whether a tool was called.
    pub fn called(name: impl Into<String>, tool: impl Into<String>) -> Self {
        Self::new(name, Check::Called(tool.into()))
    }

    /// Whether a tool was left alone: a call that failed counts too.
    pub fn not_called(name: impl Into<String>, tool: impl Into<String>) -> Self {
        Self::new(name, Check::NotCalled(tool.into()))
    }

    /// How far the calls are those in the item's `field`, in the same order and no others: the length of the longest
    /// common subsequence, divided by that of the longer list.
    pub fn exact_order(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, Measure::ExactOrder, field)
    }

    /// The share of the calls in the item's `field` that were made in their order, whatever stands between them: the length of
    /// the longest common subsequence, divided by the number of expected calls.
    pub fn in_order(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, Measure::InOrder, field)
    }

    /// The share of the calls in the item's `field` that were made, whatever their order and whatever else was called: the
    /// same as [`recall`](Self::recall). Where nothing else may be called, [`f1`](Self::f1) is 1 just then.
    pub fn any_order(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, Measure::AnyOrder, field)
    }

    /// How far the arguments are right: the mean, over the calls in the item's `field`, of the share of their arguments that a
    /// call of the same tool has. One that was not made has none.
    pub fn arguments(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, Measure::Arguments, field)
    }

    /// The share of the calls that are expected in the item's `field`: less for each that is needless.
    pub fn precision(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, Measure::Precision, field)
    }

    /// The share of the calls in the item's `field` that were made: less for each that is missing.
    pub fn recall(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, Measure::Recall, field)
    }

    /// The harmonic mean of precision and recall: 1 where the calls are those in the item's `field` and no others, in any
    /// order.
    pub fn f1(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, Measure::F1, field)
    }

    /// The share of the calls that did not fail.
    pub fn succeeded(name: impl Into<String>) -> Self {
        Self::new(name, Check::Succeeded)
    }

    /// 1 where no more than so many calls were made; with more, `steps` divided by their number.
    pub fn at_most(name: impl Into<String>, steps: usize) -> Self {
        Self::new(name, Check::AtMost(steps))
    }

    /// 1 where no more than so many calls repeat an earlier one, with the same tool and the same arguments; with more, the
    /// share of the calls that are no repeat too many. The reason names what goes round in a row.
    pub fn repeats_at_most(name: impl Into<String>, repeats: usize) -> Self {
        Self::new(name, Check::RepeatsAtMost(repeats))
    }

    fn measure(name: impl Into<String>, measure: Measure, field: impl AsRef<str>) -> Self {
        Self::new(name, Check::Expected(measure, ExpectedCalls::new(field.as_ref())))
    }

    fn new(name: impl Into<String>, check: Check) -> Self {
        Self {
            name: name.into(),
            check,
            calls: CallsPlace::default(),
            options: Options::default(),
            pass_mark: 1.0,
        }
    }

    /// Where the agent reports its calls, such as `output.steps` or `metadata.run.calls`, in place of the usual places.
    #[must_use]
    pub fn calls(mut self, path: impl AsRef<str>) -> Self {
        self.calls = CallsPlace::at(path.as_ref());
        self
    }

    /// Looks at the calls of this tool alone, made and expected.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        self.options.tool = Some(tool.into());
        self
    }

    /// Whether a call must have the arguments that are expected of it; it must unless this is `false`. What it has beside
    /// them is no matter.
    #[must_use]
    pub fn match_arguments(mut self, match_arguments: bool) -> Self {
        self.options.match_arguments = Some(match_arguments);
        self
    }

    /// Whether calls that failed are left out, as if they had not been made; they are not unless this is `true`.
    #[must_use]
    pub fn ignore_failed(mut self, ignore_failed: bool) -> Self {
        self.options.ignore_failed = Some(ignore_failed);
        self
    }

    /// Whether calls that were made within others are left out; they are not unless this is `true`.
    #[must_use]
    pub fn top_level_only(mut self, top_level_only: bool) -> Self {
        self.options.top_level_only = Some(top_level_only);
        self
    }

    /// From which score an output passes: 1 unless it is set.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.pass_mark = mark;
        self
    }

    /// An error where settings contradict each other.
    pub(crate) fn check_settings(&self) -> Result<(), CheckError> {
        self.options.check(&self.check)?;
        self.calls.check()
    }

    pub(super) fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        let Self { check, options, .. } = self;
        // What is expected goes first: it is the item's fault where it cannot be read.
        let expected = match check {
            Check::Expected(_, expected) => options.of_expected(expected.read(cx.item())?),
            _ => Vec::new(),
        };
        let made = options.of_made(self.calls.read(cx)?);
        Ok(match check {
            Check::Called(tool) => score::called(tool, &made),
            Check::NotCalled(tool) => score::not_called(tool, &made),
            Check::Succeeded => score::succeeded(&made),
            Check::AtMost(steps) => score::at_most(*steps, &made),
            Check::RepeatsAtMost(repeats) => score::repeats_at_most(*repeats, &made),
            Check::Expected(measure, _) => {
                let match_arguments = options.match_arguments != Some(false);
                let calls = Comparison { expected, made, match_arguments };
                score::expected(*measure, &calls)
            }
        })
    }
}

impl Evaluator for ToolCalls {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(async move { self.score(cx) })
    }

    fn pass_mark(&self) -> f64 {
        self.pass_mark
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        self.check_settings()?;
        match &self.check {
            Check::Expected(_, expected) => expected.check(setup, self.options.tool.as_deref()),
            _ => Ok(()),
        }
    }
}

/// A check of the calls that were made.
#[derive(Clone, Debug)]
pub enum Check {
    Called(String),
    NotCalled(String),
    Expected(Measure, ExpectedCalls),
    Succeeded,
    AtMost(usize),
    RepeatsAtMost(usize),
}

/// What is measured of calls and the expected ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
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
    pub fn kind(&self) -> CallCheck {
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
pub enum CallCheck {
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
    pub fn name(self) -> &'static str {
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
    pub fn evaluator(
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
pub struct Options {
    pub(super) tool: Option<String>,
    pub(super) match_arguments: Option<bool>,
    pub(super) ignore_failed: Option<bool>,
    pub(super) top_level_only: Option<bool>,
}

impl Options {
    /// The calls that count.
    pub fn of_made(&self, calls: Vec<ToolCall>) -> Vec<ToolCall> {
        let ignore_failed = self.ignore_failed == Some(true);
        self.of_expected(calls).into_iter().filter(|call| !ignore_failed || call.succeeded()).collect()
    }

    /// The expected calls that count.
    pub fn of_expected(&self, calls: Vec<ToolCall>) -> Vec<ToolCall> {
        let is_top = |call: &ToolCall| self.top_level_only != Some(true) || call.depth == 0;
        let is_of_tool = |call: &ToolCall| self.tool.as_ref().is_none_or(|tool| call.name == *tool);
        calls.into_iter().filter(|call| is_top(call) && is_of_tool(call)).collect()
    }

    /// An error where a setting makes no sense for a check.
    pub fn check(&self, check: &Check) -> Result<(), CheckError> {
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
pub struct ExpectedCalls(ItemField);

impl ExpectedCalls {
    pub fn new(path: &str) -> Self {
        Self(ItemField::new(path))
    }

    pub fn read(&self, item: &Item) -> Result<Vec<ToolCall>, EvalError> {
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
    pub fn check(&self, setup: &Setup, tool: Option<&str>) -> Result<(), CheckError> {
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
                wording::instead(tool, names.iter().map(String::as_str))
            ))),
        }
    }
}
