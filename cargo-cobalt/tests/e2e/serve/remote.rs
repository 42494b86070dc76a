//! `serve --remote`: the runs of a team's store, which nobody changes here.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use super::events::Events;
use super::server::Server;
use crate::command::{COBALT, program};
use crate::project::ProgramOutput;
use crate::store::{ITEMS, Kept, Store};

/// Much longer than the server waits between two syncs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Pushes the runs of a team.
fn push(remote: &Path, runs: &[Kept<'_>]) {
    let team = Store::new();
    for run in runs {
        team.keep_edited(run, |report| {
            report["git"] = json!({ "commit": "0123456789".repeat(4), "dirty": false, "branch": "main" });
        });
    }
    let mut command = program(COBALT, team.folder());
    ProgramOutput::by(command.args(["cobalt", "push", "--all"]).env("COBALT_REMOTE", remote), 0);
}

/// A server of a project that has a run of its own.
fn serve(here: &Store, remote: &Path) -> Server {
    let mut command = program(COBALT, here.folder());
    command.args(["cobalt", "serve", "--no-open", "--port", "0"]);
    command.arg(format!("--remote={}", remote.display()));
    Server::by(command)
}

fn two_runs() -> [Kept<'static>; 2] {
    [Kept::default(), Kept { id: "bbbbbbbbbbbb", day: 2, right: 10, ..Kept::default() }]
}

fn own_run() -> Store {
    let here = Store::new();
    here.keep(&Kept { id: "ffffffffffff", ..Kept::default() });
    here
}

#[test]
fn lists_and_pages_have_the_runs_of_the_store_and_not_those_of_the_machine() {
    let (remote, here) = (TempDir::new().unwrap(), own_run());
    push(remote.path(), &two_runs());
    let server = serve(&here, remote.path());
    assert!(server.said().contains("2 runs"), "{}", server.said());
    let runs = server.json("/api/runs?search=main");
    let ids: Vec<_> = runs["runs"].as_array().unwrap().iter().map(|run| run["id"].clone()).collect();
    assert_eq!(ids, ["bbbbbbbbbbbb", "aaaaaaaaaaaa"]);
    assert_eq!(runs["runs"][0]["gitBranch"], "main");
    assert_eq!(server.json("/api/experiments")["experiments"][0]["runs"], 2);
    assert!(!here.folder().join(".cobalt/remote").exists(), "lists fetch no run");

    assert_eq!(server.json("/api/runs/bbbbbbbbbbbb/items?limit=1")["matching"], ITEMS);
    assert_eq!(server.json("/api/runs/bbbbbbbbbbbb/overview")["run"]["id"], "bbbbbbbbbbbb");
    let compared = server.json("/api/compare?a=aaaaaaaaaaaa&b=bbbbbbbbbbbb");
    assert_eq!(compared["comparisons"][0]["evaluators"][0]["verdict"], "worse");
    assert_eq!(server.get("/api/runs/ffffffffffff/overview", &[]).status, 404);
    assert_eq!(fs::read_dir(here.folder().join(".cobalt/results")).unwrap().count(), 1, "nothing is pulled");
    let index = server.json("/api");
    assert_eq!(index["remote"]["url"], *remote.path().display().to_string());
    assert!(index["remote"]["syncedAt"].is_string() && index["remote"]["failure"].is_null(), "{index}");
}

#[test]
fn nobody_can_change_anything_and_commands_do_not_take_it_for_the_dashboard_of_the_project() {
    let (remote, here) = (TempDir::new().unwrap(), own_run());
    push(remote.path(), &two_runs());
    let server = serve(&here, remote.path());
    assert!(!server.said().contains("token="), "{}", server.said());
    let session = server.json("/api/session");
    assert_eq!(session, json!({ "canWrite": false, "reason": "remoteStore" }));
    for (method, path) in [
        ("PATCH", "/api/runs/aaaaaaaaaaaa"),
        ("POST", "/api/runs/aaaaaaaaaaaa/baseline"),
        ("POST", "/api/runs/delete"),
        ("POST", "/api/jobs"),
    ] {
        let origin = format!("Origin: {}", server.url());
        let response = server.send_with(method, path, &[&origin, "Content-Type: application/json"], "{}");
        assert_eq!(response.status, 403, "{path}");
    }
    assert!(!here.folder().join(".cobalt/serve.json").exists());
    let mut command = program(COBALT, here.folder());
    command.args(["cobalt", "serve", "--remote", "--allow-writes"]);
    ProgramOutput::by(&mut command, 2);
}

#[test]
fn a_run_that_is_pushed_is_shown_and_a_lost_store_is_said() {
    let (remote, here) = (TempDir::new().unwrap(), own_run());
    push(remote.path(), &two_runs());
    let server = serve(&here, remote.path());
    server.json("/api/runs/aaaaaaaaaaaa/overview");
    let mut events = Events::of(&server);
    push(remote.path(), &[Kept { id: "cccccccccccc", day: 3, ..Kept::default() }]);
    events.until(|event| event["type"] == "results");
    assert_eq!(server.json("/api/runs")["known"], 3);

    let (away, begin) = (remote.path().with_extension("lost"), Instant::now());
    fs::rename(remote.path(), &away).unwrap();
    events.until(|event| event["type"] == "remote");
    assert!(begin.elapsed() < PATIENCE);
    let store = server.json("/api")["remote"].clone();
    assert!(store["failure"]["since"].is_string() && store["failure"]["message"].is_string(), "{store}");
    assert_eq!(server.json("/api/runs")["known"], 3, "what is known is shown");
    server.json("/api/runs/aaaaaaaaaaaa/overview");
    let lost = server.get("/api/runs/cccccccccccc/overview", &[]);
    assert!(lost.status == 502 && lost.body.contains("mount its file system"), "{}", lost.body);
    let trends = server.json("/api/trends?experiment=desk");
    assert_eq!(trends["trends"].as_array().unwrap().len(), 3, "they need no run: {trends}");
    assert_eq!(trends["thresholds"], json!([]));

    // A server that starts meanwhile shows the list of the last sync.
    let mut other = serve(&here, remote.path());
    other.hear(|said| said.contains("showing the runs of the last sync").then_some(()));
    assert_eq!(other.json("/api/runs")["known"], 3);
    assert!(!remote.path().exists(), "a store that is only read is not created");

    fs::rename(&away, remote.path()).unwrap();
    events.until(|event| event["type"] == "remote");
    assert!(server.json("/api")["remote"]["failure"].is_null());
    server.json("/api/runs/cccccccccccc/overview");
}

#[test]
fn a_deleted_run_is_said_to_be_gone_and_lists_change_when_runs_are_fetched() {
    let (remote, here) = (TempDir::new().unwrap(), own_run());
    push(remote.path(), &two_runs());
    let server = serve(&here, remote.path());
    let etag = |path| server.get(path, &[]).header("etag").to_owned();
    let pages = ["/api/experiments", "/api/trends?experiment=desk"];
    let before = pages.map(etag);
    assert_eq!(pages.map(etag), before, "nothing was fetched");
    server.json("/api/runs/aaaaaaaaaaaa/overview");
    let after = pages.map(etag);
    assert!(before.iter().zip(&after).all(|(before, after)| before != after), "{before:?}");

    fs::remove_dir_all(remote.path().join("runs/bbbbbbbbbbbb")).unwrap();
    let gone = server.get("/api/runs/bbbbbbbbbbbb/overview", &[]);
    assert!(gone.status == 404 && gone.body.contains("no longer in the remote store"), "{}", gone.body);
}
