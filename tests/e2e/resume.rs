//! Resuming interrupted runs, and refusing to if the results would be inconsistent.

use serde_json::{Value, json};

use crate::sandbox::{Program, Sandbox, fixture};

/// Five items; the fourth hangs while `E2E_BROKEN` is set.
fn items() -> Vec<Value> {
    let item = |n: usize| json!({ "id": format!("item-{n}"), "input": n, "answer": n, "wait_ms": 2 });
    let mut items: Vec<_> = (0..5).map(item).collect();
    items[3]["act"] = json!("hang-if-broken");
    items
}

/// A package whose run was killed after all items but the fourth, and the run ID.
fn cut_short() -> (Sandbox, String) {
    let sandbox = Sandbox::with_items(items());
    let mut running = sandbox.start_until_kept(sandbox.program(fixture!("steered")).env("E2E_BROKEN", 1), 4);
    running.kill();
    running.finish();
    let id = sandbox.cut_short();
    (sandbox, id)
}

fn resume(sandbox: &Sandbox, id: &str) -> Program {
    sandbox.program(fixture!("steered")).env("COBALT_RESUME", id)
}

/// Nothing was run and nothing was lost.
fn is_untouched(sandbox: &Sandbox, id: &str) {
    assert_eq!(sandbox.calls(), [""; 0]);
    assert_eq!(sandbox.cut_short(), id);
    assert!(sandbox.result_files().is_empty());
}

#[test]
fn a_resumed_run_does_only_what_is_missing_and_keeps_its_id_and_its_start() {
    let (sandbox, id) = cut_short();
    let journal = std::fs::read(&sandbox.journals()[0]).unwrap();
    let header = cobalt::files::read_journal(&journal).unwrap().header;
    sandbox.forget_calls();
    let finished = resume(&sandbox, &id).args(["--test-threads=1"]).run().code(0);
    assert_eq!(finished.cases_that("ok").len(), 5);
    assert_eq!(sandbox.calls(), ["start item-3 0", "end item-3 0"]);
    let report = sandbox.report();
    assert_eq!((&report.id, report.timestamp), (&header.id, header.timestamp));
    let keys: Vec<_> = report.items.iter().map(|item| &*item.key).collect();
    assert_eq!(keys, ["item-0", "item-1", "item-2", "item-3", "item-4"]);
    assert!(report.passed && !report.partial);
    assert!(sandbox.journals().is_empty(), "a finished run has no journal");
}

#[test]
fn a_run_is_not_resumed_on_other_data() {
    let (sandbox, id) = cut_short();
    sandbox.forget_calls();
    sandbox.write_items(items().into_iter().chain([json!({ "id": "late", "input": 9 })]));
    let finished = resume(&sandbox, &id).run().code(3);
    finished.stderr_has(&[&id, "cannot be resumed", "`items.jsonl` has changed", "then 5 items, now 6"]);
    is_untouched(&sandbox, &id);
}

#[test]
fn a_run_is_not_resumed_with_other_timeouts_evaluators_or_verdicts() {
    let (sandbox, id) = cut_short();
    let changes = [("E2E_TIMEOUT_MS", "19000"), ("E2E_EXACT", "same"), ("E2E_LENIENT", "1")];
    for (variable, value) in changes {
        sandbox.forget_calls();
        let finished = resume(&sandbox, &id).env(variable, value).run().code(3);
        finished.stderr_has(&[&id, "the experiment or one of its evaluators has changed", "start a new run"]);
        is_untouched(&sandbox, &id);
    }
}

#[test]
fn each_item_of_a_run_is_run_as_often_as_it_began_with() {
    let (sandbox, id) = cut_short();
    resume(&sandbox, &id).env("E2E_RUNS", 2).run().code(0);
    let report = sandbox.report();
    assert_eq!((report.id, report.config.runs), (id, 1));
}

#[test]
fn a_run_may_go_on_with_another_concurrency() {
    let (sandbox, id) = cut_short();
    resume(&sandbox, &id).env("E2E_CONCURRENCY", 1).run().code(0);
    assert_eq!(sandbox.report().id, id);
}

#[test]
fn an_unknown_id_is_told_which_runs_can_be_resumed() {
    let (sandbox, id) = cut_short();
    sandbox.forget_calls();
    let finished = resume(&sandbox, "0123456789ab").run().code(3);
    finished.stderr_has(&["run `0123456789ab` cannot be resumed", "no such run", &id]);
    is_untouched(&sandbox, &id);
    let finished = resume(&Sandbox::with_items(items()), "0123456789ab").run().code(3);
    finished.stderr_has(&["runs that can be resumed: none"]);
}

