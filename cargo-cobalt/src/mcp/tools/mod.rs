//! The tools that an assistant calls: what each is called with, and what it answers.

mod arguments;
mod compare;
mod failures;
mod fetching;
mod generate;
mod list;
mod results;
mod run;
mod schema;

use cobalt::reporters::printable;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, ProtocolVersion, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(super) use self::arguments::read;
use self::failures::failures;
use self::fetching::fetching;
pub(super) use self::results::Status;
use super::command::Commands;
use super::projects::{Project, Projects};
use super::refusal;
use crate::error::Error;

/// What a tool has at hand.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) projects: &'a Projects,
    pub(super) commands: &'a Commands,
    pub(super) context: &'a RequestContext<RoleServer>,
}

/// What a tool answers.
struct Answer<T> {
    /// All of it, for programs.
    structured: T,
    /// The same in short, for who reads.
    text: String,
    /// Whether what was asked for did not come about.
    is_error: bool,
}

/// All tools, with their whole schemas.
pub(super) fn all() -> Vec<Tool> {
    vec![
        list::description(),
        run::description(),
        results::description(),
        compare::description(),
        generate::description(),
    ]
}

/// Calls a tool. What goes wrong in it is its answer, so that who called it can mend the arguments or the source.
pub(super) async fn call(
    call: Call<'_>,
    request: CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    let result = match &*request.name {
        generate::NAME => answer(call, arguments, |arguments| generate::call(call, arguments)).await,
        list::NAME => answer(call, arguments, |arguments| list::call(call, arguments)).await,
        run::NAME => answer(call, arguments, |arguments| run::call(call, arguments)).await,
        results::NAME => answer(call, arguments, |arguments| results::call(call, arguments)).await,
        compare::NAME => answer(call, arguments, |arguments| compare::call(call, arguments)).await,
        unknown => return Err(ErrorData::invalid_params(no_tool(unknown), None)),
    };
    Ok(result.into())
}

/// What is said of a name that no tool has.
fn no_tool(name: &str) -> String {
    format!("there is no tool `{name}`; {}", cobalt::suggest::instead(name, names()))
}

/// The whole schema of what a tool answers.
pub(super) fn schema_of_answer(name: &str) -> Result<impl Serialize + use<>, Error> {
    let tool = all().into_iter().find(|tool| tool.name == name);
    tool.and_then(|tool| tool.output_schema).ok_or_else(|| Error::NothingMatched(no_tool(name)))
}

/// The names of all tools.
pub(super) fn names() -> [&'static str; 5] {
    [list::NAME, run::NAME, results::NAME, compare::NAME, generate::NAME]
}

/// What the tool that lists tells of all experiments of a project.
pub(super) async fn experiments(call: Call<'_>, project: &Project) -> Result<impl Serialize + use<>, Error> {
    let named = JsonObject::from_iter([("project".to_owned(), serde_json::json!(project.root))]);
    Ok(list::call(call, read(named)?).await?.structured)
}

/// A tool with its whole schemas.
fn tool<Arguments: JsonSchema + 'static, Structured: JsonSchema + 'static>(
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

/// Reads the arguments, and makes a result of what the tool answers.
async fn answer<Arguments, Structured, Answering>(
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

/// What went wrong, and in which project, where that is known.
fn failure(call: Call<'_>, project: Option<&str>, error: &Error) -> CallToolResult {
    let mut text = format!("error: {}", refusal::text(error));
    if let Ok(Project { name, root }) = call.projects.choose(project).as_deref() {
        text += &format!("\nproject: {} ({})", printable(name), printable(&root.display().to_string()));
    }
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn result<Structured: Serialize>(
    call: Call<'_>,
    answer: Answer<Structured>,
) -> Result<CallToolResult, Error> {
    let mut structured =
        serde_json::to_value(&answer.structured).map_err(|error| Error::Print(error.into()))?;
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

/// Rounds all figures to six digits, which say as much as anyone reads; what agents and evaluators gave stays as it is.
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

/// All tools as a version of the protocol has them. A client that knows a result's schema insists on a structured part.
pub(super) fn listed(version: Option<ProtocolVersion>) -> Vec<Tool> {
    let mut tools: Vec<_> = all().into_iter().map(schema::outlined).collect();
    if !knows_structured(version) {
        tools.iter_mut().for_each(|tool| tool.output_schema = None);
    }
    tools
}

/// Whether results have a structured part in this version of the protocol; the dates of versions are in the order of time.
fn knows_structured(version: Option<ProtocolVersion>) -> bool {
    version.is_none_or(|version| version.as_str() >= ProtocolVersion::V_2025_06_18.as_str())
}
