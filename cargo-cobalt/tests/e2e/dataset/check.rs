//! `cargo cobalt dataset check`: problems in dataset files, and exit codes.

use serde_json::{Value, json};

use crate::project::Project;
use crate::snapshot::assert_printed;

/// The findings: the check and the message of each.
fn found(project: &Project, file: &str, code: i32) -> Vec<(String, String)> {
    let all: Value =
        serde_json::from_str(&project.cobalt(&["dataset", "check", file, "--json"], code).stdout).unwrap();
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
    let findings = all["sets"][0]["findings"].as_array().unwrap();
    findings.iter().map(|finding| (text(finding, "check"), text(finding, "message"))).collect()
}

fn with(text: &str) -> Project {
    let project = Project::empty();
    project.write("set.jsonl", text);
    project
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(check, message)| ((*check).to_owned(), (*message).to_owned())).collect()
}

#[test]
fn a_sound_set_passes() {
    let project = with("{\"id\": 1, \"input\": \"2 + 2\"}\n{\"id\": 2, \"input\": \"2 - 2\"}\n");
    assert_printed!(project.cobalt(&["dataset", "check", "set.jsonl"], 0));
}

#[test]
fn every_line_that_is_no_item_is_named() {
    let project = with("{\"input\": \"a\"}\n{\"input\": \n[1]\n{\"input\": \"b\"}\n{\n");
    let said = project.cobalt(&["dataset", "check", "set.jsonl"], 1).stdout;
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines[0], "set.jsonl: 2 items, 3 errors");
    assert!(lines[1].starts_with("  error  line 2: expected one complete JSON object: EOF"), "{said}");
    assert_eq!(
        lines[2],
        "  error  line 3: expected a JSON object, found an array; each line must be one item"
    );
    assert!(lines[3].starts_with("  error  line 5: "), "{said}");
}

#[test]
fn a_file_that_the_configuration_names_is_checked_line_by_line() {
    let project = with("{\"input\": \"a\"}\n[1]\n{\"input\": \"b\"}\n{\n");
    project.write("cobalt.toml", "[datasets.support]\ntype = \"file\"\npath = \"set.jsonl\"\n");
    assert_printed!(project.cobalt(&["dataset", "check", "support"], 1));
}

#[test]
fn what_is_behind_a_mistake_in_csv_is_read_and_behind_one_in_json_is_not() {
    let project = Project::empty();
    project.write("set.csv", "id,input\n1,a,b\n2,\"c\"d\n3,e\n");
    assert_printed!(project.cobalt(&["dataset", "check", "set.csv"], 1));
    project.write("set.json", "[{\"a\": 1}, 2, {\"b\"]");
    assert_printed!(project.cobalt(&["dataset", "check", "set.json"], 1));
    project.write("none.json", "{\"rows\": []}");
    assert_printed!(project.cobalt(&["dataset", "check", "none.json"], 1));
    project.write("empty.jsonl", "");
    assert_printed!(project.cobalt(&["dataset", "check", "empty.jsonl"], 1));
}

#[test]
fn fields_that_only_some_items_have_are_found() {
    let project = with(
        "{\"id\": \"a\", \"input\": \"one\", \"expectedOutput\": \"1\"}\n{\"id\": \"b\", \"input\": \" \"}\n\
         {\"input\": \"three\", \"expectedOutput\": \"\"}\n",
    );
    let expected = [
        ("no-input", "1 of 3 items has no `input`"),
        ("missing", "1 of 3 items has no `id`"),
        ("missing", "2 of 3 items have no expected output"),
    ];
    assert_eq!(found(&project, "set.jsonl", 1), pairs(&expected));
    assert_printed!(project.cobalt(&["dataset", "check", "set.jsonl"], 1));
}

