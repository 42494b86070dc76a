//! `cargo cobalt compare`: results, output and exit codes.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::command::{COBALT, program};
use crate::project::ProgramOutput;
use crate::snapshot::assert_printed;
use crate::store::{ITEMS, Kept, Store};

#[test]
fn a_drop_is_said_with_its_figures_and_the_items_that_it_comes_from() {
    let store = Store::with_a_drop();
    let said = store.compare(&["aaaa", "bbbb", "--items", "1"], 0);
    assert_eq!(said.stderr, "");
    assert_printed!(said);
}

#[test]
fn a_run_against_itself_is_within_noise() {
    let store = Store::with_a_drop();
    let said = store.compare(&["bbbb", "bbbb", "--fail-on-regression"], 0);
    assert!(!said.stdout.contains("largest changes"), "{said:?}");
    assert_printed!(said);
}

#[test]
fn a_regression_fails_where_that_is_asked_for() {
    let store = Store::with_a_drop();
    assert_printed!(store.compare(&["aaaa", "bbbb", "--fail-on-regression"], 1));
    assert_printed!(store.compare(&["bbbb", "aaaa", "--fail-on-regression"], 0));
    store.keep(&Kept { id: "dddddddddddd", day: 4, right: ITEMS - 1, ..Kept::default() });
    assert_printed!(store.compare(&["aaaa", "dddd", "--fail-on-regression"], 0));
    assert_printed!(store.compare(&["aaaa", "dddd", "bbbb", "--fail-on-regression"], 1));
}

