//! Trials that do not end keep the requests that were answered.

use super::*;

const HELLO: &[&str] = &["hello"];
const MORE: &[&str] = &["hello", "more"];

#[tokio::test]
async fn answered_requests_survive_a_kill() {
    for mode in [RecordMode::Auto, RecordMode::Record] {
        let scene = Scene::numbered();
        // Its trial never ends.
        let killed = scene.process(mode);
        let first = killed.ask(&killed.begin(0, 0), HELLO).await;
        let kept = scene.cassette("item-0");
        assert!(kept.trials[0].partial && kept.interactions().count() == 1);
        let process = scene.process(mode);
        let execution = process.begin(0, 0);
        assert_eq!(process.ask(&execution, HELLO).await, first, "it is not paid for again");
        assert_eq!(content(&process.ask(&execution, MORE).await.1), "answer 1 to more");
        let (traffic, problem) = end(&execution).await;
        assert_eq!((traffic.replayed, traffic.live, traffic.diverged, problem), (1, 1, None, None));
        let whole = scene.cassette("item-0");
        assert!(!whole.trials[0].partial && whole.interactions().count() == 2);
    }
}

#[tokio::test]
async fn fully_replayed_partial_trials_become_complete() {
    let scene = Scene::numbered();
    let killed = scene.process(RecordMode::Auto);
    killed.ask(&killed.begin(0, 0), HELLO).await;
    let process = scene.process(RecordMode::Auto);
    let execution = process.begin(0, 0);
    process.ask(&execution, HELLO).await;
    end(&execution).await;
    assert!(!scene.cassette("item-0").trials[0].partial);
}

#[tokio::test]
async fn a_spent_budget_keeps_what_was_answered() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    for (index, is_budget) in [(0, true), (1, false)] {
        let execution = process.begin(index, 0);
        process.ask(&execution, HELLO).await;
        if is_budget {
            execution.note_spent_budget();
        }
        execution.refuse("no more");
        end_as(&execution, Status::Error).await;
    }
    let execution = process.begin(3, 0);
    process.ask(&execution, HELLO).await;
    execution.note_spent_budget();
    end(&execution).await;
    assert!(scene.cassette("item-3").trials[0].partial, "its judge was refused");
    assert!(scene.cassette("item-0").trials[0].partial);
    assert_eq!(scene.recordings().read("item-1").unwrap(), None);
    let note = process.begin(2, 0).experiment().take_note().unwrap();
    assert!(note.contains("a request was refused; its answered requests are kept"), "{note}");
}

#[tokio::test]
async fn complete_recordings_keep_their_requests() {
    let scene = Scene::numbered();
    scene.record(0, 1, &[HELLO, MORE]).await;
    let before = scene.cassette("item-0");
    let killed = scene.process(RecordMode::Auto);
    killed.ask(&killed.begin(0, 0), &["other"]).await;
    let kept = scene.cassette("item-0");
    assert!(!kept.trials[0].partial && kept.interactions().count() == 3);
    let process = scene.process(RecordMode::Replay);
    let execution = process.begin(0, 0);
    for messages in [HELLO, MORE, &["other"]] {
        assert_eq!(process.ask(&execution, messages).await.0, 200);
    }
    assert!(kept.interactions().any(|kept| before.interactions().any(|it| it.request == kept.request)));
}

#[tokio::test]
async fn unattributed_requests_are_written_at_once() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    let _running = process.begin_twins();
    process.post(&process.base_url(None), &chat(&[TWIN])).await;
    let written = RecordingFolder::new(scene.folder.path()).read("unattributed").unwrap().unwrap();
    assert_eq!(written.interactions().count(), 1);
}

#[tokio::test]
async fn later_answers_are_appended() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 0);
    let cassette = scene.recordings().cassette("item-0");
    let additions = cobalt_core::recordings::additions_path(&cassette);
    process.ask(&execution, &["one"]).await;
    let first = std::fs::read(&cassette).unwrap();
    for (number, text) in (1..).zip(["two", "three"]) {
        process.ask(&execution, &[text]).await;
        assert_eq!(std::fs::read(&cassette).unwrap(), first);
        let lines = std::fs::read_to_string(&additions).unwrap().lines().count();
        assert_eq!(lines, 1 + number, "after the hash of the cassette");
    }
    let kept = scene.cassette("item-0");
    assert!(kept.trials[0].partial && kept.interactions().count() == 3);

    // Killed in its second trial.
    end(&execution).await;
    assert!(!additions.exists() && !scene.cassette("item-0").trials[0].partial);
    let second = process.begin(0, 1);
    for text in ["one", "two"] {
        process.ask(&second, &[text]).await;
    }
    let kept = scene.cassette("item-0");
    let number = |run: usize| (kept.trials[run].partial, kept.trials[run].interactions.len());
    assert_eq!([number(0), number(1)], [(false, 3), (true, 2)]);

    let process = scene.process(RecordMode::Record);
    let execution = process.begin(0, 1);
    for (text, answer) in
        [("one", "answer 3 to one"), ("two", "answer 4 to two"), ("three", "answer 5 to three")]
    {
        assert_eq!(content(&process.ask(&execution, &[text]).await.1), answer);
    }
    assert_eq!(end(&execution).await.0.replayed, 2);
    let kept = scene.cassette("item-0");
    assert_eq!(kept.trials.iter().map(|it| it.interactions.len()).collect::<Vec<_>>(), [3, 3]);
}
