//! Recording, replaying, and what lies between.

use super::*;

#[tokio::test]
async fn what_was_recorded_is_replayed_when_the_provider_is_gone() {
    let mut scene = Scene::numbered();
    let first = scene.process(RecordMode::Record);
    let execution = first.begin(0, 0);
    let (status, answer) = first.ask(&execution, &["hi"]).await;
    let (_, second) = first.ask(&execution, &["hi", &content(&answer), "more"]).await;
    let (traffic, problem) = end(&execution).await;
    assert_eq!((status, traffic.live, traffic.replayed, problem), (200, 2, 0, None));
    assert!(traffic.live_cost > 0.0);

    scene.stop();
    let other = scene.process(RecordMode::Replay);
    let execution = other.begin(0, 0);
    let replayed = other.ask(&execution, &["hi"]).await;
    assert_eq!((replayed.0, content(&replayed.1)), (200, content(&answer)));
    let replayed = other.ask(&execution, &["hi", &content(&answer), "more"]).await;
    assert_eq!(content(&replayed.1), content(&second));
    let agent = execution.end_agent(Duration::from_millis(1)).await;
    assert_eq!(agent.recorded_latency, Some(20.0));
    let replayed = execution.end(&Execution::default()).unwrap().unwrap();
    assert_eq!((replayed.live, replayed.replayed, replayed.live_cost), (0, 2, 0.0));
    assert!(replayed.is_replayed() && replayed.recorded_at.is_some());
    assert_eq!(replayed.asked, traffic.asked);
    assert_eq!(replayed.asked.len(), 4);
}

#[tokio::test]
async fn equal_requests_and_trials_have_an_answer_each() {
    let scene = Scene::numbered();
    let first = scene.process_with(RecordMode::Record, |_| {});
    for run in 0..2 {
        let execution = first.begin(0, run);
        for _ in 0..2 {
            first.ask(&execution, &["again"]).await;
        }
        end(&execution).await;
    }
    let other = scene.process(RecordMode::Replay);
    for (run, expected) in
        [(1, ["answer 2 to again", "answer 3 to again"]), (0, ["answer 0 to again", "answer 1 to again"])]
    {
        let execution = other.begin(0, run);
        for expected in expected {
            assert_eq!(content(&other.ask(&execution, &["again"]).await.1), expected);
        }
        let (status, refused) = other.ask(&execution, &["again"]).await;
        assert!(
            status == 400 && refused.contains("the recording has 2 requests, and this is one more"),
            "{refused}"
        );
        assert!(end(&execution).await.1.is_some());
    }
    let execution = other.begin(0, 2);
    let (_, refused) = other.ask(&execution, &["again"]).await;
    assert!(refused.contains("no recording of trial 3"), "{refused}");
    end(&execution).await;
}

#[tokio::test]
async fn an_edited_prompt_is_an_error_that_says_where_it_differs() {
    let scene = Scene::numbered();
    scene.record(7, 1, &[&["You are helpful.", "What is the weather in York?"]]).await;
    let other = scene.process(RecordMode::Replay);
    let execution = other.begin(7, 0);
    let (status, refused) =
        other.ask(&execution, &["You are helpful.", "What is the weather in Leeds?"]).await;
    let expected = "the nearest recorded request, number 1, differs in `messages[1].content`: recorded \\\"…t is the weather in York?\\\", now \
                    \\\"…t is the weather in Leeds?\\\"";
    assert!(status == 400 && refused.contains(expected), "{refused}");
    assert!(refused.contains("run with `COBALT_RECORD=auto`"), "{refused}");
    let (traffic, problem) = end(&execution).await;
    assert!(problem.unwrap().contains("messages[1].content"));
    assert_eq!(traffic.live, 0);
}

