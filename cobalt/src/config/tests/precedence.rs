//! Precedence, and the origins in the list of settings.

use std::time::Duration;

use cobalt_core::prices::{Price, PriceTable, Tokens};
use serde_json::{Value, json};

use super::Project;
use crate::config::{Config, Flags, Reporter, ReporterKind};
use crate::llm::Provider;

fn texts(config: &Config) -> Vec<(String, Value, String)> {
    let settings = config.settings().iter();
    settings.map(|setting| (setting.key.clone(), setting.value.clone(), setting.origin.to_string())).collect()
}

#[track_caller]
fn setting(config: &Config, key: &str) -> (Value, String) {
    let found = texts(config).into_iter().find(|(found, ..)| found == key);
    found
        .map(|(_, value, origin)| (value, origin))
        .unwrap_or_else(|| panic!("no `{key}`: {:?}", texts(config)))
}

const CI: &str = "concurrency = 3\ntimeout = \"10s\"\n\n[ci]\nconcurrency = 2\ntimeout = \"1m\"\n\
                  thresholds = [\"score.avg >= 0.9\"]\n";

#[test]
fn what_the_experiment_declares_comes_before_the_file() {
    let config = Project::with(CI).load();
    assert_eq!((config.concurrency(None), config.concurrency(Some(20))), (3, 20));
    assert_eq!(config.timeout(Some(Duration::from_secs(1))).as_secs(), 1);
    assert!(config.additional_thresholds().is_empty());
}

#[test]
fn what_is_for_ci_comes_before_what_the_experiment_declares() {
    for config in [
        Project::with(CI).variable("COBALT_CI", 1).load(),
        Project::with(CI).flags(Flags { ci: true, ..Flags::default() }).load(),
    ] {
        assert_eq!((config.concurrency(None), config.concurrency(Some(20))), (2, 2));
        assert_eq!(config.timeout(Some(Duration::from_secs(1))).as_secs(), 60);
        assert_eq!(config.additional_thresholds().len(), 1);
        assert_eq!(setting(&config, "timeout"), (json!("1m"), "cobalt.toml:6".to_owned()));
    }
    let off = Project::with(CI).variable("COBALT_CI", 0).load();
    assert_eq!(off.concurrency(None), 3);
}

#[test]
fn a_variable_comes_before_what_is_for_ci_and_a_flag_before_the_variable() {
    let project = Project::with(CI)
        .variable("COBALT_CI", 1)
        .variable("COBALT_CONCURRENCY", 7)
        .variable("COBALT_TIMEOUT", "500ms");
    let config = project.load();
    assert_eq!(config.concurrency(Some(20)), 7);
    assert_eq!(config.timeout(Some(Duration::from_secs(1))).as_millis(), 500);
    assert_eq!(setting(&config, "concurrency"), (json!(7), "COBALT_CONCURRENCY".to_owned()));
    let flags = Flags { concurrency: 8.try_into().ok(), ..Flags::default() };
    let config = project.flags(flags).load();
    assert_eq!(setting(&config, "concurrency"), (json!(8), "flag".to_owned()));
    assert_eq!(setting(&config, "ci"), (json!(true), "COBALT_CI".to_owned()));
}

#[test]
fn how_often_items_are_run_is_what_a_flag_says_else_a_variable_else_the_experiment() {
    assert_eq!(Project::new().load().runs(2), 2);
    let project = Project::new().variable("COBALT_RUNS", 3);
    assert_eq!(project.load().runs(2), 3);
    assert_eq!(project.flags(Flags { runs: 4.try_into().ok(), ..Flags::default() }).load().runs(2), 4);
}

