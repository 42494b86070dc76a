//! Which file is used, flags as variables, and webhooks.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::Project;
use super::errors::refused;
use crate::config::VariantSelection;
use crate::config::{
    Config, Flags, KeepWorkspaces, OnInconclusive, Reporter, ReporterKind, RerunMode, UnsetVariable,
    WebhookOn,
};
use crate::recording::RecordMode;

/// The file that was read.
fn file(config: &Config) -> &Value {
    let setting = config.settings().iter().find(|setting| setting.key == "config");
    &setting.unwrap().value
}

#[test]
fn everything_works_without_a_file() {
    let project = Project::new();
    let config = project.load();
    assert_eq!(file(&config), &Value::Null);
    assert_eq!((config.concurrency(None), config.timeout(None).as_secs()), (5, 30));
    assert_eq!(config.layout().results(), project.path(".cobalt/results"));
    assert_eq!(config.layout().history(), project.path(".cobalt/history.db"));
    assert!(config.targets().eq(["*"]) && config.has_target("evals"));
    assert_eq!(config.reporters().len(), 1);
}

#[test]
fn the_nearest_file_counts_and_no_other() {
    let project = Project::new();
    let places = [
        ("Cargo.toml", "[workspace.metadata.cobalt]\nconcurrency = 1"),
        ("member/Cargo.toml", "[package.metadata.cobalt]\nconcurrency = 2"),
        ("cobalt.toml", "concurrency = 3\ntimeout = \"9s\""),
        ("member/cobalt.toml", "concurrency = 4"),
    ];
    for (number, (path, text)) in (1..).zip(places) {
        let manifest = if path == "Cargo.toml" { "[workspace]\n" } else { "" };
        project.file(path, &format!("{manifest}{text}\n"));
        let config = project.load();
        assert_eq!(config.concurrency(None), number, "{path}");
        assert_eq!(file(&config), project.path(path).to_str().unwrap());
    }
    assert_eq!(project.load().timeout(None).as_secs(), 30, "other files are ignored");
}

#[test]
fn a_file_can_be_asked_for_by_a_variable_and_by_a_flag() {
    let project = Project::with("concurrency = 3");
    project.file("ci.toml", "concurrency = 7");
    project.file("flag.toml", "concurrency = 8");
    let project = project.variable("COBALT_CONFIG", "ci.toml");
    assert_eq!(project.load().concurrency(None), 7, "the path is relative to the workspace root");
    let config = Some(project.path("flag.toml"));
    assert_eq!(project.flags(Flags { config, ..Flags::default() }).load().concurrency(None), 8);
    let unset = Project::with("concurrency = 3").variable("COBALT_CONFIG", "");
    assert_eq!(unset.load().concurrency(None), 3, "an empty variable is the same as unset");
}

#[test]
fn a_virtual_workspace_has_settings_of_its_own() {
    let project = Project::new();
    project
        .file("Cargo.toml", "[workspace]\n[workspace.metadata.cobalt]\ntargets = [\"evals\", \"slow-*\"]\n");
    let config = Config::load(project.folder.path(), |_| None).unwrap();
    assert!(config.targets().eq(["evals", "slow-*"]));
    assert!(config.has_target("evals") && config.has_target("slow-evals") && !config.has_target("evals-too"));
}

#[test]
fn a_folder_without_any_manifest_stands_for_itself() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cobalt.toml"), "\u{feff}concurrency = 2\r\n").unwrap();
    let config = Config::load(folder.path(), |_| None).unwrap();
    assert_eq!(config.concurrency(None), 2, "a byte order mark is ignored");
}

