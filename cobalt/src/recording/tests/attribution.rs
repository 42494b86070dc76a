//! To which item a request belongs.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::recording::{EXECUTION_HEADER, current_header, within};

/// Sends two requests of each of 1,000 items, 32 items at a time, and checks that each item has got its own.
async fn check_attribution(send: impl AsyncFn(&Process, &ExecutionTraffic, &Value) -> u16 + Sync) {
    let scene = Scene::new(|request| completion(&format!("to {}", last_message(&request.body))));
    let process = scene.process(RecordMode::Record);
    let next = AtomicUsize::new(0);
    let worker = async || {
        loop {
            let index = next.fetch_add(1, Ordering::SeqCst);
            if index >= 1_000 {
                return;
            }
            // Nothing in the requests tells the items apart but a number.
            let execution = process.begin_with(&json!({ "input": "the same for all" }), index, 0);
            for turn in 0..2 {
                let body = chat(&["the same for all", &format!("{index} {turn}")]);
                assert_eq!(send(&process, &execution, &body).await, 200);
                tokio::task::yield_now().await;
            }
            let (traffic, _) = end(&execution).await;
            assert_eq!(traffic.live, 2);
            process.traffic.close(index);
        }
    };
    let workers: Vec<_> = (0..32).map(|_| worker()).collect();
    let mut workers: Vec<_> = workers.into_iter().map(Box::pin).collect();
    std::future::poll_fn(|cx| {
        workers.retain_mut(|worker| worker.as_mut().poll(cx).is_pending());
        if workers.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    for index in 0..1_000 {
        let cassette = scene.cassette(&format!("item-{index}"));
        let said: Vec<_> = cassette
            .interactions()
            .map(|interaction| last_message(interaction.request.body.as_ref().unwrap().json().unwrap()))
            .collect();
        assert_eq!(said, [format!("{index} 0"), format!("{index} 1")]);
    }
}

#[tokio::test]
async fn a_base_url_of_an_item_attributes_exactly() {
    check_attribution(async |process, execution, body| {
        process.post(&process.base_url(Some(execution)), body).await.0
    })
    .await;
}

#[tokio::test]
async fn the_header_of_the_current_task_attributes_exactly() {
    check_attribution(async |process, execution, body| {
        let sent = within(Arc::clone(execution.token()), async {
            let (name, value) = current_header().unwrap();
            let request = process
                .client
                .post(format!("{}/chat/completions", process.base_url(None)))
                .header(name, value);
            request.body(body.to_string()).send().await.unwrap().status().as_u16()
        });
        sent.await
    })
    .await;
}

#[tokio::test]
async fn without_a_token_the_only_item_or_the_item_in_the_conversation_is_the_owner() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    let url = process.base_url(None);
    let only = process.begin(0, 0);
    process.post(&url, &chat(&["anything"])).await;
    assert_eq!(end(&only).await.0.live, 1);
    let (one, other) = (process.begin(1, 0), process.begin(2, 0));
    let asked = chat(&["Be brief.", "question 2 of the items"]);
    process.post(&url, &asked).await;
    assert_eq!(end(&other).await.0.live, 1);
    assert_eq!(end(&one).await.0.live, 0);
    let mut summary = None;
    process.traffic.finish(&mut summary);
    assert_eq!(summary, None, "the items' own traffic decides whether there is a summary");
    let mut summary = Some(cobalt_core::report::TrafficSummary::default());
    process.traffic.finish(&mut summary);
    assert_eq!(summary.map(|summary| (summary.attributed_by_content, summary.unattributed)), Some((1, 0)));
}

#[tokio::test]
async fn requests_of_nobody_are_recorded_and_replayed_all_the_same() {
    let mut scene = Scene::numbered();
    let mut answers = Vec::new();
    for mode in [RecordMode::Record, RecordMode::Replay] {
        let process = scene.process(mode);
        let [one, other] = process.begin_twins();
        let url = process.base_url(None);
        for _ in 0..2 {
            answers.push(content(&process.post(&url, &chat(&[TWIN])).await.1));
        }
        let mut summary = None;
        process.traffic.finish(&mut summary);
        let counts = summary.map(|summary| (summary.unattributed, summary.unattributed_replayed));
        assert_eq!(counts, Some((2, if mode == RecordMode::Replay { 2 } else { 0 })));
        if mode == RecordMode::Replay {
            let (status, refused) = process.post(&url, &chat(&[TWIN])).await;
            assert!(status == 400 && refused.contains("could not be attributed"), "{refused}");
            // One of the two has asked, so neither output counts.
            assert!(end(&one).await.1.is_some() && end(&other).await.1.is_some());
        }
        scene.stop();
    }
    assert_eq!(answers[..2], answers[2..]);
    assert_ne!(answers[0], answers[1]);
}

#[tokio::test]
async fn an_address_of_an_item_that_has_ended_is_refused_with_the_reason() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 0);
    let url = process.base_url(Some(&execution));
    end(&execution).await;
    let (status, refused) = process.post(&url, &chat(&["late"])).await;
    assert!(status == 410 && refused.contains("belongs to an item that has finished"), "{refused}");
    let response =
        process.client.post(format!("{}/x", process.base_url(None))).header(EXECUTION_HEADER, "guess");
    assert_eq!(response.send().await.unwrap().status(), 403);
}