#[test]
fn a_finished_run_is_told_its_result_file() {
    let sandbox = Sandbox::with_items(items());
    sandbox.program(fixture!("steered")).run().code(0);
    let id = sandbox.report().id;
    sandbox.forget_calls();
    let file = sandbox.result_files()[0].display().to_string();
    resume(&sandbox, &id).run().code(3).stderr_has(&[&id, "it is finished", &file]);
    assert_eq!(sandbox.calls(), [""; 0]);
}

#[test]
fn a_run_that_still_goes_on_elsewhere_is_left_alone() {
    let sandbox = Sandbox::with_items(items());
    let mut running = sandbox.start_until_kept(sandbox.program(fixture!("steered")).env("E2E_BROKEN", 1), 4);
    let id = sandbox.cut_short();
    let calls = sandbox.calls();
    resume(&sandbox, &id).run().code(3).stderr_has(&[&id, "in progress in another process"]);
    assert_eq!(sandbox.calls(), calls);
    running.kill();
    running.finish();
    resume(&sandbox, &id).run().code(0);
}

#[test]
fn a_last_line_without_its_end_is_dropped() {
    let (sandbox, id) = cut_short();
    let path = &sandbox.journals()[0];
    let journal = std::fs::read(path).unwrap();
    let lines: Vec<_> = journal.split_inclusive(|byte| *byte == b'\n').collect();
    let torn = &lines[4][..lines[4].len() / 2];
    std::fs::write(path, [&lines[..4].concat()[..], torn].concat()).unwrap();
    sandbox.forget_calls();
    resume(&sandbox, &id).run().code(0);
    assert_eq!(sandbox.starts().len(), 2, "the incomplete item and the one that hung: {:?}", sandbox.calls());
    assert_eq!(sandbox.report().items.len(), 5);
}

#[test]
fn a_damaged_line_costs_its_item_only() {
    let (sandbox, id) = cut_short();
    let path = &sandbox.journals()[0];
    let journal = std::fs::read(path).unwrap();
    let mut lines: Vec<_> = journal.split_inclusive(|byte| *byte == b'\n').collect();
    lines[2] = b"{\"at\": 1, \"item\": {\xff garbage\n";
    std::fs::write(path, lines.concat()).unwrap();
    sandbox.forget_calls();
    resume(&sandbox, &id).run().code(0);
    assert_eq!(sandbox.starts().len(), 2, "{:?}", sandbox.calls());
    assert_eq!(sandbox.report().items.len(), 5);
}

#[test]
fn a_journal_that_is_no_journal_is_refused_with_the_reason() {
    let sandbox = Sandbox::with_items(items());
    for (text, reason) in [
        ("", "ends within the first line"),
        ("{\"journal\": 1, \"id\"", "ends within the first line"),
        ("no JSON\n", "cannot be parsed"),
        ("{}\n", "cannot be parsed"),
    ] {
        sandbox.write(".cobalt/runs/0123456789ab.jsonl", text);
        let finished = resume(&sandbox, "0123456789ab").run().code(3);
        finished.stderr_has(&["run `0123456789ab` cannot be resumed", reason]);
    }
}

#[test]
fn a_partial_run_is_resumed_as_one() {
    let sandbox = Sandbox::with_items(items());
    let program = sandbox.program(fixture!("steered")).env("E2E_BROKEN", 1).args(["item-2", "item-3"]);
    let mut running = sandbox.start_until_kept(program, 1);
    running.kill();
    running.finish();
    let finished = resume(&sandbox, &sandbox.cut_short()).run().code(0);
    assert_eq!(finished.cases_that("ok"), ["steered::item-2", "steered::item-3"]);
    let report = sandbox.report();
    assert!(report.partial);
    assert_eq!(report.items.len(), 2);
}

#[test]
fn runs_of_two_test_targets_are_resumed_by_one_list_of_ids() {
    let sandbox = Sandbox::with_items(items());
    let interrupted = |program: Program, journals: usize| {
        let mut running = sandbox.start_until(program.env("E2E_BROKEN", 1), || {
            let journals_now = sandbox.journals();
            let lines = |path| std::fs::read_to_string(path).map_or(0, |text| text.lines().count());
            journals_now.len() == journals && journals_now.iter().all(|path| lines(path) == 5)
        });
        running.kill();
        running.finish();
    };
    interrupted(sandbox.program(fixture!("steered")), 1);
    interrupted(sandbox.program(fixture!("gated")), 2);
    let ids: Vec<_> = sandbox
        .journals()
        .iter()
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let ids = ids.join(",");
    // `cargo test` starts binaries one after another, with the same environment.
    sandbox.program(fixture!("steered")).env("COBALT_RESUME", &ids).run().code(0);
    sandbox.program(fixture!("gated")).env("COBALT_RESUME", &ids).run();
    assert_eq!(sandbox.reports().len(), 2, "{:?}", sandbox.journals());
    assert!(sandbox.journals().is_empty());
}