#[test]
fn flags_become_variables_for_the_test_binaries() {
    let flags = Flags {
        config: Some("/w/ci.toml".into()),
        storage_root: Some("/w".into()),
        concurrency: 4.try_into().ok(),
        runs: 3.try_into().ok(),
        ci: true,
        resume: vec!["a".to_owned(), "b".to_owned()],
        score: vec!["/w/a.json".into(), "/w/b.json".into()],
        score_evaluators: vec!["exact".to_owned(), "tone".to_owned()],
        rerun: Some(RerunMode::Failed),
        shard: Some("2/4".parse().unwrap()),
        shard_group: Some("nightly-7".parse().unwrap()),
        shard_plans: Some("/w/plans.json".into()),
        variants: VariantSelection {
            names: vec!["mini".to_owned(), "large".to_owned()],
            changes: vec!["model=gpt-4o".parse().unwrap(), "shots=3".parse().unwrap()],
        },
        baseline: vec!["/w/desk.json".into()],
        reporters: vec![Reporter::new(ReporterKind::Junit)],
        offline: false,
        refresh: Some(SystemTime::UNIX_EPOCH),
        max_cost: "2.5".parse().ok(),
        ledger: Some("/w/spent".into()),
        record: Some(RecordMode::Auto),
        record_stale: Some(Duration::from_secs(30 * 24 * 3600)),
        on_inconclusive: Some(OnInconclusive::Fail),
        // These are for the command.
        remote: Some("s3://bucket".to_owned()),
        push: true,
        keep_workspaces: Some(KeepWorkspaces::Failed),
    };
    let expected = [
        ("COBALT_CONFIG", "/w/ci.toml"),
        ("COBALT_STORAGE_ROOT", "/w"),
        ("COBALT_CONCURRENCY", "4"),
        ("COBALT_RUNS", "3"),
        ("COBALT_CI", "1"),
        ("COBALT_RESUME", "a,b"),
        ("COBALT_SCORE", "/w/a.json,/w/b.json"),
        ("COBALT_SCORE_EVALUATORS", "exact,tone"),
        ("COBALT_ONLY", "failed"),
        ("COBALT_SHARD", "2/4"),
        ("COBALT_SHARD_GROUP", "nightly-7"),
        ("COBALT_SHARD_PLANS", "/w/plans.json"),
        ("COBALT_VARIANT", "mini,large"),
        ("COBALT_SET", "model=gpt-4o;shots=3"),
        ("COBALT_BASELINE", "/w/desk.json"),
        ("COBALT_ON_INCONCLUSIVE", "fail"),
        ("COBALT_RECORD", "auto"),
        ("COBALT_RECORD_STALE", "30days"),
        ("COBALT_MAX_COST", "2.5"),
        ("COBALT_LEDGER", "/w/spent"),
        ("COBALT_KEEP_WORKSPACES", "failed"),
        // `--refresh` turns off COBALT_OFFLINE of the environment.
        ("COBALT_OFFLINE", "0"),
        ("COBALT_REFRESH", "1970-01-01T00:00:00.000Z"),
    ];
    assert_eq!(flags.variables().unwrap(), expected.map(|(name, value)| (name, value.into())));
    let relative = Flags { config: Some("ci.toml".into()), ..Flags::default() }.variables().unwrap();
    assert!(Path::new(&relative[0].1).is_absolute(), "{relative:?}");
    let offline = Flags { offline: true, ..Flags::default() }.variables().unwrap();
    assert_eq!(offline, [("COBALT_OFFLINE", "1".into()), ("COBALT_REFRESH", "0".into())]);
    assert!(Flags::default().variables().unwrap().is_empty());
}

#[cfg(feature = "remote")]
#[test]
fn the_flags_of_fetching_hold_in_this_process_too_and_take_back_the_variable_of_the_other() {
    let fetching = |flags: Flags, variable: &'static str, value: &str| {
        let config = Project::new().variable(variable, value).flags(flags).load();
        (config.fetch_settings().offline, config.fetch_settings().refresh)
    };
    let since = SystemTime::UNIX_EPOCH;
    let offline = Flags { offline: true, ..Flags::default() };
    let refresh = Flags { refresh: Some(since), ..Flags::default() };
    assert_eq!(fetching(offline, "COBALT_REFRESH", "1"), (true, None));
    assert_eq!(fetching(refresh, "COBALT_OFFLINE", "1"), (false, Some(since)));
    assert_eq!(fetching(Flags::default(), "COBALT_OFFLINE", "1"), (true, None));
    let time = "1970-01-01T00:00:00Z";
    assert_eq!(fetching(Flags::default(), "COBALT_REFRESH", time), (false, Some(since)));
}

const DOCUMENTATION: &str = include_str!("../../../docs/configuration.md");

/// The example with every key.
fn example() -> &'static str {
    let (_, rest) = DOCUMENTATION.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_example_is_read_and_has_every_key() {
    let config = Project::with(example()).flags(Flags { ci: true, ..Flags::default() }).load();
    let settings = config.settings().iter();
    let unset: Vec<_> = settings.filter(|setting| setting.origin.to_string() == "default").collect();
    assert!(unset.is_empty(), "not in the example: {unset:?}");
    assert_eq!((config.concurrency(Some(9)), config.timeout(None).as_secs()), (2, 120));
    assert_eq!(config.additional_thresholds().len(), 1);
}

#[test]
fn every_key_has_its_row() {
    let config = Project::with(example()).load();
    for key in
        config.settings().iter().map(|setting| &*setting.key).filter(|key| !["config", "ci"].contains(key))
    {
        let written = match key.split_once('.') {
            Some(("prices", _)) => "prices.\"<model>\"",
            Some(("datasets", _)) => "datasets.\"<name>\"",
            Some(("env", _)) => "env.<NAME>",
            _ => key,
        };
        assert!(DOCUMENTATION.contains(&format!("| `{written}` | ")), "no row for `{written}`");
    }
}

const SECRET: &str = "s3cret-of-the-test";