#[test]
fn each_setting_tells_where_it_comes_from() {
    let project = Project::with(
        "reporters = [\"json\"]\nthresholds = [\"latency.p95 <= 5s\"]\n\n[storage]\ndir = \"out\"\n\n\
         [[evaluators]]\ntype = \"exact-match\"\nfield = \"answer\"\npass-mark = 1\n\n\
         [prices.\"our-model-1.5\"]\ninput = 1\noutput = 2\n\n[env]\nRUST_LOG = \"debug\"\n",
    );
    let config = project.load();
    let root = |path: &str| json!(project.path(path));
    let expected = [
        ("config", root("cobalt.toml"), "found"),
        ("ci", json!(false), "default"),
        ("concurrency", json!(5), "default"),
        ("timeout", json!("30s"), "default"),
        ("targets", json!(["*"]), "default"),
        (
            "evaluators",
            json!([{
                "type": "exact-match", "name": "exact-match", "field": "answer", "case-sensitive": true,
                "trim": false, "pass-mark": 1.0,
            }]),
            "cobalt.toml:7",
        ),
        ("thresholds", json!(["latency.p95 <= 5s"]), "cobalt.toml:2"),
        ("group-by", json!([]), "default"),
        ("storage.dir", root("out"), "cobalt.toml:5"),
        ("storage.results", root("out/results"), "cobalt.toml:5"),
        ("storage.history", root("out/history.db"), "cobalt.toml:5"),
        ("storage.cache", root("out/cache"), "cobalt.toml:5"),
        ("storage.parts-from", json!(50_000), "default"),
        ("storage.private", json!(true), "default"),
        ("reporters", json!(["json"]), "cobalt.toml:1"),
        ("judge.timeout", json!("1m"), "default"),
        ("judge.retries", json!(4), "default"),
        ("judge.concurrency", json!(64), "default"),
        ("cache.enabled", json!(true), "default"),
        ("cache.ttl", json!("7d"), "default"),
        ("prices.\"our-model-1.5\"", json!({"input": 1.0, "output": 2.0}), "cobalt.toml:12"),
        ("env.RUST_LOG", json!("debug"), "cobalt.toml:17"),
        ("baseline.on-inconclusive", json!("pass"), "default"),
        ("baseline.max-age", json!("30d"), "default"),
        ("webhooks", json!([]), "default"),
        ("trace.content", json!(true), "default"),
        ("trace.max-text", json!(4096), "default"),
        ("trace.otlp", json!(false), "default"),
        ("dashboard.port", json!(4000), "default"),
        ("dashboard.open", json!(true), "default"),
        ("redaction.forms", json!(true), "default"),
    ];
    let expected = expected.map(|(key, value, origin)| (key.to_owned(), value, origin.to_owned()));
    assert_eq!(texts(&config), expected);
    assert_eq!(config.reporters(), [Reporter::new(ReporterKind::Json)]);
    let written = serde_json::to_value(config.settings()).unwrap();
    assert_eq!(written[2], json!({"key": "concurrency", "value": 5, "origin": "default"}));
}

#[test]
fn the_folders_follow_their_variables_then_the_file() {
    let storage = "[storage]\ndir = \"kept\"\nresults = \"/elsewhere\"\nhistory = \"index.db\"\n";
    let project = Project::with(storage);
    let layout = project.load().layout().clone();
    assert_eq!(layout.journal("abc"), project.path("kept/runs/abc.jsonl"));
    assert_eq!(layout.results(), std::path::Path::new("/elsewhere"));
    assert_eq!(layout.history(), project.path("index.db"));

    let project = Project::with(storage).variable("COBALT_DIR", "moved");
    let config = project.load();
    assert_eq!(config.layout().journals(), project.path("moved/runs"));
    assert_eq!(config.layout().results(), project.path("moved/results"), "all results move");
    assert_eq!(
        setting(&config, "storage.history"),
        (json!(project.path("moved/history.db")), "COBALT_DIR".to_owned())
    );

    let project = project
        .variable("COBALT_RESULTS_DIR", "r")
        .variable("COBALT_HISTORY_DB", "h.db")
        .variable("COBALT_CACHE_DIR", "c");
    let layout = project.load().layout().clone();
    assert_eq!((layout.results(), layout.history()), (&*project.path("r"), &*project.path("h.db")));
    assert_eq!(layout.cache(), project.path("c"));
    let unset = Project::with(storage).variable("COBALT_DIR", "");
    assert_eq!(unset.load().layout().journals(), unset.path("kept/runs"));
}

#[test]
fn prices_are_added_to_the_built_in_ones() {
    let config = Project::with(
        "[prices.gpt-4o]\ninput = 1\noutput = 2\ncached-input = 0.5\n\
         long-prompt = { above = 1000, input = 10, output = 20.5 }\n",
    )
    .load();
    let prices = config.prices();
    let million = |input| Tokens::new(input, 1_000_000);
    assert_eq!(prices.estimate("gpt-4o", million(1000)), Some(2.001));
    assert_eq!(prices.estimate("gpt-4o", million(1_000_000)), Some(30.5));
    assert_eq!(prices.price("gpt-4o").and_then(|price| price.cached_input), Some(0.5));
    assert_ne!(prices.price("gpt-4o"), Some(Price::new(1.0, 2.0)));
    assert_eq!(prices.price("gpt-4o-mini"), PriceTable::default().price("gpt-4o-mini"));
}

#[test]
fn a_variable_that_is_set_stays_as_it_is() {
    let project =
        Project::with("[env]\nRUST_LOG = \"debug\"\nMODEL = \"small\"\n").variable("RUST_LOG", "warn");
    let config = project.load();
    assert_eq!(setting(&config, "env.RUST_LOG"), (json!("warn"), "RUST_LOG".to_owned()));
    assert_eq!(setting(&config, "env.MODEL"), (json!("small"), "cobalt.toml:3".to_owned()));
    assert_eq!(config.env()["RUST_LOG"], "debug");
}

