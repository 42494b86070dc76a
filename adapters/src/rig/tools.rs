//! Tools of rig as tools of an execution.

use std::sync::Arc;

use cobalt::Context;
use cobalt::tools::{Tool as WrappedTool, ToolError};
use rig::message::EmptyToolName;
use rig::tool::{DynamicTool, IntoToolOutput, Tool, ToolContext, ToolExecutionError, ToolOutput, tool_name};
use serde_json::{Value, json};

/// The field of a recorded result with several parts, or with an image.
const CONTENT: &str = "content";

/// Wraps a tool of rig for the item that runs, as `Context::tool` does for a function: its calls are in the trace and recorded, and
/// faults are injected into them.
///
/// ```
/// use cobalt::Context;
/// use rig::AgentBuilder;
/// use rig::providers::openai::OpenAI;
/// # use rig::tool::PortableTool;
/// # struct Search;
/// # impl PortableTool for Search {
/// #     const NAME: &'static str = "search";
/// #     type Args = serde_json::Value;
/// #     type Output = String;
/// #     type Error = std::convert::Infallible;
/// #     fn description(&self) -> String { "Searches".to_owned() }
/// #     fn parameters(&self) -> serde_json::Value { serde_json::json!({ "type": "object" }) }
/// #     async fn call(&self, _: serde_json::Value) -> Result<String, Self::Error> { Ok("found".to_owned()) }
/// # }
///
/// async fn agent(context: Context) -> Result<String, cobalt::BoxError> {
///     let search = cobalt_clients::rig::tool(&context, Search)?;
///     let agent = AgentBuilder::new(OpenAI::new("key").completion("gpt-5-mini")).dynamic_tool(search).build();
///     Ok(agent.prompt("Find me a tea.").await?.output().to_owned())
/// }
/// ```
///
/// Build the agent in each item: a wrapped tool belongs to one execution. The tool gets an empty `ToolContext`.
///
/// # Errors
///
/// The name of the tool is empty.
pub fn tool<T: Tool + 'static>(context: &Context, tool: T) -> Result<DynamicTool, EmptyToolName> {
    let (description, parameters) = (tool.description(), tool.parameters());
    let tool = Arc::new(tool);
    let real = move |arguments: Value| {
        let tool = Arc::clone(&tool);
        async move { call(&*tool, arguments).await.map(to_json).map_err(|error| feedback(&error)) }
    };
    Ok(wrapped(tool_name::<T>(), description, parameters, context.tool(T::NAME, real)))
}

/// The same for a tool that is defined at run time.
///
/// ```
/// # use cobalt::Context;
/// # use rig::tool::DynamicTool;
/// fn wrap(context: &Context, tools: Vec<DynamicTool>) -> Vec<DynamicTool> {
///     tools.into_iter().map(|tool| cobalt_clients::rig::dynamic_tool(context, tool)).collect()
/// }
/// ```
#[must_use]
pub fn dynamic_tool(context: &Context, tool: DynamicTool) -> DynamicTool {
    let definition = tool.definition();
    let real = move |arguments: Value| {
        let tool = tool.clone();
        async move { tool.execute(arguments).await.map(to_json).map_err(|error| feedback(&error)) }
    };
    let wrapped_tool = context.tool(definition.name.to_string(), real);
    wrapped(definition.name, definition.description, definition.parameters, wrapped_tool)
}

fn wrapped(
    name: rig::message::ToolName,
    description: String,
    parameters: Value,
    tool: WrappedTool<'static>,
) -> DynamicTool {
    DynamicTool::new(name, description, parameters, move |arguments| {
        let tool = tool.clone();
        Box::pin(async move { tool.call(arguments).await.map(from_json).map_err(to_error) })
    })
}

async fn call<T: Tool>(tool: &T, arguments: Value) -> Result<ToolOutput, ToolExecutionError> {
    let arguments = serde_json::from_value(arguments).map_err(|error| {
        ToolExecutionError::invalid_args(format!("failed to parse tool arguments: {error}"))
            .with_source(error)
    })?;
    let output = tool.call(&mut ToolContext::new(), arguments).await;
    output.map_err(|error| tool.map_error(error))?.into_tool_output()
}

/// What the model reads of an error.
fn feedback(error: &ToolExecutionError) -> String {
    error.model_output().render()
}

fn to_error(error: ToolError) -> ToolExecutionError {
    let text = error.to_string();
    match error.is_timeout() {
        true => ToolExecutionError::timeout(text),
        false => ToolExecutionError::other(text),
    }
    .with_source(error)
}

/// Text and JSON as a plain value, everything else as its parts.
fn to_json(output: ToolOutput) -> Value {
    match (output.as_text(), output.as_json()) {
        (Some(text), _) => text.into(),
        (_, Some(value)) => value.clone(),
        _ => json!({ CONTENT: output }),
    }
}

fn from_json(value: Value) -> ToolOutput {
    match value {
        Value::String(text) => ToolOutput::text(text),
        Value::Object(fields) if fields.len() == 1 && fields.contains_key(CONTENT) => {
            serde_json::from_value(fields[CONTENT].clone())
                .unwrap_or_else(|_| ToolOutput::json(fields.into()))
        }
        other => ToolOutput::json(other),
    }
}

#[cfg(test)]
mod tests {
    use rig::message::ToolResultContent;

    use super::*;

    #[test]
    fn each_output_is_the_same_after_it_was_recorded() {
        let parts = vec![ToolResultContent::text("a"), ToolResultContent::json(json!([1]))];
        let outputs = [
            ToolOutput::text("plain"),
            ToolOutput::json(json!({ "sky": "blue" })),
            ToolOutput::json(json!({ "content": "of a page" })),
            ToolOutput::content(parts).unwrap(),
        ];
        for output in outputs {
            assert_eq!(from_json(to_json(output.clone())), output);
        }
    }
}
