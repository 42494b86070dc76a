//! Tools of MCP servers with faults and recordings, all in one process.
#![cfg(feature = "mcp")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cobalt::recording::{RecordMode, Recordings};
use cobalt::report::Execution;
use cobalt::{BoxError, Context, Dataset, Experiment, FnEvaluator};
use cobalt_clients::mcp::connect;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::{ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};

/// A server with the tools `search`, which counts its calls, and `fail`.
#[derive(Clone, Default)]
struct Library(Arc<AtomicUsize>);

impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = ServerConfig::new(capabilities).with_instructions("Search first.");
        info.server_info.name = "library".to_owned();
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Arc::new(json!({ "type": "object" }).as_object().unwrap().clone());
        let tool = |name: &'static str| Tool::new(name, "A tool", Arc::clone(&schema));
        Ok(ListToolsResult::with_all_items(["search", "count", "fail"].map(tool).to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        let query = request.arguments.unwrap_or_default();
        let result = match &*request.name {
            "search" => CallToolResult::success(vec![ContentBlock::text(format!("{} {number}", query["q"]))]),
            "count" => CallToolResult::structured(json!({ "number": number })),
            _ => CallToolResult::error(vec![ContentBlock::text("no index")]),
        };
        Ok(result.into())
    }
}

/// A client of a server.
async fn connected(server: Library) -> rmcp::service::RunningService<RoleClient, ()> {
    let (to_server, to_client) = tokio::io::duplex(4096);
    tokio::spawn(async move { server.serve(to_client).await.unwrap().waiting().await });
    ().serve(to_server).await.unwrap()
}

/// An agent that calls each tool twice and says what it saw.
async fn agent(context: Context, server: Peer<RoleClient>) -> Result<Value, BoxError> {
    let tools = connect(&context, server, ()).await?;
    let info = tools.peer_info().ok_or("no connection")?;
    let name = info.server_info.as_ref().map(|server| &*server.name);
    assert_eq!((name, info.instructions.as_deref()), (Some("library"), Some("Search first.")));
    let mut seen = Vec::new();
    for tool in tools.list_all_tools().await? {
        for _ in 0..2 {
            let arguments = json!({ "q": "tea" }).as_object().cloned().unwrap_or_default();
            let request = CallToolRequestParams::new(tool.name.clone()).with_arguments(arguments);
            let result = tools.call_tool(request).await?;
            let text =
                result.content.first().and_then(|content| content.as_text()).map(|text| text.text.clone());
            let failed = result.is_error == Some(true);
            seen.push(json!([text, result.structured_content, failed]));
        }
    }
    Ok(seen.into())
}

/// What the agent saw, with the trial.
async fn run(experiment: Experiment, server: &Peer<RoleClient>) -> (Value, Execution) {
    let server = server.clone();
    let report = experiment.run(move |context: Context| agent(context, server.clone())).await.unwrap();
    let trial = report.items[0].first_trial().clone();
    let output = trial.output.as_ref().unwrap_or_else(|| panic!("{trial:?}"));
    (serde_json::from_str(&output.text()).unwrap(), trial)
}

fn experiment() -> Experiment {
    let items = Dataset::from_items([cobalt::item! { "id": "one" }]);
    Experiment::new("mcp", items).evaluator(FnEvaluator::new("any", |_| true)).save(false)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_reach_the_agent_as_results_of_the_server_would() {
    let library = Library::default();
    let server = connected(library.clone()).await;
    let faulty = experiment().faults("search#1: timeout; count#1: empty; fail: stale");
    let (seen, trial) = run(faulty, server.peer()).await;
    let number = |number: usize| json!({ "number": number }).to_string();
    let expected = json!([
        ["the tool `search` timed out", null, true],
        ["\"tea\" 0", null, false],
        [null, null, false],
        [number(2), { "number": 2 }, false],
        ["no index", null, true],
        ["no index", null, true],
    ]);
    assert_eq!(seen, expected);
    assert_eq!(library.0.load(Ordering::SeqCst), 5);
    let faults: Vec<_> = trial.faults.iter().map(ToString::to_string).collect();
    assert_eq!(faults, ["search#1: timeout", "count#1: empty"]);
    assert_eq!(trial.trace.tool_calls().count(), 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_are_replayed_without_a_call_of_the_server() {
    let library = Library::default();
    let server = connected(library.clone()).await;
    let folder = tempfile::tempdir().unwrap();
    let with = |mode| experiment().record(Recordings::new(folder.path()).mode(mode));
    let (recorded, _) = run(with(RecordMode::Record), server.peer()).await;
    let (replayed, trial) = run(with(RecordMode::Replay), server.peer()).await;
    assert_eq!(recorded, replayed);
    assert_eq!(library.0.load(Ordering::SeqCst), 6);
    assert_eq!(trial.traffic.unwrap().replayed_tools, 6);
}