#[tokio::test]
async fn a_conversation_that_diverges_is_live_from_there_and_recorded_again() {
    let scene = Scene::numbered();
    scene.record(0, 1, &[&["a"], &["a", "b"], &["a", "b", "c"]]).await;
    let second = scene.process(RecordMode::Auto);
    let execution = second.begin(0, 0);
    assert_eq!(content(&second.ask(&execution, &["a"]).await.1), "answer 0 to a");
    assert_eq!(content(&second.ask(&execution, &["a", "x"]).await.1), "answer 3 to x");
    // It is recorded, but belongs to the conversation that was left.
    assert_eq!(content(&second.ask(&execution, &["a", "b", "c"]).await.1), "answer 4 to c");
    let (traffic, problem) = end(&execution).await;
    assert_eq!((traffic.replayed, traffic.live, problem), (1, 2, None));
    assert!(traffic.diverged.unwrap().contains("`messages[1].content`"));
    let cassette = scene.cassette("item-0");
    let answers: Vec<_> =
        cassette.interactions().map(|interaction| interaction.request.body.clone().unwrap()).collect();
    assert_eq!(answers.len(), 3);
    let third = scene.process(RecordMode::Replay);
    let execution = third.begin(0, 0);
    for (messages, expected) in
        [(&["a"][..], "answer 0 to a"), (&["a", "x"], "answer 3 to x"), (&["a", "b", "c"], "answer 4 to c")]
    {
        assert_eq!(content(&third.ask(&execution, messages).await.1), expected);
    }
    end(&execution).await;
}

#[tokio::test]
async fn ignored_fields_may_differ() {
    let scene = Scene::numbered();
    let body = |trace: u64, text: &str| json!({ "model": "m", "metadata": { "trace_id": trace, "kind": 1 }, "messages": [{ "content": text }] });
    let ignore = |settings: &mut ResolvedRecording| settings.ignore = vec!["metadata.trace_id".to_owned()];
    let mut asked = Vec::new();
    for (mode, trace) in [(RecordMode::Record, 1), (RecordMode::Replay, 2)] {
        let process = scene.process_with(mode, ignore);
        let execution = process.begin(0, 0);
        let (status, text) = process.post(&process.base_url(Some(&execution)), &body(trace, "hi")).await;
        assert_eq!(status, 200, "{text}");
        asked.push(end(&execution).await.0.asked);
    }
    assert_eq!(asked[0], asked[1], "both have asked the same");
    let process = scene.process_with(RecordMode::Replay, ignore);
    let execution = process.begin(0, 0);
    process.post(&process.base_url(Some(&execution)), &body(3, "ho")).await;
    let problem = end(&execution).await.1.unwrap();
    assert!(
        problem.contains("`messages[0].content`: recorded \"hi\"") && !problem.contains("trace_id"),
        "{problem}"
    );
}

#[tokio::test]
async fn what_has_no_recording_is_recorded_unless_a_mode_is_chosen() {
    let scene = Scene::numbered();
    scene.record(0, 1, &[&["hi"]]).await;

    let chosen = scene.process(RecordMode::Replay);
    let execution = chosen.begin(1, 0);
    let (status, refused) = chosen.ask(&execution, &["hi"]).await;
    assert!(status == 400 && refused.contains("the item has no recording"), "{refused}");
    end(&execution).await;

    let process = scene.process_with(RecordMode::Replay, |settings| settings.records_missing = true);
    for (index, run, expected) in
        [(1, 0, "answer 1 to hi"), (1, 1, "answer 2 to hi"), (0, 0, "answer 0 to hi")]
    {
        let execution = process.begin(index, run);
        assert_eq!(content(&process.ask(&execution, &["hi"]).await.1), expected);
        assert_eq!(end(&execution).await.1, None);
    }
    // The trial that was interrupted before it was recorded.
    let execution = process.begin(0, 1);
    assert_eq!(content(&process.ask(&execution, &["hi"]).await.1), "answer 3 to hi");
    end(&execution).await;
    let answers = |item| scene.cassette(item).trials.len();
    assert_eq!((answers("item-0"), answers("item-1")), (2, 2));
    // What is recorded is only replayed.
    let execution = process.begin(1, 0);
    let (status, refused) = process.ask(&execution, &["ho"]).await;
    assert!(status == 400 && refused.contains("`messages[0].content`"), "{refused}");
    end(&execution).await;
}

#[tokio::test]
async fn answers_of_judges_of_an_earlier_version_do_not_hide_that_a_trial_is_missing() {
    let scene = Scene::numbered();
    scene.record(0, 1, &[&["hi"]]).await;
    let answer = json!({ "key": "k", "provider": "openai", "model": "m", "answer": 1 });
    let old = Cassette { judges: vec![serde_json::from_value(answer).unwrap()], ..scene.cassette("item-0") };
    scene.recordings().write("item-0", &old).unwrap();
    let process = scene.process_of(2, RecordMode::Replay, |settings| settings.records_missing = true);
    for (run, expected) in [(0, "answer 0 to hi"), (1, "answer 1 to hi")] {
        let execution = process.begin(0, run);
        let (status, answer) = process.ask(&execution, &["hi"]).await;
        assert_eq!((status, content(&answer).as_str()), (200, expected), "{answer}");
        end(&execution).await;
    }
    assert_eq!(scene.cassette("item-0").trials.len(), 2);
}

