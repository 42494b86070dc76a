//! What is wrong is told in its place, with what to write instead.

use super::Project;

/// The error of a `cobalt.toml`, without its path.
#[track_caller]
pub(super) fn refused(text: &str) -> String {
    let error = Project::with(text).error();
    error.strip_prefix("cobalt.toml:").unwrap_or_else(|| panic!("no place: {error}")).to_owned()
}

#[test]
fn a_misspelt_key_is_told_the_right_one() {
    assert!(
        refused("testDir = \"experiments\"")
            .contains("unknown key `testDir`: experiments are test targets of cargo")
    );
    assert!(refused("plugins = [\"./mine.ts\"]").contains("is a function with `#[cobalt::evaluator]`"));
    let table = refused("[thresholds]\nscore = { avg = 0.7 }");
    assert!(table.contains("write `thresholds = [\"score.avg >= 0.8\""), "{table}");
    assert_eq!(refused("\nconcurency = 3\n"), "2:1: unknown key `concurency`; did you mean `concurrency`?");
    assert_eq!(
        refused("[storage]\n  results-dir = \"x\""),
        "2:3: unknown key `results-dir`; did you mean `results`?"
    );
    assert_eq!(refused("ci.time-out = \"1s\""), "1:4: unknown key `time-out`; did you mean `timeout`?");
    assert_eq!(
        refused("[prices.\"our-model\"]\ninput = 1\noutput = 1\ncached_input = 1\n"),
        "4:1: unknown key `cached_input`; did you mean `cached-input`?"
    );
    assert_eq!(
        refused("[[evaluators]]\ntype = \"exact-match\"\nfield = \"answer\"\ncase_sensitive = true"),
        "4:1: unknown key `case_sensitive`; did you mean `case-sensitive`?"
    );
}

#[test]
fn a_strange_key_is_told_all_of_them() {
    assert_eq!(
        refused("colour = 1"),
        "1:1: unknown key `colour`; the keys here are `concurrency`, `timeout`, `reporters`, `targets`, `evaluators`, \
         `thresholds`, `storage`, `judge`, `embedding`, `cache`, `prices`, `env` and 7 more"
    );
    assert_eq!(
        refused("[storage]\ncolour = 1"),
        "2:1: unknown key `colour`; the keys here are `dir`, `results`, `history`, `cache`"
    );
    assert_eq!(
        refused("[[evaluators]]\ntype = \"function\"\nname = \"right\"\ncolour = 1"),
        "4:1: unknown key `colour`; the keys here are `name`, `pass-mark`"
    );
}

#[test]
fn a_value_of_another_type_is_told_what_is_expected() {
    assert_eq!(
        refused("concurrency = \"five\""),
        "1:15: invalid type: string \"five\", expected a whole number of at least 1"
    );
    assert_eq!(
        refused("timeout = 30"),
        "1:11: invalid type: integer `30`, expected a duration in quotes, such as \"30s\" or \"500ms\""
    );
    assert_eq!(refused("storage = 3"), "1:11: invalid type: integer `3`, expected a table of folders");
    assert_eq!(
        refused("[env]\nPORT = 8080"),
        "2:8: invalid type: integer `8080`, expected the variable's value as text in quotes"
    );
    assert_eq!(
        refused("thresholds = \"score.avg >= 0.5\""),
        "1:14: invalid type: string \"score.avg >= 0.5\", expected a list of thresholds in quotes, such as [\"score.avg >= 0.8\", \
         \"latency.p95 <= 5s\"]"
    );
    assert_eq!(refused("evaluators = \"right\""), "1:14: expected a list of evaluators: names and tables");
    assert_eq!(refused("prices = 3"), "1:10: invalid type: integer `3`, expected a table");
    assert_eq!(refused("storage.dir = 3"), "1:15: invalid type: integer `3`, expected a path in quotes");
    assert_eq!(
        refused("evaluators = [\"right\", 3]"),
        "1:24: an evaluator is the name of a function with `#[cobalt::evaluator]`, or a table with a `type`"
    );
}

