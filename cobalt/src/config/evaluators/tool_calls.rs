//! `type = "tool-calls"`.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};

use super::names::CallCheckName;
use super::typed::Settings;
use crate::config::error::{ConfigError, Place};
use crate::evaluators::{Evaluator, ToolCalls};
use crate::settings::Word;
use crate::settings::with_written;
use crate::settings::{Limit, Score};

#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "ToolCalls", extend("allOf" = by_check()))
)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::config) struct Calls {
    /// What is asked of the calls.
    check: CallCheckName,
    /// The name in reports; that of the check unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Word>,
    /// The tool that is to be called or not; for other checks, the only one whose calls count.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<Word>,
    /// The field of the item with the expected calls, for checks that compare with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Word>,
    /// How many calls, or repeated calls, there may be, for the checks that count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Limit>,
    /// Where the agent reports its calls, such as "output.steps"; the usual places unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<Word>,
    /// Whether a call must have the arguments that are expected of it; it must unless this is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    match_arguments: Option<bool>,
    /// Whether calls that failed are left out; they are not unless this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    ignore_failed: Option<bool>,
    /// Whether calls that were made within others are left out; they are not unless this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    top_level_only: Option<bool>,
    /// From which score an output passes; 1 unless it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass_mark: Option<Score>,
}

impl Calls {
    /// The evaluator, or what keeps the settings from being one.
    fn evaluator(&self) -> Result<ToolCalls, String> {
        let CallCheckName(check) = self.check;
        let name = self.name.as_ref().map_or_else(|| check.name().to_owned(), |Word(name)| name.clone());
        let limit = self.limit.map(|Limit(limit)| limit);
        let written = self.clone();
        let tool = written.tool.map(|Word(tool)| tool);
        let expected = written.expected.map(|Word(field)| field);
        let calls = with_written!(
            check.evaluator(name, tool, expected, limit)?,
            calls(written.calls.map(|Word(path)| path)),
            match_arguments(written.match_arguments),
            ignore_failed(written.ignore_failed),
            top_level_only(written.top_level_only),
            pass_mark(written.pass_mark.map(|Score(mark)| mark)),
        );
        calls.check_settings().map_err(|error| error.to_string()).map(|()| calls)
    }
}

impl Settings for Calls {
    const TYPE: &'static str = "tool-calls";

    fn checked(self) -> Result<Self, toml::de::Error> {
        self.evaluator().map_err(toml::de::Error::custom).map(|_| self)
    }

    fn make(&self, place: &Place) -> Result<Arc<dyn Evaluator>, ConfigError> {
        self.evaluator()
            .map_err(|problem| place.error(&problem))
            .map(|calls| Arc::new(calls) as Arc<dyn Evaluator>)
    }
}

/// What the checks need and refuse, as a schema has it.
#[cfg(feature = "schema")]
fn by_check() -> serde_json::Value {
    use crate::evaluators::CallCheck::{AtMost, Called, NotCalled, RepeatsAtMost, Succeeded};

    let one_of = |checks: &[crate::evaluators::CallCheck]| serde_json::json!({ "properties": { "check": { "enum": checks } } });
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