fn with_both() -> Project {
    Project::with(
        "\n[[webhooks]]\nurl = \"https://user:hidden@hooks.example:8443/services/T0/s3cret-of-the-test?a=b\"\n\n\
         [[webhooks]]\nurl-env = \"CHAT_URL\"\nsecret-env = \"CHAT_SECRET\"\non = \"regressed\"\ntimeout = \"500ms\"\n\
         retries = 0\n",
    )
}

#[test]
fn addresses_and_keys_come_from_the_file_and_from_variables() {
    let project = with_both().variable("CHAT_URL", "http://127.0.0.1:9").variable("CHAT_SECRET", SECRET);
    let config = project.load();
    let [written, named] = config.webhooks() else { panic!("{:?}", config.webhooks()) };
    assert!(written.url().unwrap().ends_with("/s3cret-of-the-test?a=b"));
    assert_eq!((written.secret(), written.on()), (Ok(None), WebhookOn::Always));
    assert_eq!((written.timeout(), written.retries()), (Duration::from_secs(10), 3));
    assert_eq!((named.url(), named.secret()), (Ok("http://127.0.0.1:9"), Ok(Some(SECRET))));
    assert_eq!(
        (named.on(), named.timeout(), named.retries()),
        (WebhookOn::Regressed, Duration::from_millis(500), 0)
    );
}

#[test]
fn a_variable_that_is_not_set_is_no_mistake_of_the_file_and_is_named() {
    let config = with_both().variable("CHAT_SECRET", "").load();
    let unset = |name: &str| UnsetVariable(name.to_owned());
    assert_eq!(config.webhooks()[1].url(), Err(unset("CHAT_URL")));
    assert_eq!(config.webhooks()[1].secret(), Err(unset("CHAT_SECRET")));
    assert_eq!(unset("CHAT_URL").to_string(), "the variable `CHAT_URL` is not set");
}

#[test]
fn neither_the_settings_nor_the_debug_form_shows_an_address_or_a_key() {
    let config =
        with_both().variable("CHAT_URL", format!("http://h/{SECRET}")).variable("CHAT_SECRET", SECRET).load();
    let shown = config.settings().iter().find(|setting| setting.key == "webhooks").unwrap();
    assert_eq!(
        shown.value,
        json!([
            { "url": "https://hooks.example:8443/[redacted]", "on": "always", "timeout": "10s", "retries": 3 },
            { "url-env": "CHAT_URL", "secret-env": "CHAT_SECRET", "on": "regressed", "timeout": "500ms", "retries": 0 },
        ])
    );
    assert_eq!(shown.origin.to_string(), "cobalt.toml:2");
    let debug = format!("{config:?}");
    assert!(!debug.contains(SECRET) && !debug.contains("hidden"), "{debug}");
}

#[test]
fn a_webhook_has_just_one_address() {
    let none = refused("\n\n[[webhooks]]\non = \"failed\"\n");
    assert_eq!(none, "3:1: a webhook needs a URL: set `url`, or `url-env` to the name of a variable");
    let both = refused("[[webhooks]]\nurl = \"https://a.example\"\nurl-env = \"A\"\n");
    assert_eq!(both, "1:1: `url` and `url-env` are mutually exclusive; remove one");
}

#[test]
fn what_is_no_address_is_refused_in_its_place_and_not_repeated() {
    for address in
        ["hooks.example/s3cret", "ftp://a", "https://", "https:///s3cret", "https://u@/a", "http://a/ b"]
    {
        let error = refused(&format!("[[webhooks]]\nurl = {address:?}\n"));
        assert_eq!(error, "2:7: not a URL; write it like \"https://example.com/hook\"", "{address}");
    }
    let error = refused("[[webhooks]]\nurl-env = \"https://hooks.example/s3cret\"\n");
    assert!(
        error.starts_with("2:11: expected the name of the variable") && !error.contains("s3cret"),
        "{error}"
    );
}

#[test]
fn other_values_are_told_what_is_right() {
    let hook = |line: &str| refused(&format!("[[webhooks]]\nurl = \"https://a.example\"\n{line}\n"));
    assert_eq!(hook("timeout = \"2m\""), "3:11: `2m` is too long: a run waits at most 1m for its webhooks");
    assert!(hook("timeout = 10").ends_with("expected a duration in quotes, such as \"10s\""));
    assert!(hook("retries = -1").ends_with("expected a whole number from 0 to 20"));
    assert_eq!(
        hook("on = \"failure\""),
        "3:6: unknown variant `failure`, expected one of `always`, `failed`, `regressed`"
    );
    assert_eq!(hook("timout = \"1s\""), "3:1: unknown key `timout`; did you mean `timeout`?");
    assert_eq!(
        refused("[webhooks]\nurl = \"https://a.example\"\n"),
        "1:1: invalid type: map, expected a list"
    );
}
