//! Which file counts.

use std::path::Path;
use std::time::SystemTime;

use serde_json::Value;

use super::Project;
use crate::config::{Config, Flags, OnInconclusive, Only, Reporter, ReporterKind};

/// The file that the settings were read from.
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
    assert_eq!(project.load().timeout(None).as_secs(), 30, "nothing of another file counts");
}

#[test]
fn a_file_can_be_asked_for_by_a_variable_and_by_a_flag() {
    let project = Project::with("concurrency = 3");
    project.file("ci.toml", "concurrency = 7");
    project.file("flag.toml", "concurrency = 8");
    let project = project.variable("COBALT_CONFIG", "ci.toml");
    assert_eq!(project.load().concurrency(None), 7, "it is found from the root of the workspace");
    let config = Some(project.path("flag.toml"));
    assert_eq!(project.flags(Flags { config, ..Flags::default() }).load().concurrency(None), 8);
    let unset = Project::with("concurrency = 3").variable("COBALT_CONFIG", "");
    assert_eq!(unset.load().concurrency(None), 3, "an empty variable counts as unset");
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
    assert_eq!(config.concurrency(None), 2, "and a byte order mark is dropped");
}

#[test]
fn flags_become_variables_for_the_test_binaries() {
    let flags = Flags {
        config: Some("/w/ci.toml".into()),
        concurrency: 4.try_into().ok(),
        runs: 3.try_into().ok(),
        ci: true,
        resume: vec!["a".to_owned(), "b".to_owned()],
        only: Some(Only::Failed),
        shard: Some("2/4".parse().unwrap()),
        baseline: vec!["/w/desk.json".into()],
        reporters: vec![Reporter::of(ReporterKind::Junit)],
        offline: false,
        refresh: Some(SystemTime::UNIX_EPOCH),
        on_inconclusive: Some(OnInconclusive::Fail),
    };
    let expected = [
        ("COBALT_CONFIG", "/w/ci.toml"),
        ("COBALT_CONCURRENCY", "4"),
        ("COBALT_RUNS", "3"),
        ("COBALT_CI", "1"),
        ("COBALT_RESUME", "a,b"),
        ("COBALT_ONLY", "failed"),
        ("COBALT_SHARD", "2/4"),
        ("COBALT_BASELINE", "/w/desk.json"),
        ("COBALT_ON_INCONCLUSIVE", "fail"),
        // What a variable may say of it is taken back.
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
