//! Calls of tools are recorded and replayed with the requests of their trial.

use super::*;
use crate::recording::ToolDecision;

/// Calls a tool that returns a number, and returns the result, or why the call was refused.
fn call(execution: &ExecutionTraffic, query: &str, real: i64) -> Result<Value, String> {
    let arguments = json!({ "q": query });
    match execution.decide_tool("search", &arguments) {
        ToolDecision::Replay(outcome) => outcome,
        ToolDecision::Refuse(problem) => Err(problem),
        ToolDecision::Call => {
            let outcome = if real < 0 { Err("no index".to_owned()) } else { Ok(json!(real)) };
            execution.keep_tool_result(("search", 1), &arguments, &outcome, Duration::from_millis(5));
            outcome
        }
    }
}

#[tokio::test]
async fn results_and_errors_are_replayed_and_what_is_not_recorded_is_an_error_of_the_item() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(1, 0);
    assert_eq!(
        (call(&execution, "a", 1), call(&execution, "b", -1)),
        (Ok(json!(1)), Err("no index".to_owned()))
    );
    end(&execution).await;
    let process = scene.process(RecordMode::Replay);
    let execution = process.begin(1, 0);
    assert_eq!(
        (call(&execution, "b", 7), call(&execution, "a", 7)),
        (Err("no index".to_owned()), Ok(json!(1)))
    );
    let (traffic, problem) = end(&execution).await;
    assert_eq!((traffic.replayed_tools, problem), (2, None));
    assert!(traffic.is_replayed() && traffic.recorded_at.is_some());
    let execution = process.begin(1, 0);
    let problem = call(&execution, "c", 7).unwrap_err();
    assert!(
        problem.starts_with(
            "not recorded: a call of the tool `search`; no unused recorded call of this tool has these arguments (2 of 2 unused)"
        ),
        "{problem}"
    );
    assert_eq!(end(&execution).await.1, Some(problem));
    let execution = process.begin(2, 0);
    assert!(call(&execution, "a", 7).unwrap_err().contains("the item has no recording of this tool"));
}

#[tokio::test]
async fn in_auto_mode_a_new_call_is_recorded_beside_what_was_replayed() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(1, 0);
    assert_eq!(process.ask(&execution, &["hello"]).await.0, 200);
    assert_eq!(call(&execution, "a", 1), Ok(json!(1)));
    end(&execution).await;
    let process = scene.process(RecordMode::Auto);
    let execution = process.begin(1, 0);
    assert_eq!((call(&execution, "a", 7), call(&execution, "b", 8)), (Ok(json!(1)), Ok(json!(8))));
    let (status, answer) = process.ask(&execution, &["hello"]).await;
    assert_eq!(
        (status, &*content(&answer)),
        (200, "answer 0 to hello"),
        "the conversation is the recorded one"
    );
    let (traffic, _) = end(&execution).await;
    assert_eq!((traffic.live, traffic.replayed, traffic.replayed_tools), (0, 1, 1));
    let trial = &scene.cassette("item-1").trials[0];
    assert_eq!((trial.interactions.len(), trial.tools.len()), (1, 2));
    let execution = process.begin(1, 0);
    assert_eq!(process.ask(&execution, &["another"]).await.0, 200);
    assert_eq!(call(&execution, "a", 9), Ok(json!(9)), "after it diverged, tools are called");
}

#[tokio::test]
async fn a_failed_agent_that_has_called_tools_is_recorded_and_secrets_are_redacted() {
    let scene = Scene::numbered();
    let process = scene.process(RecordMode::Record);
    let execution = process.begin(1, 0);
    let key = "sk-proj-9fK2mQx7Lp0ZbT4vWc8YhN3sRj6DgA1uEoIi5XkMnBqVtHyU";
    assert_eq!(call(&execution, key, 1), Ok(json!(1)));
    end_as(&execution, Status::Error).await;
    assert!(!all_files(scene.folder.path()).contains(key));
    let execution = scene.process(RecordMode::Replay).begin(1, 0);
    assert_eq!(call(&execution, key, 7), Ok(json!(1)));
    let execution = process.begin(3, 0);
    end_as(&execution, Status::Error).await;
    assert!(scene.recordings().read("item-3").unwrap().is_none(), "it did nothing");
}
