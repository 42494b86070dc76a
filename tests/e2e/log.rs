//! The log of a test binary, which `COBALT_LOG` turns on.

use serde_json::{Value, json};

use crate::model::Model;
use crate::sandbox::{Program, Sandbox, fixture};

const KEY: &str = "sk-proj-9fK2mQx7Lp0ZbT4vWc8YhN3sRj6DgA1uEoIi5XkMnBqVtHyU";

fn items() -> Vec<Value> {
    (0..4)
        .map(|number| json!({ "id": format!("i{number}"), "input": format!("question {number:03}") }))
        .collect()
}

fn recorded(sandbox: &Sandbox, filter: &str) -> Program {
    sandbox.program(fixture!("recorded")).env("NO_PROXY", "127.0.0.1").env("COBALT_LOG", filter)
}

/// Records with a model that fails at times.
fn record(sandbox: &Sandbox, filter: &str) -> Program {
    let model = Model::failing_one_in_five();
    let url = model.base_url();
    // It serves until the process ends.
    std::mem::forget(model);
    recorded(sandbox, filter).env("OPENAI_BASE_URL", url).env("OPENAI_API_KEY", KEY)
}

#[test]
fn retries_and_replays_are_logged_without_contents() {
    let sandbox = Sandbox::with_items(items());
    let live = record(&sandbox, "debug").run().code(0);
    assert!(!live.stderr.contains(KEY) && !live.stderr.contains("question 00"), "{live}");
    let live = live.stderr_has(&[
        "DEBUG cobalt::recording::forward: retries the request provider=openai",
        "reason=\"status 429\" attempt=1 pause=",
        "sends the request experiment=recorded item=i0 trial=0 method=POST path=",
    ]);
    assert!(!live.stdout.contains("DEBUG"), "{live}");
    let replayed = recorded(&sandbox, "cobalt::recording=debug,warn").run().code(0);
    let replayed = replayed.stderr_has(&[
        "answered from the recording experiment=recorded item=i0 trial=0 method=POST",
        "status=200 liberty=none\n",
    ]);
    assert!(!replayed.stderr.contains("cobalt::engine"), "the filter narrows the log\n{replayed}");
    let silent = recorded(&sandbox, "").run().code(0);
    assert!(!silent.stderr.contains("DEBUG") && !silent.stderr.contains("cobalt::"), "{silent}");
}

#[test]
fn unmatched_prompts_stay_out_of_the_log() {
    let sandbox = Sandbox::with_items(items());
    record(&sandbox, "off").run().code(0);
    sandbox.write_items([json!({ "id": "i0", "input": "question 999" })]);
    let replayed = recorded(&sandbox, "trace").run().code(101);
    let replayed = replayed.stderr_has(&["matches no recorded request experiment=recorded item=i0"]);
    let lines: Vec<_> = replayed.stderr.lines().filter(|line| line.contains(" cobalt::")).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| !line.contains("question 999")), "{lines:#?}");
}

#[test]
fn lists_of_tests_are_not_disturbed() {
    let sandbox = Sandbox::with_items(items());
    let listed = |filter| {
        let arguments = ["--list", "--format", "terse"];
        recorded(&sandbox, filter).args(arguments).run().code(0).stdout
    };
    assert_eq!(listed("trace"), listed(""));
}

#[test]
fn invalid_filters_are_errors() {
    let sandbox = Sandbox::with_items(items());
    for filter in ["debgu", "cobalt=loud", "hyper=trace"] {
        recorded(&sandbox, filter).run().code(3).stderr_has(&[
            &format!("error: COBALT_LOG: `{filter}` is neither a level nor a module with one; expected"),
            "off, error, warn, info, debug, trace",
        ]);
    }
}
