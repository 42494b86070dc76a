//! `ToolCalls`: the evaluator, its checks and the expected calls of items.

use std::sync::Arc;

use cobalt_core::item::Item;
use cobalt_core::wording;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::{ToolCall, ToolCallError};
use super::compare::Comparison;
use super::read::Reader;
use super::{default_paths, score};
use crate::evaluators::field_path::{AgentField, ItemField};
use crate::evaluators::options::{Options, fingerprint};
use crate::evaluators::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use crate::metrics::parse_container;
use crate::settings::{self, NamedChoice as _, NoSharedKeys, NonEmptyString, NonNegativeInt, named_choices};

/// Scores the tool calls of an agent.
///
/// [`calls`](crate::calls) describes where calls are found, their formats, the scores and the rules. No model is called. Unlike
/// with other evaluators, by default an output passes only with a full score: with one of three calls missing, the score is 2/3
/// and the output does not pass. [`pass_mark`](Self::pass_mark) changes that.
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
    ToolCalls as "ToolCalls", it: name = it.name(), check = format_args!("{}", it.0.check_fingerprint()),
    calls = format_args!("CallsPlace({:?})", it.0.calls), options = format_args!("{}", it.0.options_fingerprint()),
    pass_mark = Evaluator::pass_mark(it)
}

/// The keys of `type = "tool-calls"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("allOf" = check_rules_schema())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ToolCallsOptions {
    /// The check to apply.
    check: CallCheckName,
    /// Name in reports. Default: the check.
    name: Option<NonEmptyString>,
    /// For "called" and "not-called", the tool; for other checks, the only tool whose calls count.
    tool: Option<NonEmptyString>,
    /// The field of the item with the expected calls, for checks that use them.
    expected: Option<ItemField>,
    /// The maximum number of calls, or of repeated calls, for checks that count them.
    limit: Option<NonNegativeInt>,
    /// The path of the agent's calls, such as "output.steps". Default: the default places.
    calls: Option<AgentField>,
    /// Whether a call must have the expected arguments. Default: true.
    match_arguments: Option<bool>,
    /// Whether failed calls are ignored. Default: false.
    ignore_failed: Option<bool>,
    /// Whether nested calls are ignored. Default: false.
    top_level_only: Option<bool>,
    /// Minimum score for an output to pass. Default: 1.
    pass_mark: Option<settings::ScoreValue>,
    /// A tool set in addition to that of the check, which is an error.
    #[serde(skip)]
    extra_tool: Option<NonEmptyString>,
}

impl Options for ToolCallsOptions {
    type Shared = NoSharedKeys;

    fn checked(self, _: &NoSharedKeys) -> Result<Self, String> {
        self.check_keys()?;
        self.check().map_err(|error| error.to_string()).map(|()| self)
    }

    fn make(mut self, _: NoSharedKeys) -> Result<Arc<dyn Evaluator>, String> {
        self.name.get_or_insert_with(|| NonEmptyString(self.check.0.name().to_owned()));
        Ok(Arc::new(ToolCalls(self)))
    }
}

impl ToolCallsOptions {
    /// The tool of the check, or the only tool whose calls count.
    fn tool(&self) -> Option<&str> {
        self.tool.as_ref().map(|NonEmptyString(tool)| &**tool)
    }

    /// The only tool whose calls count.
    fn only_tool(&self) -> Option<&str> {
        if self.check.0.needs_tool() { None } else { self.tool() }
    }

    fn limit(&self) -> usize {
        self.limit.map_or(0, |NonNegativeInt(limit)| limit)
    }

    /// The check with its argument, as in the fingerprints of stored runs.
    fn check_fingerprint(&self) -> String {
        let CallCheckName(check) = self.check;
        match &self.expected {
            Some(field) => format!("Expected({check:?}, ExpectedCalls({field:?}))"),
            None if check.needs_tool() => format!("{check:?}({:?})", self.tool().unwrap_or_default()),
            None if check.has_limit() => format!("{check:?}({})", self.limit()),
            None => format!("{check:?}"),
        }
    }

    /// The other settings, as in the fingerprints of stored runs.
    fn options_fingerprint(&self) -> String {
        let tool = self.only_tool();
        let Self { match_arguments, ignore_failed, top_level_only, .. } = self;
        format!(
            "Options {{ tool: {tool:?}, match_arguments: {match_arguments:?}, ignore_failed: {ignore_failed:?}, \
             top_level_only: {top_level_only:?} }}"
        )
    }