#[test]
fn an_id_that_is_there_twice_is_an_error_and_values_of_several_types_are_a_note() {
    let project = with(
        "{\"id\": 1, \"n\": 1}\n{\"id\": \"1\", \"n\": 2}\n{\"id\": 2, \"n\": \"3\"}\n{\"id\": 3, \"n\": null}\n",
    );
    let expected = [
        ("repeated-id", "2 items share the id `1`"),
        ("mixed-types", "field `id` has mixed types: number in 3, string in 1"),
        ("mixed-types", "field `n` has mixed types: number in 2, string in 1"),
    ];
    assert_eq!(found(&project, "set.jsonl", 1), pairs(&expected));
    assert_printed!(project.cobalt(&["dataset", "check", "set.jsonl"], 1));
}

#[test]
fn equal_inputs_are_grave_only_where_they_expect_different_outputs() {
    let item =
        |input: &str, expected: &str| format!("{}\n", json!({ "input": input, "expectedOutput": expected }));
    let project = with(&[item("a", "1"), item("b", "2"), item("a", "1")].concat());
    assert_eq!(found(&project, "set.jsonl", 0), pairs(&[("duplicate", "2 items are identical")]));
    project.cobalt(&["dataset", "check", "set.jsonl", "--strict"], 1);
    let project = with(&[item("a", "1"), item("b", "2"), item("a", "3")].concat());
    let conflict = [("conflict", "2 items have the same input but different expected outputs")];
    assert_eq!(found(&project, "set.jsonl", 1), pairs(&conflict));
    let said = project.cobalt(&["dataset", "check", "set.jsonl"], 1).stdout;
    let lines: Vec<_> = said.lines().skip(2).collect();
    assert!(lines[0].starts_with("         line 1, `") && lines[0].ends_with("`: 1"), "{said}");
    assert!(lines[1].starts_with("         line 3, `") && lines[1].ends_with("-2`: 3"), "{said}");
}

#[test]
fn inputs_that_are_nearly_the_same_are_found_by_how_much_alike_they_are() {
    let question = "How do I get my money back when the parcel that I ordered never came?";
    let item = |id: usize, input: String| format!("{}\n", json!({ "id": id, "input": input }));
    let other = question.replace("parcel", "letter");
    let project =
        with(&[item(1, question.into()), item(2, question.to_uppercase()), item(3, other)].concat());
    let expected = [("near-duplicate", "2 items have similar inputs (at least 100% similar)")];
    assert_eq!(found(&project, "set.jsonl", 0), pairs(&expected));
    assert_printed!(project.cobalt(&["dataset", "check", "set.jsonl", "--near", "0.7"], 0));
    assert_printed!(project.cobalt(&["dataset", "check", "set.jsonl", "--near", "0.2"], 2));
}

#[test]
fn text_in_a_wrong_encoding_is_found() {
    let project =
        with("{\"input\": \"caf\u{c3}\u{a9}\"}\n{\"input\": \"\u{fffd}\"}\n{\"input\": \"café\"}\n");
    let expected = [
        ("encoding", "field `input` contains UTF-8 decoded as Windows-1252 in 1 item"),
        ("encoding", "field `input` contains replacement characters (U+FFFD) in 1 item"),
    ];
    assert_eq!(found(&project, "set.jsonl", 0), pairs(&expected));
}

#[test]
fn all_sets_are_checked_also_where_one_cannot_be_read() {
    let project = with("{\"input\": \"a\"}\n");
    let said = project.cobalt(&["dataset", "check", "none.jsonl", "set.jsonl"], 3);
    assert_printed!(said);
    assert_eq!(said.stdout, "set.jsonl: 1 item, no problems found\n");
}

#[test]
fn what_a_set_holds_cannot_steer_the_terminal() {
    let project = with("{\"id\": \"\\u001b[2J\"}\n{\"id\": \"\\u001b[2J\"}\n");
    let said = project.cobalt(&["dataset", "check", "set.jsonl"], 1);
    assert_printed!(said);
    assert!(!said.stdout.contains('\u{1b}'), "{said:?}");
}

#[test]
fn of_many_findings_the_terminal_has_some_and_programs_have_all() {
    let project = with(&"nothing\n".repeat(30));
    assert_printed!(project.cobalt(&["dataset", "check", "set.jsonl"], 1));
    assert_eq!(found(&project, "set.jsonl", 1).len(), 30);
}
