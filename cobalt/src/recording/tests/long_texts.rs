//! Texts that are stored on their own, and what happens without them.

use super::*;

/// A text that is stored on its own.
fn long(text: &str) -> String {
    format!("{text} {}", "and so on, ".repeat(500))
}

#[tokio::test]
async fn a_long_text_that_cannot_be_read_is_an_error_of_the_item() {
    let scene = Scene::new(|_| completion(&long("answer")));
    scene.record(0, 1, &[&["hi"]]).await;
    for blob in scene.recordings().blobs().unwrap() {
        std::fs::remove_file(blob).unwrap();
    }
    let process = scene.process(RecordMode::Replay);
    let execution = process.begin(0, 0);
    let (status, refused) = process.ask(&execution, &["hi"]).await;
    assert!(status == 400 && refused.contains("cannot be read"), "{refused}");
    assert!(end(&execution).await.1.unwrap().contains("cannot be read"));
}

#[tokio::test]
async fn an_unattributed_recording_that_cannot_be_read_is_an_error_of_each_item_in_progress() {
    let scene = Scene::new(|_| completion(&long("answer")));
    let process = scene.process(RecordMode::Record);
    let _twins = process.begin_twins();
    process.post(&process.base_url(None), &chat(&[TWIN])).await;
    process.traffic.finish(&mut None);
    let file = scene.folder.path().join("unattributed.json");
    for (break_it, problem) in [
        (
            &(|| std::fs::remove_dir_all(scene.folder.path().join("blobs")).unwrap()) as &dyn Fn(),
            "cannot be read",
        ),
        (&|| std::fs::write(&file, "{").unwrap(), "is not a valid recording"),
    ] {
        break_it();
        let process = scene.process(RecordMode::Replay);
        let twins = process.begin_twins();
        let (status, refused) = process.post(&process.base_url(None), &chat(&[TWIN])).await;
        assert!(status == 400 && refused.contains(problem), "{refused}");
        for execution in twins {
            assert!(end(&execution).await.1.unwrap().contains(problem));
        }
    }
}

#[tokio::test]
async fn a_long_text_attributes_a_request_by_content() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    let items = ["one", "other"].map(|text| json!({ "input": long(text) }));
    let (one, other) = (process.begin_with(&items[0], 0, 0), process.begin_with(&items[1], 1, 0));
    process.post(&process.base_url(None), &chat(&[&long("other")])).await;
    assert_eq!((end(&one).await.0.live, end(&other).await.0.live), (0, 1));
}

#[tokio::test]
async fn an_edited_long_prompt_is_shown_as_a_difference_of_its_text() {
    let scene = Scene::numbered();
    scene.record(0, 1, &[&[&long("Be polite."), "hi"]]).await;
    let process = scene.process(RecordMode::Replay);
    for (prompt, now) in [(long("Be brief."), "Be brief. and"), ("Be short.".to_owned(), "Be short.")] {
        let execution = process.begin(0, 0);
        let (status, refused) = process.ask(&execution, &[&prompt, "hi"]).await;
        assert_eq!(status, 400);
        let expected = "differs in `messages[0].content`: recorded \\\"Be polite. and";
        assert!(refused.contains(expected) && refused.contains(&format!("now \\\"{now}")), "{refused}");
        assert!(!refused.contains("$blob"), "{refused}");
        end(&execution).await;
    }
}
