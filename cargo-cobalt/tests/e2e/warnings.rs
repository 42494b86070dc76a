//! Warnings: once per invocation, in the terminal, as events, and in GitHub Actions.

use std::process::Command;

use serde_json::Value;

use crate::project::{ProgramOutput, Project};

const TOLD: &str = "unknown environment variable COBALT_TIMOUT has no effect; did you mean `COBALT_TIMEOUT`?";

/// Two test targets, each with its own warning.
fn two_targets() -> Project {
    let project = Project::steered();
    project.target("second");
    let second = include_str!("fixture/evals.rs")
        .replace("fn strict(", "fn strict_too(")
        .replace("fn gated(", "fn gated_too(");
    project.write("tests/second.rs", &second);
    project
}

fn misspelt(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.command(arguments);
    command.env("COBALT_TIMOUT", "5s");
    command
}

#[test]
fn what_several_binaries_warn_of_is_told_once_and_fails_nothing() {
    let project = two_targets();
    let said = ProgramOutput::by(&mut misspelt(&project, &["run", "--ci"]), 0);
    assert_eq!(said.stderr.matches(&format!("warning: {TOLD}\n")).count(), 1, "{}", said.stderr);

    let said = ProgramOutput::by(&mut misspelt(&project, &["run", "--ci", "--reporter", "json"]), 0);
    let events = said.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let warnings: Vec<_> = events.filter(|event| event["event"] == "warning").collect();
    assert_eq!(warnings, [serde_json::json!({ "event": "warning", "message": TOLD })]);

    let mut job = misspelt(&project, &["run", "--ci"]);
    job.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", project.path("summary.md"));
    let said = ProgramOutput::by(&mut job, 0);
    let annotation = format!("::warning title=cobalt::{TOLD}\n");
    assert_eq!(said.stdout.matches(&annotation).count(), 1, "{}", said.stdout);
    assert!(project.read("summary.md").contains("> ⚠️ "), "{}", project.read("summary.md"));
}

#[test]
fn a_variable_that_an_experiment_reads_is_known_where_another_one_is_selected() {
    let project = Project::steered();
    project.rename("live");
    let evals = project.read("tests/evals.rs");
    let main = "fn main() {";
    assert!(evals.contains(main), "{evals}");
    let live = "#[cobalt::experiment(dataset = \"data/items.jsonl\", evaluators = [right], ignore_without = \"COBALT_LIVE\")]\n\
                fn live(_: cobalt::Item) -> String {\n    String::new()\n}\n\n";
    project.write("tests/evals.rs", &evals.replace(main, &format!("{live}{main}")));
    for arguments in [&["--", "strict::paris"][..], &["--", "strict::paris", "--format", "pretty"]] {
        let mut command = project.command(&[&["run", "tests/evals.rs"], arguments].concat());
        let said = ProgramOutput::by(command.env("COBALT_LIVE", "1").env("COBALT_OTHER", "1"), 0);
        assert!(
            !said.stderr.contains("COBALT_LIVE")
                && said.stderr.contains("unknown environment variable COBALT_OTHER"),
            "{said:?}"
        );
    }
}

#[test]
fn a_gate_that_bounds_no_score_warns_in_a_job_where_its_experiment_is_declared() {
    let project = Project::steered();
    let evals = include_str!("fixture/evals.rs").replace("right.pass_rate >= 0.5", "latency.p95 <= 60s");
    // Cargo identifies packages by name.
    project.rename("unbounded");
    project.write("tests/evals.rs", &evals);
    project.answers(&[("paris", "Nowhere"), ("rome", "Elsewhere")]);
    let mut job = project.command(&["run", "--ci", "--filter", "gated", "tests/evals.rs"]);
    job.env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", project.path(""));
    let said = ProgramOutput::by(&mut job, 0);
    let is_told = |line: &str| {
        line.starts_with("::warning file=tests/evals.rs,line=")
            && line.contains(
                "title=gated::no threshold checks a score, and all items are below their pass mark (2 items)",
            )
    };
    assert!(said.stdout.lines().any(is_told), "{}", said.stdout);
    assert!(said.stdout.contains("warning: gated: no threshold checks a score"), "{}", said.stdout);
}

#[cfg(unix)]
#[test]
fn settings_that_are_a_link_to_nowhere_or_have_nearly_the_right_name_end_the_call() {
    let project = Project::steered();
    std::os::unix::fs::symlink("elsewhere.toml", project.path("cobalt.toml")).unwrap();
    for command in ["run", "list", "config", "history"] {
        project.cobalt(&[command], 3).stderr_has("cobalt.toml`: ").stderr_has("it is a broken symlink");
    }
    std::fs::remove_file(project.path("cobalt.toml")).unwrap();
    project.write("Cobalt.toml", "concurrency = 1\n");
    project.cobalt(&["run", "--ci"], 3).stderr_has("Cobalt.toml` is not read; rename it to `cobalt.toml`");
    assert!(project.results().is_empty());
}

#[test]
fn the_only_shard_of_a_run_fails_as_the_whole_would_and_is_merged() {
    let project = Project::steered();
    project.answers(&[("paris", "Nowhere"), ("rome", "Elsewhere")]);
    let said = project.cobalt(&["run", "--ci", "--filter", "gated", "--shard", "1/1"], 1);
    said.stdout_has("MISSED  right.pass_rate>=0.5");
    ProgramOutput::by(&mut misspelt(&project, &["merge", "--ci", ".cobalt"]), 1)
        .stdout_has("MISSED  right.pass_rate>=0.5")
        .stderr_has(&format!("warning: {TOLD}"));
}
