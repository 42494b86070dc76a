//! False passes: warnings on stderr, and errors if there is no other explanation.

use std::fs;

use cobalt::command::config::Config;
use cobalt::llm::prices::PriceTable;
use cobalt::report::Measurements;
use cobalt_core::store::write_baseline;
use serde_json::{Value, json};

use crate::sandbox::{Finished, Program, Sandbox, fixture};

/// A number of items; the first ones are answered wrongly if `E2E_BROKEN` is set.
fn items(number: usize, wrong_if_broken: usize) -> impl Iterator<Item = Value> {
    (0..number).map(move |n| {
        let act = if n < wrong_if_broken { json!("wrong-if-broken") } else { json!(null) };
        json!({ "id": format!("item-{n}"), "answer": "a", "act": act })
    })
}

/// An experiment with these thresholds.
fn gated(number: usize, wrong_if_broken: usize, thresholds: &str) -> Sandbox {
    let sandbox = Sandbox::with_items(items(number, wrong_if_broken));
    let evaluators = "evaluators = [{ type = \"exact-match\", name = \"exact\", field = \"answer\" }]\n";
    sandbox.write("cobalt.toml", &format!("{evaluators}thresholds = [{thresholds}]\n"));
    sandbox
}

fn silent(sandbox: &Sandbox) -> Program {
    sandbox.program(fixture!("silent"))
}

/// Runs the experiment and saves the run as its baseline, whether it failed or not.
fn keep_baseline(sandbox: &Sandbox, failed: bool) {
    silent(sandbox).run();
    let numbers =
        Measurements { failed, ..Measurements::from_report(&sandbox.report(), &PriceTable::default()) };
    let config = Config::load(&sandbox.path(""), |_| None).unwrap();
    write_baseline(config.layout(), &numbers).unwrap();
    fs::remove_dir_all(sandbox.path(".cobalt/results")).unwrap();
}

fn warnings(finished: &Finished) -> Vec<&str> {
    finished.stderr.lines().filter_map(|line| line.strip_prefix("warning: ")).collect()
}

#[test]
fn a_run_whose_scores_nothing_bounds_warns_where_every_item_is_below_its_pass_mark() {
    let sandbox = gated(3, 3, "\"latency.p95 <= 60s\"");
    let finished = silent(&sandbox).env("E2E_BROKEN", 1).run().code(0);
    assert_eq!(
        warnings(&finished),
        [
            "silent: no threshold checks a score, and all items are below their pass mark (3 items); add a threshold such as \
             `score.avg >= 0.8`, or set `strict = true`"
        ]
    );
    assert_eq!(warnings(&silent(&sandbox).run().code(0)), [""; 0], "all items pass");
    let one_is_right = gated(3, 2, "\"latency.p95 <= 60s\"");
    assert_eq!(warnings(&silent(&one_is_right).env("E2E_BROKEN", 1).run().code(0)), [""; 0]);
    let bounded = gated(3, 3, "\"latency.p95 <= 60s\", \"exact.avg >= 0\"");
    assert_eq!(warnings(&silent(&bounded).env("E2E_BROKEN", 1).run().code(0)), [""; 0]);
}

#[test]
fn a_collapse_of_a_few_items_is_missed() {
    let sandbox = gated(3, 3, "\"vs_baseline.exact.drop <= 0.02\", \"vs_baseline.score.drop <= 0.05\"");
    keep_baseline(&sandbox, false);
    silent(&sandbox).run().code(0);
    let finished = silent(&sandbox).env("E2E_BROKEN", 1).run().code(101);
    finished.says(&["MISSED  the drop of exact is 1 ", "every item dropped by at least 0.5 (3 items)"]);
}

#[test]
fn a_baseline_without_a_common_item_is_missed_and_one_that_failed_warns() {
    let sandbox = gated(3, 0, "\"vs_baseline.exact.drop <= 0.02\"");
    keep_baseline(&sandbox, true);
    let finished = silent(&sandbox).run().code(0).says(&["note: the baseline is a failed run"]);
    let [warning] = warnings(&finished)[..] else { panic!("{finished}") };
    assert!(warning.starts_with("silent: the baseline is a failed run, "), "{warning}");

    sandbox.write_items((0..3).map(|n| json!({ "id": format!("other-{n}"), "answer": "a" })));
    let finished = silent(&sandbox).run().code(101);
    finished.says(&[
        "the baseline has no items in common with this run; update it with `cargo cobalt baseline set`",
    ]);
}

