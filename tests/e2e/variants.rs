//! Experiments with variants, in test binaries started directly.

use std::collections::BTreeSet;

use cobalt::Report;
use cobalt::report::comparison::ThresholdStatus;
use serde_json::{Value, json};

use crate::sandbox::{Finished, Program, Sandbox, fixture, numbered};

/// This many items, of which every second is hard.
fn items(number: usize) -> Vec<Value> {
    let mut items = numbered(number, 0);
    items.iter_mut().step_by(2).for_each(|item| item["hard"] = json!(true));
    items
}

fn varied(sandbox: &Sandbox) -> Program {
    sandbox.program(fixture!("varied"))
}

/// The reports by the names of their runs.
fn names(sandbox: &Sandbox) -> BTreeSet<String> {
    sandbox.reports().into_iter().map(|report| report.name).collect()
}

fn report(sandbox: &Sandbox, name: &str) -> Report {
    sandbox.reports().into_iter().find(|report| report.name == name).unwrap()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn each_variant_is_a_run_with_its_settings_and_cases() {
    let sandbox = Sandbox::with_items(items(40));
    let finished = varied(&sandbox).run().code(101);
    let cases: BTreeSet<_> = finished.cases().into_iter().map(|(case, _)| case).collect();
    assert!(cases.contains("varied::small::item-3") && cases.contains("varied::in-between::item-39"));
    assert_eq!(finished.cases_that("FAILED"), ["varied::small::thresholds::exact.drop_from(large)<=0.2"]);
    assert_eq!(names(&sandbox), set(&["varied", "varied::in-between", "varied::small"]));

    let [large, small] = ["varied", "varied::small"].map(|name| report(&sandbox, name));
    let (variant, of_large) = (small.variant.unwrap(), large.variant.unwrap());
    assert_eq!((&*variant.experiment, &*variant.name, variant.position), ("varied", "small", 1));
    assert_eq!(variant.settings, json!({ "model": "small", "price": 0.001 }));
    assert!(of_large.is_default && of_large.group == variant.group);
    assert_eq!(large.config.thresholds, ["exact.pass_rate>=0.1", "exact.pass_rate>=0.9"]);
    assert_eq!(small.config.thresholds, ["exact.pass_rate>=0.1", "exact.drop_from(large)<=0.2"]);
    assert_eq!(small.summary.scores["exact"].avg, 0.5);
    finished.says(&[
        "varied: 3 variants",
        "large better than small",
        "`in-between` has the highest mean score, 1.000, and is the cheapest",
    ]);
}

#[test]
fn a_filter_selects_a_variant_or_its_items() {
    let sandbox = Sandbox::with_items(items(8));
    let finished = varied(&sandbox).args(["--exact", "varied::small::item-1"]).run().code(0);
    assert_eq!(finished.cases_that("ok"), ["varied::small::item-1"]);
    assert!(sandbox.report().partial && sandbox.report().name == "varied::small");
    varied(&sandbox).args(["varied::in-between::item"]).run().code(0);
    assert_eq!(report(&sandbox, "varied::in-between").items.len(), 8);
    assert!(!names(&sandbox).contains("varied"));
}

#[test]
fn a_picked_threshold_between_two_variants_runs_both() {
    let sandbox = Sandbox::with_items(items(40));
    let finished = varied(&sandbox).args(["drop_from"]).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["varied::small::thresholds::exact.drop_from(large)<=0.2"]);
    assert_eq!(names(&sandbox), set(&["varied", "varied::small"]));
}

#[test]
fn variables_select_variants_and_change_their_settings() {
    let sandbox = Sandbox::with_items(items(8));
    let finished = varied(&sandbox).env("COBALT_VARIANT", "small").run().code(0);
    let outcome = report(&sandbox, "varied::small").thresholds()[1].clone();
    assert_eq!((outcome.finding, outcome.passed), (ThresholdStatus::Inconclusive, true));
    finished.says(&["variant `large` was not run in the same group, or not with all items; run it too"]);
    assert_eq!(sandbox.reports().len(), 1);

    varied(&sandbox).env("COBALT_SET", "model=huge;price=1").args(["--exact", "varied"]).run().code(0);
    let changed = report(&sandbox, "varied::model=huge,price=1");
    let variant = changed.variant.clone().unwrap();
    assert_eq!((&variant.settings, variant.is_default), (&json!({ "model": "huge", "price": 1 }), false));
    assert_eq!(changed.config.thresholds, ["exact.pass_rate>=0.1", "exact.pass_rate>=0.9"]);

    let refused = varied(&sandbox).env("COBALT_SET", "modle=huge").run().code(101);
    refused.says(&["variant `large`: it has no setting `modle`; did you mean `model`?"]);
    let refused = varied(&sandbox).env("COBALT_SET", "price=cheap").run().code(101);
    refused
        .says(&["the settings of variant `price=cheap` do not match the type of the function's parameter"]);
}