#[tokio::test]
async fn any_other_server_is_reached_by_its_address() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 0);
    let url = process.gateway.base_url_for(&scene.upstream, Some(&execution)).unwrap();
    let (status, answer) = process.post(&url, &chat(&["hi"])).await;
    assert_eq!((status, content(&answer)), (200, "answer 0 to hi".to_owned()));
    end(&execution).await;
    let cassette = scene.cassette("item-0");
    let path = &cassette.interactions().next().unwrap().request.path;
    assert!(path.starts_with("127.0.0.1:") && path.ends_with("/v1/chat/completions"), "{path}");
}

#[tokio::test]
async fn requests_that_are_signed_for_their_host_are_refused() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 0);
    let request = process.client.post(format!("{}/invoke", process.base_url(Some(&execution))));
    let signed = request.header("authorization", "AWS4-HMAC-SHA256 Credential=x").send().await.unwrap();
    assert_eq!(signed.status(), 400);
    assert!(signed.text().await.unwrap().contains("Amazon Bedrock signs the host"));
    assert!(end(&execution).await.1.is_some());
}

#[tokio::test]
async fn a_request_that_continues_a_response_belongs_to_its_item() {
    let next = AtomicUsize::new(0);
    let mut scene = Scene::new(move |_| {
        let id = format!("resp-{}", next.fetch_add(1, Ordering::SeqCst));
        ScriptedResponse::json(200, &json!({ "id": id, "model": "gpt-4o-mini", "output": [] }))
    });
    let more = |text: &str| json!({ "previous_response_id": "resp-0", "input": text });
    for mode in [RecordMode::Record, RecordMode::Replay] {
        let process = scene.process(mode);
        let [one, other] = process.begin_twins();
        assert_eq!(process.post(&process.base_url(Some(&one)), &json!({ "input": "start" })).await.0, 200);
        assert_eq!(process.post(&process.base_url(None), &more("go on")).await.0, 200);
        if mode == RecordMode::Replay {
            assert_eq!(process.post(&process.base_url(None), &more("something else")).await.0, 400);
        }
        let (traffic, problem) = end(&one).await;
        assert_eq!((traffic.live + traffic.replayed, problem.is_some()), (2, mode == RecordMode::Replay));
        let mut summary = None;
        process.traffic.finish(&mut summary);
        assert_eq!(summary, None, "all are attributed");
        // It has ended, so this is a request of another.
        let third = process.begin_with(&json!({ "input": TWIN }), 3, 0);
        process.post(&process.base_url(None), &more("late")).await;
        process.traffic.finish(&mut summary);
        assert_eq!(summary.map(|summary| summary.unattributed), Some(1));
        for execution in [other, third] {
            assert_eq!(end(&execution).await.1, None);
        }
        scene.stop();
    }
}