#[tokio::test]
async fn a_stream_is_replayed_byte_for_byte() {
    let text = "event: start\ndata: {\"z\": 1, \"a\": \"°\"}\n\ndata: {\"usage\": {\"prompt_tokens\": 3, \"completion_tokens\": 1}}\r\n\r\n\
                data: [DONE]\n\n";
    let mut scene = Scene::new(move |_| {
        let stream = ScriptedResponse::text(200, text).header("content-type", "text/event-stream");
        stream.every(Duration::from_millis(2), 7)
    });
    for mode in [RecordMode::Record, RecordMode::Replay] {
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        let (status, body) = process.ask(&execution, &["stream"]).await;
        assert_eq!((status, body.as_str()), (200, text));
        end(&execution).await;
        scene.stop();
    }
    let cassette = scene.cassette("item-0");
    assert_eq!(cassette.interactions().next().unwrap().tokens.unwrap().input, 3);
}

#[tokio::test]
async fn without_recordings_everything_is_passed_on_and_nothing_is_written() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Off);
    let execution = process.begin(0, 0);
    assert_eq!(content(&process.ask(&execution, &["hi"]).await.1), "answer 0 to hi");
    assert_eq!(content(&process.post(&process.base_url(None), &chat(&["hi"])).await.1), "answer 1 to hi");
    assert_eq!(end(&execution).await.0.live, 2);
    assert_eq!(std::fs::read_dir(scene.folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_file_of_another_item_is_no_recording_of_this_one() {
    let scene = Scene::numbered();
    scene.record(0, 1, &[&["hi"]]).await;
    let other = Cassette { item: "item-0?".to_owned(), ..scene.cassette("item-0") };
    scene.recordings().write("item-0", &other).unwrap();
    let process = scene.process(RecordMode::Replay);
    let execution = process.begin(0, 0);
    let (_, refused) = process.ask(&execution, &["hi"]).await;
    assert!(refused.contains("the item has no recording"), "{refused}");
    end(&execution).await;
    scene.record(0, 1, &[&["hello"]]).await;
    let own = scene.cassette("item-0");
    assert_eq!((own.item.as_str(), own.interactions().count()), ("item-0", 1));
}

#[tokio::test]
async fn an_answer_is_replayed_with_its_fields_in_the_order_of_the_model() {
    let text = r#"{"id":"m","content":[{"type":"tool_use","input":{"to":"York","from":"Rome","at":{"z":1,"a":2}}}]}"#;
    let mut scene =
        Scene::new(move |_| ScriptedResponse::text(200, text).header("content-type", "application/json"));
    for mode in [RecordMode::Record, RecordMode::Replay] {
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        assert_eq!(process.ask(&execution, &["hi"]).await, (200, text.to_owned()), "{mode}");
        end(&execution).await;
        scene.stop();
    }
}

#[tokio::test]
async fn only_whole_fresh_recordings_replay() {
    let scene = Scene::numbered();
    for index in 0..2 {
        scene.record(index, 1, &[&["hello"]]).await;
    }
    scene.date_back(1, 0, 60);
    let killed = scene.process(RecordMode::Auto);
    killed.ask(&killed.begin(2, 0), &["hello"]).await;
    let replayed = |mode, stale_after, records_missing| {
        let process = scene.process_of(1, mode, |settings| {
            (settings.stale_after, settings.records_missing) = (stale_after, records_missing);
        });
        (0..4).filter(|index| process.traffic.replays(*index)).collect::<Vec<_>>()
    };
    assert_eq!(replayed(RecordMode::Auto, None, false), [0, 1]);
    assert_eq!(replayed(RecordMode::Replay, None, true), [0, 1]);
    assert_eq!(replayed(RecordMode::Auto, Some(DAY * 30), false), [0], "the other is recorded again");
    assert!(replayed(RecordMode::Record, None, false).is_empty());
}