#[test]
fn a_variant_that_was_interrupted_is_resumed_in_its_group() {
    let mut unfinished = items(40);
    unfinished[39]["act"] = json!("hang-if-broken");
    let sandbox = Sandbox::with_items(unfinished);
    let program = || varied(&sandbox).env("COBALT_VARIANT", "small,large");
    let running = sandbox.start_until_kept(program().env("E2E_BROKEN", 1), 2 * 39);
    running.signal("INT");
    running.finish().code(130);
    assert!(sandbox.reports().is_empty());
    let ids: Vec<_> = sandbox
        .journals()
        .iter()
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(ids.len(), 2);
    sandbox.forget_calls();
    let finished = program().env("COBALT_RESUME", ids.join(",")).run().code(101);
    assert_eq!(sandbox.starts().into_keys().collect::<Vec<_>>(), ["item-39"]);
    finished.says(&["exact.drop_from(large)", "varied: 2 variants"]);
    let groups: BTreeSet<_> =
        sandbox.reports().into_iter().map(|report| report.variant.unwrap().group).collect();
    assert_eq!(groups.len(), 1);
}

#[test]
fn a_damaged_result_of_a_compared_variant_stops_the_run_and_is_no_missing_one() {
    let mut unfinished = items(40);
    unfinished[39]["act"] = json!("hang-if-broken");
    let sandbox = Sandbox::with_items(unfinished);
    let program = |variants: &str| varied(&sandbox).env("COBALT_VARIANT", variants);
    let running = sandbox.start_until_kept(program("small,large").env("E2E_BROKEN", 1), 2 * 39);
    running.signal("INT");
    running.finish().code(130);
    let resume = |variant: &str, name: &str| {
        let journals = sandbox.journals();
        let of_variant = |path: &&std::path::PathBuf| {
            let text = std::fs::read_to_string(path).unwrap();
            text.lines().next().unwrap().contains(&format!("\"name\":\"{name}\""))
        };
        let journal = journals.iter().find(of_variant).unwrap();
        let id = journal.file_stem().unwrap().to_string_lossy().into_owned();
        program(variant).env("COBALT_RESUME", id).run()
    };
    resume("large", "varied").code(0);
    let [result] = &sandbox.result_files()[..] else { panic!("one result") };
    let whole = std::fs::read(result).unwrap();
    std::fs::write(result, &whole[..whole.len() / 2]).unwrap();
    let stopped = resume("small", "varied::small").code(3);
    let name = result.file_name().unwrap().to_string_lossy();
    stopped.stderr_has(&[
        &name,
        "not a result file",
        "stopped with 40 of 40 items saved; fix this, then resume",
    ]);
    std::fs::write(result, whole).unwrap();
    resume("small", "varied::small").code(101).says(&["exact.drop_from(large)"]);
}

#[test]
fn axes_are_multiplied_and_their_values_are_settings() {
    let sandbox = Sandbox::with_items(items(2));
    varied(&sandbox).env("E2E_AXES", 1).args(["axes::"]).run().code(0);
    let expected = ["a-0.0", "a-0.7", "b-0.0", "b-0.7"].map(|variant| format!("axes::{variant}"));
    assert_eq!(names(&sandbox), BTreeSet::from(expected));
    let settings = report(&sandbox, "axes::b-0.7").variant.unwrap().settings;
    assert_eq!(settings, json!({ "model": "b", "temperature": 0.7 }));
}

fn nextest(sandbox: &Sandbox, case: &str, attempt: u32) -> Finished {
    let program = varied(sandbox).env("NEXTEST", 1).env("NEXTEST_EXECUTION_MODE", "process-per-test");
    let program = program.env("NEXTEST_RUN_ID", "00000000-1111").env("NEXTEST_ATTEMPT", attempt);
    program.env("E2E_AXES", 1).args(["--exact", case, "--nocapture"]).run()
}

#[test]
fn where_each_case_is_a_process_variants_that_are_compared_are_one_case() {
    let sandbox = Sandbox::with_items(items(40));
    let program = varied(&sandbox).env("NEXTEST_EXECUTION_MODE", "process-per-test").env("E2E_AXES", 1);
    let listed = program.args(["--list", "--format", "terse"]).run().code(0).stdout;
    assert_eq!(
        listed,
        "varied: test\naxes::a-0.0: test\naxes::a-0.7: test\naxes::b-0.0: test\naxes::b-0.7: test\n"
    );
    let finished = nextest(&sandbox, "varied", 1).code(101);
    finished.says(&["`exact.drop_from(large) <= 0.2`"]);
    assert_eq!(names(&sandbox), set(&["varied", "varied::in-between", "varied::small"]));
    nextest(&sandbox, "axes::b-0.0", 1).code(0);
    assert_eq!(sandbox.reports().len(), 4);
    let ids: BTreeSet<_> = sandbox.reports().into_iter().map(|report| report.id).collect();
    nextest(&sandbox, "varied", 2).code(101);
    assert_eq!(
        ids,
        sandbox.reports().into_iter().map(|report| report.id).collect(),
        "a retry is the same run"
    );
}

#[test]
fn a_variant_whose_agent_fails_leaves_the_others() {
    let sandbox = Sandbox::with_items(items(4));
    varied(&sandbox).env("E2E_FAIL", "small").run().code(101).says(&["small is overloaded"]);
    assert_eq!(report(&sandbox, "varied::small").summary.failed_items, 4);
    assert!(report(&sandbox, "varied").passed);
}

#[test]
fn the_items_of_a_shard_are_the_same_in_each_variant() {
    let sandbox = Sandbox::with_items(items(12));
    varied(&sandbox).env("COBALT_SHARD", "1/2").run().code(0);
    let keys: BTreeSet<Vec<_>> = sandbox
        .reports()
        .iter()
        .map(|report| report.items.iter().map(|item| item.key.clone()).collect())
        .collect();
    assert_eq!(keys.len(), 1);
}
