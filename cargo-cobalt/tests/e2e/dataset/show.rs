//! `cargo cobalt dataset show`: output as text and JSON.

use std::time::{Duration, Instant};

use cobalt::{Dataset, item};
use serde_json::{Value, json};

use crate::project::Project;
use crate::snapshot::assert_printed;

const SUPPORT: &str = r#"{"id": "refund", "input": "Can I get my money back?", "expectedOutput": "Within 30 days.", "points": 3}
{"id": "parcel", "input": "Where is my parcel?", "expectedOutput": null, "points": 1, "metadata": {"topic": "delivery"}}
{"id": "invoice", "input": "", "points": 2.5, "metadata": {"topic": "billing"}}
"#;

fn support() -> Project {
    let project = Project::empty();
    project.write("support.jsonl", SUPPORT);
    project
}

#[test]
fn a_table_shows_the_items_and_another_one_what_their_fields_are_like() {
    let shown = support().cobalt(&["dataset", "show", "support.jsonl"], 0).stdout;
    let lines: Vec<_> = shown.lines().map(str::trim_end).collect();
    assert!(lines[0] == "support.jsonl: 3 items" && lines[1].starts_with("hash "), "{shown}");
    assert_eq!(
        lines[3..7],
        [
            "key      input                     expectedOutput   points  metadata",
            "refund   Can I get my money back?  Within 30 days.       3",
            "parcel   Where is my parcel?       null                  1  {\"topic\":\"delivery\"}",
            "invoice                                                2.5  {\"topic\":\"billing\"}",
        ]
    );
    let fields: Vec<Vec<&str>> = lines[8..].iter().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(fields[0].join(" "), "field type items missing null empty distinct min / median / max");
    let of = |name: &str| fields.iter().find(|cells| cells[0] == name).unwrap().join(" ");
    assert_eq!(of("input"), "input string 3 1 3 0 / 19 / 24 chars");
    assert_eq!(of("expectedOutput"), "expectedOutput string 2 1 1 2 15 / 15 / 15 chars");
    assert_eq!(of("points"), "points number 3 3 1 / 2.5 / 3");
    assert_eq!(of("metadata.topic"), "metadata.topic string 2 1 2 7 / 7.5 / 8 chars");
}

#[test]
fn a_limit_leaves_items_out_and_not_their_figures() {
    let project = support();
    let said = project.cobalt(&["dataset", "show", "support.jsonl", "--limit", "1"], 0);
    assert_printed!(said);
    assert!(!said.stdout.contains("parcel") && said.stdout.contains("0 / 19 / 24"), "{said:?}");
    let said = project.cobalt(&["dataset", "show", "support.jsonl", "--limit", "0"], 0);
    assert!(!said.stdout.contains("refund") && said.stdout.contains("0 / 19 / 24"), "{said:?}");
}

#[test]
fn programs_get_all_of_it() {
    let shown = support().cobalt(&["dataset", "show", "support.jsonl", "--json", "--limit", "1"], 0).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown["source"], &shown["items"]), (&json!("support.jsonl"), &json!(3)));
    assert_eq!(shown["hash"].as_str().unwrap().len(), 64);
    assert_eq!(shown["shown"][0]["key"], "refund");
    assert_eq!(shown["shown"][0]["item"]["points"], 3);
    let points = shown["fields"].as_array().unwrap().iter().find(|field| field["name"] == "points").unwrap();
    let expected = json!({
        "name": "points", "items": 3, "missing": 0, "null": 0, "empty": 0, "distinct": 3, "types": { "number": 3 },
        "numbers": { "min": 1.0, "median": 2.5, "max": 3.0 },
    });
    assert_eq!(points, &expected);
}

