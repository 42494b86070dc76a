//! A trial that is retried: its attempts share one recording, and the waits of none of them are latency.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use cobalt_core::report::{ItemResult, Status};

use super::*;
use crate::engine::retry_tests::{definition, work};
use crate::engine::{Work, run_item};
use crate::{AgentError, Context};

/// How long the agent takes at least, apart from its requests.
const OWN: Duration = Duration::from_millis(30);

/// Runs an item with an agent that calls each answer but "Paris" transient.
async fn run(process: &Process, retries: usize) -> ItemResult {
    let (client, url) = (process.client.clone(), process.base_url(None));
    let agent = move |context: Context| {
        let request =
            client.post(format!("{url}/chat/completions")).header("content-type", "application/json");
        let request = request.body(chat(&["the capital?"]).to_string());
        let (name, value) = context.request_header().unwrap();
        async move {
            tokio::time::sleep(OWN).await;
            let response = request.header(name, value).send().await.unwrap();
            let (status, text) = (response.status().as_u16(), response.text().await.unwrap());
            match status {
                200 if content(&text) == "Paris" => Ok("Paris"),
                _ => Err(AgentError::transient(format!("status {status}"))),
            }
        }
    };
    let traffic = Some(Arc::clone(&process.traffic));
    run_item(&Work { traffic, ..work(definition(retries), agent) }, 0, |_| Account::default(), |_| {})
        .await
        .unwrap()
}

/// A provider whose first answer is of no use.
fn poor_at_first() -> Scene {
    let next = AtomicUsize::new(0);
    Scene::new(move |_| completion(if next.fetch_add(1, Ordering::SeqCst) == 0 { "hm" } else { "Paris" }))
}

#[tokio::test]
async fn all_attempts_of_a_trial_are_one_recording_that_is_replayed_in_the_same_way() {
    let mut scene = poor_at_first();
    let recorded = run(&scene.process(RecordMode::Record), 2).await;
    let trial = recorded.first_trial();
    assert_eq!((recorded.passed, trial.retried.len()), (true, 1));
    assert_eq!(trial.traffic.as_ref().unwrap().live, 2, "of both attempts");
    let cassette = scene.cassette("item-0");
    assert_eq!((cassette.trials.len(), cassette.trials[0].interactions.len()), (1, 2));
    assert_eq!(cassette.trials[0].latency_ms, Some(trial.latency_ms), "of the last attempt");

    scene.stop();
    let replayed = run(&scene.process(RecordMode::Replay), 2).await;
    let again = replayed.first_trial();
    assert_eq!((replayed.passed, again.retried.len()), (true, 1), "{again:?}");
    assert_eq!(again.traffic.as_ref().unwrap().replayed, 2);
    assert_eq!(again.latency_ms, trial.latency_ms);
}

#[tokio::test]
async fn a_request_that_is_not_recorded_is_not_retried() {
    let scene = poor_at_first();
    run(&scene.process(RecordMode::Record), 0).await;
    let refused = run(&scene.process(RecordMode::Replay), 5).await;
    let trial = refused.first_trial();
    // The first attempt is replayed, and the second finds nothing.
    assert_eq!((trial.status, trial.retried.len()), (Status::Error, 1), "{trial:?}");
    assert!(trial.error.as_ref().unwrap().contains("not recorded"), "{trial:?}");
}

#[tokio::test]
async fn waits_for_a_provider_count_as_latency_of_no_attempt() {
    let next = AtomicUsize::new(0);
    let scene = Scene::new(move |_| match next.fetch_add(1, Ordering::SeqCst) {
        0 => ScriptedResponse::json(429, &json!({ "error": "slow down" })).header("retry-after", "1"),
        1 => completion("hm"),
        _ => completion("Paris"),
    });
    let began = Instant::now();
    let item = run(&scene.process(RecordMode::Off), 1).await;
    let all = began.elapsed().as_secs_f64() * 1000.0;
    let trial = item.first_trial();
    assert_eq!((item.passed, trial.retried.len()), (true, 1));
    let waited = trial.traffic.as_ref().unwrap().waited_ms;
    // The provider asks for a second. No time is counted twice, and none is lost.
    assert!(waited >= 900.0 && trial.retried[0].latency_ms + trial.latency_ms + waited <= all, "{trial:?}");
    let own = OWN.as_secs_f64() * 1000.0;
    assert!(trial.retried[0].latency_ms >= own * 0.9 && trial.latency_ms >= own * 0.9, "{trial:?}");
}

#[tokio::test]
async fn waits_after_the_end_of_the_agent_are_not_subtracted_from_its_latency() {
    let scene = Scene::new(|_| {
        ScriptedResponse::json(429, &json!({ "error": "slow down" })).header("retry-after", "1")
    });
    let process = scene.process(RecordMode::Off);
    let execution = process.begin(0, 0);
    // The agent does not wait for this one.
    let (client, url) = (process.client.clone(), process.base_url(Some(&execution)));
    let abandoned = tokio::spawn(client.post(format!("{url}/chat/completions")).body("{}").send());
    let waits = async {
        while execution.waited().is_zero() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waits).await.expect("the request waits for its retry");
    let agent = execution.end_agent(Duration::from_millis(100)).await;
    // The end of a trial waits longer than that for the request.
    let all = execution.waited();
    assert!(agent.waited + Duration::from_millis(300) < all, "{agent:?}, {all:?}");
    abandoned.abort();
}
