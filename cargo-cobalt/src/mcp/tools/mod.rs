//! The tools that an assistant calls, with their arguments and results.

mod arguments;
mod compare;
mod generate;
mod list;
mod results;
mod run;
mod schema;
mod tool_call;

use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject, ProtocolVersion, Tool};
use serde::Serialize;

use super::projects::Project;
use crate::error::Error;
use arguments::fetch_flags;
pub use arguments::parse;
pub use tool_call::ToolContext;
use tool_call::{ToolResult, define_tool, render_errors, respond, supports_structured};

/// All tools, with their full schemas.
pub fn all() -> Vec<Tool> {
    vec![
        list::description(),
        run::description(),
        results::description(),
        compare::description(),
        generate::description(),
    ]
}

/// Calls a tool. Its errors are results, so that the caller can fix the arguments or the source.
pub async fn call(
    call: ToolContext<'_>,
    request: CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    let result = match &*request.name {
        generate::NAME => respond(call, arguments, |arguments| generate::call(call, arguments)).await,
        list::NAME => respond(call, arguments, |arguments| list::call(call, arguments)).await,
        run::NAME => respond(call, arguments, |arguments| run::call(call, arguments)).await,
        results::NAME => respond(call, arguments, |arguments| results::call(call, arguments)).await,
        compare::NAME => respond(call, arguments, |arguments| compare::call(call, arguments)).await,
        unknown => return Err(ErrorData::invalid_params(unknown_tool(unknown), None)),
    };
    Ok(result.into())
}

/// The message for an unknown tool.
fn unknown_tool(name: &str) -> String {
    format!("unknown tool `{name}`; {}", cobalt_core::wording::suggest_or_list(name, names()))
}

/// The full schema of a tool's results.
pub fn schema_of_answer(name: &str) -> Result<impl Serialize + use<>, Error> {
    let tool = all().into_iter().find(|tool| tool.name == name);
    tool.and_then(|tool| tool.output_schema).ok_or_else(|| Error::NothingMatched(unknown_tool(name)))
}

/// The names of all tools.
pub fn names() -> [&'static str; 5] {
    [list::NAME, run::NAME, results::NAME, compare::NAME, generate::NAME]
}

/// All experiments of a project, as the result of `cobalt_list`.
pub async fn experiments(call: ToolContext<'_>, project: &Project) -> Result<impl Serialize + use<>, Error> {
    let named = JsonObject::from_iter([("project".to_owned(), serde_json::json!(project.root))]);
    Ok(list::call(call, parse(named)?).await?.structured)
}

/// All tools for a protocol version. A client that knows an output schema requires structured content.
pub fn outlines(version: Option<ProtocolVersion>) -> Vec<Tool> {
    let mut tools: Vec<_> = all().into_iter().map(schema::outline_tool).collect();
    if !supports_structured(version) {
        tools.iter_mut().for_each(|tool| tool.output_schema = None);
    }
    tools
}
