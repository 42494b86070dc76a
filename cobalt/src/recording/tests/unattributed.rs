//! Requests that belong to no item: when their recordings are replaced, and which trials fail if one is refused.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::recording::NO_KEY;

/// Sends a request that belongs to one of the twins, and returns the status and the text of the response.
async fn ask_as_one(process: &Process, text: &str) -> (u16, String) {
    process.post(&process.base_url(None), &chat(&[TWIN, text])).await
}

/// Runs the trial of every item except the twins.
async fn run_others(process: &Process) {
    for index in (0..1_000).filter(|index| ![1, 2].contains(index)) {
        end(&process.begin(index, 0)).await;
    }
}

/// The texts of the recorded requests that belong to no item, and their statuses.
fn recorded(scene: &Scene) -> Vec<(String, u16)> {
    let file = RecordingFolder::new(scene.folder.path()).read("unattributed").unwrap();
    let file = file.unwrap_or_default();
    let recorded = file.interactions().map(|interaction| {
        let request = interaction.request.body.as_ref().unwrap().json().unwrap();
        (last_message(request), interaction.response.status)
    });
    recorded.collect()
}

fn texts(scene: &Scene) -> Vec<String> {
    recorded(scene).into_iter().map(|(text, _)| text).collect()
}

#[tokio::test]
async fn a_complete_recording_replaces_all_unattributed_requests_of_its_experiment() {
    let scene = Scene::numbered();
    let record = async |texts: &[&str], ends: &[Status]| {
        let process = scene.process_of(1, RecordMode::Record, |_| {});
        let twins = process.begin_twins();
        for text in texts {
            ask_as_one(&process, text).await;
        }
        for (twin, status) in twins.iter().zip(ends) {
            end_as(twin, *status).await;
        }
        run_others(&process).await;
        // The engine does this also if an item was stopped before its end.
        (0..1_000).for_each(|index| process.traffic.close(index));
        process.traffic.finish(&mut None);
    };
    record(&["one", "two"], &[]).await;
    record(&["three"], &[Status::Ok]).await;
    assert_eq!(texts(&scene), ["one", "two", "three"], "an item has not ended");
    record(&["four"], &[Status::Ok, Status::Timeout]).await;
    assert_eq!(texts(&scene), ["one", "two", "three", "four"], "a trial keeps its recording");
    record(&["five"], &[Status::Ok, Status::Ok]).await;
    assert_eq!(texts(&scene), ["five"]);
}

#[tokio::test]
async fn all_trials_of_an_item_belong_to_a_complete_recording() {
    let scene = Scene::numbered();
    for (text, runs) in [("one", 1), ("two", 2)] {
        let process = scene.process_of(runs, RecordMode::Record, |_| {});
        let twins = process.begin_twins();
        ask_as_one(&process, text).await;
        for twin in &twins {
            end(twin).await;
        }
        run_others(&process).await;
        (0..1_000).for_each(|index| process.traffic.close(index));
        process.traffic.finish(&mut None);
    }
    assert_eq!(texts(&scene), ["one", "two"]);
}

#[tokio::test]
async fn a_failing_provider_removes_no_unattributed_requests() {
    let broken = Arc::new(AtomicBool::new(false));
    let is_broken = Arc::clone(&broken);
    let lost = Arc::new(tokio::sync::Notify::new());
    let arrived = Arc::clone(&lost);
    let scene = Scene::new(move |request| match &*last_message(&request.body) {
        _ if !is_broken.load(Ordering::SeqCst) => completion("hi"),
        "busy" => ScriptedResponse::text(503, "busy").header("retry-after", "3600"),
        "lost" => {
            arrived.notify_one();
            ScriptedResponse::never()
        }
        _ => ScriptedResponse::json(401, &json!({ "error": "who are you" })),
    });
    let record = async |texts: &[&str]| {
        let process = scene.process_of(1, RecordMode::Record, |_| {});
        let twins = process.begin_twins();
        for text in texts {
            tokio::select! {
                _ = ask_as_one(&process, text) => {}
                () = lost.notified() => {}
            }
        }
        for twin in &twins {
            end(twin).await;
        }
        run_others(&process).await;
        process.traffic.finish(&mut None);
    };
    let good = |text: &str| (text.to_owned(), 200);
    record(&["one", "two"]).await;
    broken.store(true, Ordering::SeqCst);
    record(&["one", "other"]).await;
    assert_eq!(recorded(&scene), [good("one"), good("two")], "the key is revoked");
    record(&["lost"]).await;
    assert_eq!(recorded(&scene), [good("one"), good("two")], "a request is not answered");
    record(&["busy"]).await;
    assert_eq!(recorded(&scene), [good("one"), good("two"), ("busy".to_owned(), 503)]);
    broken.store(false, Ordering::SeqCst);
    record(&["one"]).await;
    assert_eq!(recorded(&scene), [good("one")]);
}

