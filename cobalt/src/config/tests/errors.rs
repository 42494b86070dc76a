//! Errors name the location and say what to write instead.

use super::Project;

/// The error of a `cobalt.toml`, without its path.
#[track_caller]
pub fn refused(text: &str) -> String {
    let error = Project::with(text).error();
    error.strip_prefix("cobalt.toml:").unwrap_or_else(|| panic!("no location: {error}")).to_owned()
}

/// Snapshots the error of each of these files.
#[track_caller]
fn assert_refused(name: &str, files: &[&str]) {
    let shown: String =
        files.iter().map(|text| format!("{}\n    error: {}\n\n", text.trim(), refused(text))).collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, shown));
}

/// An invalid value for every key, to show the expected one.
#[test]
fn every_key_says_what_it_expects() {
    assert_refused(
        "every_key_says_what_it_expects",
        &[
            "concurrency = \"5\"",
            "timeout = 30",
            "reporters = \"cli\"",
            "reporters = [3]",
            "targets = 3",
            "targets = []",
            "evaluators = 3",
            "thresholds = [3]",
            "group-by = 3",
            "storage.dir = 3",
            "storage.results = []",
            "storage.history = true",
            "storage.cache = {}",
            "storage.remote = 3",
            "storage.remote = \"ftp://host/a\"",
            "storage.remote = \"s3://key:secret@bucket\"",
            "storage.push = \"sometimes\"",
            "storage.endpoint = \"minio\"",
            "storage.region = 3",
            "storage.allow-http = \"yes\"",
            "storage.access-key-id = \"a\"",
            "storage.token = \"a\"",
            "judge = 3",
            "judge.model = 3",
            "judge.provider = 3",
            "judge.base-url = 3",
            "judge.api-key = 3",
            "judge.api-key-env = \"\"",
            "judge.temperature = \"warm\"",
            "judge.timeout = 3",
            "judge.retries = -1",
            "judge.concurrency = 0",
            "embedding = 3",
            "embedding.model = 3",
            "embedding.provider = \"anthropic\"",
            "embedding.base-url = \"ftp://x\"",
            "cache = true",
            "cache.enabled = \"yes\"",
            "cache.ttl = 7",
            "prices = []",
            "prices.x = 3",
            "prices.x = { input = 1 }",
            "prices.x = { input = \"1\", output = 1 }",
            "env = 3",
            "env.KEY = 3",
            "baseline = 3",
            "baseline.on-inconclusive = \"ignore\"",
            "baseline.max-age = 30",
            "datasets = 3",
            "datasets.x = \"a.jsonl\"",
            "datasets.x = { path = \"a.jsonl\" }",
            "datasets.x = { type = \"fiel\" }",
            "platforms = 3",
            "platforms.langfsue = {}",
            "webhooks = {}",
            "webhooks = [{}]",
            "webhooks = [{ url = \"x\" }]",
            "webhooks = [{ url = \"https://example.com\", on = \"never\" }]",
            "dashboard = 3",
            "dashboard.port = 70000",
            "dashboard.open = 1",
            "dashboard.editor = \"javascript:alert({path})\"",
            "redaction = 3",
            "redaction.forms = \"no\"",
            "ci = 3",
            "ci.thresholds = \"score.avg >= 0.5\"",
            "ci.concurrency = 0",
            "ci.timeout = \"0s\"",
            "ci.pool-reruns = \"always\"",
        ],
    );
}

/// For every type, a table without its required keys, and one with an unknown key.
#[cfg(feature = "json-schema")]
#[test]
fn every_type_of_evaluator_says_what_it_lacks() {
    let types = [
        "exact-match",
        "function",
        "command",
        "llm-judge",
        "g-eval",
        "pairwise",
        "similarity",
        "autoevals",
        "contains",
        "regex",
        "json-schema",
        "rouge",
        "bleu",
        "chrf",
        "wer",
        "token-f1",
        "squad-exact-match",
        "tool-calls",
        "trace",
    ];
    let files: Vec<_> = types
        .iter()
        .flat_map(|name| {
            let table = format!("[[evaluators]]\ntype = \"{name}\"\n");
            [table.clone(), format!("{table}colour = 1\n"), format!("{table}pass-mark = 2\n")]
        })
        .filter(|text| Project::with(text).try_load().is_err())
        .collect();
    assert_refused(
        "every_type_of_evaluator_says_what_it_lacks",
        &files.iter().map(String::as_str).collect::<Vec<_>>(),
    );
}

