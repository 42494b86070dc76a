//! Cancellation of a run.

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
    // Changes of the results are notified, too.
    let is_awaited = |message: &serde_json::Value| {
        message["params"]["message"].as_str().is_some_and(|text| text.contains("1 of 2, paris passed"))
    };
    while !is_awaited(&assistant.hear()) {}
    assistant.notify("notifications/cancelled", json!({ "requestId": id, "reason": "enough" }));

    let is_cut_off = |assistant: &mut Assistant| {
        // The run needs some time to stop.
        sleep(Duration::from_millis(100));
        let listed = assistant.call("cobalt_results", json!({}));
        listed["unfinished"][0]["state"] == "cutOff"
    };
    assert!((0..300).any(|_| is_cut_off(&mut assistant)), "the run was not interrupted");

    project.write("go-on", "");
    let ran = assistant.call("cobalt_run", json!({ "resume": "latest" }));
    assert_eq!((&ran["passed"], &ran["runs"][0]["itemsMatching"]), (&json!(true), &json!(2)));
    assert_eq!(ran["runs"][0]["config"]["runs"], 2, "a resumed run keeps its settings");
    assert_eq!(project.results(), ["strict"]);
    assert!(
        assistant.notifications.iter().all(|message| message["id"] != id),
        "a cancelled request gets no response"
    );
}