#[tokio::test]
async fn another_process_does_not_replace_equal_requests() {
    for is_shared in [false, true] {
        let scene = Scene::numbered();
        for times in [2, 1] {
            let process = scene.process(RecordMode::Record);
            let [_one, _two] = process.begin_twins();
            // Then it is unknown which experiment has asked.
            let lab = scene.traffic(&process.gateway, "lab", 1, RecordMode::Record, |_| {});
            let item = json!({ "input": TWIN });
            let _other =
                is_shared.then(|| lab.begin(item.as_object().unwrap(), (0, 0), Account::default()).unwrap());
            for _ in 0..times {
                ask_as_one(&process, "again").await;
            }
            process.traffic.finish(&mut None);
            lab.finish(&mut None);
        }
        assert_eq!(texts(&scene), ["again"; 3], "{is_shared}");
    }
}

#[tokio::test]
async fn a_refused_request_is_an_error_only_of_those_that_may_have_sent_it() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    let lab = scene.traffic(&process.gateway, "lab", 1, RecordMode::Record, |_| {});
    let ended = process.begin(5, 0);
    process.ask(&ended, &["hi"]).await;
    ended.end_agent(Duration::ZERO).await;
    let refuse = async || {
        let refused = process.post_with(NO_KEY, &process.base_url(None), &chat(&[TWIN])).await;
        assert_eq!(refused.0, 401, "{refused:?}");
    };
    refuse().await;
    let item = json!({ "input": "something else" });
    let other = process.begin_with(&item, 3, 0);
    let elsewhere = lab.begin(item.as_object().unwrap(), (0, 0), Account::default()).unwrap();
    let twins = process.begin_twins();
    refuse().await;
    assert!(twins.iter().all(|twin| twin.has_problem()));
    assert!(!other.has_problem() && !elsewhere.has_problem());
    // Its evaluators were still running.
    assert!(!ended.has_problem());
    ended.end(&Execution::default()).unwrap();
    assert_eq!(scene.cassette("item-5").interactions().count(), 1);
}

#[tokio::test]
async fn a_refused_request_of_an_experiment_that_is_not_recorded_is_no_error_of_others() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Off);
    let lab = scene.traffic(&process.gateway, "lab", 1, RecordMode::Record, |_| {});
    let item = json!({ "input": "something else" });
    let elsewhere = lab.begin(item.as_object().unwrap(), (0, 0), Account::default()).unwrap();
    let twins = process.begin_twins();
    process.post_with(NO_KEY, &process.base_url(None), &chat(&[TWIN])).await;
    assert!(twins.iter().all(|twin| twin.has_problem()) && !elsewhere.has_problem());
}

