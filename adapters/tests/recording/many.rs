//! Many items with one agent, or one client: each span belongs to its item.

use ::rig::Agent as RigAgent;
use cobalt::{Dataset, ExactMatch, Experiment, Item, Report, item, trace};
use tokio::runtime::Builder;
use tracing::Instrument;

use crate::genai::{GenAi, client, converse};
use crate::matrix::{Agent, Api, Task};
use crate::model::{KEY, Model};
use crate::reply;
use crate::rig::{Rig, shared_agent};
use crate::traces::{SpanDetail, assert_conversation};

const ITEMS: usize = 250;
const CONCURRENCY: usize = 32;

fn task(model: &Model, item: &Item) -> Task {
    let question = item["input"].as_str().unwrap().to_owned();
    Task { base_url: model.url.clone(), key: KEY, question, count: "1" }
}

/// Runs an agent that knows nothing of its context.
async fn run<Marker>(items: usize, agent: impl cobalt::Agent<Marker>) -> Report {
    trace::install();
    let items = (0..items)
        .map(|number| item! { "id": format!("i{number}"), "input": format!("item {number}: count") });
    Experiment::new("many", Dataset::from_items(items))
        // An experiment needs one; its score does not matter here.
        .evaluator(ExactMatch::new("exact", "input"))
        .concurrency(CONCURRENCY)
        .save(false)
        .run(agent)
        .await
        .unwrap()
}

fn assert_conversations(report: &Report, detail: impl Fn(usize) -> SpanDetail) {
    for (number, item) in report.items.iter().enumerate() {
        let execution = &item.runs[0];
        assert_eq!(execution.error, None);
        assert_conversation(execution, number, detail(number));
        if detail(number) == SpanDetail::Contents {
            let (_, first) = execution.trace.model_calls().next().unwrap();
            assert_eq!(first.input, Some(format!("user: item {number}: count")));
        }
    }
}

async fn ask(agent: RigAgent, item: Item) -> Result<String, String> {
    let question = item["input"].as_str().unwrap().to_owned();
    let response = agent.prompt(question).await.map_err(|error| error.to_string())?;
    Ok(response.output().to_owned())
}

/// The items share the queue of the agent's tools, so each may run those of any other.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn spans_of_one_agent_of_rig_belong_to_their_items() {
    let model = Model::start();
    let agent = shared_agent(Rig(Api::Chat), &task(&model, &item! { "input": "" }));
    let report = run(ITEMS, move |item: Item| ask(agent.clone(), item)).await;
    assert_conversations(&report, |_| SpanDetail::Contents);
    assert_eq!(model.take_requests(), ITEMS * reply::TURNS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn spans_of_one_client_of_genai_belong_to_their_items() {
    genai(SpanDetail::Models).await;
}

pub async fn genai(detail: SpanDetail) {
    let model = Model::start();
    let client = client(&task(&model, &item! { "input": "" }));
    let report = run(ITEMS, move |item: Item| {
        let (client, task) = (client.clone(), task(&model, &item));
        async move { converse(&client, GenAi(Api::Chat), task).await }
    });
    assert_conversations(&report.await, |_| detail);
}

/// Half of the items spawn a task with their span, the others without it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn spans_of_a_spawned_task_belong_to_the_item_whose_span_it_has() {
    let model = Model::start();
    let agent = shared_agent(Rig(Api::Chat), &task(&model, &item! { "input": "" }));
    let has_span = |number: usize| number.is_multiple_of(2);
    let report = run(ITEMS, move |item: Item| {
        let number: usize = reply::item_of(item["input"].as_str().unwrap()).parse().unwrap();
        let asking = ask(agent.clone(), item);
        async move {
            let spawned = match has_span(number) {
                true => tokio::spawn(asking.in_current_span()),
                false => tokio::spawn(asking),
            };
            spawned.await.unwrap()
        }
    });
    assert_conversations(&report.await, |number| {
        if has_span(number) { SpanDetail::Contents } else { SpanDetail::Nothing }
    });
}

/// A plain function that waits for what is asynchronous.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn spans_of_a_plain_function_belong_to_their_items() {
    let model = Model::start();
    let agent = move |item: Item| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(GenAi(Api::Chat).converse(task(&model, &item)))
    };
    assert_conversations(&run(100, agent).await, |_| SpanDetail::Models);
}
