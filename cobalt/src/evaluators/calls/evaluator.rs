//! `ToolCalls`: the evaluator, its checks by name, and the calls that an item expects.

use std::sync::Arc;

use cobalt_core::item::Item;
use cobalt_core::wording;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::{ToolCall, ToolCallError};
use super::compare::Comparison;
use super::read::Reader;
use super::{places, score};
use crate::evaluators::options::{Options, fingerprint};
use crate::evaluators::places::{AgentField, ItemField};
use crate::evaluators::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use crate::metrics::tree_of;
use crate::settings::{self, Limit, Name as _, NoKeys, Word, names};

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
#[derive(Clone)]
pub struct ToolCalls(ToolCallsOptions);

fingerprint! {
    ToolCalls as "ToolCalls", it: name = it.name(), check = format_args!("{}", it.0.shown_check()),
    calls = format_args!("CallsPlace({:?})", it.0.calls), options = format_args!("{}", it.0.shown_options()),
    pass_mark = Evaluator::pass_mark(it)
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
    expected: Option<ItemField>,
    /// How many calls, or repeated calls, there may be, for the checks that count them.
    limit: Option<Limit>,
    /// Where the agent reports its calls, such as "output.steps"; the usual places unless it is set.
    calls: Option<AgentField>,
    /// Whether a call must have the arguments that are expected of it; it must unless this is false.
    match_arguments: Option<bool>,
    /// Whether calls that failed are left out; they are not unless this is true.
    ignore_failed: Option<bool>,
    /// Whether calls that were made within others are left out; they are not unless this is true.
    top_level_only: Option<bool>,
    /// From which score an output passes; 1 unless it is set.
    pass_mark: Option<settings::Score>,
    /// A tool that is named beside that of the check.
    #[serde(skip)]
    other_tool: Option<Word>,
}

impl Options for ToolCallsOptions {
    type Shared = NoKeys;

    fn checked(self, _: &NoKeys) -> Result<Self, String> {
        self.check_keys()?;
        self.check().map_err(|error| error.to_string()).map(|()| self)
    }

    fn make(mut self, _: NoKeys) -> Result<Arc<dyn Evaluator>, String> {
        self.name.get_or_insert_with(|| Word(self.check.0.name().to_owned()));
        Ok(Arc::new(ToolCalls(self)))
    }
}

impl ToolCallsOptions {
    /// The tool of the check, or the only one whose calls count.
    fn tool(&self) -> Option<&str> {
        self.tool.as_ref().map(|Word(tool)| &**tool)
    }

    /// The only tool whose calls count.
    fn only_tool(&self) -> Option<&str> {
        if self.check.0.is_of_tool() { None } else { self.tool() }
    }

    fn limit(&self) -> usize {
        self.limit.map_or(0, |Limit(limit)| limit)
    }

    /// The check with what it is asked with, in the words which stored runs hold.
    fn shown_check(&self) -> String {
        let CallCheckName(check) = self.check;
        match &self.expected {
            Some(field) => format!("Expected({check:?}, ExpectedCalls({field:?}))"),
            None if check.is_of_tool() => format!("{check:?}({:?})", self.tool().unwrap_or_default()),
            None if check.counts() => format!("{check:?}({})", self.limit()),
            None => format!("{check:?}"),
        }
    }

    /// The other settings, in the words which stored runs hold.
    fn shown_options(&self) -> String {
        let tool = self.only_tool();
        let Self { match_arguments, ignore_failed, top_level_only, .. } = self;
        format!(
            "Options {{ tool: {tool:?}, match_arguments: {match_arguments:?}, ignore_failed: {ignore_failed:?}, \
             top_level_only: {top_level_only:?} }}"
        )
    }

    /// The calls that count.
    fn of_made(&self, calls: Vec<ToolCall>) -> Vec<ToolCall> {
        let ignore_failed = self.ignore_failed == Some(true);
        self.of_expected(calls).into_iter().filter(|call| !ignore_failed || call.succeeded()).collect()
    }

    /// The expected calls that count.
    fn of_expected(&self, calls: Vec<ToolCall>) -> Vec<ToolCall> {
        let is_top = |call: &ToolCall| self.top_level_only != Some(true) || call.depth == 0;
        let is_of_tool = |call: &ToolCall| self.only_tool().is_none_or(|tool| call.name == tool);
        calls.into_iter().filter(|call| is_top(call) && is_of_tool(call)).collect()
    }

    /// Names the key that is missing, or that the check does not have.
    fn check_keys(&self) -> Result<(), String> {
        let CallCheckName(check) = self.check;
        let (key, why) = if self.limit.is_some() && !check.counts() {
            ("limit", "counts nothing; leave out")
        } else if self.expected.is_some() && !check.compares() {
            ("expected", "compares with nothing that is expected; leave out")
        } else if self.tool.is_none() && check.is_of_tool() {
            ("tool", "is of one tool; add")
        } else if self.expected.is_none() && check.compares() {
            ("expected", "compares with the calls that a field of the item names; add")
        } else if self.limit.is_none() && check.counts() {
            ("limit", "needs the largest number that is allowed; add")
        } else {
            return Ok(());
        };
        Err(format!("the check `{}` {why} `{key}`", check.name()))
    }

