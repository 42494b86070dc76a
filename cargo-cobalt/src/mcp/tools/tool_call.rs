//! A tool call: its context, its result, and its errors.

use std::fmt::Write as _;

use cobalt_core::reporters::printable;
use cobalt_core::wording::count;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ProtocolVersion, Tool, ToolAnnotations};
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::arguments::read;
use super::schema;
use crate::error::Error;
use crate::markdown::{code, fenced};
use crate::mcp::command::Commands;
use crate::mcp::guarded;
use crate::mcp::plain::Diagnostic;
use crate::mcp::projects::{Project, Projects};

/// The note if some errors do not fit.
const MORE: &str = "\nMore errors are in the structured content.\n";

/// The context of a tool call.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub projects: &'a Projects,
    pub commands: &'a Commands,
    pub context: &'a RequestContext<RoleServer>,
}

/// The result of a tool.
pub struct Answer<T> {
    /// The structured content.
    pub structured: T,
    /// A summary as Markdown.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
}

/// A tool with its full schemas.
pub fn tool<Arguments: JsonSchema + 'static, Structured: JsonSchema + 'static>(
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
    schema::tidy(&mut tool);
    tool
}

/// Parses the arguments, calls the tool, and builds the protocol's result.
pub async fn answer<Arguments, Structured, Answering>(
    call: Call<'_>,
    arguments: JsonObject,
    tool: impl FnOnce(Arguments) -> Answering,
) -> CallToolResult
where
    Arguments: DeserializeOwned + JsonSchema,
    Structured: Serialize,
    Answering: Future<Output = Result<Answer<Structured>, Error>>,
{
    let project = arguments.get("project").and_then(Value::as_str).map(str::to_owned);
    let answered = match read(arguments) {
        Ok(arguments) => tool(arguments).await,
        Err(error) => Err(error),
    };
    let made = answered.and_then(|answer| result(call, answer));
    made.unwrap_or_else(|error| failure(call, project.as_deref(), &error))
}

/// The result for an error, with the project if it is known.
fn failure(call: Call<'_>, project: Option<&str>, error: &Error) -> CallToolResult {
    let mut text = format!("error: {}", guarded::text(error));
    if let Ok(Project { name, root }) = call.projects.choose(project).as_deref() {
        text += &format!("\nproject: {} ({})", printable(name), printable(&root.display().to_string()));
    }
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn result<Structured: Serialize>(
    call: Call<'_>,
    answer: Answer<Structured>,
) -> Result<CallToolResult, Error> {
    let mut structured = serde_json::to_value(&answer.structured).map_err(Error::Json)?;
    round(&mut structured);
    let mut content = vec![ContentBlock::text(answer.text)];
    if !knows_structured(call.context.protocol_version()) {
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
pub fn knows_structured(version: Option<ProtocolVersion>) -> bool {
    version.is_none_or(|version| version.as_str() >= ProtocolVersion::V_2025_06_18.as_str())
}

/// The compiler errors, in full up to half of the room, and other errors, in `room` bytes plus [`MORE`].
pub fn failures(compile: &[Diagnostic], more: usize, errors: &[String], room: usize) -> String {
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
            return text + MORE;
        }
        text += &told;
    }
    for error in errors {
        let told = format!("\nError:\n\n{}", fenced(error));
        if text.len() + told.len() > room {
            return text + MORE;
        }
        text += &told;
    }
    text
}