    /// Filters the made calls to those that count.
    fn filter_made(&self, calls: Vec<ToolCall>) -> Vec<ToolCall> {
        let ignore_failed = self.ignore_failed == Some(true);
        self.filter_expected(calls).into_iter().filter(|call| !ignore_failed || call.succeeded()).collect()
    }

    /// Filters the expected calls to those that count.
    fn filter_expected(&self, calls: Vec<ToolCall>) -> Vec<ToolCall> {
        let is_top = |call: &ToolCall| self.top_level_only != Some(true) || call.depth == 0;
        let is_of_tool = |call: &ToolCall| self.only_tool().is_none_or(|tool| call.name == tool);
        calls.into_iter().filter(|call| is_top(call) && is_of_tool(call)).collect()
    }

    /// Rejects missing keys, and keys that the check does not support.
    fn check_keys(&self) -> Result<(), String> {
        let CallCheckName(check) = self.check;
        let (key, why) = if self.limit.is_some() && !check.has_limit() {
            ("limit", "does not count calls; remove")
        } else if self.expected.is_some() && !check.uses_expected() {
            ("expected", "does not use expected calls; remove")
        } else if self.tool.is_none() && check.needs_tool() {
            ("tool", "needs a tool; add")
        } else if self.expected.is_none() && check.uses_expected() {
            ("expected", "needs the item's field with the expected calls; add")
        } else if self.limit.is_none() && check.has_limit() {
            ("limit", "needs a maximum; add")
        } else {
            return Ok(());
        };
        Err(format!("the check `{}` {why} `{key}`", check.name()))
    }

    /// Rejects contradictory settings.
    fn check(&self) -> Result<(), CheckError> {
        let CallCheckName(check) = self.check;
        let contradiction = if self.extra_tool.is_some() {
            "already names its tool; remove `tool`"
        } else if self.tool().is_some_and(|tool| tool.trim().is_empty()) {
            "has an empty `tool`; write the name of the tool"
        } else if self.match_arguments.is_some() && check == CallCheck::Arguments {
            "always compares arguments; remove `match_arguments`, or use `recall`"
        } else if self.match_arguments.is_some() && !check.uses_expected() {
            "does not use expected calls; remove `match_arguments`"
        } else if self.ignore_failed.is_some() && check == CallCheck::Succeeded {
            "looks for failed calls; remove `ignore_failed`"
        } else {
            return self.calls.as_ref().map_or(Ok(()), AgentField::check);
        };
        Err(CheckError::new(format!("the check `{}` {contradiction}", check.name())))
    }
}

named_choices! {
    /// A check of tool calls.
    CallCheckName(CallCheck), "tool call check", "checks": "called" => Called, "not-called" => NotCalled,
        "exact-order" => ExactOrder, "in-order" => InOrder, "any-order" => AnyOrder, "arguments" => Arguments,
        "precision" => Precision, "recall" => Recall, "f1" => F1, "succeeded" => Succeeded, "at-most" => AtMost,
        "repeats-at-most" => RepeatsAtMost;
}