    /// An error where settings contradict each other.
    fn check(&self) -> Result<(), CheckError> {
        let CallCheckName(check) = self.check;
        let contradiction = if self.other_tool.is_some() {
            "names its tool already; leave `tool` out"
        } else if self.match_arguments.is_some() && check == CallCheck::Arguments {
            "is of arguments in any case; leave out whether they are matched, or ask for `recall`"
        } else if self.match_arguments.is_some() && !check.compares() {
            "compares nothing with what is expected; leave out whether arguments are matched"
        } else if self.ignore_failed.is_some() && check == CallCheck::Succeeded {
            "looks for the calls that failed; leave out whether they are ignored"
        } else {
            return self.calls.as_ref().map_or(Ok(()), AgentField::check);
        };
        Err(CheckError::new(format!("the check `{}` {contradiction}", check.name())))
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
        Self::of_tool(name, CallCheck::Called, tool)
    }

    /// Whether a tool was left alone: a call that failed counts too.
    pub fn not_called(name: impl Into<String>, tool: impl Into<String>) -> Self {
        Self::of_tool(name, CallCheck::NotCalled, tool)
    }

    /// How far the calls are those in the item's `field`, in the same order and no others: the length of the longest
    /// common subsequence, divided by that of the longer list.
    pub fn exact_order(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, CallCheck::ExactOrder, field)
    }

    /// The share of the calls in the item's `field` that were made in their order, whatever stands between them: the length of
    /// the longest common subsequence, divided by the number of expected calls.
    pub fn in_order(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, CallCheck::InOrder, field)
    }

    /// The share of the calls in the item's `field` that were made, whatever their order and whatever else was called: the
    /// same as [`recall`](Self::recall). Where nothing else may be called, [`f1`](Self::f1) is 1 just then.
    pub fn any_order(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, CallCheck::AnyOrder, field)
    }

    /// How far the arguments are right: the mean, over the calls in the item's `field`, of the share of their arguments that a
    /// call of the same tool has. One that was not made has none.
    pub fn arguments(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, CallCheck::Arguments, field)
    }

    /// The share of the calls that are expected in the item's `field`: less for each that is needless.
    pub fn precision(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, CallCheck::Precision, field)
    }

    /// The share of the calls in the item's `field` that were made: less for each that is missing.
    pub fn recall(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, CallCheck::Recall, field)
    }

    /// The harmonic mean of precision and recall: 1 where the calls are those in the item's `field` and no others, in any
    /// order.
    pub fn f1(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::measure(name, CallCheck::F1, field)
    }

    /// The share of the calls that did not fail.
    pub fn succeeded(name: impl Into<String>) -> Self {
        Self::new(name, CallCheck::Succeeded)
    }

    /// 1 where no more than so many calls were made; with more, `steps` divided by their number.
    pub fn at_most(name: impl Into<String>, steps: usize) -> Self {
        Self::counting(name, CallCheck::AtMost, steps)
    }

    /// 1 where no more than so many calls repeat an earlier one, with the same tool and the same arguments; with more, the
    /// share of the calls that are no repeat too many. The reason names what goes round in a row.
    pub fn repeats_at_most(name: impl Into<String>, repeats: usize) -> Self {
        Self::counting(name, CallCheck::RepeatsAtMost, repeats)
    }

    fn of_tool(name: impl Into<String>, check: CallCheck, tool: impl Into<String>) -> Self {
        let mut calls = Self::new(name, check);
        calls.0.tool = Some(Word(tool.into()));
        calls
    }

    fn measure(name: impl Into<String>, check: CallCheck, field: impl AsRef<str>) -> Self {
        let mut calls = Self::new(name, check);
        calls.0.expected = Some(ItemField::new(field.as_ref()));
        calls
    }

    fn counting(name: impl Into<String>, check: CallCheck, limit: usize) -> Self {
        let mut calls = Self::new(name, check);
        calls.0.limit = Some(Limit(limit));
        calls
    }

    fn new(name: impl Into<String>, check: CallCheck) -> Self {
        Self(ToolCallsOptions {
            check: CallCheckName(check),
            name: Some(Word(name.into())),
            tool: None,
            expected: None,
            limit: None,
            calls: None,
            match_arguments: None,
            ignore_failed: None,
            top_level_only: None,
            pass_mark: None,
            other_tool: None,
        })
    }

    /// Where the agent reports its calls, such as `output.steps` or `metadata.run.calls`, in place of the usual places.
    #[must_use]
    pub fn calls(mut self, path: impl AsRef<str>) -> Self {
        self.0.calls = Some(AgentField::new(path.as_ref()));
        self
    }

    /// Looks at the calls of this tool alone, made and expected.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        let is_named = self.0.check.0.is_of_tool();
        let setting = if is_named { &mut self.0.other_tool } else { &mut self.0.tool };
        *setting = Some(Word(tool.into()));
        self
    }

    /// Whether a call must have the arguments that are expected of it; it must unless this is `false`. What it has beside
    /// them is no matter.
    #[must_use]
    pub fn match_arguments(mut self, match_arguments: bool) -> Self {
        self.0.match_arguments = Some(match_arguments);
        self
    }

    /// Whether calls that failed are left out, as if they had not been made; they are not unless this is `true`.
    #[must_use]
    pub fn ignore_failed(mut self, ignore_failed: bool) -> Self {
        self.0.ignore_failed = Some(ignore_failed);
        self
    }

    /// Whether calls that were made within others are left out; they are not unless this is `true`.
    #[must_use]
    pub fn top_level_only(mut self, top_level_only: bool) -> Self {
        self.0.top_level_only = Some(top_level_only);
        self
    }

    /// From which score an output passes: 1 unless it is set.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.0.pass_mark = Some(settings::Score(mark));
        self
    }

    pub(super) fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        let Self(options) = self;
        // What is expected goes first: it is the item's fault where it cannot be read.
        let expected = match &options.expected {
            Some(field) => options.of_expected(expected_calls(field, cx.item())?),
            None => Vec::new(),
        };
        let made = options.of_made(places::read(options.calls.as_ref(), cx)?);
        let tool = options.tool().unwrap_or_default();
        let match_arguments = options.match_arguments != Some(false);
        let compared =
            |measure, made| score::expected(measure, &Comparison { expected, made, match_arguments });
        Ok(match options.check.0 {
            CallCheck::Called => score::called(tool, &made),
            CallCheck::NotCalled => score::not_called(tool, &made),
            CallCheck::Succeeded => score::succeeded(&made),
            CallCheck::AtMost => score::at_most(options.limit(), &made),
            CallCheck::RepeatsAtMost => score::repeats_at_most(options.limit(), &made),
            CallCheck::ExactOrder => compared(score::exact_order, made),
            CallCheck::InOrder => compared(score::in_order, made),
            CallCheck::AnyOrder | CallCheck::Recall => compared(score::recall, made),
            CallCheck::Arguments => compared(score::arguments, made),
            CallCheck::Precision => compared(score::precision, made),
            CallCheck::F1 => compared(score::f1, made),
        })
    }
}