#[test]
fn a_baseline_of_another_experiment_warns_where_a_threshold_needs_one() {
    let sandbox = gated(3, 0, "\"vs_baseline.exact.drop <= 0.02\"");
    keep_baseline(&sandbox, false);
    let kept = fs::read_to_string(sandbox.path(".cobalt/baselines/silent.json")).unwrap();
    sandbox.write("other.json", &kept.replace("\"silent\"", "\"desk\""));
    let run = || silent(&sandbox).env("COBALT_BASELINE", "other.json").run().code(0);
    let finished = run();
    let [warning] = warnings(&finished)[..] else { panic!("{finished}") };
    let expected = "silent: its baseline thresholds are not evaluated: the given baselines are for `desk`";
    assert!(warning.starts_with(expected), "{warning}");
    sandbox.write(
        "cobalt.toml",
        "evaluators = [{ type = \"exact-match\", name = \"exact\", field = \"answer\" }]\n",
    );
    assert_eq!(warnings(&run()), [""; 0], "no threshold needs a baseline");
}

#[test]
fn the_only_shard_is_the_whole_and_its_thresholds_are_evaluated() {
    let sandbox = gated(3, 3, "\"exact.avg >= 0.5\"");
    let shard = |number: &str| silent(&sandbox).env("E2E_BROKEN", 1).env("COBALT_SHARD", number).run();
    let finished = shard("1/1").code(101);
    assert_eq!(finished.cases_that("FAILED"), ["silent::thresholds::exact.avg>=0.5"]);
    let report = sandbox.report();
    assert!(!report.partial && !report.passed && report.items.len() == 3);
    assert_eq!(
        report.shard.map(|shard| shard.to_string()).as_deref(),
        Some("1/1"),
        "`merge` still accepts it"
    );
    shard("1/2");
    assert!(sandbox.reports().iter().any(|report| report.partial), "the shard has no thresholds");
}

#[test]
fn variables_that_nothing_reads_are_told_once_and_those_of_the_settings_are_not() {
    let sandbox = gated(1, 0, "\"exact.avg >= 0.5\"");
    let run = || {
        silent(&sandbox)
            .env("COBALT_TIMOUT", "5s")
            .env("COBALT_MINE", "sk-secret")
            .env("COBALT_RUNS", 1)
            .run()
            .code(0)
    };
    let finished = run();
    let told = warnings(&finished);
    assert_eq!(told.len(), 2, "{finished}");
    assert!(told[0].starts_with("unknown environment variable COBALT_MINE has no effect"), "{finished}");
    assert!(told[1].ends_with("COBALT_TIMOUT has no effect; did you mean `COBALT_TIMEOUT`?"), "{finished}");
    assert!(!finished.stderr.contains("sk-secret"));
    sandbox.write(
        "cobalt.toml",
        &format!(
            "{}[judge]\napi-key-env = \"COBALT_MINE\"\n",
            fs::read_to_string(sandbox.path("cobalt.toml")).unwrap()
        ),
    );
    assert_eq!(warnings(&run()).len(), 1);
    let listed = silent(&sandbox).env("COBALT_TIMOUT", "5s").args(["--list"]).run().code(0);
    assert_eq!(warnings(&listed), [""; 0], "`--list` runs nothing");
}

#[test]
fn an_experiment_that_waits_for_a_misspelt_variable_says_so() {
    let sandbox = Sandbox::new();
    let spared = || sandbox.program(fixture!("keyed")).args(["spared"]);
    assert_eq!(warnings(&spared().run().code(0)), [""; 0]);
    let finished = spared().env("E2EKEY", "sk-secret").run().code(0);
    assert_eq!(
        warnings(&finished),
        [
            "spared: ignored because E2E_KEY is not set, but `E2EKEY` is; should `ignore_without` name that one?"
        ]
    );
}

#[test]
fn settings_under_a_name_that_is_nearly_right_are_refused() {
    let sandbox = gated(1, 0, "\"exact.avg >= 0.5\"");
    fs::rename(sandbox.path("cobalt.toml"), sandbox.path(".cobalt.toml")).unwrap();
    silent(&sandbox)
        .run()
        .code(3)
        .stderr_has(&["error: ", ".cobalt.toml` is not read; rename it to `cobalt.toml`"]);
}
