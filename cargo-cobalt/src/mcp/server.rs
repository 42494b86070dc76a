//! Where each request goes.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::command::Commands;
use super::projects::Projects;
use super::prompts;
use super::tools::{self, Call};

/// What an assistant is told of all of it.
const INSTRUCTIONS: &str = "Cobalt runs experiments: an agent over a data set, each output scored by evaluators, the run judged \
     by thresholds. To improve an agent: `cobalt_list` for what there is and where, `cobalt_run` for the scores and the failing \
     items, read the source where it says, change it, `cobalt_run` again, and `cobalt_compare` the two runs to see whether it is \
     better or within the noise. `cobalt_results` reads past runs and the rest of a long one. `cobalt_generate` writes an \
     experiment for an agent that has none.";

/// The server's end of a conversation.
#[derive(Clone, Debug)]
pub(super) struct Server {
    projects: Arc<Projects>,
    commands: Commands,
}

impl Server {
    pub(super) fn new(projects: Projects, commands: Commands) -> Self {
        Self { projects: Arc::new(projects), commands }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().build();
        let cobalt = Implementation::new("cobalt", env!("CARGO_PKG_VERSION")).with_title("Cobalt");
        ServerConfig::new(capabilities).with_server_info(cobalt).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = Call { projects: &self.projects, commands: &self.commands, context: &context };
        tools::call(call, request).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::all()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&self.projects, request).await.map(GetPromptResponse::from)
    }
}
