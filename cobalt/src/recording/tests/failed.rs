//! Trials that fail keep the recording that they cannot replace.

use cobalt_core::recordings::Body;

use super::*;

const HELLO: &[&str] = &["hello"];
const MORE: &[&str] = &["hello", "more"];

/// A scene with a recording of the first item: two requests.
async fn recorded(answer: impl Fn(&ReceivedRequest) -> ScriptedResponse + Send + Sync + 'static) -> Scene {
    let scene = Scene::new(answer);
    scene.record(0, 1, &[HELLO, MORE]).await;
    scene
}

/// Checks that an execution leaves the recording unchanged and says why.
async fn check_kept(scene: &Scene, execution: &ExecutionTraffic, status: Status, reason: &str) {
    end_as(execution, status).await;
    let kept = scene.cassette("item-0");
    let asked: Vec<_> = kept
        .interactions()
        .map(|it| last_message(it.request.body.as_ref().and_then(Body::json).unwrap()))
        .collect();
    assert_eq!((asked, kept.trials[0].partial), (vec!["hello".to_owned(), "more".to_owned()], false));
    let note = execution.experiment().take_note().unwrap();
    let expected = format!(
        "1 trial of `desk` could not be recorded:\n  `{}",
        scene.recordings().cassette("item-0").display()
    );
    assert!(note.contains(&expected), "{note}");
    assert!(note.ends_with(&format!("trial 1: {reason}; its recording is unchanged")), "{note}");
    assert_eq!(execution.experiment().take_note(), None);
}

#[tokio::test]
async fn an_agent_that_fails_before_it_sends_anything_keeps_its_recording() {
    let scene = recorded(|_| completion("hi")).await;
    let process = scene.process(RecordMode::Record);
    check_kept(&scene, &process.begin(0, 0), Status::Error, "the agent failed before it sent anything").await;
    // An item without a recording has none to keep.
    let other = process.begin(1, 0);
    end_as(&other, Status::Error).await;
    assert_eq!(other.experiment().take_note(), None);
    // An agent that works without a model has no recording any more.
    end(&process.begin(0, 0)).await;
    assert_eq!(scene.recordings().read("item-0").unwrap(), None);
}

#[tokio::test]
async fn an_answer_that_does_not_come_keeps_the_recording() {
    let scene = recorded(|request| match &*last_message(&request.body) {
        "lost" => ScriptedResponse::never(),
        text => completion(text),
    })
    .await;
    for mode in [RecordMode::Record, RecordMode::Auto] {
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        process.ask(&execution, HELLO).await;
        let lost = process.ask(&execution, &["hello", "lost"]);
        assert!(tokio::time::timeout(Duration::from_millis(100), lost).await.is_err());
        // Not every agent passes errors on.
        check_kept(&scene, &execution, Status::Ok, "a request was not answered").await;
    }
    // Without a recording, none is written that would fail the next run.
    let process = scene.process(RecordMode::Auto);
    let execution = process.begin(1, 0);
    process.ask(&execution, HELLO).await;
    let lost = process.ask(&execution, &["hello", "lost"]);
    assert!(tokio::time::timeout(Duration::from_millis(100), lost).await.is_err());
    end_as(&execution, Status::Error).await;
    assert_eq!(scene.recordings().read("item-1").unwrap(), None);
    let note = execution.experiment().take_note().unwrap();
    assert!(note.ends_with("trial 1: a request was not answered"), "{note}");
}

#[tokio::test]
async fn an_answer_that_comes_when_the_client_asks_again_is_recorded() {
    let attempts = std::sync::atomic::AtomicUsize::new(0);
    let scene = Scene::new(move |_| match attempts.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
        0 => ScriptedResponse::never(),
        _ => completion("at last"),
    });
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 0);
    assert!(tokio::time::timeout(Duration::from_millis(100), process.ask(&execution, HELLO)).await.is_err());
    assert_eq!(process.ask(&execution, HELLO).await.0, 200);
    end(&execution).await;
    assert_eq!(execution.experiment().take_note(), None);
    assert_eq!(scene.cassette("item-0").interactions().count(), 1);
}

#[tokio::test]
async fn an_agent_that_times_out_keeps_its_recording() {
    let scene = recorded(|request| completion(&last_message(&request.body))).await;
    for (mode, messages) in [(RecordMode::Record, HELLO), (RecordMode::Auto, &["hello", "other"])] {
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        process.ask(&execution, messages).await;
        check_kept(&scene, &execution, Status::Timeout, "the agent timed out").await;
    }
}

#[tokio::test]
async fn a_key_that_the_provider_does_not_accept_keeps_the_recording() {
    let scene = recorded(|request| match &*last_message(&request.body) {
        "wrong key" => ScriptedResponse::json(401, &json!({ "error": "who are you" })),
        text => completion(text),
    })
    .await;
    for mode in [RecordMode::Record, RecordMode::Auto] {
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        assert_eq!(process.ask(&execution, &["hello", "wrong key"]).await.0, 401);
        check_kept(&scene, &execution, Status::Error, "the provider does not accept the key (status 401)")
            .await;
    }
}