#[test]
fn secrets_are_not_shown() {
    let text =
        "[env]\nOPENAI_API_KEY = \"not like a key\"\nNOTE = \"it was sk-proj-aB3dE5gH7jK9mN1pQ2rS4\"\n";
    let config = Project::with(text).load();
    assert_eq!(setting(&config, "env.OPENAI_API_KEY").0, "[redacted]");
    assert_eq!(setting(&config, "env.NOTE").0, "it was [redacted:openai-key]");
    assert_eq!(config.env()["OPENAI_API_KEY"], "not like a key", "the run receives it");
}

const MODELS: &str = "[judge]\nmodel = \"m\"\nprovider = \"gemini\"\nbase-url = \"https://u:pw@host/v1\"\n\
                      api-key = \"abc\"\ntemperature = 1\ntimeout = \"5s\"\nretries = 0\nconcurrency = 2\n\
                      [embedding]\nprovider = \"local\"\n[cache]\nttl = \"1.5d\"\n";

#[test]
fn what_is_said_of_models_is_in_force() {
    let config = Project::with(MODELS).load();
    let models = config.models();
    assert_eq!((models.timeout.as_secs(), models.retries, models.concurrency), (5, 0, 2));
    assert_eq!(models.cache.as_ref().map(|cache| cache.ttl.as_secs()), Some(36 * 3600));
    assert_eq!((models.judge.model.as_deref(), models.judge.provider), (Some("m"), Some(Provider::Gemini)));
    assert_eq!((models.judge.temperature, models.judge.api_key_env.as_ref()), (Some(1.0), None));
    assert_eq!(models.judge.api_key.as_ref().map(|key| &*key.0), Some("abc"));
    assert_eq!(models.embedding.provider, Some(Provider::Local));
    assert_eq!(setting(&config, "judge.model"), (json!("m"), "cobalt.toml:2".to_owned()));
    assert_eq!(setting(&config, "judge.api-key").0, "[redacted]");
    assert_eq!(setting(&config, "judge.base-url").0, "https://u:[redacted]@host/v1");
    assert_eq!(setting(&config, "cache.ttl").0, "36h");
    assert!(!format!("{config:?}").contains("abc"));
}

#[test]
fn the_cache_is_turned_off_by_its_variable_and_by_the_file() {
    let off = "cache.enabled = false";
    for (project, enabled) in [
        (Project::new(), true),
        (Project::with(off), false),
        (Project::with(off).variable("COBALT_CACHE", 1), true),
        (Project::new().variable("COBALT_CACHE", 0), false),
    ] {
        let config = project.load();
        assert_eq!(config.models().cache.is_some(), enabled);
        assert_eq!(setting(&config, "cache.enabled").0, enabled);
    }
}

#[test]
fn only_whom_is_asked_keeps_a_run_from_being_resumed() {
    let fingerprint = |text: &str| Project::with(text).load().models().fingerprint();
    assert_eq!(
        fingerprint("[judge]\ntimeout = \"5s\"\nretries = 1\napi-key = \"a\"\n[cache]\nenabled = false"),
        None
    );
    assert_ne!(fingerprint("judge.model = \"a\""), fingerprint("judge.model = \"b\""));
    assert_ne!(fingerprint("judge.model = \"a\""), fingerprint("embedding.model = \"a\""));
    assert_eq!(
        fingerprint("judge.model = \"a\""),
        fingerprint("[judge]\nmodel = \"a\"\napi-key-env = \"B\"")
    );
}

#[test]
fn what_is_scored_is_what_flags_say_else_variables() {
    let project = Project::new()
        .variable("COBALT_SCORE", "3f2a, out/run.json")
        .variable("COBALT_SCORE_EVALUATORS", "tone");
    let config = project.load();
    assert_eq!(config.score().runs, ["3f2a", "out/run.json"]);
    assert_eq!(config.score().evaluators, ["tone"]);
    let flags = Flags { score: vec!["/w/a.json".into()], ..Flags::default() };
    let config = project.flags(flags).load();
    assert_eq!(config.score().runs, ["/w/a.json"]);
    assert!(config.score().evaluators.is_empty(), "the variable belongs to the other runs");
}

#[test]
fn a_run_to_score_is_scored_as_a_whole() {
    for (name, value) in [("COBALT_ONLY", "failed"), ("COBALT_SHARD", "1/2"), ("COBALT_RESUME", "a")] {
        let project = Project::new().variable("COBALT_SCORE", "3f2a").variable(name, value);
        let error = project.try_load().unwrap_err().to_string();
        assert!(error.contains(&format!("cannot combine COBALT_SCORE with {name}")), "{error}");
    }
}

#[test]
fn statistics_are_grouped_by_a_field_or_a_list_of_fields() {
    for (written, expected) in [
        ("\" category \"", json!(["category"])),
        ("[\"meta.kind\", \"language\", \"meta.kind\"]", json!(["meta.kind", "language"])),
        ("[]", json!([])),
    ] {
        let config = Project::with(&format!("group-by = {written}\n")).load();
        assert_eq!(setting(&config, "group-by"), (expected.clone(), "cobalt.toml:1".to_owned()));
        assert_eq!(json!(config.group_by()), expected);
    }
}
