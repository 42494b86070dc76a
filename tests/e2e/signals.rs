//! Ctrl-C and termination signals.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, fixture, numbered};

const SOON: Duration = Duration::from_secs(5);

/// Four items that are answered immediately and four that hang.
fn half_hanging(act: &str) -> Vec<Value> {
    let mut items = numbered(8, 0);
    items[4..].iter_mut().for_each(|item| item["act"] = json!(act));
    items
}

#[test]
fn a_run_that_is_asked_to_stop_keeps_what_is_finished_and_says_how_to_go_on() {
    for signal in ["INT", "TERM"] {
        let sandbox = Sandbox::with_items(half_hanging("hang-if-broken"));
        let program = sandbox.program(fixture!("gated")).env("E2E_BROKEN", 1);
        let running = sandbox.start_until_kept(program, 4);
        let asked = Instant::now();
        running.signal(signal);
        let finished = running.finish().code(130);
        assert!(asked.elapsed() < SOON, "{finished}");
        let id = sandbox.cut_short();
        let finished = finished.stderr_has(&[&format!("COBALT_RESUME={id}")]);
        // The line break that ends an open line can appear between a case and its `ok`.
        let is_verdict = |outcome: &str| !outcome.is_empty() && !outcome.starts_with("ok");
        let told = finished.cases();
        assert!(
            !told.iter().any(|(_, outcome)| is_verdict(outcome)),
            "no verdict after an interrupted run: {finished}"
        );
        assert!(sandbox.result_files().is_empty());

        sandbox.forget_calls();
        sandbox.program(fixture!("gated")).env("COBALT_RESUME", &id).run().code(0);
        assert_eq!(sandbox.starts().len(), 4, "finished items are not run again");
        assert_eq!(sandbox.report().items.len(), 8);
    }
}

#[test]
fn agents_that_are_cut_off_are_cancelled_before_the_process_ends() {
    let sandbox = Sandbox::with_items(half_hanging("hang"));
    let running = sandbox.start_until_kept(sandbox.program(fixture!("steered")), 4);
    running.signal("INT");
    running.finish().code(130);
    let cancelled = sandbox.calls().iter().filter(|call| call.starts_with("cancelled ")).count();
    assert_eq!(cancelled, 4, "{:?}", sandbox.calls());
}

#[test]
fn a_run_that_is_stopped_before_its_first_item_leaves_no_journal() {
    let mut items = numbered(4, 0);
    items.iter_mut().for_each(|item| item["act"] = json!("hang"));
    let sandbox = Sandbox::with_items(items);
    let running = sandbox.start_until(sandbox.program(fixture!("steered")), || sandbox.calls().len() == 4);
    running.signal("INT");
    let finished = running.finish().code(130).stderr_has(&["before any item was finished"]);
    assert!(!finished.stderr.contains("COBALT_RESUME"), "nothing to resume: {finished}");
    assert!(sandbox.journals().is_empty(), "{:?}", sandbox.journals());
}

#[test]
fn agents_that_block_every_thread_of_the_runtime_do_not_hold_up_the_end() {
    let mut items = half_hanging("block");
    items.extend((0..60).map(|n| json!({ "id": format!("more-{n}"), "act": "block" })));
    let sandbox = Sandbox::with_items(items);
    let program = sandbox.program(fixture!("steered")).env("E2E_CONCURRENCY", 64);
    let running = sandbox.start_until_kept(program, 1);
    let asked = Instant::now();
    running.signal("INT");
    let finished = running.finish().code(130);
    assert!(asked.elapsed() < SOON, "{finished}");
    finished.stderr_has(&["COBALT_RESUME="]);
}

#[test]
fn plain_agents_that_hang_do_not_hold_up_the_end() {
    let sandbox = Sandbox::with_items(half_hanging("hang"));
    let running = sandbox.start_until_kept(sandbox.program(fixture!("plain")), 4);
    let asked = Instant::now();
    running.signal("INT");
    let finished = running.finish().code(130);
    assert!(asked.elapsed() < SOON, "{finished}");
}

#[test]
fn a_second_request_ends_the_process_at_once() {
    let sandbox = Sandbox::with_items(numbered(4, 0));
    // The run finishes except for the source state, which never arrives.
    sandbox.write("bin/git", "#!/bin/sh\nexec sleep 30\n");
    std::fs::set_permissions(sandbox.path("bin/git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", sandbox.path("bin").display(), std::env::var("PATH").unwrap());
    let running = sandbox.start_until_kept(sandbox.program(fixture!("gated")).env("PATH", path), 4);
    running.signal("INT");
    std::thread::sleep(Duration::from_millis(500));
    let asked = Instant::now();
    running.signal("INT");
    let finished = running.finish().code(130);
    assert!(asked.elapsed() < SOON, "{finished}");
    assert_eq!(sandbox.cut_short().len(), 12, "the journal is kept");
}
