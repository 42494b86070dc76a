//! Reads lists of calls, results and messages, and complete API responses.

use cobalt_core::nesting::{is_too_deep, too_deep_message};
use serde_json::Value;

use super::non_calls::NO_CALLS;
use super::reader::{EXPECTED, Entry, Reader, error_at, type_name};
use super::{message, vendors};
use crate::evaluators::calls::call::{ToolCall, ToolCallError};
use crate::metrics::parse_container;

impl ToolCall {
    /// Reads calls in the order in which they were made, from a list of calls or messages, a single one, a complete API
    /// response, or JSON text of any of these. A call precedes its nested calls.
    ///
    /// # Errors
    ///
    /// Fails if an entry is neither a call nor anything else that is known. Names the path, such as `calls[2].function.name`, and
    /// what was expected there.
    pub fn read(value: &Value) -> Result<Vec<Self>, ToolCallError> {
        Reader::default().read(value, "calls")
    }
}

impl Reader {
    /// Reads all calls. `path` is the path of the value, for errors.
    pub fn read(mut self, value: &Value, path: &str) -> Result<Vec<ToolCall>, ToolCallError> {
        if is_too_deep(value) {
            return Err(ToolCallError(too_deep_message(&format!("`{path}`"))));
        }
        let read = value.as_str().and_then(parse_container);
        self.read_any(read.as_ref().unwrap_or(value), path)?;
        match self.calls.iter().find_map(|call| Some((&call.name, call.arguments_error.as_ref()?))) {
            Some((name, problem)) if self.strict => {
                Err(error_at(path, &format!("has an invalid call of `{name}`: {problem}")))
            }
            _ => Ok(self.calls),
        }
    }

    fn read_any(&mut self, value: &Value, path: &str) -> Result<(), ToolCallError> {
        match value {
            Value::Array(values) => self.read_list(values, path),
            Value::Object(object) => {
                let fields = Entry { object, path };
                let list = |name| object.get(name).and_then(Value::as_array);
                if let Some(choices) = list("choices") {
                    message::check_other_fields("choices", fields)?;
                    self.read_single_choice(choices, path, "choices", "message")
                } else if let Some(candidates) = list("candidates") {
                    message::check_other_fields("candidates", fields)?;
                    self.read_single_choice(candidates, path, "candidates", "content")
                } else if let Some((name, messages)) =
                    ["messages", "contents"].iter().find_map(|name| Some((name, list(name)?)))
                {
                    message::check_other_fields(name, fields)?;
                    self.read_list(messages, &fields.path_of(name))
                } else if let Some(items) =
                    list("output").filter(|_| object.get("object").is_some_and(|of| of == "response"))
                {
                    message::check_other_fields("output", fields)?;
                    self.read_list(items, &fields.path_of("output"))
                } else if let Some(Value::Object(message)) =
                    object.get("output").and_then(|output| output.get("message"))
                {
                    message::check_other_fields("output", fields)?;
                    self.read_object(Entry { object: message, path: &fields.path_of("output.message") })
                } else {
                    self.read_object(fields)
                }
            }
            _ => {
                Err(error_at(path, &format!("is {}; expected a list of calls or messages", type_name(value))))
            }
        }
    }

    /// Reads the only choice of a chat completion, or Gemini's only candidate; several would be alternatives.
    fn read_single_choice(
        &mut self,
        answers: &[Value],
        path: &str,
        list: &str,
        message: &str,
    ) -> Result<(), ToolCallError> {
        match answers {
            [answer] => {
                let at = format!("{path}.{list}[0].{message}");
                let object = answer.get(message).and_then(Value::as_object);
                let object = object.ok_or_else(|| error_at(&at, "is missing; expected a message"))?;
                if let Some(answer) = answer.as_object() {
                    let path = format!("{path}.{list}[0]");
                    message::check_other_fields(message, Entry { object: answer, path: &path })?;
                }
                self.read_object(Entry { object, path: &at })
            }
            _ => Err(error_at(
                &format!("{path}.{list}"),
                &format!("has {} answers; expected one, or a single message", answers.len()),
            )),
        }
    }

    pub fn read_list(&mut self, values: &[Value], path: &str) -> Result<(), ToolCallError> {
        values
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| self.read_entry(value, &format!("{path}[{index}]")))
    }

    pub fn read_entry(&mut self, value: &Value, path: &str) -> Result<(), ToolCallError> {
        match value {
            Value::Object(object) => self.read_object(Entry { object, path }),
            Value::String(name) if !name.trim().is_empty() => {
                self.add(ToolCall { name: name.clone(), ..ToolCall::default() }, &[]);
                Ok(())
            }
            _ => Err(error_at(path, &format!("is {}; {EXPECTED}", type_name(value)))),
        }
    }

    /// Reads an object: a call, a result, or a message.
    pub fn read_object(&mut self, fields: Entry<'_>) -> Result<(), ToolCallError> {
        let kind = fields.kind();
        if fields.get("role").is_some() || fields.get("parts").is_some_and(Value::is_array) {
            self.message(fields)
        } else if fields.get("custom").is_some() {
            self.tool_call(fields)
        } else if self.read_known(fields)? || NO_CALLS.contains(&kind) {
            Ok(())
        } else if let Some(content) = message::inner_message(fields) {
            // An agent event, such as adk's, or Gemini's candidate.
            message::check_other_fields("content", fields)?;
            self.read_object(Entry { object: content, path: &fields.path_of("content") })
        } else if vendors::is_result_type(kind) {
            Err(vendors::not_a_call_error(fields))
        } else if fields.get("content").is_some() || fields.get("tool_calls").is_some() {
            let expected = "expected one, as in messages of OpenAI's and Anthropic's APIs";
            Err(error_at(fields.path, &format!("looks like a message, but has no `role`; {expected}")))
        } else {
            self.read_plain(fields)
        }
    }

    /// Reads a call or result in the format of a vendor or framework. Returns `false` if it is neither.
    pub fn read_known(&mut self, fields: Entry<'_>) -> Result<bool, ToolCallError> {
        let kind = fields.kind();
        if fields.get("function").is_some() {
            self.tool_call(fields)?;
        } else if vendors::is_tool_use(kind) {
            self.tool_use(fields)?;
        } else if vendors::is_tool_result(kind) {
            self.tool_result(fields)?;
        } else if vendors::is_item(kind) {
            self.item(fields)?;
        } else if vendors::is_item_output(kind) {
            self.item_output(fields)?;
        } else if !self.read_tagged(fields)? {
            // An object with a tool's name and arguments is itself the call.
            return Ok(!vendors::is_call(fields.object) && self.read_wrapped(fields)?);
        }
        Ok(true)
    }
}
