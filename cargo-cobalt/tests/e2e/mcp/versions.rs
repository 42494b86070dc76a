//! Protocol versions, and messages that are invalid in all of them.

use std::time::Duration;

use serde_json::{Value, json};

use super::assistant::{Assistant, with_metadata};
use crate::project::Project;

/// The newest version with a handshake.
const NEWEST_WITH_HELLO: &str = "2025-11-25";
/// The version without a handshake.
const NEWEST: &str = "2026-07-28";

fn list() -> Value {
    json!({ "name": "cobalt_list", "arguments": {} })
}

#[test]
fn tools_are_called_in_each_version_that_begins_with_a_hello() {
    let project = Project::steered();
    for (version, has_structure) in
        [("2024-11-05", false), ("2025-03-26", false), ("2025-06-18", true), (NEWEST_WITH_HELLO, true)]
    {
        let mut assistant = Assistant::speaking(&project, &[], version, json!({}));
        assert_eq!(assistant.ask("ping", json!({})), json!({}));
        let tools = assistant.ask("tools/list", json!({}));
        assert!(tools["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "cobalt_list"));
        let result = assistant.ask("tools/call", list());
        assert_ne!(result["isError"], true, "{version}: {result}");
        let structured = if has_structure {
            result["structuredContent"].clone()
        } else {
            // Versions without structured content have it as text.
            assert_eq!(result.get("structuredContent"), None, "{version}");
            serde_json::from_str(result["content"][1]["text"].as_str().unwrap()).unwrap()
        };
        assert_eq!(structured["experiments"].as_array().unwrap().len(), 2, "{version}: {result}");
        assert_eq!(assistant.hang_up(), Some(0));
    }
}

#[test]
fn tools_are_called_without_a_hello_where_each_request_says_all() {
    let project = Project::steered();
    for asks_first in [true, false] {
        let mut assistant = Assistant::silent(&project, &[]);
        let with = |params| with_metadata(params, NEWEST, json!({}));
        if asks_first {
            let found = assistant.ask("server/discover", with(json!({})));
            assert_eq!(found["supportedVersions"].as_array().unwrap().last().unwrap(), NEWEST);
            assert!(found["capabilities"]["tools"].is_object(), "{found}");
        }
        assert!(assistant.ask("tools/list", with(json!({})))["tools"][0]["inputSchema"].is_object());
        let result = assistant.ask("tools/call", with(list()));
        assert_eq!(result["resultType"], "complete", "{result}");
        assert_eq!(result["structuredContent"]["experiments"].as_array().unwrap().len(), 2, "{result}");
        let unknown = assistant.refused("tools/list", with_metadata(json!({}), "2099-01-01", json!({})));
        assert!(unknown["data"]["supported"].as_array().unwrap().contains(&json!(NEWEST)), "{unknown}");
        assert_eq!(assistant.hang_up(), Some(0));
    }
}

#[test]
fn a_version_that_is_not_known_or_has_no_hello_is_answered_with_the_newest_that_has_one() {
    let project = Project::empty();
    for asked in ["2099-01-01", "1999-01-01", "nonsense", NEWEST] {
        let mut assistant = Assistant::silent(&project, &[]);
        assert_eq!(assistant.hello(asked, json!({}))["protocolVersion"], NEWEST_WITH_HELLO, "{asked}");
        assert!(assistant.ask("tools/list", json!({}))["tools"].is_array());
    }
}

#[test]
fn what_is_said_before_the_hello_does_no_harm() {
    let project = Project::empty();
    let mut assistant = Assistant::silent(&project, &[]);
    assistant.say("Content-Length: 20");
    assistant.notify("notifications/initialized", json!({}));
    assistant.notify("notifications/cancelled", json!({ "requestId": 3 }));
    assistant.say(&json!({ "jsonrpc": "2.0", "id": 3, "result": {} }).to_string());
    assert_eq!(assistant.refused("tools/list", json!({}))["code"], -32602);
    assert_eq!(assistant.refused("initialize", json!({}))["code"], -32602);
    assert_eq!(assistant.ask("ping", json!({})), json!({}));
    assistant.ask("server/discover", with_metadata(json!({}), NEWEST, json!({})));
    assistant.notify("notifications/cancelled", json!({ "requestId": 4 }));
    assert_eq!(assistant.hello(NEWEST_WITH_HELLO, json!({}))["protocolVersion"], NEWEST_WITH_HELLO);
    assert_eq!(assistant.hang_up(), Some(0));
}

#[test]
fn a_request_that_fits_nothing_is_refused_with_what_is_wrong() {
    let project = Project::empty();
    let mut assistant = Assistant::of(&project);
    let mut refused = |method: &str, params: Value| {
        let error = assistant.refused(method, params);
        (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
    };
    let misfit = (-32602, "invalid parameters for `tools/call`".to_owned());
    assert_eq!(refused("tools/call", json!({ "arguments": {} })), misfit);
    assert_eq!(refused("tools/call", json!({ "name": "cobalt_list", "arguments": "all" })), misfit);
    assert_eq!(refused("no/such", json!({})), (-32601, "unknown method `no/such`".to_owned()));
    assert_eq!(refused("tools/call", json!({ "name": "none" })).0, -32602);
    let result = assistant.fails("cobalt_list", json!({ "filtre": "a" }));
    assert!(result["content"][0]["text"].as_str().unwrap().contains("filtre"), "{result}");
}

#[test]
fn a_line_that_is_no_request_is_refused_and_one_that_cannot_be_read_is_passed_over() {
    let project = Project::empty();
    let mut assistant = Assistant::of(&project);
    let ping = json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" });
    for line in [json!([ping]), json!(42), json!({ "id": 7, "method": "ping" }), json!({ "jsonrpc": "2.0" })]
    {
        assistant.say(&line.to_string());
        assert_eq!(assistant.hear()["error"]["code"], -32600, "{line}");
    }
    let cut_off = &ping.to_string()[..20];
    for line in ["", "\r", "junk", "\u{0}\u{1b}[2J", cut_off, &"x".repeat(17 << 20)] {
        assistant.say(line);
    }
    assert_eq!(assistant.hear_within(Duration::from_millis(100)), None);
    assistant.say(&format!("\u{feff}{ping}\r"));
    assert_eq!(assistant.hear()["id"], 7);
    assert_eq!(assistant.hang_up(), Some(0));
}
