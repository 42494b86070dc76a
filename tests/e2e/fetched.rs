//! Remote datasets: one copy for all processes, until a refresh.

use cobalt::Report;

use crate::sandbox::{Program, Sandbox, fixture, numbered};
use crate::source::Source;

fn program(sandbox: &Sandbox, source: &Source) -> Program {
    sandbox.program(fixture!("fetched")).env("E2E_URL", source.url())
}

/// The names of the listed test cases.
fn listed(sandbox: &Sandbox, source: &Source) -> usize {
    program(sandbox, source).args(["--list"]).run().code(0).stdout.matches("fetched::item-").count()
}

/// The result of the latest run.
fn newest(sandbox: &Sandbox) -> Report {
    sandbox.reports().into_iter().max_by_key(|report| report.timestamp).expect("at least one run")
}

#[test]
fn listing_and_running_see_the_same_items_while_the_source_changes() {
    let (sandbox, source) = (Sandbox::new(), Source::of(numbered(2, 1)));
    assert_eq!(listed(&sandbox, &source), 2);
    source.has(numbered(3, 1));
    program(&sandbox, &source).run().code(0);
    let report = sandbox.report();
    let data = report.dataset.as_ref().unwrap();
    assert_eq!((report.items.len(), data.items, &data.source), (2, 2, &source.url()));
    let fetched = data.fetched.as_ref().unwrap();
    assert!(fetched.at <= report.timestamp && fetched.version.is_some(), "{fetched:?}");
    assert_eq!(source.asked(), 1);
    let ignored = std::fs::read_to_string(sandbox.path(".cobalt/.gitignore")).unwrap();
    assert!(ignored.contains("datasets/"));
}

#[test]
fn processes_that_start_together_fetch_once() {
    let (sandbox, source) = (Sandbox::new(), Source::of(numbered(2, 1)));
    let running: Vec<_> = (0..3).map(|_| program(&sandbox, &source).start()).collect();
    for program in running {
        program.finish().code(0);
    }
    assert_eq!(source.asked(), 1);
}

#[test]
fn a_fetch_that_takes_long_is_told_of_and_a_copy_is_not() {
    let (sandbox, source) = (Sandbox::new(), Source::slow(numbered(1, 1)));
    program(&sandbox, &source).run().code(0).stderr_has(&[&format!("fetching {}…", source.url())]);
    assert_eq!(program(&sandbox, &source).run().code(0).stderr, "");
}

#[test]
fn a_refresh_takes_what_there_is_now_and_once_for_all_of_one_start() {
    let (sandbox, source) = (Sandbox::new(), Source::of(numbered(2, 1)));
    listed(&sandbox, &source);
    source.has(numbered(3, 1));
    program(&sandbox, &source).env("COBALT_REFRESH", "1").run().code(0);
    assert_eq!((newest(&sandbox).items.len(), source.asked()), (3, 2));
    let start = cobalt::report::Timestamp::now();
    for _ in 0..2 {
        program(&sandbox, &source).env("COBALT_REFRESH", start).run().code(0);
    }
    assert_eq!(source.asked(), 3);
    let refused = program(&sandbox, &source).env("COBALT_REFRESH", "yes").run().code(3);
    refused.stderr_has(&["COBALT_REFRESH", "2026-11-20T08:00:00Z"]);
}

#[test]
fn a_source_that_is_down_is_one_failing_case_that_names_the_copy_to_use_offline() {
    let (sandbox, source) = (Sandbox::new(), Source::of(numbered(2, 1)));
    listed(&sandbox, &source);
    source.breaks();
    let down = program(&sandbox, &source).env("COBALT_REFRESH", "1").run().code(101);
    down.says(&["fetched::dataset", "503", "(2 items, hash ", "pass `--offline` or set COBALT_OFFLINE=1"]);
    let asked = source.asked();
    program(&sandbox, &source).env("COBALT_OFFLINE", "1").run().code(0);
    assert_eq!((sandbox.report().items.len(), source.asked()), (2, asked));
}

#[test]
fn offline_without_a_copy_says_how_to_get_one() {
    let (sandbox, source) = (Sandbox::new(), Source::of(numbered(2, 1)));
    let failed = program(&sandbox, &source).env("COBALT_OFFLINE", "1").run().code(101);
    failed.says(&["no cached copy of http://127.0.0.1:", "fetch it once without `--offline`"]);
    assert_eq!(source.asked(), 0);
}

#[test]
fn a_set_of_another_size_than_expected_fails_and_says_how_it_changed() {
    let (sandbox, source) = (Sandbox::new(), Source::of(numbered(2, 1)));
    let expecting = |items: usize| program(&sandbox, &source).env("E2E_ITEMS", items);
    expecting(2).run().code(0);
    source.has(numbered(3, 1));
    let changed = expecting(2).env("COBALT_REFRESH", "1").run().code(101);
    changed.says(&[
        "has 3 items",
        "expected 2 items: 1 item added since the copy of 20",
        "set `.expect_items(3)`",
    ]);
    expecting(3).run().code(0);
    assert_eq!(newest(&sandbox).items.len(), 3);
}

#[test]
fn a_run_is_not_resumed_on_data_that_was_fetched_since() {
    let (sandbox, source) = (Sandbox::new(), Source::of(numbered(5, 1)));
    let mut hanging = numbered(5, 1);
    hanging[3]["act"] = serde_json::json!("hang-if-broken");
    source.has(hanging);
    let mut running = sandbox.start_until_kept(program(&sandbox, &source).env("E2E_BROKEN", 1), 4);
    running.kill();
    running.finish();
    let id = sandbox.cut_short();
    source.has(numbered(6, 1));
    program(&sandbox, &source).env("COBALT_REFRESH", "1").args(["--list"]).run().code(0);
    let refused = program(&sandbox, &source).env("COBALT_RESUME", &id).run().code(3);
    refused.stderr_has(&[&id, "has changed since (then 5 items, now 6, fetched at 20", "start a new run"]);
}