#[test]
fn a_number_out_of_range_is_refused() {
    assert_eq!(
        refused("concurrency = 0"),
        "1:15: invalid value: integer `0`, expected a whole number of at least 1"
    );
    assert_eq!(
        refused("concurrency = -2"),
        "1:15: invalid value: integer `-2`, expected a whole number of at least 1"
    );
    assert_eq!(
        refused("prices.x = { input = -1, output = 0 }"),
        "1:22: invalid value: integer `-1`, expected USD per 1,000,000 tokens as a number that is 0 or more"
    );
    assert_eq!(
        refused("[[evaluators]]\ntype = \"function\"\nname = \"right\"\npass-mark = 80"),
        "4:13: invalid value: integer `80`, expected a number from 0 to 1"
    );
    assert_eq!(refused("reporters = []"), "1:13: the list is empty; name at least one, or leave the key out");
}

#[test]
fn a_duration_that_cannot_be_is_told_how_one_is_written() {
    assert_eq!(refused("timeout = \"30\""), "1:11: a duration needs a unit: write `30s` or `30ms`");
    assert_eq!(
        refused("timeout = \"5sec\""),
        "1:11: no unit of time `sec`: write `5s` (there are `ns`, `us`, `ms`, `s`, `m` and `h`)"
    );
    assert_eq!(
        refused("timeout = \"0s\""),
        "1:11: a duration must be longer than nothing: write, for example, `30s`"
    );
    assert_eq!(
        refused("timeout = \"soon\""),
        "1:11: a duration is written like `30s` or `500ms`, not `soon`"
    );
}

#[test]
fn a_setting_of_models_that_cannot_be_is_told_what_may() {
    assert_eq!(
        refused("[judge]\nprovider = \"opnai\""),
        "2:12: unknown provider `opnai`; did you mean `openai`? there are `openai`, `anthropic`, `gemini`, `azure`, \
         `cohere`, `voyage`, `local`"
    );
    assert_eq!(
        refused("[judge]\nbase-url = \"localhost:11434\""),
        "2:12: `localhost:11434` is no address; write it like \"https://gateway.example/v1\""
    );
    assert_eq!(
        refused("judge.model = \" \""),
        "1:15: the text is empty; leave the key out for what is usual"
    );
    assert_eq!(
        refused("judge.temperature = 3"),
        "1:21: invalid value: integer `3`, expected a number from 0 to 2"
    );
    assert_eq!(
        refused("judge.retries = 1.5"),
        "1:17: invalid value: floating point `1.5`, expected a whole number from 0 to 20"
    );
    let as_of_a_timeout = refused("timeout = \"7days\"").replace("1:11", "1:13");
    assert_eq!(refused("cache.ttl = \"7days\""), format!("{as_of_a_timeout}; of an age also `d`"));
    assert_eq!(
        refused("cache.ttl = \"0d\""),
        "1:13: a duration must be longer than nothing: write, for example, `30s`"
    );
}

#[test]
fn a_key_is_said_once_and_never_where_a_name_is_meant() {
    assert_eq!(
        refused("[embedding]\napi-key = \"a\"\napi-key-env = \"B\""),
        "3:1: `api-key` and `api-key-env` both name the key; leave one of them out"
    );
    let error = refused("judge.api-key-env = \"not-a-name-but-the-key\"");
    assert!(error.starts_with("1:21: ") && !error.contains("not-a-name"), "{error}");
}

#[test]
fn a_threshold_that_makes_no_sense_is_told_what_is_wrong() {
    assert_eq!(
        refused("thresholds = [\n  \"score.avg >= 0.5\",\n  \"latency.p95 >= 5s\",\n]"),
        "3:3: threshold `latency.p95 >= 5s`: `latency.p95` must not rise above its bound: write `latency.p95 <= 5s`"
    );
    let error = refused("ci.thresholds = [\"score.avg >= 80\"]");
    assert!(
        error.starts_with("1:18: threshold `score.avg >= 80`: ") && error.contains("write `0.8`"),
        "{error}"
    );
}

