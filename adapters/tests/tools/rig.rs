//! Tools of rig's agents with faults and recordings.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cobalt::recording::{RecordMode, Recordings};
use cobalt::report::Execution;
use cobalt::{BoxError, Context, Dataset, Experiment, FnEvaluator};
use rig::AgentBuilder;
use rig::providers::openai::OpenAIConfig;
use rig::tool::{DynamicTool, ToolOutput};
use serde_json::{Value, json};

use crate::common::reply::{TOOL_TURNS, TURNS};
use crate::common::{Server, prompt};
use crate::count_tool::{self, Count};

fn experiment() -> Experiment {
    let items = Dataset::from_items([cobalt::item! { "id": "one" }]);
    Experiment::new("rig", items)
        .evaluator(FnEvaluator::new("done", |cx| cx.output_text() == "done 5"))
        .strict(false)
        .save(false)
}

/// Runs an agent with the tool that this makes of a context.
async fn run(
    experiment: Experiment,
    server: &Server,
    tool: impl Fn(&Context) -> DynamicTool + Clone + Send + Sync + 'static,
) -> Execution {
    let url = server.url.clone();
    let agent = move |context: Context| {
        let config = OpenAIConfig::new("key").with_base_url(context.base_url_for(&url));
        let model = config.connect(rig::http_client::ReqwestClient::default());
        let agent = AgentBuilder::new(model.chat("m")).dynamic_tool(tool(&context));
        let agent = agent.default_max_turns(TURNS).build();
        async move { Ok::<_, BoxError>(agent.prompt(prompt(5)).await?.output().to_owned()) }
    };
    let report = experiment.run(agent).await.unwrap();
    let trial = report.items[0].first_trial().clone();
    assert_eq!(
        trial.output.as_ref().map(|output| output.text().into_owned()).as_deref(),
        Some("done 5"),
        "{trial:?}"
    );
    trial
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_reaches_the_agent_and_each_call_is_in_the_trace_once() {
    cobalt::trace::install();
    let server = Server::start().await;
    let calls = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&calls);
    let tool = Count(move |arguments: Value| {
        format!("{} {}", arguments["item"], counted.fetch_add(1, Ordering::SeqCst))
    });
    let faulty = experiment().faults(r#"count#2: error "out of order""#);
    let trial =
        run(faulty, &server, move |context| cobalt_clients::rig::tool(context, tool.clone()).unwrap()).await;
    assert_eq!(calls.load(Ordering::SeqCst), TOOL_TURNS - 1, "one call fails before it");
    assert_eq!(
        trial.faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [r#"count#2: error "out of order""#]
    );
    let spans: Vec<_> = trial.trace.tool_calls().collect();
    let results: Vec<_> =
        spans.iter().map(|(_, tool)| tool.result.clone().or(tool.error.clone().map(Into::into))).collect();
    assert_eq!(results, ["5 0", "out of order", "5 1"].map(|text| Some(json!(text))), "{spans:?}");
    assert_eq!(spans[1].0.attributes["fault"], r#"error "out of order""#);
    assert!(spans.iter().all(|(_, tool)| tool.call_id.is_some()), "rig knows the ids: {spans:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_are_replayed_without_a_call() {
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    for mode in [RecordMode::Record, RecordMode::Replay] {
        let recordings = Recordings::new(folder.path()).mode(mode);
        let counted = Arc::clone(&calls);
        let tool = move |context: &Context| {
            let calls = Arc::clone(&counted);
            let name = rig::message::ToolName::new("count").unwrap();
            let real = DynamicTool::new(name, "Counts", count_tool::parameters(), move |_| {
                let number = calls.fetch_add(1, Ordering::SeqCst);
                Box::pin(async move { Ok(ToolOutput::json(json!({ "number": number }))) })
            });
            cobalt_clients::rig::dynamic_tool(context, real)
        };
        let trial = run(experiment().record(recordings), &server, tool).await;
        let results: Vec<_> =
            trial.trace.tool_calls().map(|(_, tool)| tool.result.clone().unwrap()).collect();
        assert_eq!(results, [0, 1, 2].map(|number| json!({ "number": number })), "{mode}");
    }
    assert_eq!(calls.load(Ordering::SeqCst), TOOL_TURNS);
}
