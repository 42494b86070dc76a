//! Agents whose requests do not pass through the gateway.

use super::*;

/// What is said about a trial whose agent sent no request.
async fn unseen(process: &Process, uses_model: bool) -> (Option<String>, Option<String>) {
    let execution = process.begin(0, 0);
    end(&execution).await;
    let problem = execution.check_requests(uses_model, true);
    (problem, execution.experiment().take_warning())
}

#[tokio::test]
async fn unseen_requests_are_errors_or_warnings() {
    let scene = Scene::numbered();
    let sent = "the agent sent no request through the gateway";
    let asked = "the agent asked a model, but sent no request through the gateway";
    for (mode, is_ci, uses_model, error) in [
        (RecordMode::Replay, false, false, Some(sent)),
        (RecordMode::Replay, false, true, Some(asked)),
        (RecordMode::Auto, true, false, Some(sent)),
        (RecordMode::Record, true, true, Some(asked)),
        (RecordMode::Auto, false, false, None),
        (RecordMode::Record, false, true, None),
    ] {
        let process = scene.process_with(mode, |settings| settings.is_ci = is_ci);
        let (problem, warning) = unseen(&process, uses_model).await;
        match error {
            Some(error) => {
                let problem = problem.unwrap();
                assert!(problem.starts_with(error) && problem.contains("docs/real-agents.md"), "{problem}");
                assert_eq!(warning, None);
            }
            None => {
                let warning = warning.unwrap();
                assert!(warning.starts_with("warning: 1 item of `desk` sent no request"), "{warning}");
                assert!(problem.is_none() && warning.contains("`item-0`; "), "{warning}");
            }
        }
    }
    let off = scene.process(RecordMode::Off);
    assert_eq!(unseen(&off, true).await, (None, None));
}

#[tokio::test]
async fn items_may_be_allowed_to_send_nothing() {
    let scene = Scene::numbered();
    scene.record(0, 1, &[&["hi"]]).await;
    let allowed = |index: usize, uses_model: bool| {
        let process = scene.process_with(RecordMode::Replay, |settings| settings.needs_requests = false);
        let execution = process.begin(index, 0);
        execution.check_requests(uses_model, true)
    };
    assert_eq!(allowed(1, false), None);
    assert!(allowed(1, true).unwrap().starts_with("the agent asked a model"));
    assert!(allowed(0, false).unwrap().starts_with("the recording has 1 request, but the agent sent none"));
}

#[tokio::test]
async fn requests_at_the_gateway_are_seen() {
    let scene = Scene::numbered();
    let process = scene.process_with(RecordMode::Record, |settings| settings.is_ci = true);
    let exact = process.begin(0, 0);
    process.ask(&exact, &["hi"]).await;
    let twins = process.begin_twins();
    process.post(&process.base_url(None), &chat(&[TWIN])).await;
    for execution in twins.iter().chain([&exact]) {
        assert_eq!(execution.check_requests(true, true), None);
    }
    let failed = process.begin(5, 0);
    assert_eq!(failed.check_requests(false, false), None, "the agent has an error of its own");
}

#[tokio::test]
async fn answers_from_elsewhere_are_seen() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    let twins = process.begin_twins();
    process.post(&process.base_url(None), &chat(&[TWIN])).await;
    for twin in &twins {
        end(twin).await;
    }
    process.traffic.finish(&mut None);
    let process = scene.process(RecordMode::Replay);
    let sender = process.begin_with(&json!({ "input": TWIN }), 1, 0);
    let other = process.begin(5, 0);
    process.post(&process.base_url(None), &chat(&[TWIN])).await;
    assert_eq!(sender.check_requests(false, true), None);
    assert!(other.check_requests(false, true).is_some());
}