/// The keys that checks require or reject, for the JSON schema.
#[cfg(feature = "schema")]
fn check_rules_schema() -> serde_json::Value {
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
    /// Scores 1 if the tool was called, else 0.
    pub fn called(name: impl Into<String>, tool: impl Into<String>) -> Self {
        Self::with_tool(name, CallCheck::Called, tool)
    }

    /// Scores 1 if the tool was not called, else 0. A failed call counts as a call.
    pub fn not_called(name: impl Into<String>, tool: impl Into<String>) -> Self {
        Self::with_tool(name, CallCheck::NotCalled, tool)
    }

    /// Compares the calls with those in the item's `field`, in the same order and without others: the length of the longest
    /// common subsequence, divided by that of the longer list.
    pub fn exact_order(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::with_expected(name, CallCheck::ExactOrder, field)
    }

    /// The share of the calls in the item's `field` that were made in order, with any calls in between: the length of the
    /// longest common subsequence, divided by the number of expected calls.
    pub fn in_order(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::with_expected(name, CallCheck::InOrder, field)
    }

    /// The share of the calls in the item's `field` that were made, in any order and with any other calls: the same as
    /// [`recall`](Self::recall). If no other calls are allowed, use [`f1`](Self::f1).
    pub fn any_order(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::with_expected(name, CallCheck::AnyOrder, field)
    }

    /// The mean, over the calls in the item's `field`, of the share of their arguments that a call of the same tool has. A call
    /// that was not made counts as 0.
    pub fn arguments(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::with_expected(name, CallCheck::Arguments, field)
    }

    /// The share of the made calls that the item's `field` expects. Unexpected calls lower it.
    pub fn precision(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::with_expected(name, CallCheck::Precision, field)
    }

    /// The share of the calls in the item's `field` that were made. Missing calls lower it.
    pub fn recall(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::with_expected(name, CallCheck::Recall, field)
    }

    /// The harmonic mean of precision and recall: 1 if the calls are exactly those in the item's `field`, in any order.
    pub fn f1(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::with_expected(name, CallCheck::F1, field)
    }

    /// The share of the calls that did not fail.
    pub fn succeeded(name: impl Into<String>) -> Self {
        Self::new(name, CallCheck::Succeeded)
    }

    /// Scores 1 for up to `steps` calls; with more, `steps` divided by the number of calls.
    pub fn at_most(name: impl Into<String>, steps: usize) -> Self {
        Self::with_limit(name, CallCheck::AtMost, steps)
    }

    /// Scores 1 for up to `repeats` calls that repeat an earlier one, with the same tool and arguments; with more, the share of
    /// the calls that are not repeats over the limit. The reason names the loop, if any.
    pub fn repeats_at_most(name: impl Into<String>, repeats: usize) -> Self {
        Self::with_limit(name, CallCheck::RepeatsAtMost, repeats)
    }

    fn with_tool(name: impl Into<String>, check: CallCheck, tool: impl Into<String>) -> Self {
        let mut calls = Self::new(name, check);
        calls.0.tool = Some(NonEmptyString(tool.into()));
        calls
    }

    fn with_expected(name: impl Into<String>, check: CallCheck, field: impl AsRef<str>) -> Self {
        let mut calls = Self::new(name, check);
        calls.0.expected = Some(ItemField::new(field.as_ref()));
        calls
    }

    fn with_limit(name: impl Into<String>, check: CallCheck, limit: usize) -> Self {
        let mut calls = Self::new(name, check);
        calls.0.limit = Some(NonNegativeInt(limit));
        calls
    }

    fn new(name: impl Into<String>, check: CallCheck) -> Self {
        Self(ToolCallsOptions {
            check: CallCheckName(check),
            name: Some(NonEmptyString(name.into())),
            tool: None,
            expected: None,
            limit: None,
            calls: None,
            match_arguments: None,
            ignore_failed: None,
            top_level_only: None,
            pass_mark: None,
            extra_tool: None,
        })
    }

    /// Sets the path of the agent's calls, such as `output.steps` or `metadata.run.calls`. Default: the default places.
    #[must_use]
    pub fn calls(mut self, path: impl AsRef<str>) -> Self {
        self.0.calls = Some(AgentField::new(path.as_ref()));
        self
    }

    /// Considers only the calls of this tool, made and expected.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        let is_named = self.0.check.0.needs_tool();
        let setting = if is_named { &mut self.0.extra_tool } else { &mut self.0.tool };
        *setting = Some(NonEmptyString(tool.into()));
        self
    }

    /// Whether a call must have the expected arguments. Additional arguments are allowed. Default: `true`.
    #[must_use]
    pub fn match_arguments(mut self, match_arguments: bool) -> Self {
        self.0.match_arguments = Some(match_arguments);
        self
    }

    /// Whether failed calls are ignored, as if they had not been made. Default: `false`.
    #[must_use]
    pub fn ignore_failed(mut self, ignore_failed: bool) -> Self {
        self.0.ignore_failed = Some(ignore_failed);
        self
    }

    /// Whether nested calls are ignored. Default: `false`.
    #[must_use]
    pub fn top_level_only(mut self, top_level_only: bool) -> Self {
        self.0.top_level_only = Some(top_level_only);
        self
    }

    /// Sets the minimum score for an output to pass. Default: 1.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.0.pass_mark = Some(settings::ScoreValue(mark));
        self
    }

    pub(super) fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        let Self(options) = self;
        // First the expected calls: errors in them are the item's fault.
        let expected = match &options.expected {
            Some(field) => options.filter_expected(expected_calls(field, cx.item())?),
            None => Vec::new(),
        };
        let made = options.filter_made(default_paths::read(options.calls.as_ref(), cx)?);
        let tool = options.tool().unwrap_or_default();
        let match_arguments = options.match_arguments != Some(false);
        let compared =
            |measure, made| score::score_expected(measure, &Comparison { expected, made, match_arguments });
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
        self.0.name.as_ref().map_or("", |NonEmptyString(name)| name)
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(async move { self.score(cx) })
    }

    fn pass_mark(&self) -> f64 {
        self.0.pass_mark.map_or(1.0, |settings::ScoreValue(mark)| mark)
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        self.0.check()?;
        let CallCheckName(check) = self.0.check;
        self.0.expected.as_ref().map_or(Ok(()), |field| check_items(check, field, setup, self.0.only_tool()))
    }
}

