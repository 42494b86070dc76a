//! Experiments that run at the same time and share a client, which does not say to which item a request belongs.

use std::collections::BTreeSet;
use std::sync::mpsc::channel;

use cobalt_core::report::{ItemResult, TrafficSummary};
use tokio::sync::Semaphore;

use super::*;
use crate::engine::retry_tests::{definition, work};
use crate::engine::{Event, Work, run};
use crate::evaluators::FnEvaluator;
use crate::experiment::ResolvedDefinition;
use crate::recording::attribution::FIRST_ITEM;
use crate::{Agent, Context, Dataset, EvalContext, ToolCall};

/// What an agent says to its model about an item.
type Message = fn(&Value) -> String;

/// The experiments of a process: name, what the agent says, and how.
type Experiments<'a> = &'a [(&'a str, Message, Way)];

/// How an agent sends its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// All have tokens.
    Exact,
    /// None has.
    Shared,
    /// None has, and the last one has no text of the item.
    Summarizing,
    /// Only the last one has none, nor a text of the item.
    Mixed,
    /// Only the last one has none, but the item's text.
    Rephrasing,
    /// None has, and two are sent at a time.
    Parallel,
}

/// A request without the text of any item.
const SUMMARY: &str = "Summarize what was said.";

impl Way {
    /// What the agent says in addition.
    fn extra(self, message: &str) -> Option<String> {
        match self {
            Self::Exact | Self::Shared => None,
            Self::Summarizing | Self::Mixed => Some(SUMMARY.to_owned()),
            Self::Rephrasing | Self::Parallel => Some(format!("Again: {message}")),
        }
    }

    fn has_tokens(self) -> bool {
        matches!(self, Self::Exact | Self::Mixed | Self::Rephrasing)
    }
}

fn input(item: &Value) -> String {
    item["input"].as_str().unwrap().to_owned()
}

fn template(item: &Value) -> String {
    format!("Answer this: {} Be brief.", input(item))
}

fn sum(item: &Value) -> String {
    format!("What is {} + 1?", item["number"])
}

/// Calls a tool with the question, and answers with the tool's result. All calls have the same identifiers.
fn answer(request: &ReceivedRequest) -> ScriptedResponse {
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
}

/// The work of an experiment whose items score 1 if the calls are their own.
fn work_of(
    process: &Process,
    traffic: &Arc<RunTraffic>,
    items: &[Value],
    (message, way): (Message, Way),
) -> Work {
    let (client, url) = (process.client.clone(), process.base_url(None));
    let agent = move |context: Context| {
        let (client, url) = (client.clone(), url.clone());
        let header = context.request_header().filter(|_| way.has_tokens());
        let text = message(&json!(context.item()));
        async move {
            let ask = async |messages: Value, header: Option<&(&str, String)>| {
                let request = client.post(format!("{url}/chat/completions"));
                let request =
                    header.iter().fold(request, |request, (name, value)| request.header(*name, value));
                let body = json!({ "model": "gpt-4o-mini", "messages": messages }).to_string();
                let response =
                    request.header("content-type", "application/json").body(body).send().await.unwrap();
                serde_json::from_str::<Value>(&response.text().await.unwrap()).unwrap()
            };
            let extra = way.extra(&text);
            let more = async || {
                if let Some(text) = &extra {
                    ask(json!([{ "role": "user", "content": text }]), None).await;
                }
            };
            let question = json!({ "role": "user", "content": text });
            let asks = async || {
                let header = header.as_ref();
                let first = ask(json!([question]), header).await;
                let result = json!({ "role": "tool", "tool_call_id": "call_0", "content": "found" });
                ask(json!([question, first["choices"][0]["message"], result]), header).await
            };
            let last = if way == Way::Parallel {
                tokio::join!(asks(), more()).0
            } else {
                let last = asks().await;
                more().await;
                last
            };
            last["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned()
        }
    };
    let own_calls = FnEvaluator::new("own", move |cx: &EvalContext| {
        let text = message(&json!(cx.item()));
        let own: BTreeSet<_> = way.extra(&text).into_iter().chain([text]).collect();
        let asked = |call: &ToolCall| Some(call.arguments.as_ref()?["question"].as_str()?.to_owned());
        cx.tool_calls().is_ok_and(|calls| {
            calls.len() == own.len() && calls.iter().filter_map(asked).collect::<BTreeSet<_>>() == own
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
    let runs = experiments.iter().zip(&traffics).map(|((_, message, way), traffic)| {
        tokio::spawn(results(work_of(&process, traffic, items, (*message, *way))))
    });
    for (run, (traffic, (name, _, way))) in
        runs.collect::<Vec<_>>().into_iter().zip(traffics.iter().zip(experiments))
    {
        let results = run.await.unwrap();
        assert_eq!(results.len(), items.len());
        // Its first items run at the same time, as their first requests have tokens.
        let is_unknown = |trial: &Execution| {
            *way == Way::Mixed && trial.traffic.as_ref().is_some_and(|it| it.unattributed > 0)
        };
        for item in &results {
            let is_right = item.passed || item.runs.iter().any(is_unknown);
            assert!(is_right, "{name}, {mode:?}: {:?} of {:?}", item.runs, item.input);
        }
        if *way == Way::Mixed {
            continue;
        }
        let mut summary = TrafficSummary::of(&results);
        traffic.finish(&mut summary);
        let summary = summary.unwrap();
        let requests = 2 + usize::from(way.extra("").is_some());
        let expected = (0, items.len() * 2 * requests);
        assert_eq!((summary.unattributed, summary.live + summary.replayed), expected, "{name}, {mode:?}");
    }
}

/// Checks that the experiments are right when they are recorded, replayed and not recorded, and an item alone.
async fn check_all(items: &[Value], experiments: Experiments<'_>) {
    let mut scene = Scene::new(answer);
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
        &[
            ("a", input, Way::Shared),
            ("b", input, Way::Shared),
            ("c", template, Way::Shared),
            ("d", input, Way::Shared),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exact_experiments_are_no_candidates() {
    check_all(&questions(12), &[("exact", input, Way::Exact), ("shared", input, Way::Shared)]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_without_sent_texts_are_apart() {
    let items: Vec<_> = (0..6).map(|number| json!({ "number": number, "note": "adds numbers" })).collect();
    check_all(&items, &[("a", sum, Way::Shared), ("b", sum, Way::Shared)]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_that_contain_each_other_are_apart() {
    let texts = [
        "Weather in York?",
        "Weather in York? And in Leeds?",
        "Tell me: Weather in York? And in Leeds? Now!",
    ];
    let items: Vec<_> = texts.iter().map(|text| json!({ "input": text })).collect();
    check_all(&items, &[("a", input, Way::Shared), ("b", template, Way::Shared)]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_items_of_one_dataset_are_apart() {
    let items: Vec<_> = (0..6).map(|user| json!({ "input": "My balance, please?", "user": user })).collect();
    check_all(&items, &[("a", input, Way::Shared)]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_without_texts_are_apart() {
    let with_summary = ("summarizing", input as Message, Way::Summarizing);
    for other in [Way::Shared, Way::Exact, Way::Summarizing, Way::Parallel] {
        check_all(&questions(6), &[with_summary, ("other", template, other)]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partly_exact_experiments_are_apart() {
    for way in [Way::Mixed, Way::Rephrasing] {
        check_all(
            &questions(6),
            &[("mixed", input, way), ("shared", input, Way::Shared), ("exact", input, Way::Exact)],
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_requests_are_apart() {
    check_all(&questions(8), &[("a", input, Way::Parallel), ("b", input, Way::Parallel)]).await;
}

fn stuck(item: &Value) -> String {
    format!("Stuck: {}", input(item))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_experiments_leave_others_alone() {
    let arrived = Arc::new(tokio::sync::Notify::new());
    let is_stuck = Arc::clone(&arrived);
    let scene = Scene::new(move |request| {
        if request.body.to_string().contains("Stuck: ") {
            is_stuck.notify_one();
            return ScriptedResponse::never();
        }
        answer(request)
    });
    let process = scene.process_of(2, RecordMode::Record, |_| {});
    let items = questions(6);
    let [lost, other] =
        ["lost", "other"].map(|name| scene.traffic(&process.gateway, name, 2, RecordMode::Record, |_| {}));
    let cancelled = tokio::spawn(results(work_of(&process, &lost, &items, (stuck, Way::Shared))));
    arrived.notified().await;
    let waiting = tokio::spawn(results(work_of(&process, &other, &items, (input, Way::Summarizing))));
    cancelled.abort();
    assert!(cancelled.await.unwrap_err().is_cancelled());
    let results = tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it is admitted");
    let results = results.unwrap();
    assert!(results.len() == items.len() && results.iter().all(|item| item.passed));
    assert!(process.gateway.executions().all().is_empty());
    let mut summary = TrafficSummary::of(&results);
    other.finish(&mut summary);
    assert_eq!(summary.unwrap().unattributed, 0);
}

fn broken(_: &Value) -> String {
    panic!("requested by a test")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failing_agents_leave_others_alone() {
    let scene = Scene::new(answer);
    let process = scene.process_of(2, RecordMode::Record, |_| {});
    let items = questions(6);
    let run = |name, message| {
        let traffic = scene.traffic(&process.gateway, name, 2, RecordMode::Record, |_| {});
        tokio::spawn(results(work_of(&process, &traffic, &items, (message, Way::Summarizing))))
    };
    let runs = [run("broken", broken as Message), run("a", input), run("b", input)];
    let [broken, others @ ..] = runs.map(|run| tokio::time::timeout(Duration::from_secs(60), run));
    assert!(broken.await.unwrap().unwrap().iter().all(|item| !item.passed));
    for other in others {
        assert!(other.await.expect("it is admitted").unwrap().iter().all(|item| item.passed));
    }
}

/// Their requests do not pass through the gateway.
#[tokio::test(start_paused = true)]
async fn items_without_requests_run_together() {
    let scene = Scene::new(answer);
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
        let definition = ResolvedDefinition { concurrency: 3, timeout: FIRST_ITEM * 10, ..definition(0) };
        tokio::spawn(results(work_on(&items.collect::<Vec<_>>(), definition, &traffic, agent)))
    });
    let started = tokio::time::Instant::now();
    for run in runs {
        assert!(run.await.unwrap().iter().all(|item| item.runs[0].error.is_none()));
    }
    assert!(started.elapsed() < FIRST_ITEM * 3, "each experiment holds up others once");
}

fn input_of_others(item: &Value) -> String {
    assert_ne!(item["user"], 0, "requested by a test");
    input(item)
}

/// The first agent fails before it sends anything, so it does not show what the others send.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn first_agents_may_fail() {
    let scene = Scene::new(answer);
    let process = scene.process_of(2, RecordMode::Record, |_| {});
    let items: Vec<_> = (0..6).map(|user| json!({ "input": "My balance, please?", "user": user })).collect();
    let traffic = scene.traffic(&process.gateway, "a", 2, RecordMode::Record, |_| {});
    let items = results(work_of(&process, &traffic, &items, (input_of_others, Way::Shared))).await;
    assert_eq!(items.iter().filter(|item| item.passed).count(), 5);
}
