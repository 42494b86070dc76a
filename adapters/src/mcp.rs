//! Tools of MCP servers, by a proxy between the agent and the server.
//!
//! The agent connects to the proxy as it would to the server. The proxy passes on the list of tools, and wraps each call as
//! `Context::tool` does for a function: calls are in the trace and recorded, and faults are injected into them.
//!
//! ```
//! use cobalt::{BoxError, Context};
//! use rmcp::model::CallToolRequestParams;
//! use rmcp::{RoleClient, ServiceExt, service::RunningService};
//!
//! async fn agent(context: Context, server: &RunningService<RoleClient, ()>) -> Result<String, BoxError> {
//!     // A client of the proxy, instead of one of the server:
//!     let tools = cobalt_clients::mcp::connect(&context, server.peer().clone(), ()).await?;
//!     let found = tools.call_tool(CallToolRequestParams::new("search")).await?;
//!     Ok(format!("{:?}", found.content))
//! }
//! ```
//!
//! Only tools pass through the proxy: resources, prompts and what a server asks of its client do not. While calls are replayed, the
//! server is still asked for its list of tools.

use cobalt::Context;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{ClientInitializeError, Peer, RequestContext, RunningService, ServiceError};
use rmcp::{ClientHandler, ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value;

/// The size of the buffer between the agent and the proxy, in bytes.
const BUFFER: usize = 64 * 1024;

/// A server that passes on the tools of another one, for the item that runs.
#[derive(Clone, Debug)]
pub struct ToolProxy {
    context: Context,
    server: Peer<RoleClient>,
}

/// Connects an agent's client to a server through a [`ToolProxy`] in this process.
///
/// # Errors
///
/// The client and the proxy could not agree on a connection.
pub async fn connect<H: ClientHandler>(
    context: &Context,
    server: Peer<RoleClient>,
    client: H,
) -> Result<RunningService<RoleClient, H>, ClientInitializeError> {
    let (to_proxy, to_agent) = tokio::io::duplex(BUFFER);
    let proxy = ToolProxy::new(context, server);
    // It ends with the connection of the client, which reports what goes wrong.
    tokio::spawn(async move {
        if let Ok(running) = proxy.serve(to_agent).await {
            let _ = running.waiting().await;
        }
    });
    client.serve(to_proxy).await
}

impl ToolProxy {
    /// A proxy for the tools of a connected server.
    #[must_use]
    pub fn new(context: &Context, server: Peer<RoleClient>) -> Self {
        Self { context: context.clone(), server }
    }
}

/// Calls a tool of the server.
async fn call(server: Peer<RoleClient>, tool: String, arguments: Value) -> Result<Value, String> {
    let mut request = CallToolRequestParams::new(tool);
    if let Value::Object(arguments) = arguments {
        request = request.with_arguments(arguments);
    }
    let result = server.call_tool(request).await.map_err(|error| error.to_string())?;
    match result.is_error {
        Some(true) => Err(text_of(&result).unwrap_or_else(|| "the tool failed".to_owned())),
        _ => to_json(&result),
    }
}

/// The text of a result that is nothing but text.
fn text_of(result: &CallToolResult) -> Option<String> {
    match &result.content[..] {
        [only] => only.as_text().map(|text| text.text.clone()),
        _ => None,
    }
}

/// Text as a string, everything else as the whole result.
fn to_json(result: &CallToolResult) -> Result<Value, String> {
    match text_of(result).filter(|_| result.structured_content.is_none() && result.meta.is_none()) {
        Some(text) => Ok(text.into()),
        None => serde_json::to_value(result).map_err(|error| error.to_string()),
    }
}

fn from_json(value: Value) -> CallToolResult {
    match value {
        Value::String(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        whole @ Value::Object(_) if whole.get("content").is_some() => {
            let text = whole.to_string();
            serde_json::from_value(whole)
                .unwrap_or_else(|_| CallToolResult::success(vec![ContentBlock::text(text)]))
        }
        // What a fault left of the whole result.
        _ => CallToolResult::success(Vec::new()),
    }
}

impl ServerHandler for ToolProxy {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut own = ServerConfig::new(capabilities);
        if let Some(server) = self.server.peer_info() {
            own.server_info = server.server_info.clone().unwrap_or(own.server_info);
            own.instructions.clone_from(&server.instructions);
        }
        own
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.server.list_tools(request).await.map_err(protocol_error)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let (server, name) = (self.server.clone(), request.name.to_string());
        let tool = self
            .context
            .tool(name.clone(), move |arguments: Value| call(server.clone(), name.clone(), arguments));
        let outcome = tool.call(Value::Object(arguments)).await;
        let result = match outcome {
            Ok(value) => from_json(value),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
        };
        Ok(result.into())
    }
}

fn protocol_error(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(other.to_string(), None),
    }
}
