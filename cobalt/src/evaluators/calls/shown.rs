//! Calls as reasons show them: `weather(day: "Friday", place: "York")`.

use serde_json::Value;

use super::call::ToolCall;
use super::compare::wrong_arguments;
use crate::wording::cut;

/// A value as JSON, cut to what fits into a reason.
fn value(value: &Value) -> String {
    const LONGEST: usize = 40;
    cut(&value.to_string(), LONGEST).into_owned()
}

/// A call with its arguments, cut.
pub(super) fn call(call: &ToolCall) -> String {
    const LONGEST: usize = 100;
    let text = match &call.arguments {
        None => call.name.clone(),
        Some(Value::Object(fields)) => {
            let arguments: Vec<_> =
                fields.iter().map(|(name, argument)| format!("{name}: {}", value(argument))).collect();
            format!("{}({})", call.name, arguments.join(", "))
        }
        Some(other) => format!("{}({})", call.name, value(other)),
    };
    cut(&text, LONGEST).into_owned()
}

/// The first of several, and how many more there are.
pub(super) fn list(all: &[String]) -> String {
    const SHOWN: usize = 3;
    match all.len().checked_sub(SHOWN) {
        None | Some(0) => all.join(", "),
        Some(more) => format!("{} and {more} more", all[..SHOWN].join(", ")),
    }
}

/// What is wrong with the arguments of a call: `weather: day is "Sunday", expected "Friday"`.
pub(super) fn wrong(expected: &ToolCall, made: &ToolCall) -> String {
    let name = &made.name;
    if let Some(problem) = &made.arguments_error {
        return format!("{name}: {problem}");
    }
    let of = |call: &ToolCall, argument: Option<&str>| match (argument, &call.arguments) {
        (Some(argument), Some(arguments)) => arguments.get(argument).map(value),
        (None, arguments) => arguments.as_ref().map(value),
        (Some(_), None) => None,
    };
    let wrong = wrong_arguments(expected, made).unwrap_or_default();
    let wrong: Vec<_> = wrong
        .into_iter()
        .map(|argument| {
            let wanted = of(expected, argument).unwrap_or_default();
            let label = argument.unwrap_or("what it is called with");
            match of(made, argument) {
                Some(given) => format!("{label} is {given}, expected {wanted}"),
                None => format!("{label} is missing, expected {wanted}"),
            }
        })
        .collect();
    format!("{name}: {}", wrong.join(" and "))
}

/// A call that failed, and why.
pub(super) fn failed(call: &ToolCall) -> String {
    const LONGEST: usize = 80;
    let why = call.error.as_ref().or(call.arguments_error.as_ref());
    match why {
        Some(why) => format!("{} ({})", call.name, cut(why.trim(), LONGEST)),
        None => call.name.clone(),
    }
}
