//! Jobs of GitHub Actions: annotations, groups, and the summary of the step.

use std::process::Command;

use crate::project::{ProgramOutput, Project};
use crate::snapshot::assert_text;

/// The command as in a job, with `run`, a test target, and these arguments.
fn job(project: &Project, target: &str, arguments: &[&str]) -> Command {
    let mut command = project.command(&[&["run", "--test", target], arguments].concat());
    command.env("GITHUB_ACTIONS", "true").env("CI", "true");
    command.env("GITHUB_WORKSPACE", project.path("").parent().unwrap());
    command.env("GITHUB_STEP_SUMMARY", project.path("summary.md"));
    command
}

/// The commands that the runner would execute in these lines.
fn commands(log: &str) -> Vec<&str> {
    let mut stopped: Option<String> = None;
    let mut heard = Vec::new();
    for line in log.lines() {
        if let Some(token) = &stopped {
            if line == format!("::{token}::") {
                stopped = None;
            }
        } else if let Some(token) = line.strip_prefix("::stop-commands::") {
            stopped = Some(token.to_owned());
        } else if line.trim_start().starts_with("::") || line.contains("##[") {
            heard.push(line);
        }
    }
    assert_eq!(stopped, None, "commands are not re-enabled for the rest of the step: {log}");
    heard
}

#[test]
fn a_job_shows_what_failed_beside_the_code_and_a_summary() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "no, 100 %")]);
    let ProgramOutput { stdout, stderr } = ProgramOutput::by(&mut job(&project, "evals", &["--ci"]), 1);
    let commands = commands(&stdout);
    let package = project.path("").file_name().unwrap().to_str().unwrap().to_owned();
    let place = format!("file={package}/tests/evals.rs,line=");
    let error =
        commands.iter().find(|it| it.starts_with("::error") && it.contains("title=strict%3A%3Arome failed"));
    let error = error.unwrap_or_else(|| panic!("no annotation: {stdout}"));
    assert!(error.contains(&place), "{error}");
    assert!(error.contains("%0A  output: \"no, 100 %25\"%0A"), "{error}");
    let has = |start: &str, part: &str| commands.iter().any(|it| it.starts_with(start) && it.contains(part));
    assert!(has("::warning file", "title=gated%3A%3Arome below pass mark::"), "{commands:?}");
    assert!(has("::notice file", "title=gated passed::"), "{commands:?}");
    assert!(has("::group::strict", "") && has("::endgroup::", ""), "{commands:?}");
    assert!(!stderr.contains("the agent was asked"), "everything goes to one stream: {stderr}");
    assert_text!(project.read("summary.md"));
}

#[test]
fn an_agent_gives_no_commands() {
    let project = Project::empty();
    project.target("talker");
    project.write("tests/talker.rs", include_str!("fixture/talker.rs"));
    project.answers(&[("paris", "error"), ("rome", "##[error]mine")]);
    for reporter in ["cli", "json"] {
        let mut run = job(&project, "talker", &["--ci", "--reporter", reporter]);
        let ProgramOutput { stdout, stderr } = ProgramOutput::by(&mut run, 1);
        let log = if reporter == "json" { &stderr } else { &stdout };
        assert!(log.contains("\n::error::mine\n"), "the output of the agent is shown unchanged: {log}");
        assert!(commands(log).iter().any(|it| it.starts_with("::error file=")), "{log}");
        for log in [&stdout, &stderr] {
            for command in commands(log) {
                let ours = ["::error file=", "::group::talker", "::endgroup::"];
                assert!(ours.iter().any(|start| command.starts_with(start)), "{command}");
            }
        }
        if reporter == "json" {
            let read = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
            let events: Vec<_> = stdout.lines().map(read).collect();
            let failed =
                events.iter().any(|it| it["error"].as_str().is_some_and(|it| it.contains("##[error]mine")));
            assert!(failed, "texts in JSON are unchanged: {stdout}");
        }
    }
}

#[test]
fn whatever_ends_a_call_is_an_error_in_the_job() {
    let project = Project::steered();
    let errors = |project: &Project, arguments: &[&str], code| {
        let ProgramOutput { stdout, stderr } = ProgramOutput::by(&mut job(project, "evals", arguments), code);
        let all = [commands(&stdout), commands(&stderr)].concat();
        all.into_iter()
            .filter(|it| it.starts_with("::error"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(errors(&project, &["--filter", "nothing"], 4).starts_with("::error title=cobalt::no experiment"));
    project.answers(&[("paris", "Paris"), ("rome", "exit")]);
    let crashed = errors(&project, &["--filter", "strict"], 3);
    assert!(crashed.contains("tests/evals.rs,line=") && crashed.contains("was interrupted"), "{crashed}");
    project.write("data/items.jsonl", "{");
    let broken = errors(&project, &[], 3);
    assert!(broken.contains("tests/evals.rs,line=") && broken.contains("gated could not be run"), "{broken}");
    let said = ProgramOutput::by(&mut job(&project, "evals", &[]), 3);
    said.stdout_has("\n2 experiments: 0 passed, 2 NOT FINISHED: strict, gated\n");
    project.write("cobalt.toml", "reporters = 1");
    assert!(errors(&project, &[], 3).contains("::error title=cobalt::"));
    project.write("cobalt.toml", "");
    // No other package has a target with this name, so none has built it.
    project.target("unbuilt");
    project.write("tests/unbuilt.rs", "this is no Rust");
    let said = ProgramOutput::by(&mut job(&project, "unbuilt", &[]), 3);
    assert!(commands(&said.stderr)[0].contains("failed to build the experiments"), "{said:?}");
    let summary = project.read("summary.md");
    let (_, last) = summary.rsplit_once("## ❌ No experiment could be run\n").unwrap();
    assert!(last.contains("\n> `failed to build the experiments"), "{last}");
}

#[test]
fn elsewhere_there_are_no_commands_unless_they_are_asked_for() {
    let project = Project::steered();
    let run = ["run", "--test", "evals", "--filter", "strict"];
    let said = project.cobalt(&run, 0);
    assert!(!said.stdout.contains("::group") && !said.stderr.contains("::stop"), "{said:?}");
    let asked = project.cobalt(&[&run[..], &["--reporter", "github-actions"]].concat(), 0);
    assert!(commands(&asked.stdout).contains(&"::group::strict"), "{asked:?}");
}