#[test]
fn a_misspelt_key_is_told_the_right_one() {
    assert_refused(
        "a_misspelt_key_is_told_the_right_one",
        &[
            "testDir = \"experiments\"",
            "plugins = [\"./mine.ts\"]",
            "[thresholds]\nscore = { avg = 0.7 }",
            "\nconcurency = 3\n",
            "[storage]\n  results-dir = \"x\"",
            "ci.time-out = \"1s\"",
            "[prices.\"our-model\"]\ninput = 1\noutput = 1\ncached_input = 1\n",
            "[[evaluators]]\ntype = \"exact-match\"\nfield = \"answer\"\ncase_sensitive = true",
        ],
    );
}

#[test]
fn a_strange_key_is_told_all_of_them() {
    assert_refused(
        "a_strange_key_is_told_all_of_them",
        &[
            "colour = 1",
            "[storage]\ncolour = 1",
            "[[evaluators]]\ntype = \"function\"\nname = \"right\"\ncolour = 1",
        ],
    );
}

#[test]
fn a_value_of_another_type_is_told_what_is_expected() {
    assert_refused(
        "a_value_of_another_type_is_told_what_is_expected",
        &[
            "concurrency = \"five\"",
            "timeout = 30",
            "storage = 3",
            "[env]\nPORT = 8080",
            "thresholds = \"score.avg >= 0.5\"",
            "evaluators = \"right\"",
            "prices = 3",
            "storage.dir = 3",
            "evaluators = [\"right\", 3]",
        ],
    );
}

#[test]
fn a_number_out_of_range_is_refused() {
    assert_refused(
        "a_number_out_of_range_is_refused",
        &[
            "concurrency = 0",
            "concurrency = -2",
            "prices.x = { input = -1, output = 0 }",
            "[[evaluators]]\ntype = \"function\"\nname = \"right\"\npass-mark = 80",
            "reporters = []",
        ],
    );
}

#[test]
fn a_duration_that_cannot_be_is_told_how_one_is_written() {
    assert_refused(
        "a_duration_that_cannot_be_is_told_how_one_is_written",
        &["timeout = \"30\"", "timeout = \"5sec\"", "timeout = \"0s\"", "timeout = \"soon\""],
    );
}

#[test]
fn a_setting_of_models_that_cannot_be_is_told_what_may() {
    assert_refused(
        "a_setting_of_models_that_cannot_be_is_told_what_may",
        &[
            "[judge]\nprovider = \"opnai\"",
            "[judge]\nbase-url = \"localhost:11434\"",
            "judge.model = \" \"",
            "judge.temperature = 3",
            "judge.retries = 1.5",
            "timeout = \"7days\"",
            "cache.ttl = \"7days\"",
            "cache.ttl = \"0d\"",
        ],
    );
}

#[test]
fn a_key_is_said_once_and_never_where_a_name_is_meant() {
    assert_eq!(
        refused("[embedding]\napi-key = \"a\"\napi-key-env = \"B\""),
        "3:1: `api-key` and `api-key-env` are mutually exclusive; remove one"
    );
    let error = refused("judge.api-key-env = \"not-a-name-but-the-key\"");
    assert!(error.starts_with("1:21: ") && !error.contains("not-a-name"), "{error}");
}

#[test]
fn a_threshold_that_makes_no_sense_is_told_what_is_wrong() {
    assert_refused(
        "a_threshold_that_makes_no_sense_is_told_what_is_wrong",
        &[
            "thresholds = [\n  \"score.avg >= 0.5\",\n  \"latency.p95 >= 5s\",\n]",
            "ci.thresholds = [\"score.avg >= 80\"]",
        ],
    );
}

#[test]
fn an_unknown_type_of_evaluator_is_told_which_there_are() {
    assert_refused(
        "an_unknown_type_of_evaluator_is_told_which_there_are",
        &[
            "[[evaluators]]\ntype = \"wizard\"\nmodel = \"gpt-4o\"",
            "evaluators = [{ type = \"exact_match\", field = \"answer\" }]",
            "\n[[evaluators]]\nname = \"right\"",
            "evaluators = [{ type = \"exact-match\" }]",
        ],
    );
}

