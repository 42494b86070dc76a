//! `cargo cobalt config`: the settings of the current project, and the schema of the file.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::project::{ProgramOutput, Project};
use crate::snapshot::assert_printed;

/// The lines of the table with single spaces and without the project's folder.
fn table(project: &Project, said: &ProgramOutput) -> Vec<String> {
    let root = fs::canonicalize(project.path("")).unwrap();
    let text = said.stdout.replace(&root.display().to_string(), "");
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn every_setting_is_shown_with_where_it_comes_from() {
    let project = Project::empty();
    project.write(
        "cobalt.toml",
        "concurrency = 3\nthresholds = [\"score.avg >= 0.5\"]\n\n[env]\nAPI_KEY = \"secret\"\n",
    );
    project.write(".env", "COBALT_DIR=kept\n");
    let said = ProgramOutput::by(project.command(&["config"]).env("COBALT_TIMEOUT", "90s"), 0);
    let expected = [
        "key value origin",
        "config \"/cobalt.toml\" found",
        "ci false default",
        "concurrency 3 cobalt.toml:1",
        "timeout \"90s\" COBALT_TIMEOUT",
        "targets [\"*\"] default",
        "evaluators [] default",
        "thresholds [\"score.avg >= 0.5\"] cobalt.toml:2",
        "group-by [] default",
        "storage.dir \"/kept\" COBALT_DIR",
        "storage.results \"/kept/results\" COBALT_DIR",
        "storage.history \"/kept/history.db\" COBALT_DIR",
        "storage.cache \"/kept/cache\" COBALT_DIR",
        "storage.parts-from 50000 default",
        "storage.private true default",
        "reporters [\"cli\"] default",
        "judge.timeout \"1m\" default",
        "judge.retries 4 default",
        "judge.concurrency 64 default",
        "cache.enabled true default",
        "cache.ttl \"7d\" default",
        "env.API_KEY \"[redacted]\" cobalt.toml:5",
        "baseline.on-inconclusive \"pass\" default",
        "baseline.max-age \"30d\" default",
        "webhooks [] default",
        "trace.content true default",
        "trace.max-text 4096 default",
        "trace.otlp false default",
        "dashboard.port 4000 default",
        "dashboard.open true default",
        "redaction.forms true default",
    ];
    assert_eq!(table(&project, &said), expected);
    let columns: Vec<_> = said.stdout.lines().map(|line| line.find("default")).collect();
    assert_eq!(columns[2], columns[5], "the columns are not aligned: {}", said.stdout);
}

#[test]
fn data_sets_and_accounts_are_shown_without_their_secrets() {
    let project = Project::empty();
    project.write(
        "cobalt.toml",
        "[datasets.desk]\ntype = \"url\"\nurl = \"https://data.example/desk.csv?sig=s3cret\"\nitems = 3\n\n\
         [platforms.basalt]\napi-key = \"s3cret\"\n",
    );
    let said = project.cobalt(&["config"], 0);
    assert!(!said.stdout.contains("s3cret"), "{}", said.stdout);
    let lines = table(&project, &said);
    let url = "https://data.example/desk.csv?[redacted]";
    for line in [
        format!("datasets.desk {{ type = \"url\", url = \"{url}\", items = 3 }} cobalt.toml:1"),
        "platforms.basalt.api-key \"[redacted]\" cobalt.toml:7".to_owned(),
    ] {
        assert!(lines.contains(&line), "{line}: {lines:?}");
    }
}

#[test]
fn the_parameters_of_a_models_address_are_hidden_but_for_its_version() {
    let project = Project::empty();
    let url = "https://gateway.example/v1?api-version=2024-10-21&key=plain-words";
    project.write(
        "cobalt.toml",
        &format!("[judge]\nmodel = \"m\"\nprovider = \"openai\"\nbase-url = \"{url}\"\n"),
    );
    for arguments in [&["config"][..], &["config", "--json"]] {
        let said = project.cobalt(arguments, 0).stdout_has("api-version=2024-10-21");
        assert!(!said.stdout.contains("plain-words"), "{}", said.stdout);
        assert_printed!(said);
    }
}

#[test]
fn each_evaluator_has_a_line_and_a_long_one_does_not_push_the_others_aside() {
    let project = Project::empty();
    let long = "criterion ".repeat(20);
    let tables = [
        "type = \"exact-match\"\nfield = \"answer\"".to_owned(),
        format!("type = \"llm-judge\"\nprompt = \"{long}{{{{output}}}}\""),
    ];
    project.write("cobalt.toml", &tables.map(|table| format!("[[evaluators]]\n{table}\n")).concat());
    let said = project.cobalt(&["config"], 0);
    let lines: Vec<_> = said.stdout.lines().collect();
    let first = lines.iter().position(|line| line.starts_with("evaluators ")).unwrap();
    assert!(
        lines[first].contains("exact-match") && lines[first].ends_with("cobalt.toml:1"),
        "{}",
        said.stdout
    );
    assert!(lines[first + 1].trim_start().starts_with("{ type = \"llm-judge\""), "{}", said.stdout);
    assert!(lines.iter().filter(|line| line.len() > 150).count() == 1, "{}", said.stdout);
}

#[test]
fn the_nearest_project_counts_from_any_folder_and_whoever_started_the_command() {
    let project = Project::empty();
    project.write("cobalt.toml", "concurrency = 3\n");
    project.write("src/deep/inside.rs", "");
    let mut command = project.command(&["config", "--json"]);
    command.current_dir(project.path("src/deep")).env("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR"));
    let settings: Value = serde_json::from_str(&ProgramOutput::by(&mut command, 0).stdout).unwrap();
    assert_eq!(settings[2], json!({"key": "concurrency", "value": 3, "origin": "cobalt.toml:1"}));
}

