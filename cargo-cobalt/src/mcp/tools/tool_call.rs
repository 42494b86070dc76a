//! A tool call: its context, its result, and its errors.

use std::fmt::Write as _;

use cobalt_core::reporters::escape_control;
use cobalt_core::wording::count;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ProtocolVersion, Tool, ToolAnnotations};
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::arguments::parse;
use super::schema;
use crate::error::Error;
use crate::markdown::{code, fenced};
use crate::mcp::command::Commands;
use crate::mcp::panic_guard;
use crate::mcp::plain_errors::Diagnostic;
use crate::mcp::projects::{Project, Projects};

/// The note if some errors do not fit.
const MORE_ERRORS: &str = "\nMore errors are in the structured content.\n";

/// The context of a tool call.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    pub projects: &'a Projects,
    pub commands: &'a Commands,
    pub context: &'a RequestContext<RoleServer>,
}

/// The result of a tool.
pub struct ToolResult<T> {
    /// The structured content.
    pub structured: T,
    /// A summary as Markdown.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
}

/// A tool with its full schemas.
pub fn define_tool<Arguments: JsonSchema + 'static, Structured: JsonSchema + 'static>(
    name: &'static str,
    title: &str,
    description: &'static str,
    annotations: ToolAnnotations,
) -> Tool {
    let mut tool = Tool::new(name, description, JsonObject::new())
        .with_title(title)
        .with_input_schema::<Arguments>()
        .with_output_schema::<Structured>()
        .with_annotations(annotations);
    schema::remove_number_formats(&mut tool);
    tool
}

/// Parses the arguments, calls the tool, and builds the protocol's result.
pub async fn respond<Arguments, Structured, Answering>(
    call: ToolContext<'_>,
    arguments: JsonObject,
    tool: impl FnOnce(Arguments) -> Answering,
) -> CallToolResult
where
    Arguments: DeserializeOwned + JsonSchema,
    Structured: Serialize,
    Answering: Future<Output = Result<ToolResult<Structured>, Error>>,
{
    let project = arguments.get("project").and_then(Value::as_str).map(str::to_owned);
    let answered = match parse(arguments) {
        Ok(arguments) => tool(arguments).await,
        Err(error) => Err(error),
    };
    let made = answered.and_then(|answer| result(call, answer));
    made.unwrap_or_else(|error| error_result(call, project.as_deref(), &error))
}

/// The result for an error, with the project if it is known.
fn error_result(call: ToolContext<'_>, project: Option<&str>, error: &Error) -> CallToolResult {
    let mut text = format!("error: {}", panic_guard::error_message(error));
    if let Ok(Project { name, root }) = call.projects.select(project).as_deref() {
        text +=
            &format!("\nproject: {} ({})", escape_control(name), escape_control(&root.display().to_string()));
    }
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn result<Structured: Serialize>(
    call: ToolContext<'_>,
    answer: ToolResult<Structured>,
) -> Result<CallToolResult, Error> {
    let mut structured = serde_json::to_value(&answer.structured).map_err(Error::Json)?;
    round(&mut structured);
    let mut content = vec![ContentBlock::text(answer.text)];
    if !supports_structured(call.context.protocol_version()) {
        content.push(ContentBlock::text(structured.to_string()));
        return Ok(match answer.is_error {
            true => CallToolResult::error(content),
            false => CallToolResult::success(content),
        });
    }
    let mut result = match answer.is_error {
        true => CallToolResult::structured_error(structured),
        false => CallToolResult::structured(structured),
    };
    result.content = content;
    Ok(result)
}

/// Rounds all numbers to six significant digits, except in data from agents and evaluators.
fn round(json: &mut Value) {
    const GIVEN: [&str; 5] = ["input", "output", "metadata", "recorded", "content"];
    match json {
        Value::Object(fields) => {
            let figures = fields.iter_mut().filter(|(name, _)| !GIVEN.contains(&name.as_str()));
            figures.for_each(|(_, json)| round(json));
        }
        Value::Array(elements) => elements.iter_mut().for_each(round),
        Value::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().and_then(|number| format!("{number:.5e}").parse().ok());
            if let Some(rounded) = rounded.and_then(serde_json::Number::from_f64) {
                *number = rounded;
            }
        }
        _ => {}
    }
}

/// Whether results have structured content in this protocol version. Versions are dates, so they compare as strings.
pub fn supports_structured(version: Option<ProtocolVersion>) -> bool {
    version.is_none_or(|version| version.as_str() >= ProtocolVersion::V_2025_06_18.as_str())
}

/// The compiler errors, in full up to half of the room, and other errors, in `room` bytes plus [`MORE_ERRORS`].
pub fn render_errors(compile: &[Diagnostic], more: usize, errors: &[String], room: usize) -> String {
    let mut text = String::new();
    if !compile.is_empty() {
        let all = compile.len() + more;
        let _ =
            write!(text, "\nThe build failed with {}; fix the source and call again.\n", count(all, "error"));
    }
    for error in compile {
        let place = match (&error.file, error.line) {
            (Some(file), Some(line)) => code(&format!("{file}:{line}")),
            _ => "the build".to_owned(),
        };
        let mut told = format!("\nAt {place}:\n\n{}", fenced(error.rendered.trim_end()));
        if text.len() + told.len() > room / 2 {
            told = format!("\nAt {place}: {}\n", code(&error.message));
        }
        if text.len() + told.len() > room {
            return text + MORE_ERRORS;
        }
        text += &told;
    }
    for error in errors {
        let told = format!("\nError:\n\n{}", fenced(error));
        if text.len() + told.len() > room {
            return text + MORE_ERRORS;
        }
        text += &told;
    }
    text
}