#[test]
fn a_regression_fails_though_nobody_reads_on() {
    let store = Store::with_a_drop();
    let code = |arguments: &[&str]| {
        let mut running =
            store.command(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(running.stdout.take());
        running.wait().unwrap().code()
    };
    assert_eq!(code(&["aaaa", "bbbb", "--fail-on-regression"]), Some(1));
    assert_eq!(code(&["aaaa", "bbbb"]), Some(0));
}

#[test]
fn a_file_that_is_no_run_is_named() {
    let store = Store::with_a_drop();
    fs::write(store.folder().join("x.json"), "{}").unwrap();
    assert_printed!(store.compare(&["aaaa", "./x.json"], 3));
}

#[test]
fn runs_without_a_common_item_are_not_compared() {
    let store = Store::with_a_drop();
    let path = store.folder().join(store.keep(&Kept { id: "dddddddddddd", day: 4, ..Kept::default() }));
    let text = fs::read_to_string(&path).unwrap().replace("item-", "other-");
    fs::write(&path, text).unwrap();
    assert_printed!(store.compare(&["aaaa", "dddd"], 4));
}

#[test]
fn json_has_all_figures_and_the_outputs() {
    let store = Store::with_a_drop();
    let said = store.compare(&["aaaa", "bbbb", "--json", "--items", "2"], 0);
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    let comparison = &json["comparisons"][0];
    assert_eq!(comparison["items"]["matched"], ITEMS);
    let right = &comparison["evaluators"][0];
    assert_eq!(
        (&right["difference"], &right["verdict"], &right["test"]),
        (&json!(-0.75), &json!("worse"), &json!("mcnemar"))
    );
    let changed = comparison["mostChanged"].as_array().unwrap();
    assert_eq!(
        (changed.len(), &changed[0]["key"], &changed[0]["change"]),
        (2, &json!("item-10"), &json!(-1.0))
    );
    assert_eq!(changed[0]["other"]["output"]["output"], "that | `or` <not>");
    assert_eq!(changed[0]["base"]["evaluations"]["right"]["reason"], "it is worth 1");
}

/// Three variants of `desk`: one is as good as another at a fraction of the cost, one is worse.
fn three_variants() -> Store {
    let store = Store::new();
    for (position, (variant, id, right, cost)) in [
        ("large", "aaaaaaaaaaaa", ITEMS, 0.01),
        ("mini", "bbbbbbbbbbbb", ITEMS - 1, 0.001),
        ("nano", "cccccccccccc", 10, 0.0001),
    ]
    .into_iter()
    .enumerate()
    {
        store.keep_variant(&Kept { id, right, ..Kept::default() }, variant, position, cost);
    }
    store
}

#[test]
fn several_runs_are_ranked() {
    let store = three_variants();
    let runs = ["aaaa", "bbbb", "cccc"];
    assert_printed!(store.compare(&runs, 0));
    assert_printed!(store.compare(&[&runs[..], &["--markdown"]].concat(), 0));
    let said = store.compare(&[&runs[..], &["--json"]].concat(), 0);
    let json: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(json["comparisons"].as_array().unwrap().len(), 2);
    let ranking = &json["ranking"];
    assert_eq!((&ranking["experiment"], &ranking["group"]), (&json!("desk"), &json!("ffff00001111")));
    let labels: Vec<_> = ranking["runs"].as_array().unwrap().iter().map(|run| &run["label"]).collect();
    assert_eq!(labels, ["large", "mini", "nano"]);
    assert_eq!(ranking["runs"][2]["scores"][0]["rank"], json!({ "best": 3, "worst": 3 }));
    assert_printed!(store.compare(&[&runs[..], &["--fail-on-regression"]].concat(), 1));
}

#[test]
fn one_variant_is_compared_with_all_of_its_group() {
    let store = three_variants();
    store.keep(&Kept { id: "dddddddddddd", day: 4, name: "desk::mini", ..Kept::default() });
    let all = store.compare(&["aaaa", "bbbb", "cccc"], 0).stdout;
    for variant in ["aaaa", "bbbb", "cccc", "desk@latest"] {
        assert_eq!(store.compare(&[variant], 0).stdout, all, "{variant}");
    }
    assert_printed!(store.compare(&["dddd"], 2));
    assert_printed!(store.compare(&["aaaa"; 9], 2));
}

#[test]
fn markdown_keeps_foreign_texts_in_code() {
    let store = Store::with_a_drop();
    let said = store.compare(&["aaaa", "bbbb", "--markdown", "--items", "1"], 0);
    assert_printed!(said);
    store.compare(&["aaaa", "bbbb", "--markdown", "--json"], 2);
}

#[test]
fn it_says_what_was_replayed_and_which_items_asked_the_model_something_else() {
    let store = Store::new();
    store.keep(&Kept::default());
    store.keep_replayed(&Kept { id: "bbbbbbbbbbbb", day: 2, ..Kept::default() });
    store.keep_replayed(&Kept { id: "cccccccccccc", day: 3, ..Kept::default() });
    let path = store.folder().join(".cobalt/results/2026-02-03T14-30-00_desk_cccccccccccc.json");
    let mut report: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    report["items"][3]["traffic"]["asked"][0] = json!("another model");
    report["items"][ITEMS - 1]["traffic"]["asked"][1] = json!("eeeeeeeeee");
    fs::write(&path, report.to_string()).unwrap();
    assert_printed!(store.compare(&["bbbb", "cccc"], 0));
    assert_printed!(store.compare(&["bbbb", "cccc", "--markdown"], 0));
    let said = store.compare(&["bbbb", "cccc", "--json"], 0).stdout;
    let json: Value = serde_json::from_str(&said).unwrap();
    let notes = &json["comparisons"][0]["notes"];
    let expected = "38 of 40 items asked the model exactly what they asked before; 2 diverged: `item-3` in the model, the tools \
                    or the settings; `item-39` at message 1";
    assert_eq!(notes[2], expected, "{notes}");
    assert_eq!(
        json["comparisons"][0]["asked"],
        json!({ "items": ITEMS, "same": 38, "diverged": [{ "key": "item-3" }, { "key": "item-39", "message": 1 }] })
    );
    // Nothing is known of what the first run asked.
    assert!(!store.compare(&["aaaa", "bbbb"], 0).stdout.contains("asked the model"));
    assert!(!store.compare(&["aaaa", "bbbb", "--json"], 0).stdout.contains("\"asked\""));
}

#[test]
fn a_baseline_file_is_compared_by_its_numbers() {
    let store = Store::with_a_drop();
    let mut set = program(COBALT, store.folder());
    ProgramOutput::by(set.args(["cobalt", "baseline", "set", "aaaa"]), 0);
    assert!(Path::new(&store.folder().join(".cobalt/baselines/desk.json")).exists());
    let said = store.compare(&[".cobalt/baselines/desk.json", "latest"], 0);
    assert_printed!(said);
}
