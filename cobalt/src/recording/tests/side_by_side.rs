//! Experiments that run at the same time and share a client, which does not say to which item a request belongs.

use std::sync::mpsc::channel;

use cobalt_core::report::{ItemResult, TrafficSummary};
use tokio::sync::Semaphore;

use super::*;
use crate::engine::retry_tests::{definition, work};
use crate::engine::{Event, Work, run};
use crate::evaluators::FnEvaluator;
use crate::experiment::ResolvedDefinition;
use crate::{Agent, Context, Dataset, EvalContext};

/// What an agent says to its model about an item.
type Message = fn(&Value) -> String;

/// The experiments of a process: name, what the agent says, and whether its requests have tokens.
type Experiments<'a> = &'a [(&'a str, Message, bool)];

fn input(item: &Value) -> String {
    item["input"].as_str().unwrap().to_owned()
}

fn template(item: &Value) -> String {
    format!("Answer this: {} Be brief.", input(item))
}

fn sum(item: &Value) -> String {
    format!("What is {} + 1?", item["number"])
}

/// A model that calls a tool with the question, and answers with the tool's result. All of its calls have the same identifiers.
fn model() -> Scene {
    Scene::new(|request| {
        let messages = request.body["messages"].as_array().unwrap();
        let question = &messages[0]["content"];
        let message = match messages.len() {
            1 => json!({ "role": "assistant", "tool_calls": [{ "id": "call_0", "type": "function",
                "function": { "name": "look_up", "arguments": json!({ "question": question }).to_string() } }] }),
            _ => json!({ "role": "assistant", "content": format!("done: {}", question.as_str().unwrap()) }),
        };
        let finish = if messages.len() == 1 { "tool_calls" } else { "stop" };
        ScriptedResponse::json(
            200,
            &json!({ "id": "chatcmpl-1", "model": "gpt-4o-mini",
                "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
                "usage": { "prompt_tokens": 10, "completion_tokens": 1 } }),
        )
    })
}

/// The work of an experiment whose items score 1 if the calls are their own.
fn work_of(
    process: &Process,
    traffic: &Arc<RunTraffic>,
    items: &[Value],
    (message, has_token): (Message, bool),
) -> Work {
    let (client, url) = (process.client.clone(), process.base_url(None));
    let agent = move |context: Context| {
        let (client, url) = (client.clone(), url.clone());
        let header = context.request_header().filter(|_| has_token);
        let question = json!({ "role": "user", "content": message(&json!(context.item())) });
        async move {
            let ask = async |messages: Value| {
                let request = client.post(format!("{url}/chat/completions"));
                let request =
                    header.iter().fold(request, |request, (name, value)| request.header(*name, value));
                let body = json!({ "model": "gpt-4o-mini", "messages": messages }).to_string();
                let response =
                    request.header("content-type", "application/json").body(body).send().await.unwrap();
                serde_json::from_str::<Value>(&response.text().await.unwrap()).unwrap()
            };
            let first = ask(json!([question])).await;
            let result = json!({ "role": "tool", "tool_call_id": "call_0", "content": "found" });
            let last = ask(json!([question, first["choices"][0]["message"], result])).await;
            last["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned()
        }
    };
    let own_calls = FnEvaluator::new("own", move |cx: &EvalContext| {
        let question = message(&json!(cx.item()));
        cx.tool_calls().is_ok_and(|calls| {
            calls.len() == 1 && calls[0].arguments == Some(json!({ "question": question }))
        })
    });
    let definition = ResolvedDefinition {
        concurrency: 8,
        runs: 2,
        evaluators: vec![Arc::new(own_calls)],
        ..definition(0)
    };
    work_on(items, definition, traffic, agent)
}

fn work_on<M>(
    items: &[Value],
    definition: ResolvedDefinition,
    traffic: &Arc<RunTraffic>,
    agent: impl Agent<M>,
) -> Work {
    let dataset = Dataset::from_items(items.iter().map(|item| item.as_object().unwrap().clone()));
    Work {
        keys: Arc::new(dataset.item_keys()),
        items: (0..items.len()).collect(),
        dataset,
        slots: Arc::new(Semaphore::new(1_000)),
        traffic: Some(Arc::clone(traffic)),
        ..work(definition, agent)
    }
}

async fn results(work: Work) -> Vec<ItemResult> {
    let (sender, events) = channel();
    run(work, sender).await;
    let items = events.into_iter().filter_map(|event| match event {
        Event::ItemFinished { item, .. } => Some(item),
        _ => None,
    });
    items.collect()
}

/// Runs the experiments at the same time in a new process, and checks that all calls are those of their items.
async fn check(scene: &Scene, mode: RecordMode, items: &[Value], experiments: Experiments<'_>) {
    let process = scene.process_of(2, mode, |_| {});
    let traffics: Vec<_> =
        experiments.iter().map(|(name, ..)| scene.traffic(&process.gateway, name, 2, mode, |_| {})).collect();
    let runs = experiments.iter().zip(&traffics).map(|((_, message, has_token), traffic)| {
        tokio::spawn(results(work_of(&process, traffic, items, (*message, *has_token))))
    });
    for (run, (traffic, (name, ..))) in
        runs.collect::<Vec<_>>().into_iter().zip(traffics.iter().zip(experiments))
    {
        let results = run.await.unwrap();
        assert_eq!(results.len(), items.len());
        for item in &results {
            assert!(item.passed, "{name}, {mode:?}: {:?} of {:?}", item.runs[0].trace, item.input);
        }
        let mut summary = TrafficSummary::of(&results);
        traffic.finish(&mut summary);
        let summary = summary.unwrap();
        assert_eq!((summary.unattributed, summary.live + summary.replayed), (0, items.len() * 4), "{name}");
    }
}

/// Checks that the experiments are right when they are recorded, replayed and not recorded, and an item alone.
async fn check_all(items: &[Value], experiments: Experiments<'_>) {
    let mut scene = model();
    check(&scene, RecordMode::Off, items, experiments).await;
    check(&scene, RecordMode::Record, items, experiments).await;
    scene.stop();
    check(&scene, RecordMode::Replay, items, experiments).await;
    for experiment in experiments {
        check(&scene, RecordMode::Replay, &items[..1], &[*experiment]).await;
    }
}

fn questions(number: usize) -> Vec<Value> {
    (0..number)
        .map(|number| json!({ "input": format!("Weather in town {number}?"), "topic": "the weather" }))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn experiments_on_one_dataset_are_apart() {
    check_all(
        &questions(12),
        &[("a", input, false), ("b", input, false), ("c", template, false), ("d", input, false)],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exact_experiments_are_no_candidates() {
    check_all(&questions(12), &[("exact", input, true), ("shared", input, false)]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_without_sent_texts_are_apart() {
    let items: Vec<_> = (0..6).map(|number| json!({ "number": number, "note": "adds numbers" })).collect();
    check_all(&items, &[("a", sum, false), ("b", sum, false)]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_that_contain_each_other_are_apart() {
    let texts = [
        "Weather in York?",
        "Weather in York? And in Leeds?",
        "Tell me: Weather in York? And in Leeds? Now!",
    ];
    let items: Vec<_> = texts.iter().map(|text| json!({ "input": text })).collect();
    check_all(&items, &[("a", input, false), ("b", template, false)]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_items_of_one_dataset_are_apart() {
    let items: Vec<_> = (0..6).map(|user| json!({ "input": "My balance, please?", "user": user })).collect();
    check_all(&items, &[("a", input, false)]).await;
}

/// Their requests do not pass through the gateway.
#[tokio::test(start_paused = true)]
async fn items_without_requests_run_together() {
    let scene = model();
    let process = scene.process_of(1, RecordMode::Off, |_| {});
    let all_started = Arc::new(tokio::sync::Barrier::new(6));
    let runs = ["a", "b"].map(|name| {
        let traffic = scene.traffic(&process.gateway, name, 1, RecordMode::Off, |_| {});
        let all_started = Arc::clone(&all_started);
        let agent = move |_: Context| {
            let all_started = Arc::clone(&all_started);
            async move {
                all_started.wait().await;
                "done".to_owned()
            }
        };
        let items = (0..3).map(|number| json!({ "input": format!("Weather in town {number} of {name}?") }));
        let definition = ResolvedDefinition { concurrency: 3, ..definition(0) };
        tokio::spawn(results(work_on(&items.collect::<Vec<_>>(), definition, &traffic, agent)))
    });
    for run in runs {
        assert!(run.await.unwrap().iter().all(|item| item.runs[0].error.is_none()));
    }
}