#[test]
fn a_file_can_be_named_as_seen_from_the_current_folder() {
    let project = Project::empty();
    project.write("cobalt.toml", "concurrency = 3\n");
    project.write("settings/ci.toml", "\nconcurrency = 7\n");
    let mut command = project.command(&["config", "--config", "ci.toml"]);
    let said = ProgramOutput::by(command.current_dir(project.path("settings")), 0);
    let lines = table(&project, &said);
    assert_eq!(lines[1], "config \"/settings/ci.toml\" flag");
    assert_eq!(lines[3], "concurrency 7 settings/ci.toml:2");
}

#[test]
fn a_file_that_is_not_there_is_told_with_what_asks_for_it() {
    let project = Project::empty();
    for command in ["config", "history"] {
        assert_printed!(project.cobalt(&[command, "--config", "no-such.toml"], 3));
    }
}

#[test]
fn a_run_follows_the_file_that_is_named_and_what_is_for_ci() {
    let project = Project::steered();
    let gate = "[storage]\ndir = \"kept\"\n\n[ci]\nthresholds = [\"latency.total <= 1ns\"]\n";
    project.write("settings/ci.toml", gate);
    let run = ["run", "--config", "settings/ci.toml"];
    project.cobalt(&run, 0);
    assert!(project.path("kept/results").is_dir() && project.results().is_empty());
    project.cobalt(&[&run[..], &["--ci"]].concat(), 1).stdout_has("latency.total<=1ns");
    project.cobalt(&["history", "--config", "settings/ci.toml"], 0).stdout_has("gated");
}

#[test]
fn what_init_comments_out_are_settings() {
    let project = Project::empty();
    let template = include_str!("../../src/init/templates/cobalt.toml");
    let from_file = || {
        let lines = table(&project, &project.cobalt(&["config"], 0));
        lines.into_iter().filter(|line| line.contains(" cobalt.toml:")).collect::<Vec<_>>()
    };
    project.write("cobalt.toml", template);
    assert!(from_file().is_empty(), "commented-out settings have no effect: {:?}", from_file());
    let settings =
        template.lines().filter_map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')));
    project.write("cobalt.toml", &settings.collect::<Vec<_>>().join("\n"));
    assert!(from_file().len() >= 9, "{:?}", from_file());
}

#[test]
fn the_schema_in_the_repository_is_that_of_the_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("cobalt.schema.json");
    let schema = Project::empty().cobalt(&["config", "--schema"], 0).stdout;
    assert!(
        fs::read_to_string(file).unwrap_or_default() == schema,
        "the settings have changed since; renew their schema with \
         `cargo cobalt config --schema > cobalt.schema.json`, and commit it"
    );
}