#[tokio::test]
async fn an_experiment_that_is_not_recorded_gets_no_recordings_of_others() {
    let scene = Scene::numbered();
    let off = tempfile::tempdir().unwrap();
    let process = scene.process_with(RecordMode::Off, |settings| settings.root = off.path().to_owned());
    let lab = scene.traffic(&process.gateway, "lab", 1, RecordMode::Record, |_| {});
    let item = json!({ "input": TWIN });
    let _not_recorded = process.begin_with(&item, 0, 0);
    let _recorded = lab.begin(item.as_object().unwrap(), (0, 0), Account::default()).unwrap();
    ask_as_one(&process, "hi").await;
    lab.finish(&mut None);
    assert_eq!(texts(&scene), ["hi"]);
    assert_eq!(std::fs::read_dir(off.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn old_trials_ask_again_also_if_their_requests_name_no_item() {
    let scene = Scene::numbered();
    let first = scene.process(RecordMode::Record);
    let both = first.begin_twins();
    assert_eq!(content(&ask_as_one(&first, "hi").await.1), "answer 0 to hi");
    for (number, twin) in (1..).zip(&both) {
        assert_eq!(content(&first.ask(twin, &["bye"]).await.1), format!("answer {number} to bye"));
        end(twin).await;
    }
    first.traffic.finish(&mut None);
    [1, 2].into_iter().for_each(|index| scene.date_back(index, 0, 40));
    let process = scene.renewing(RecordMode::Replay, 3);
    let _both = process.begin_twins();
    assert_eq!(content(&ask_as_one(&process, "hi").await.1), "answer 3 to hi", "of one of two");
    let process = scene.renewing(RecordMode::Replay, 3);
    let _by_content = process.begin_with(&json!({ "input": TWIN }), 1, 0);
    let _other = process.begin_with(&json!({ "input": "something else" }), 2, 0);
    assert_eq!(content(&ask_as_one(&process, "hi").await.1), "answer 4 to hi", "by content");
}

#[tokio::test]
async fn an_item_alone_replays_what_was_not_attributed() {
    let mut scene = Scene::numbered();
    let first = scene.process(RecordMode::Record);
    let _both = first.begin_twins();
    let long = "long ".repeat(2_000);
    let answers = [content(&ask_as_one(&first, "hi").await.1), content(&ask_as_one(&first, &long).await.1)];
    first.traffic.finish(&mut None);
    scene.stop();
    for (mode, has_token) in
        [(RecordMode::Replay, false), (RecordMode::Replay, true), (RecordMode::Auto, true)]
    {
        let process = scene.process(mode);
        let twin = process.begin_with(&json!({ "input": TWIN }), 1, 0);
        let url = process.base_url(Some(&*twin).filter(|_| has_token));
        for (text, answer) in ["hi", &long].into_iter().zip(&answers) {
            assert_eq!(content(&process.post(&url, &chat(&[TWIN, text])).await.1), *answer);
        }
        let (traffic, problem) = end(&twin).await;
        assert_eq!((traffic.replayed, traffic.unattributed, problem), (2, 0, None));
    }
}

#[tokio::test]
async fn trials_know_that_requests_may_be_theirs() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Off);
    let twins = process.begin_twins();
    let other = process.begin(0, 0);
    ask_as_one(&process, "hi").await;
    let list = process.client.get(format!("{}/models", process.base_url(None)));
    list.send().await.unwrap();
    for twin in &twins {
        assert!(twin.end_agent(Duration::ZERO).await.is_incomplete);
        assert_eq!(end(twin).await.0.unattributed, 1);
    }
    assert!(!other.end_agent(Duration::ZERO).await.is_incomplete);
}

#[tokio::test]
async fn unattributed_costs_count_once() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    let _twins = process.begin_twins();
    ask_as_one(&process, "hello").await;
    let tokens = cobalt_core::prices::Tokens::new(1000, 100);
    let cost = process.gateway.cost(None, Some("gpt-4o-mini"), Some(tokens)).unwrap();
    let unreported = |reported| (process.traffic.take_unattributed_cost(reported) / cost).round();
    assert_eq!([unreported(cost / 2.0), unreported(cost * 2.5), unreported(cost)], [0.0, 2.0, 1.0]);
}

#[tokio::test]
async fn repeated_requests_are_attributed() {
    for mode in [RecordMode::Off, RecordMode::Record] {
        let is_busy = AtomicBool::new(true);
        let scene = Scene::new(move |_| {
            if is_busy.swap(false, Ordering::SeqCst) {
                return ScriptedResponse::text(503, "busy").header("retry-after", "3600");
            }
            completion("hi")
        });
        let process = scene.process(mode);
        let [one, two] = process.begin_twins();
        assert_eq!(ask_as_one(&process, "hi").await.0, 503);
        assert!(two.end_agent(Duration::ZERO).await.is_incomplete, "it is not repeated yet");
        assert_eq!(ask_as_one(&process, "hi").await.0, 200);
        let agent = one.end_agent(Duration::ZERO).await;
        assert_eq!((agent.is_incomplete, agent.problem), (false, None), "{mode:?}");
        assert_eq!(one.end(&Execution::default()).unwrap().unwrap_or_default().unattributed, 0);
    }
}
