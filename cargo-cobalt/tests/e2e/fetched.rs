//! `--refresh` and `--offline` with remote datasets: output, and what is passed to test binaries.

use std::process::Command;

use serde_json::{Value, json};

use crate::project::{ProgramOutput, Project};
use crate::receiver::{Receiver, Reply};

/// This many items, as JSON.
fn items(number: usize) -> Reply {
    let items: Vec<_> =
        (0..number).map(|n| json!({ "id": format!("item-{n}"), "says": format!("{n}") })).collect();
    Reply::Json(json!(items).to_string())
}

/// A package with two experiments over the same remote dataset.
struct Fetching {
    project: Project,
    source: Receiver,
}

impl Fetching {
    /// With a server that gives these answers, one per request.
    fn from(answers: &[Reply]) -> Self {
        let project = Project::with_features();
        project.target("fetching");
        project.write("tests/fetching.rs", include_str!("fixture/fetched.rs"));
        Self { project, source: Receiver::start(answers) }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(arguments);
        command.env("TRIAL_URL", format!("http://{}/support.json?key=s3cret", self.source.host()));
        command
    }

    fn cobalt(&self, arguments: &[&str], code: i32) -> ProgramOutput {
        ProgramOutput::by(&mut self.command(arguments), code)
    }

    /// The number of items of `desk` and `first`.
    fn listed(&self, arguments: &[&str]) -> Vec<Value> {
        let said = self.cobalt(&[&["list", "--json"], arguments].concat(), 0);
        let rows: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
        rows.into_iter().map(|row| row["experiment"].clone()).collect()
    }

    fn asked(&self) -> usize {
        self.source.received().len()
    }
}

#[test]
fn a_command_lists_runs_and_refreshes_what_was_fetched() {
    let fetching = Fetching::from(&[items(2), items(3), Reply::Status(503, "")]);
    let listed = fetching.listed(&[]);
    assert_eq!((&listed[0]["items"], &listed[1]["items"], fetching.asked()), (&json!(2), &json!(1), 1));
    assert_eq!(listed[0]["hash"].as_str().unwrap().len(), 64);
    assert!(!listed[0].to_string().contains("s3cret"), "{}", listed[0]);
    let said = fetching.cobalt(&["list"], 0);
    assert!(
        said.stdout.contains("data: http://127.0.0.1:")
            && said.stdout.contains(", fetched just now (2 items)")
    );

    fetching.cobalt(&["run"], 0).stderr_has("  data: http://127.0.0.1:").stderr_has(", fetched just now");
    let report = fetching.project.newest_result_of("desk");
    assert_eq!(report["dataset"]["fetched"], listed[0]["fetched"]);
    assert_eq!(fetching.asked(), 1);

    fetching.cobalt(&["run", "--refresh", "--experiment", "desk"], 0);
    assert_eq!((&fetching.project.newest_result()["dataset"]["items"], fetching.asked()), (&json!(3), 2));

    // Flags take precedence over variables.
    let mut down = fetching.command(&["run", "--refresh", "--ci", "--experiment", "desk"]);
    let down = ProgramOutput::by(down.env("COBALT_OFFLINE", "1"), 3);
    down.stderr_has("503").stderr_has("pass `--offline`");
    let asked = fetching.asked();
    let mut offline = fetching.command(&["run", "--offline", "--ci"]);
    ProgramOutput::by(offline.env("COBALT_REFRESH", "1"), 0);
    fetching.cobalt(&["run", "--frozen", "--ci"], 0);
    assert_eq!(fetching.asked(), asked);
}

#[test]
fn what_contradicts_itself_is_a_usage_error() {
    let project = Project::empty();
    for arguments in [
        &["run", "--refresh", "--offline"][..],
        &["run", "--refresh", "--frozen"],
        &["run", "--refresh", "--resume", "0123456789ab"],
        &["list", "--refresh", "--offline"],
        &["watch", "--refresh", "--offline"],
    ] {
        project.cobalt(arguments, 2).stderr_has("cannot be used with");
    }
}

#[test]
fn shards_that_fetched_different_items_are_not_merged() {
    let fetching = Fetching::from(&[items(20), items(21)]);
    for (shard, machine) in [("1/2", "one"), ("2/2", "two")] {
        let mut command = fetching.command(&["run", "--shard", shard, "--experiment", "desk"]);
        ProgramOutput::by(command.env("COBALT_DIR", machine), 0);
    }
    fetching
        .project
        .cobalt(&["merge", "one", "two"], 3)
        .stderr_has("the data")
        .stderr_has("20 items of `http://127.0.0.1:");
}
