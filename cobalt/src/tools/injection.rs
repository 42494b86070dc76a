//! The faults that can be injected into a call of a tool.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use cobalt_core::report::parse_duration;
use cobalt_core::wording;
use serde_json::Value;

use super::error::ToolError;

/// The message of an injected error without a text of its own.
const DEFAULT_ERROR: &str = "internal error";

/// The forms, for error messages.
const FORMS: &str = "`timeout`, `error`, `error \"text\"`, `empty`, `stale`, `slow 2s` and `malformed`";

/// A fault of a tool. As text: `timeout`, `error`, `error "text"`, `empty`, `stale`, `slow 2s` or `malformed`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Injection {
    /// The call fails at once with [`ToolError::Timeout`], without a call of the tool and without a wait.
    Timeout,
    /// The call fails with this text, without a call of the tool.
    Error(String),
    /// The tool is called, and its result replaced by the empty value of its type: `""`, `[]`, `{}`, `0`, `false` or `null`.
    Empty,
    /// The call returns the first result of this tool in the execution, without a call of the tool. Without an earlier result, the tool is
    /// called, and nothing is injected.
    Stale,
    /// The tool is called after this time.
    Slow(Duration),
    /// The tool is called, and its result replaced by the first half of its JSON text, as a string.
    Malformed,
}

impl Injection {
    /// An error with the default text.
    #[must_use]
    pub fn error() -> Self {
        Self::Error(DEFAULT_ERROR.to_owned())
    }
}

/// The error with which a fault fails a call instead of calling the tool.
pub fn failure(injection: &Injection, tool: &str) -> Option<ToolError> {
    match injection {
        Injection::Timeout => Some(ToolError::Timeout { tool: tool.to_owned() }),
        Injection::Error(text) => Some(ToolError::Injected(text.clone())),
        _ => None,
    }
}

/// The result that a fault returns instead of the real one.
pub fn replacement(injection: &Injection, result: &Value) -> Option<Value> {
    match injection {
        Injection::Empty => Some(empty(result)),
        Injection::Malformed => Some(Value::String(first_half(result))),
        _ => None,
    }
}

fn empty(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Bool(_) => Value::Bool(false),
        Value::Number(_) => Value::from(0),
        Value::String(_) => Value::String(String::new()),
        Value::Array(_) => Value::Array(Vec::new()),
        Value::Object(_) => Value::Object(serde_json::Map::new()),
    }
}

/// The first half of the characters of the JSON text.
fn first_half(value: &Value) -> String {
    let text = value.to_string();
    let half = text.chars().count() / 2;
    text.chars().take(half).collect()
}

impl fmt::Display for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("timeout"),
            Self::Error(text) if text == DEFAULT_ERROR => f.write_str("error"),
            Self::Error(text) => write!(f, "error {}", Value::from(text.as_str())),
            Self::Empty => f.write_str("empty"),
            Self::Stale => f.write_str("stale"),
            Self::Slow(wait) if *wait < Duration::from_secs(1) => {
                write!(f, "slow {}ms", wait.as_secs_f64() * 1000.0)
            }
            Self::Slow(wait) => write!(f, "slow {}s", wait.as_secs_f64()),
            Self::Malformed => f.write_str("malformed"),
        }
    }
}

impl FromStr for Injection {
    /// What is wrong, as a sentence.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let (name, rest) = match name.split_once('"') {
            Some((name, _)) => (name, &text[name.len()..]),
            None => (name, rest.trim()),
        };
        match (name, rest) {
            ("timeout", "") => Ok(Self::Timeout),
            ("error", "") => Ok(Self::error()),
            ("error", text) => serde_json::from_str(text)
                .map(Self::Error)
                .map_err(|_| format!("the text of `error` is in double quotes, not `{text}`")),
            ("empty", "") => Ok(Self::Empty),
            ("stale", "") => Ok(Self::Stale),
            ("slow", "") => Err("`slow` needs a duration: write, for example, `slow 2s`".to_owned()),
            ("slow", wait) => parse_duration(wait).map(Self::Slow),
            ("malformed", "") => Ok(Self::Malformed),
            ("timeout" | "empty" | "stale" | "malformed", rest) => {
                Err(format!("`{name}` takes nothing, not `{rest}`; a rate is written `at 30%`"))
            }
            ("", _) => Err(format!("it names no fault; there are {}", FORMS)),
            (unknown, _) => {
                let names = ["timeout", "error", "empty", "stale", "slow", "malformed"];
                Err(match wording::closest(unknown, names) {
                    Some(meant) => format!("there is no fault `{unknown}`; did you mean `{meant}`?"),
                    None => format!("there is no fault `{unknown}`; there are {}", FORMS),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fault_is_written_as_it_is_read() {
        for text in [
            "timeout",
            "error",
            r#"error "no \"index\"""#,
            "empty",
            "stale",
            "slow 2s",
            "slow 1.5s",
            "slow 50ms",
            "malformed",
        ] {
            assert_eq!(text.parse::<Injection>().unwrap().to_string(), text);
        }
        assert_eq!("slow  500 ms".parse(), Ok(Injection::Slow(Duration::from_millis(500))));
        assert_eq!(r#"error"no""#.parse(), Ok(Injection::Error("no".to_owned())));
    }

    #[test]
    fn what_is_no_fault_says_which_there_are() {
        let problem = |text: &str| text.parse::<Injection>().unwrap_err();
        assert_eq!(problem("timout"), "there is no fault `timout`; did you mean `timeout`?");
        assert_eq!(problem("crash"), format!("there is no fault `crash`; there are {}", FORMS));
        assert_eq!(problem(""), format!("it names no fault; there are {}", FORMS));
        assert_eq!(problem("slow"), "`slow` needs a duration: write, for example, `slow 2s`");
        assert_eq!(problem("slow 2"), "a duration needs a unit: write `2s` or `2ms`");
        assert_eq!(problem("error no"), "the text of `error` is in double quotes, not `no`");
        assert_eq!(problem("empty 30%"), "`empty` takes nothing, not `30%`; a rate is written `at 30%`");
    }

    #[test]
    fn an_empty_result_has_the_type_of_the_real_one() {
        let real = json!([null, true, 3.5, "a", [1], { "a": 1 }]);
        let empty: Vec<_> = real
            .as_array()
            .unwrap()
            .iter()
            .map(|value| replacement(&Injection::Empty, value).unwrap())
            .collect();
        assert_eq!(json!(empty), json!([null, false, 0, "", [], {}]));
    }

    #[test]
    fn a_malformed_result_is_half_of_its_text() {
        let malformed = |value: &Value| replacement(&Injection::Malformed, value).unwrap();
        assert_eq!(malformed(&json!({ "sky": "näß" })), json!("{\"sky\""));
        assert_eq!(malformed(&json!(7)), json!(""));
    }
}