#[test]
fn an_item_is_shown_whole_by_its_key_and_cannot_steer_the_terminal() {
    let project = Project::empty();
    let long = "word ".repeat(500);
    project.write(
        "set.json",
        &json!([{ "id": "a" }, { "id": "b", "input": format!("{long}\u{1b}[2J\nend"), "list": [1] }])
            .to_string(),
    );
    let shown = project.cobalt(&["dataset", "show", "set.json", "--key", "b"], 0).stdout;
    assert!(shown.starts_with("b, line 1\n"), "{shown}");
    assert!(shown.contains(long.trim_end()) && shown.contains("\\u{1b}[2J\n  end\n"), "{shown}");
    assert!(shown.contains("list\n  [\n    1\n  ]\n"), "{shown}");
    assert_printed!(project.cobalt(&["dataset", "show", "set.json", "--key", "c"], 4));
}

#[test]
fn what_cannot_be_read_is_named_with_what_to_do() {
    let project = support();
    assert_printed!(project.cobalt(&["dataset", "show", "suport.jsonl"], 3));
    project.write("broken.jsonl", "{\"a\": 1}\n{\"a\"\n");
    assert_printed!(project.cobalt(&["dataset", "show", "broken.jsonl"], 3));
    project.write("empty.csv", "a,b\n");
    assert_printed!(project.cobalt(&["dataset", "show", "empty.csv"], 3));
}

#[test]
fn a_set_is_named_by_its_table_or_by_the_source_of_its_copy() {
    let project = support();
    project.write("cobalt.toml", "[datasets.help]\ntype = \"file\"\npath = \"support.jsonl\"\n");
    assert_printed!(project.cobalt(&["dataset", "show", "help"], 0));
    // Nothing listens on this port, and no request is sent.
    let web = "[datasets.web]\ntype = \"url\"\nurl = \"http://127.0.0.1:1/a.jsonl\"\nretries = 0\n";
    project
        .write("cobalt.toml", &format!("{web}[datasets.help]\ntype = \"file\"\npath = \"support.jsonl\"\n"));
    assert_printed!(project.cobalt(&["dataset", "show", "web", "--offline"], 3));
    assert_printed!(project.cobalt(&["dataset", "show", "web", "--refresh"], 3));
    let items = [item! { "input": "a" }];
    let header = json!({
        "cobaltDataset": 1, "source": "langfuse:support", "request": "0".repeat(64), "fetchedAt": "2026-02-05T14:30:00.000Z",
        "items": 1, "hash": Dataset::from_items(items.clone()).hash(), "version": "7",
    });
    let copy = format!("{header}\n{}\n", Value::Object(items[0].clone()));
    project.write(".cobalt/datasets/langfuse-support-00000000.jsonl", &copy);
    for name in ["langfuse:support", ".cobalt/datasets/langfuse-support-00000000.jsonl"] {
        let said = project.cobalt(&["dataset", "show", name, "--offline"], 0);
        assert_printed!(said);
        assert!(said.stdout.contains("ago: 1 item\nversion 7\n"), "{said:?}");
    }
    assert_printed!(project.cobalt(&["dataset", "show", "langfuse:support", "--refresh"], 2));
    assert_printed!(project.cobalt(&["dataset", "check", "langfuse:suport"], 3));
}

#[test]
fn a_hundred_thousand_rows_are_shown_in_seconds() {
    let project = Project::empty();
    let line = |index: usize| {
        format!("{{\"id\": {index}, \"input\": \"question {index}\", \"points\": {}}}\n", index % 7)
    };
    project.write("large.jsonl", &(0..100_000).map(line).collect::<String>());
    let start = Instant::now();
    assert_printed!(project.cobalt(&["dataset", "show", "large.jsonl"], 0));
    // For an unoptimized build on a busy machine.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// Features that the project's manifest enables apply to its test binaries, not to the command.
#[cfg(not(feature = "parquet"))]
#[test]
fn a_table_of_columns_says_how_the_command_learns_to_read_it() {
    let project = Project::empty();
    project.write("set.parquet", "PAR1");
    project.write("cobalt.toml", "[datasets.columns]\ntype = \"file\"\npath = \"set.parquet\"\n");
    for set in ["set.parquet", "columns"] {
        let said = project.cobalt(&["dataset", "show", set], 3);
        assert_printed!(said);
    }
    assert_printed!(project.cobalt(&["dataset", "check", "set.parquet"], 1));
}