#[test]
fn of_two_runs_of_one_experiment_the_first_is_resumed_and_the_other_is_said_to_be_left() {
    let (sandbox, first) = cut_short();
    let journal = std::fs::read_to_string(&sandbox.journals()[0]).unwrap();
    sandbox.write(".cobalt/runs/0123456789ab.jsonl", &journal);
    let finished = resume(&sandbox, &format!("{first},0123456789ab")).run().code(0);
    finished
        .stderr_has(&["`0123456789ab` belongs to experiment `steered`, for which another run is resumed"]);
    assert_eq!(sandbox.report().id, first);
    assert_eq!(sandbox.cut_short(), "0123456789ab");
}

#[test]
fn a_program_of_two_experiments_resumes_both() {
    let sandbox = Sandbox::with_items(items());
    let values = || sandbox.program(fixture!("values")).args(["both"]);
    let mut running = sandbox.start_until_kept(values().env("E2E_BROKEN", 1), 4);
    running.kill();
    running.finish();
    let first = sandbox.cut_short();
    values().env("COBALT_RESUME", &first).run().code(0);
    let names: Vec<_> = sandbox.reports().into_iter().map(|report| report.name).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(sandbox.starts()["item-0"], 2, "one call per experiment, none for finished items");
}

/// Rewrites the lines of the only journal.
fn rewrite(sandbox: &Sandbox, rewrite: impl Fn(usize, &str) -> String) {
    let path = &sandbox.journals()[0];
    let journal = std::fs::read_to_string(path).unwrap();
    let lines = journal.lines().enumerate().map(|(place, line)| rewrite(place, line) + "\n");
    std::fs::write(path, lines.collect::<String>()).unwrap();
}

/// A line as written by earlier versions, modified by `change`.
fn without_checksum(line: &str, change: impl Fn(&mut Value)) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    let fields = line.as_object_mut().unwrap();
    fields.remove("crc32").unwrap();
    fields.remove("checksums");
    change(&mut line);
    line.to_string()
}

#[test]
fn damaged_lines_are_named_and_their_items_run_again() {
    let (sandbox, id) = cut_short();
    // A digit in a line with a checksum.
    rewrite(&sandbox, |place, line| match place {
        2 => line.replacen("\"score\":1.0", "\"score\":0.0", 1),
        _ => line.to_owned(),
    });
    sandbox.forget_calls();
    let path = sandbox.journals()[0].display().to_string();
    let finished = resume(&sandbox, &id).run().code(0);
    finished.stderr_has(&[&format!("skipping 1 damaged line in `{path}` and running its item again")]);
    assert_eq!(sandbox.starts().len(), 2);
    let report = sandbox.report();
    assert!(report.passed && report.items.len() == 5);
}

#[test]
fn a_journal_of_an_earlier_version_is_resumed_but_for_what_no_run_gives() {
    let (sandbox, id) = cut_short();
    rewrite(&sandbox, |place, line| {
        without_checksum(line, |line| match place {
            1 => line["item"]["evaluations"]["exact"]["score"] = json!(9.0),
            2 => drop(line["item"]["evaluations"].as_object_mut().unwrap().remove("graded")),
            3 => line["item"]["key"] = json!("item-7"),
            _ => {}
        })
    });
    sandbox.forget_calls();
    let finished = resume(&sandbox, &id).run().code(0);
    finished.stderr_has(&["skipping 3 damaged lines in `", "` and running their items again"]);
    assert_eq!(sandbox.starts().len(), 4, "one line was complete");
    assert!(sandbox.report().passed);
}

#[test]
fn a_selection_of_items_that_are_not_there_is_an_error() {
    for (selection, says) in [(json!([5000]), "item 5000"), (json!([1, 1]), "item 1 twice")] {
        let (sandbox, id) = cut_short();
        rewrite(&sandbox, |place, line| {
            without_checksum(line, |line| {
                if place == 0 {
                    line["selection"] = selection.clone();
                }
            })
        });
        sandbox.forget_calls();
        let finished = resume(&sandbox, &id).run().code(3);
        assert!(!finished.stderr.contains("panicked"), "{finished}");
        finished.stderr_has(&[&id, "cannot be resumed", says, "5 items", "start a new run"]);
        is_untouched(&sandbox, &id);
    }
}
