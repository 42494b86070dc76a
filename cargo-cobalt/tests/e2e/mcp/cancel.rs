//! A run that is cancelled.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use super::assistant::Assistant;
use crate::project::Project;

#[test]
#[cfg(unix)]
fn a_run_that_is_cancelled_keeps_what_is_finished_and_is_resumed() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "wait")]);
    let mut assistant = Assistant::of(&project);
    let arguments = json!({ "experiments": ["strict"], "runs": 2 });
    let call = json!({ "name": "cobalt_run", "arguments": arguments, "_meta": { "progressToken": 7 } });
    let id = assistant.begin("tools/call", call);
    while !assistant.hear()["params"]["message"].as_str().unwrap().contains("1 of 2, paris passed") {}
    assistant.notify("notifications/cancelled", json!({ "requestId": id, "reason": "enough" }));

    project.write("go-on", "");
    let resumed = (0..100).find_map(|_| {
        // It takes a while to come to its end.
        sleep(Duration::from_millis(100));
        let call = json!({ "name": "cobalt_run", "arguments": { "resume": "latest" } });
        let result = assistant.ask("tools/call", call);
        (result["isError"] == false).then(|| result["structuredContent"].clone())
    });
    let ran = resumed.expect("the run can be resumed");
    assert_eq!((&ran["passed"], &ran["runs"][0]["itemsMatching"]), (&json!(true), &json!(2)));
    assert_eq!(ran["runs"][0]["config"]["runs"], 2, "it goes on as it began");
    assert_eq!(project.results(), ["strict"]);
    assert!(assistant.notifications.iter().all(|message| message["id"] != id), "it has no answer");
}
