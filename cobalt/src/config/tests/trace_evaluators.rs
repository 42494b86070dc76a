//! `type = "trace"`: each check with its settings.

use std::time::Duration;

use cobalt_core::trace::SpanKind;

use super::Project;
use super::errors::refused;
use crate::{Evaluator, TraceCheck};

#[track_caller]
fn makes(table: &str, expected: &TraceCheck) {
    let made =
        Project::with(&format!("[[evaluators]]\ntype = \"trace\"\n{table}")).load().evaluators().unwrap();
    assert_eq!(made[0].fingerprint(), expected.fingerprint());
    assert_eq!((made[0].name(), made[0].pass_mark()), (expected.name(), expected.pass_mark()));
}

#[test]
fn every_check_is_made_with_its_settings() {
    makes("check = \"has-span\"\nspan = \"plan\"", &TraceCheck::has_span("has-span", "plan"));
    makes(
        "check = \"has-span\"\nname = \"searched\"\nspan = \"search\"\nkind = \"tool\"\npass-mark = 0.5",
        &TraceCheck::has_span("searched", "search").kind(SpanKind::Tool).pass_mark(0.5),
    );
    makes("check = \"none-failed\"", &TraceCheck::none_failed("none-failed"));
    makes(
        "check = \"none-failed\"\nkind = \"retrieval\"",
        &TraceCheck::none_failed("none-failed").kind(SpanKind::Retrieval),
    );
    makes(
        "check = \"at-most\"\nkind = \"model\"\nlimit = 4",
        &TraceCheck::at_most("at-most", SpanKind::Model, 4),
    );
    makes("check = \"path\"\npath = [\"plan\", \"answer\"]", &TraceCheck::path("path", ["plan", "answer"]));
    makes(
        "check = \"time-to-first-token\"\nwithin = \"800ms\"",
        &TraceCheck::time_to_first_token("time-to-first-token", Duration::from_millis(800)),
    );
}

#[test]
fn settings_that_do_not_go_together_are_told_where_they_stand() {
    for (table, error) in [
        ("check = \"has-span\"", "1:1: the check `has-span` needs the name of the span; add `span`"),
        ("check = \"at-most\"\nkind = \"tool\"", "1:1: the check `at-most` needs a maximum; add `limit`"),
        (
            "check = \"at-most\"\nlimit = 3",
            "1:1: the check `at-most` needs the kind of the spans to count; add `kind`",
        ),
        ("check = \"path\"", "1:1: the check `path` needs the names of the spans; add `path`"),
        (
            "check = \"time-to-first-token\"",
            "1:1: the check `time-to-first-token` needs a maximum; add `within`",
        ),
        (
            "check = \"none-failed\"\nlimit = 3",
            "1:1: the check `none-failed` does not use `limit`; remove it",
        ),
        (
            "check = \"none-failed\"\nkind = \"modell\"",
            "4:8: unknown span kind `modell`; did you mean `model`?",
        ),
        (
            "check = \"time-to-first-token\"\nwithin = 3",
            "4:10: invalid type: integer `3`, expected a duration in quotes, such as \"30s\" or \"500ms\"",
        ),
    ] {
        assert_eq!(refused(&format!("[[evaluators]]\ntype = \"trace\"\n{table}")), error);
    }
}

/// The schema requires the same keys as the parser.
#[cfg(all(feature = "json-schema", feature = "schema"))]
#[test]
fn the_schema_knows_what_each_check_needs() {
    let schema = jsonschema::validator_for(&crate::config::schema::schema()).unwrap();
    let allows = |table: &str| {
        let file: toml::Table = format!("[[evaluators]]\ntype = \"trace\"\n{table}").parse().unwrap();
        schema.is_valid(&serde_json::json!(file))
    };
    for table in [
        "check = \"has-span\"\nspan = \"plan\"\nkind = \"agent\"",
        "check = \"none-failed\"",
        "check = \"at-most\"\nkind = \"model\"\nlimit = 4",
        "check = \"path\"\npath = [\"plan\"]",
        "check = \"time-to-first-token\"\nwithin = \"1s\"",
    ] {
        assert!(allows(table), "{table}");
    }
    for table in [
        "check = \"has-span\"",
        "check = \"none-failed\"\nspan = \"plan\"",
        "check = \"at-most\"\nlimit = 4",
        "check = \"at-most\"\nkind = \"model\"",
        "check = \"at-most\"\nkind = \"modell\"\nlimit = 4",
        "check = \"path\"\npath = []",
        "check = \"path\"\npath = [\"plan\"]\nkind = \"agent\"",
        "check = \"time-to-first-token\"",
    ] {
        assert!(!allows(table), "{table}");
    }
}