/// A check of tool calls, as named in `cobalt.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CallCheck {
    /// Whether `tool` was called.
    Called,
    /// Whether `tool` was not called.
    NotCalled,
    /// Whether exactly the expected calls were made, in order.
    ExactOrder,
    /// Whether the expected calls were made, in order.
    InOrder,
    /// Whether the expected calls were made, in any order.
    AnyOrder,
    /// The share of expected arguments that are correct.
    Arguments,
    /// The share of the calls that are expected.
    Precision,
    /// The share of the expected calls that were made.
    Recall,
    /// The harmonic mean of precision and recall.
    F1,
    /// The share of the calls that did not fail.
    Succeeded,
    /// Whether there are at most `limit` calls.
    AtMost,
    /// Whether at most `limit` calls are repeats.
    RepeatsAtMost,
}

impl CallCheck {
    /// Whether it applies to a tool that it names.
    fn needs_tool(self) -> bool {
        matches!(self, Self::Called | Self::NotCalled)
    }

    /// Whether it has a limit.
    fn has_limit(self) -> bool {
        matches!(self, Self::AtMost | Self::RepeatsAtMost)
    }

    /// Whether it uses expected calls.
    fn uses_expected(self) -> bool {
        !(self.needs_tool() || self.has_limit() || self == Self::Succeeded)
    }

    /// Whether unexpected calls lower its score. If they do not, an item that expects no calls always has the full score.
    fn counts_unexpected(self) -> bool {
        matches!(self, Self::ExactOrder | Self::Precision | Self::F1)
    }
}

/// The expected calls in an item's field.
fn expected_calls(field: &ItemField, item: &Item) -> Result<Vec<ToolCall>, EvalError> {
    read_expected(field, field.resolve(item)?).map_err(|error| EvalError::new(format!("the item's {error}")))
}

fn read_expected(field: &ItemField, value: &Value) -> Result<Vec<ToolCall>, ToolCallError> {
    // Text that is not JSON is the name of a tool, as in a cell of a CSV file.
    let name = value.as_str().filter(|text| !text.trim().is_empty() && parse_container(text).is_none());
    let alone = name.map(|name| Value::Array(vec![Value::from(name.trim())]));
    Reader::strict().read(alone.as_ref().unwrap_or(value), field.name())
}

/// Fails if no item has the field, if expected calls cannot be read, if none is a call of the only tool that counts, or if no item
/// expects a call and the check does not mind unexpected ones.
fn check_items(
    check: CallCheck,
    field: &ItemField,
    setup: &Setup,
    tool: Option<&str>,
) -> Result<(), CheckError> {
    field.check(setup)?;
    let (mut names, mut with_list) = (Vec::new(), 0);
    for (index, item) in setup.items().enumerate() {
        let Ok(value) = field.resolve(&item) else { continue };
        with_list += 1;
        let calls = read_expected(field, value);
        let calls = calls.map_err(|error| CheckError::new(format!("item {index} (from 0): {error}")))?;
        names.extend(calls.into_iter().map(|call| call.name));
    }
    let expects_nothing = names.is_empty() && with_list > 0 && with_list == setup.dataset.len();
    if expects_nothing && !setup.is_partial && !check.counts_unexpected() {
        return Err(CheckError::new(format!(
            "every item's `{}` is empty, so the check `{}` would be met by any calls; use `f1` or `exact-order` if no calls may be \
             made, or write the expected calls",
            field.name(),
            check.name()
        )));
    }
    names.sort_unstable();
    names.dedup();
    match tool.filter(|tool| !names.is_empty() && names.iter().all(|name| name != tool)) {
        None => Ok(()),
        Some(tool) => Err(CheckError::new(format!(
            "no item expects a call to `{tool}` in `{}`; {}",
            field.name(),
            wording::suggest_or_list(tool, names.iter().map(String::as_str))
        ))),
    }
}
