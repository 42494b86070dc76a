//! `COBALT_SHARD` in test binaries started directly: one shard of the items.

use cobalt::report::Shard;
use serde_json::{Value, json};

use crate::sandbox::{Program, Sandbox, fixture, numbered};

const SHARD: &str = "1/2";

/// The items of the shard among this many.
fn of_shard(number: usize) -> Vec<String> {
    let shard: Shard = SHARD.parse().unwrap();
    (0..number).map(|index| format!("item-{index}")).filter(|key| shard.contains(key)).collect()
}

/// Twelve items; the last one of the shard does this.
fn last_does(act: &str) -> Vec<Value> {
    let last = of_shard(12).pop().unwrap();
    let act = |mut item: Value| {
        if item["id"] == *last {
            item["act"] = json!(act);
        }
        item
    };
    numbered(12, 0).into_iter().map(act).collect()
}

fn shard(sandbox: &Sandbox) -> Program {
    sandbox.program(fixture!("steered")).env("COBALT_SHARD", SHARD)
}

/// Asserts that the only report is of the shard and its items.
fn assert_of_shard(sandbox: &Sandbox) {
    let report = sandbox.report();
    assert!(report.partial && report.shard.is_some_and(|shard| shard.to_string() == SHARD));
    let mut keys = of_shard(12);
    keys.sort_by_key(|key| key["item-".len()..].parse::<usize>().unwrap());
    assert!(report.items.iter().map(|item| &item.key).eq(&keys));
}

#[test]
fn cases_of_other_shards_are_filtered_out() {
    let sandbox = Sandbox::with_items(numbered(12, 0));
    let finished = shard(&sandbox).run().code(0);
    let cases: Vec<_> = of_shard(12).iter().map(|key| format!("steered::{key}")).collect();
    let mut run = finished.cases_that("ok");
    run.sort_by_key(|case| cases.iter().position(|known| known == case));
    assert_eq!(run, cases);
    finished
        .says(&[&format!("{} filtered out", 12 - cases.len()), "shard 1/2"])
        .stderr_has(&["note: steered: items to run: shard 1/2"]);
    assert_of_shard(&sandbox);
    let other = shard(&sandbox).env("COBALT_SHARD", "0/2").run().code(3);
    other.stderr_has(&["COBALT_SHARD is `0/2`; expected a shard such as `2/4`"]);
}

#[test]
fn a_binary_that_is_started_directly_knows_the_shard_of_its_job() {
    let sandbox = Sandbox::with_items(numbered(12, 0));
    let job = |index: &str| {
        let program = sandbox.program(fixture!("steered")).env("COBALT_SHARD", "auto");
        program.env("BUILDKITE_PARALLEL_JOB", index).env("BUILDKITE_PARALLEL_JOB_COUNT", 2)
    };
    job("0").run().code(0);
    assert_of_shard(&sandbox);
    let other = job("2").run().code(3);
    other.stderr_has(&["BUILDKITE_PARALLEL_JOB is 2 and BUILDKITE_PARALLEL_JOB_COUNT is 2"]);
}

#[test]
fn a_shard_that_is_resumed_is_still_of_its_items() {
    let sandbox = Sandbox::with_items(last_does("hang-if-broken"));
    let done = of_shard(12).len() - 1;
    let mut running = sandbox.start_until_kept(shard(&sandbox).env("E2E_BROKEN", 1), done);
    running.kill();
    running.finish();
    let id = sandbox.cut_short();
    sandbox.forget_calls();
    sandbox.program(fixture!("steered")).env("COBALT_RESUME", &id).run().code(0);
    assert_eq!(sandbox.starts().into_keys().collect::<Vec<_>>(), of_shard(12).split_off(done));
    assert_of_shard(&sandbox);
}

#[test]
fn a_shard_that_nextest_retries_is_still_of_its_items() {
    let sandbox = Sandbox::with_items(last_does("fail-if-broken"));
    let attempt = |number: u32| {
        let program = shard(&sandbox).env("NEXTEST_EXECUTION_MODE", "process-per-test");
        program.env("NEXTEST_ATTEMPT", number).args(["--exact", "steered", "--nocapture"])
    };
    attempt(1).env("E2E_BROKEN", 1).run().code(101);
    assert_of_shard(&sandbox);
    sandbox.forget_calls();
    attempt(2).run().code(0);
    assert_eq!(sandbox.starts().into_keys().collect::<Vec<_>>(), of_shard(12)[of_shard(12).len() - 1..]);
    assert_of_shard(&sandbox);
}