#[test]
fn an_unknown_type_of_evaluator_is_told_which_there_are() {
    let first = "`exact-match`, `function`, `command`, `llm-judge`, `g-eval`, ";
    let error = refused("[[evaluators]]\ntype = \"oracle\"\nmodel = \"gpt-4o\"");
    let expected = format!("2:8: unknown type of evaluator `oracle`; the types here are {first}");
    assert!(error.starts_with(&expected) && error.ends_with(" more"), "{error}");
    assert_eq!(
        refused("evaluators = [{ type = \"exact_match\", field = \"answer\" }]"),
        "1:24: unknown type of evaluator `exact_match`; did you mean `exact-match`?"
    );
    let error = refused("\n[[evaluators]]\nname = \"right\"");
    let expected = format!("2:1: the key `type` is missing; the types of evaluators are {first}");
    assert!(error.starts_with(&expected), "{error}");
    assert_eq!(refused("evaluators = [{ type = \"exact-match\" }]"), "1:15: the key `field` is missing");
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
    assert!(error.contains("`A=B` cannot be the name of a variable"), "{error}");
    assert!(refused(", command = [\"a\"], keepalive = true").ends_with("did you mean `keep-alive`?"));
}

#[test]
fn a_pattern_that_is_none_is_refused() {
    let error = refused("targets = [\"evals\", \"[a\"]");
    assert!(error.starts_with("1:21: `[a` is no pattern: "), "{error}");
}

#[test]
fn an_unknown_reporter_is_told_which_there_are() {
    assert_eq!(
        refused("reporters = [\"cli\", \"htm\"]"),
        "1:21: unknown reporter `htm`; there are `cli`, `json`, `junit`, `github-actions`, `pr-comment`, `markdown`, \
         `html`"
    );
}

#[test]
fn a_variable_that_has_a_key_of_its_own_or_is_cargos_cannot_be_set() {
    assert_eq!(
        refused("[env]\nCOBALT_DIR = \"x\""),
        "2:1: `COBALT_DIR` cannot be set here: Cobalt's own variables go before this file, and have keys in it"
    );
    let error = refused("[env]\nCARGO_MANIFEST_DIR = \"x\"");
    assert!(error.starts_with("2:1: `CARGO_MANIFEST_DIR` cannot be set here"), "{error}");
    assert_eq!(refused("[env]\n\"A=B\" = \"x\""), "2:1: `A=B` cannot be the name of a variable");
}

#[test]
fn what_is_no_toml_is_told_where() {
    assert_eq!(refused("concurrency = 3\ntimeout = 5s\n").split(':').next(), Some("2"));
    let error = refused("concurrency = 3\nconcurrency = 4\n");
    assert!(error.starts_with("2:1: duplicate key"), "{error}");
}

#[test]
fn columns_are_counted_in_characters() {
    assert_eq!(
        refused("env = { \"größe\" = \"x\", B = 1 }"),
        "1:28: invalid type: integer `1`, expected the variable's value as text in quotes"
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
        ("COBALT_RUNS", "0", "a whole number from 1 to 10000"),
        ("COBALT_RUNS", "999999999999", "a whole number from 1 to 10000"),
        ("COBALT_TIMEOUT", "721h", "a duration such as `30s` or `500ms`, of `720h` at most"),
        ("COBALT_TIMEOUT", "30", "a duration such as `30s` or `500ms`, of `720h` at most"),
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
    assert!(error.ends_with("; COBALT_CONFIG asks for it"), "{error}");
}

#[test]
fn a_file_that_cannot_be_read_is_no_missing_file() {
    let project = Project::new();
    project.file("cobalt.toml/x", "");
    let error = project.error();
    assert!(error.starts_with("failed to read `cobalt.toml`: "), "{error}");
}
