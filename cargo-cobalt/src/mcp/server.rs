//! Where each request goes.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::changes::Changes;
use super::command::Commands;
use super::projects::Projects;
use super::tools::{self, Call};
use super::{complete, resources};

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
    changes: Arc<Changes>,
}

impl Server {
    pub(super) fn new(projects: Projects, commands: Commands) -> Self {
        let projects = Arc::new(projects);
        let changes = Arc::new(Changes::of(&projects));
        Self { projects, commands, changes }
    }

    fn call<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> Call<'a> {
        Call { projects: &self.projects, commands: &self.commands, context }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_completions()
            .build();
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
        tools::call(self.call(&context), request).await
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::all(&self.projects.all())?))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates(&self.projects.all())))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resources::read(self.call(&context), &request.uri).await?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        complete::complete(&self.projects, request)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.changes.subscribe(&context.peer, &request.uri).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.changes.unsubscribe(&request.uri).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(self.changes.accepted(requested))
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.changes.listen(&subscription).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.changes.begin(&context.peer).await;
    }
}