#[test]
fn a_command_is_a_list_that_names_a_program() {
    let refused = |table: &str| refused(&format!("evaluators = [{{ type = \"command\"{table} }}]"));
    assert_eq!(refused(""), "1:15: the key `command` is missing");
    let error = refused(", command = []");
    assert!(
        error.starts_with("1:45: the command is empty; write the program and its arguments, as in ["),
        "{error}"
    );
    let error = refused(", command = \"score.py --fast\"");
    assert!(error.contains("expected a list"), "{error}");
    let error = refused(", command = [\"a\"], env = { \"A=B\" = \"c\" }");
    assert!(error.contains("`A=B` is not a valid variable name"), "{error}");
    assert!(refused(", command = [\"a\"], keepalive = true").ends_with("did you mean `keep-alive`?"));
}

#[test]
fn a_pattern_that_is_none_is_refused() {
    assert_refused("a_pattern_that_is_none_is_refused", &["targets = [\"evals\", \"[a\"]"]);
}

#[test]
fn an_unknown_reporter_is_told_which_there_are() {
    assert_refused("an_unknown_reporter_is_told_which_there_are", &["reporters = [\"cli\", \"htm\"]"]);
}

#[test]
fn a_variable_that_has_a_key_of_its_own_or_is_cargos_cannot_be_set() {
    assert_refused(
        "a_variable_that_has_a_key_of_its_own_or_is_cargos_cannot_be_set",
        &["[env]\nCOBALT_DIR = \"x\"", "[env]\nCARGO_MANIFEST_DIR = \"x\"", "[env]\n\"A=B\" = \"x\""],
    );
}

#[test]
fn what_is_no_toml_is_told_where() {
    assert_refused(
        "what_is_no_toml_is_told_where",
        &["concurrency = 3\ntimeout = 5s\n", "concurrency = 3\nconcurrency = 4\n"],
    );
}

#[test]
fn columns_are_counted_in_characters() {
    assert_eq!(
        refused("env = { \"größe\" = \"x\", B = 1 }"),
        "1:28: invalid type: integer `1`, expected the variable's value as a string in quotes"
    );
}

#[test]
fn an_error_repeats_no_key() {
    let error = refused("concurrency = \"sk-proj-aB3dE5gH7jK9mN1pQ2rS4\"");
    assert!(error.contains("[redacted:openai-key]") && !error.contains("aB3dE5"), "{error}");
}

#[test]
fn a_mistake_in_a_manifest_is_told_in_its_place() {
    let project = Project::new();
    project.file(
        "member/Cargo.toml",
        "[package]\nname = \"member\"\n\n[package.metadata.cobalt]\nconcurency = 3\n",
    );
    assert_eq!(
        project.error(),
        "member/Cargo.toml:5:1: unknown key `concurency`; did you mean `concurrency`?"
    );
    project.file("member/Cargo.toml", "[package.metadata]\ncobalt = 3\n");
    assert_eq!(
        project.error(),
        "member/Cargo.toml:2:10: invalid type: integer `3`, expected a table of settings"
    );
}

#[test]
fn a_variable_that_holds_something_else_is_named() {
    for (name, value, expected) in [
        ("COBALT_CONCURRENCY", "0", "a whole number of at least 1"),
        ("COBALT_CONCURRENCY", "many", "a whole number of at least 1"),
        ("COBALT_RUNS", "0", "a whole number from 1 to 10,000"),
        ("COBALT_RUNS", "999999999999", "a whole number from 1 to 10,000"),
        ("COBALT_TIMEOUT", "721h", "a duration such as `30s` or `500ms`, at most `720h`"),
        ("COBALT_TIMEOUT", "30", "a duration such as `30s` or `500ms`, at most `720h`"),
        ("COBALT_CI", "yes", "`1` or `0`"),
        ("COBALT_CACHE", "off", "`1` or `0`"),
    ] {
        let error = Project::new().variable(name, value).error();
        assert_eq!(error, format!("{name} is `{value}`; expected {expected}"));
    }
}

#[test]
fn a_file_that_is_asked_for_must_be_there() {
    let error = Project::new().variable("COBALT_CONFIG", "ci.toml").error();
    assert!(error.starts_with("failed to read `ci.toml`: "), "{error}");
    assert!(error.ends_with("; requested by COBALT_CONFIG"), "{error}");
}

#[test]
fn a_file_that_cannot_be_read_is_no_missing_file() {
    let project = Project::new();
    project.file("cobalt.toml/x", "");
    let error = project.error();
    assert!(error.starts_with("failed to read `cobalt.toml`: "), "{error}");
}
