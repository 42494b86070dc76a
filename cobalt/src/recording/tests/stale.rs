//! Old recordings, and those of which only a part is old.

use super::*;

#[tokio::test]
async fn old_recordings_are_renewed_and_others_are_not() {
    for mode in [RecordMode::Replay, RecordMode::Auto] {
        let scene = Scene::numbered();
        scene.record(0, 1, &[&["hi"]]).await;
        for (days, expected) in [(0, "answer 0 to hi"), (40, "answer 1 to hi")] {
            scene.date_back(0, 0, days);
            let process = scene.renewing(mode, 3);
            let execution = process.begin(0, 0);
            assert_eq!(content(&process.ask(&execution, &["hi"]).await.1), expected);
            end(&execution).await;
        }
        assert_eq!(scene.cassette("item-0").interactions().count(), 1);
    }
}

#[tokio::test]
async fn only_old_trials_are_recorded_again_and_no_other_is_deleted() {
    let scene = Scene::numbered();
    scene.record(0, 3, &[&["hi"]]).await;
    scene.date_back(0, 0, 40);
    let before = scene.cassette("item-0");
    // A call with fewer trials than are recorded.
    let process = scene.renewing(RecordMode::Replay, 1);
    let execution = process.begin(0, 0);
    assert_eq!(content(&process.ask(&execution, &["hi"]).await.1), "answer 3 to hi");
    end(&execution).await;
    let after = scene.cassette("item-0");
    assert_ne!(after.trials[0], before.trials[0]);
    assert_eq!(after.trials[1..], before.trials[1..]);
    let execution = scene.renewing(RecordMode::Replay, 3).begin(0, 1);
    assert!(!execution.records(), "the second trial is replayed");
}

#[tokio::test]
async fn a_part_that_is_kept_keeps_its_date() {
    let scene = Scene::numbered();
    scene.record(0, 1, &[&["a"], &["a", "b"]]).await;
    scene.date_back(0, 0, 40);
    let old = scene.cassette("item-0").trials[0].recorded_at;
    let process = scene.process(RecordMode::Auto);
    let execution = process.begin(0, 0);
    for messages in [&["a"][..], &["a", "x"]] {
        process.ask(&execution, messages).await;
    }
    let (traffic, _) = end(&execution).await;
    assert_eq!((traffic.replayed, traffic.live, traffic.recorded_at), (1, 1, old));
    let trial = &scene.cassette("item-0").trials[0];
    let dates: Vec<_> = trial.interactions.iter().map(|interaction| interaction.recorded_at).collect();
    assert_eq!(dates, [old, None]);
    assert!(trial.recorded_at > old && trial.oldest() == old);

    let process = scene.process(RecordMode::Replay);
    let execution = process.begin(0, 0);
    process.ask(&execution, &["a", "x"]).await;
    assert_eq!(end(&execution).await.0.recorded_at, trial.recorded_at, "only this part was replayed");
    let process = scene.renewing(RecordMode::Replay, 1);
    let execution = process.begin(0, 0);
    process.ask(&execution, &["a"]).await;
    assert_eq!(end(&execution).await.0.live, 1, "the old part is recorded again");
}
