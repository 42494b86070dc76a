//! Evaluators of calls from the file.

use super::Project;
use super::mistakes::refused;
use crate::{Evaluator, ToolCalls};

#[track_caller]
fn makes(table: &str, expected: &ToolCalls) {
    let made = Project::with(&format!("[[evaluators]]\ntype = \"tool-calls\"\n{table}"))
        .load()
        .evaluators()
        .unwrap();
    assert_eq!(made[0].fingerprint(), expected.fingerprint());
    assert_eq!((made[0].name(), made[0].pass_mark()), (expected.name(), expected.pass_mark()));
}

#[test]
fn every_check_is_made_with_its_settings() {
    let field = "expectedCalls";
    let of_field = |check: &str, evaluator: ToolCalls| {
        makes(&format!("check = \"{check}\"\nexpected = \"{field}\""), &evaluator);
    };
    makes("check = \"called\"\ntool = \"book\"", &ToolCalls::called("called", "book"));
    makes("check = \"not-called\"\ntool = \"book\"", &ToolCalls::not_called("not-called", "book"));
    of_field("exact-order", ToolCalls::exact_order("exact-order", field));
    of_field("in-order", ToolCalls::in_order("in-order", field));
    of_field("any-order", ToolCalls::any_order("any-order", field));
    of_field("arguments", ToolCalls::arguments("arguments", field));
    of_field("precision", ToolCalls::precision("precision", field));
    of_field("recall", ToolCalls::recall("recall", field));
    of_field("f1", ToolCalls::f1("f1", field));
    makes("check = \"succeeded\"", &ToolCalls::succeeded("succeeded"));
    makes("check = \"at-most\"\nlimit = 5", &ToolCalls::at_most("at-most", 5));
    makes("check = \"repeats-at-most\"\nlimit = 0", &ToolCalls::repeats_at_most("repeats-at-most", 0));
    makes(
        "check = \"in-order\"\nname = \"order\"\nexpected = \"calls\"\ntool = \"book\"\ncalls = \"output.steps\"\n\
         match-arguments = false\nignore-failed = true\ntop-level-only = true\npass-mark = 0.5",
        &ToolCalls::in_order("order", "calls")
            .tool("book")
            .calls("output.steps")
            .match_arguments(false)
            .ignore_failed(true)
            .top_level_only(true)
            .pass_mark(0.5),
    );
}

#[test]
fn settings_that_do_not_go_together_are_told_where_they_stand() {
    let refused = |table: &str| refused(&format!("[[evaluators]]\ntype = \"tool-calls\"\n{table}"));
    for (table, error) in [
        ("check = \"called\"", "1:1: the check `called` is of one tool; add `tool`"),
        (
            "check = \"recall\"",
            "1:1: the check `recall` compares with the calls that a field of the item names; add `expected`",
        ),
        (
            "check = \"at-most\"",
            "1:1: the check `at-most` needs the largest number that is allowed; add `limit`",
        ),
        (
            "check = \"recall\"\nexpected = \"a\"\nlimit = 3",
            "1:1: the check `recall` counts nothing; leave out `limit`",
        ),
        (
            "check = \"succeeded\"\nexpected = \"a\"",
            "1:1: the check `succeeded` compares with nothing that is expected; leave out `expected`",
        ),
        (
            "check = \"succeeded\"\nignore-failed = true",
            "1:1: the check `succeeded` looks for the calls that failed; leave out whether they are ignored",
        ),
        ("check = \"in-ordr\"", "3:9: unknown check of calls `in-ordr`; did you mean `in-order`?"),
        (
            "check = \"at-most\"\nlimit = -1",
            "4:9: invalid value: integer `-1`, expected a whole number that is 0 or more",
        ),
    ] {
        assert_eq!(refused(table), error);
    }
}

/// An editor tells what is missing as the file's reader does.
#[cfg(all(feature = "json-schema", feature = "schema"))]
#[test]
fn the_schema_knows_what_each_check_needs() {
    let schema = jsonschema::validator_for(&crate::config::schema::schema()).unwrap();
    let allows = |table: &str| {
        let file: toml::Table = format!("[[evaluators]]\ntype = \"tool-calls\"\n{table}").parse().unwrap();
        schema.is_valid(&serde_json::json!(file))
    };
    for table in [
        "check = \"called\"\ntool = \"book\"",
        "check = \"recall\"\nexpected = \"calls\"\ntool = \"book\"",
        "check = \"succeeded\"",
        "check = \"at-most\"\nlimit = 5",
    ] {
        assert!(allows(table), "{table}");
    }
    for table in [
        "check = \"called\"",
        "check = \"called\"\ntool = \"book\"\nexpected = \"calls\"",
        "check = \"recall\"",
        "check = \"recall\"\nexpected = \"calls\"\nlimit = 5",
        "check = \"succeeded\"\nexpected = \"calls\"",
        "check = \"repeats-at-most\"",
    ] {
        assert!(!allows(table), "{table}");
    }
}
