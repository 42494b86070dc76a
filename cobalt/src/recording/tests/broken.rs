//! Providers that are busy, broken or very talkative.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

#[tokio::test]
async fn a_busy_provider_is_asked_again_and_the_wait_is_no_latency() {
    let attempts = AtomicUsize::new(0);
    let scene = Scene::new(move |_| match attempts.fetch_add(1, Ordering::SeqCst) {
        0 => ScriptedResponse::json(429, &json!({ "error": "slow down" })).header("retry-after", "0.2"),
        1 => ScriptedResponse::text(503, "busy").header("retry-after-ms", "10"),
        _ => completion("at last"),
    });
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 0);
    let (status, answer) = process.ask(&execution, &["hi"]).await;
    assert_eq!((status, content(&answer).as_str()), (200, "at last"));
    assert!(execution.waited() >= Duration::from_millis(200), "{:?}", execution.waited());
    let (traffic, _) = end(&execution).await;
    assert_eq!(traffic.retried, 2);
    assert!(traffic.waited_ms >= 200.0);
    let cassette = scene.cassette("item-0");
    assert_eq!(
        cassette.interactions().map(|interaction| interaction.response.status).collect::<Vec<_>>(),
        [200]
    );
}

#[tokio::test]
async fn an_exhausted_quota_is_not_asked_again_and_replayed_as_it_was() {
    let scene =
        Scene::new(|_| ScriptedResponse::json(429, &json!({ "error": { "code": "insufficient_quota" } })));
    for mode in [RecordMode::Record, RecordMode::Replay] {
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        let (status, text) = process.ask(&execution, &["hi"]).await;
        assert!(status == 429 && text.contains("insufficient_quota"), "{text}");
        assert_eq!(end(&execution).await.0.retried, 0);
    }
    assert_eq!(scene.server.as_ref().unwrap().requests().len(), 1);
}

#[tokio::test]
async fn a_stream_that_is_cut_is_replayed_with_its_cut() {
    let stream = "data: one\n\ndata: two\n\ndata: three\n\n";
    let mut scene = Scene::new(move |_| {
        let whole = ScriptedResponse::text(200, stream).header("content-type", "text/event-stream");
        whole.in_pieces().cut_after(24)
    });
    for mode in [RecordMode::Record, RecordMode::Replay] {
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        let request = process.client.post(format!("{}/chat/completions", process.base_url(Some(&execution))));
        let mut response = request.body(chat(&["hi"]).to_string()).send().await.unwrap();
        let mut text = Vec::new();
        let broken = loop {
            match response.chunk().await {
                Ok(Some(part)) => text.extend_from_slice(&part),
                Ok(None) => break false,
                Err(_) => break true,
            }
        };
        assert_eq!((String::from_utf8(text).unwrap().as_str(), broken), (&stream[..24], true), "{mode}");
        end(&execution).await;
        scene.stop();
    }
    assert!(scene.cassette("item-0").interactions().next().unwrap().response.truncated);
}

#[tokio::test]
async fn an_answer_of_50_megabytes_is_recorded_once_by_its_hash() {
    let text = Arc::new("0123456789abcdef".repeat(50 << 16));
    let sent = Arc::clone(&text);
    let mut scene = Scene::new(move |_| completion(&sent));
    for mode in [RecordMode::Record, RecordMode::Replay] {
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        let (status, answer) = process.ask(&execution, &["hi"]).await;
        assert!(status == 200 && content(&answer) == *text);
        end(&execution).await;
        scene.stop();
    }
    let folder = RecordingFolder::new(scene.folder.path().join("desk"));
    assert!(std::fs::metadata(folder.cassette("item-0")).unwrap().len() < 4_000);
    assert_eq!(folder.blobs().unwrap().len(), 1);
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_an_error_with_its_address() {
    let mut scene = Scene::numbered();
    scene.stop();
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 0);
    let (status, text) = process.ask(&execution, &["hi"]).await;
    assert!(status == 502 && text.contains("cannot reach http://127.0.0.1:"), "{text}");
    // An agent that swallows it has no output that could be replayed.
    let (traffic, problem) = end(&execution).await;
    assert_eq!(traffic.live, 1);
    assert!(problem.unwrap().contains("cannot reach http://127.0.0.1:"));
    let off = scene.process(RecordMode::Off);
    let execution = off.begin(0, 0);
    assert_eq!(off.ask(&execution, &["hi"]).await.0, 502);
    assert_eq!(end(&execution).await.1, None, "the agent may have an answer for that");
}

#[tokio::test]
async fn unreachable_twins_are_both_in_error() {
    let mut scene = Scene::numbered();
    scene.stop();
    let process = scene.process(RecordMode::Record);
    let twins = process.begin_twins();
    assert_eq!(process.post(&process.base_url(None), &chat(&[TWIN])).await.0, 502);
    for twin in twins {
        assert!(end(&twin).await.1.unwrap().contains("cannot reach"));
    }
}

#[tokio::test]
async fn answers_that_cannot_be_written_stop_the_experiment() {
    let long = "0123456789".repeat(1_000);
    let scene = Scene::new(move |_| completion(&long));
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 0);
    // There is no place for long texts.
    std::fs::write(scene.folder.path().join("desk"), "a file").unwrap();
    assert_eq!(process.ask(&execution, &["hi"]).await.0, 200);
    assert!(end(&execution).await.1.unwrap().contains("cannot write a recording"));
    let failure = execution.experiment().failure().unwrap().to_string();
    assert!(failure.starts_with("cannot record `desk`: "), "{failure}");
}
