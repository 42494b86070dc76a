//! Function, command and tool call evaluators in the file.

use std::time::Duration;

use super::Project;
use super::errors::refused;
use crate::evaluators::{EvaluatorDefinition, FnEvaluator};
use crate::{CommandEvaluator, Evaluator, ExactMatch, ToolCalls};

inventory::submit! { EvaluatorDefinition { name: "terse", module: "trial", file: "tests/evals.rs", line: 3, make: terse } }
inventory::submit! { EvaluatorDefinition { name: "my_function", module: "trial", file: "tests/evals.rs", line: 6, make: terse } }
inventory::submit! { EvaluatorDefinition { name: "polite", module: "trial", file: "tests/evals.rs", line: 9, make: terse } }
inventory::submit! { EvaluatorDefinition { name: "twin", module: "mine", file: "tests/a.rs", line: 1, make: terse } }
inventory::submit! { EvaluatorDefinition { name: "twin", module: "theirs::short", file: "tests/b.rs", line: 2, make: terse } }

fn terse() -> FnEvaluator {
    FnEvaluator::new("terse", |_| true).pass_mark(0.7)
}

#[test]
fn evaluators_are_made_in_the_order_of_the_file() {
    let config = Project::with(
        "evaluators = [\n  \"terse\",\n  { type = \"function\", name = \"terse\", pass-mark = 0.9 },\n  \
         { type = \"exact-match\", field = \"answer\", name = \"exact\", case-sensitive = false, trim = true },\n]\n",
    )
    .load();
    let made = config.evaluators().unwrap();
    let made: Vec<_> = made.iter().map(|evaluator| (evaluator.name(), evaluator.pass_mark())).collect();
    assert_eq!(made, [("terse", 0.7), ("terse", 0.9), ("exact", 0.5)]);
    let exact = ExactMatch::new("exact", "answer").case_sensitive(false).trim(true);
    assert_eq!(config.evaluators().unwrap()[2].fingerprint(), format!("{exact:?}"));
}

#[test]
fn an_evaluator_that_is_not_registered_is_told_which_are() {
    let error = |text: &str| {
        let project = Project::with(text);
        let error = project.load().evaluators().unwrap_err().to_string();
        error.replace(&format!("{}/", project.folder.path().display()), "")
    };
    assert_eq!(
        error("evaluators = [\"ters\"]"),
        "cobalt.toml:1:15: unknown evaluator `ters`; did you mean `terse`? available functions with \
         `#[cobalt::evaluator]`: `my_function`, `polite`, `terse`, `twin`. If it is in another crate, add \
         `use that_crate as _;` to the test target: a crate that nothing refers to is not linked"
    );
    for table in ["type = \"function\"\nname = \"unheard-of\"", "type = \"unheard-of\""] {
        let error = error(&format!("[[evaluators]]\n{table}\n"));
        let expected = "cobalt.toml:1:1: unknown evaluator `unheard-of`; available functions with `#[cobalt::evaluator]`: \
                        `my_function`, `polite`, `terse`, `twin`. If it is in another crate, ";
        assert!(error.starts_with(expected), "{error}");
    }
    let twins = error("evaluators = [\"twin\"]");
    for part in [
        "two evaluators are named `twin`: ",
        "one in `mine` at tests/a.rs:1",
        "in `theirs::short` at tests/b.rs:2",
    ] {
        assert!(twins.contains(part), "{twins}");
    }
}

#[test]
fn an_evaluator_of_the_library_that_is_taken_for_a_function_is_told_by_its_table() {
    for (name, table) in [
        ("rouge", "{ type = \"rouge\" }"),
        ("hallucination", "{ type = \"llm-judge\", preset = \"hallucination\" }"),
        ("summarization", "{ type = \"llm-judge\", preset = \"summarisation\" }"),
        ("faithfullness", "{ type = \"autoevals\", autoeval = \"Faithfulness\" }"),
        ("exact_match", "{ type = \"exact-match\" }"),
    ] {
        let error = Project::with(&format!("evaluators = [\"{name}\"]")).load().evaluators().unwrap_err();
        let expected = format!("unknown evaluator `{name}`; did you mean `{table}`? available functions ");
        assert!(error.to_string().contains(&expected), "{error}");
    }
}

#[test]
fn the_name_of_a_function_is_a_type_as_well() {
    let config = Project::with("[[evaluators]]\ntype = \"terse\"\npass-mark = 0.9\n").load();
    let made = config.evaluators().unwrap();
    assert_eq!((made[0].name(), made[0].pass_mark()), ("terse", 0.9));
}

#[test]
fn a_function_may_be_named_nearly_like_a_type() {
    let config = Project::with("evaluators = [{ type = \"my_function\", pass-mark = 0.9 }]").load();
    assert_eq!(config.evaluators().unwrap()[0].pass_mark(), 0.9);
}

#[test]
fn a_program_is_an_evaluator_with_all_that_is_said_of_it() {
    let config = Project::with(
        "[[evaluators]]\ntype = \"command\"\nname = \"ratio\"\ncommand = [\"python3\", \"bridge.py\"]\n\
         env = { METRIC = \"ratio\" }\nkeep-alive = false\nprocesses = 3\ntimeout = \"2s\"\npass-mark = 0.9\n",
    )
    .load();
    let made = CommandEvaluator::new("ratio", "python3").arg("bridge.py").env("METRIC", "ratio");
    let made = made.keep_alive(false).processes(3).timeout(Duration::from_secs(2)).pass_mark(0.9);
    let evaluator = &config.evaluators().unwrap()[0];
    assert_eq!((evaluator.fingerprint(), evaluator.pass_mark()), (made.fingerprint(), 0.9));
}

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
        ("check = \"called\"", "1:1: the check `called` needs a tool; add `tool`"),
        (
            "check = \"recall\"",
            "1:1: the check `recall` needs the item's field with the expected calls; add `expected`",
        ),
        ("check = \"at-most\"", "1:1: the check `at-most` needs a maximum; add `limit`"),
        (
            "check = \"recall\"\nexpected = \"a\"\nlimit = 3",
            "1:1: the check `recall` does not count calls; remove `limit`",
        ),
        (
            "check = \"succeeded\"\nexpected = \"a\"",
            "1:1: the check `succeeded` does not use expected calls; remove `expected`",
        ),
        (
            "check = \"succeeded\"\nignore-failed = true",
            "1:1: the check `succeeded` looks for failed calls; remove `ignore_failed`",
        ),
        ("check = \"in-ordr\"", "3:9: unknown tool call check `in-ordr`; did you mean `in-order`?"),
        (
            "check = \"at-most\"\nlimit = -1",
            "4:9: invalid value: integer `-1`, expected a whole number of at least 0",
        ),
    ] {
        assert_eq!(refused(table), error);
    }
}

/// The schema requires the same keys as the parser.
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