impl Evaluator for ToolCalls {
    fn name(&self) -> &str {
        self.0.name.as_ref().map_or("", |Word(name)| name)
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(async move { self.score(cx) })
    }

    fn pass_mark(&self) -> f64 {
        self.0.pass_mark.map_or(1.0, |settings::Score(mark)| mark)
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        self.0.check()?;
        self.0.expected.as_ref().map_or(Ok(()), |field| check_items(field, setup, self.0.only_tool()))
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
    /// Whether it is of a tool, which it names.
    fn is_of_tool(self) -> bool {
        matches!(self, Self::Called | Self::NotCalled)
    }

    /// Whether it counts up to a limit.
    fn counts(self) -> bool {
        matches!(self, Self::AtMost | Self::RepeatsAtMost)
    }

    /// Whether it compares with the expected calls.
    fn compares(self) -> bool {
        !(self.is_of_tool() || self.counts() || self == Self::Succeeded)
    }
}

/// The calls that an item's field expects.
fn expected_calls(field: &ItemField, item: &Item) -> Result<Vec<ToolCall>, EvalError> {
    calls_of(field, field.find(item)?).map_err(|error| EvalError::new(format!("the item's {error}")))
}

fn calls_of(field: &ItemField, value: &Value) -> Result<Vec<ToolCall>, ToolCallError> {
    // A text that is no JSON is the name of a tool, as in a cell of a CSV file.
    let name = value.as_str().filter(|text| !text.trim().is_empty() && tree_of(text).is_none());
    let alone = name.map(|name| Value::Array(vec![Value::from(name.trim())]));
    Reader::strict().read(alone.as_ref().unwrap_or(value), field.name())
}

/// An error where no item has the field, where what an item expects cannot be read, or where nothing that is expected
/// is a call of the only tool that counts.
fn check_items(field: &ItemField, setup: &Setup, tool: Option<&str>) -> Result<(), CheckError> {
    field.check(setup)?;
    let mut names = Vec::new();
    for (index, item) in setup.items().enumerate() {
        let Ok(value) = field.find(item) else { continue };
        let calls = calls_of(field, value);
        let calls = calls.map_err(|error| CheckError::new(format!("item {index} (from 0): {error}")))?;
        names.extend(calls.into_iter().map(|call| call.name));
    }
    names.sort_unstable();
    names.dedup();
    match tool.filter(|tool| !names.is_empty() && names.iter().all(|name| name != tool)) {
        None => Ok(()),
        Some(tool) => Err(CheckError::new(format!(
            "no item expects a call of `{tool}` in `{}`; {}",
            field.name(),
            wording::instead(tool, names.iter().map(String::as_str))
        ))),
    }
}