#[tokio::test]
async fn an_agent_that_succeeds_with_a_refused_key_is_recorded_with_everything() {
    let attempts = std::sync::atomic::AtomicUsize::new(0);
    let scene = recorded(move |request| match &*last_message(&request.body) {
        // The client gets a new token.
        "refresh" if attempts.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 => {
            ScriptedResponse::json(401, &json!({ "error": "expired" }))
        }
        "tool" => ScriptedResponse::json(403, &json!({ "error": "not for you" })),
        text => completion(text),
    })
    .await;
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 0);
    for (text, status) in [("refresh", 401), ("refresh", 200), ("tool", 403)] {
        assert_eq!(process.ask(&execution, &[text]).await.0, status);
    }
    end(&execution).await;
    assert_eq!(execution.experiment().take_note(), None);
    assert_eq!(statuses(&scene, "item-0"), [401, 200, 403]);
}

/// A provider that is busy for some time, or for good.
fn busy(request: &ReceivedRequest) -> ScriptedResponse {
    match &*last_message(&request.body) {
        "quota" => ScriptedResponse::json(429, &json!({ "error": { "code": "insufficient_quota" } })),
        // The gateway does not wait so long.
        "busy" => ScriptedResponse::text(503, "busy").header("retry-after", "3600"),
        "credit" => ScriptedResponse::text(402, "pay"),
        text => completion(text),
    }
}

fn statuses(scene: &Scene, item: &str) -> Vec<u16> {
    scene.cassette(item).interactions().map(|interaction| interaction.response.status).collect()
}

#[tokio::test]
async fn a_provider_that_could_not_answer_keeps_the_recording() {
    let scene = recorded(busy).await;
    for mode in [RecordMode::Record, RecordMode::Auto] {
        for (text, status) in [("quota", 429), ("busy", 503), ("credit", 402)] {
            let process = scene.process(mode);
            let execution = process.begin(0, 0);
            assert_eq!(process.ask(&execution, &["hello", text]).await.0, status);
            let reason = format!("the provider could not answer (status {status})");
            check_kept(&scene, &execution, Status::Error, &reason).await;
        }
    }
    // Without a recording, the failure is recorded.
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(1, 0);
    process.ask(&execution, &["busy"]).await;
    end_as(&execution, Status::Error).await;
    assert_eq!(statuses(&scene, "item-1"), [503]);
    // An agent that has an answer for that is recorded.
    let execution = process.begin(0, 0);
    process.ask(&execution, &["busy"]).await;
    end(&execution).await;
    assert_eq!(statuses(&scene, "item-0"), [503]);
}

#[tokio::test]
async fn a_provider_that_answers_when_it_is_asked_again_is_recorded_also_if_the_agent_fails() {
    let attempts = std::sync::atomic::AtomicUsize::new(0);
    let scene = recorded(move |request| match &*last_message(&request.body) {
        "again" if attempts.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 => {
            ScriptedResponse::text(503, "busy").header("retry-after", "3600")
        }
        text => completion(text),
    })
    .await;
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 0);
    for status in [503, 200] {
        assert_eq!(process.ask(&execution, &["again"]).await.0, status);
    }
    end_as(&execution, Status::Error).await;
    assert_eq!(statuses(&scene, "item-0"), [503, 200]);
}

#[tokio::test]
async fn an_agent_that_fails_after_its_last_answer_is_recorded() {
    let scene = recorded(|request| completion(&last_message(&request.body))).await;
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 0);
    process.ask(&execution, HELLO).await;
    end_as(&execution, Status::Error).await;
    assert_eq!(scene.cassette("item-0").interactions().count(), 1, "the failure is replayed");
}

#[tokio::test]
async fn many_trials_that_fail_are_one_note() {
    let scene = Scene::new(|_| ScriptedResponse::json(403, &json!({ "error": "no" })));
    let process = scene.process_of(1, RecordMode::Record, |_| {});
    let mut last = None;
    for index in 0..5 {
        let execution = process.begin(index, 0);
        process.ask(&execution, HELLO).await;
        end_as(&execution, Status::Error).await;
        last = Some(execution);
    }
    let note = last.unwrap().experiment().take_note().unwrap();
    assert!(note.starts_with("note: 5 trials of `desk` could not be recorded:\n"), "{note}");
    assert!(
        note.ends_with("item-2.json`: the provider does not accept the key (status 403)\n  and 2 more"),
        "{note}"
    );
}

#[tokio::test]
async fn unreachable_shared_requests_keep_the_recording() {
    let mut scene = recorded(|_| completion("hi")).await;
    let process = scene.process(RecordMode::Record);
    let [execution, _twin] = [0, 1].map(|index| process.begin_with(&json!({ "input": TWIN }), index, 0));
    for messages in [HELLO, MORE] {
        assert_eq!(process.ask(&execution, messages).await.0, 200);
    }
    scene.stop();
    assert_eq!(process.post(&process.base_url(None), &chat(&[TWIN])).await.0, 502);
    check_kept(&scene, &execution, Status::Error, "a request was refused").await;
}
