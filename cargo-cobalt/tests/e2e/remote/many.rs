//! Eight processes push and pull 200 runs at the same time: none is lost, none is there twice, and lists are complete.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use super::cut::CuttingProxy;
use super::s3_server::S3Server;
use super::{command, listed, results};
use crate::store::{Kept, Store};

const PROCESSES: usize = 8;
const RUNS: usize = 200;

/// A project for each process, all with the same settings.
fn projects(settings: &str) -> Vec<Store> {
    let projects: Vec<_> = (0..PROCESSES).map(|_| Store::new()).collect();
    projects.iter().for_each(|store| fs::write(store.folder().join("cobalt.toml"), settings).unwrap());
    projects
}

/// The command with a key, as the server wants one.
fn with_key(store: &Store, arguments: &[&str]) -> Command {
    let mut command = command(store, "", arguments);
    command.env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE").env("AWS_SECRET_ACCESS_KEY", "secret");
    command
}

/// Runs the command in all projects at the same time.
fn in_all(projects: &[Store], arguments: &[&str]) {
    let start =
        |store| with_key(store, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started: Vec<_> = projects.iter().map(start).collect();
    for process in started {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

fn push_and_pull(settings: &str) {
    let projects = projects(settings);
    let mut all = BTreeMap::new();
    for number in 0..RUNS {
        let id = format!("{number:012x}");
        let day = u32::try_from(number % 28 + 1).unwrap();
        projects[number % PROCESSES].keep(&Kept { id: &id, day, right: number % 40, ..Kept::default() });
    }
    projects.iter().for_each(|store| all.extend(results(store)));
    assert_eq!(all.len(), RUNS);
    in_all(&projects, &["push"]);
    in_all(&projects, &["pull"]);
    for store in &projects {
        assert!(results(store) == all, "a project has {} of {RUNS} runs", results(store).len());
    }
    let mut ids = listed(&mut with_key(
        &Store::new_with(settings),
        &["history", "--remote", "--json", "--limit", "1000"],
    ));
    ids.sort();
    assert_eq!(ids, (0..RUNS).map(|number| format!("{number:012x}")).collect::<Vec<_>>());
    // All have everything, so nothing is sent again.
    in_all(&projects, &["push"]);
}

#[test]
fn in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    push_and_pull(&format!("[storage]\nremote = {:?}\n", folder.path().join("team")));
    let index = fs::read_dir(folder.path().join("team/index")).unwrap().count();
    assert_eq!(index, RUNS);
}

#[test]
fn on_an_s3_server_with_every_tenth_connection_cut() {
    let Some(server) = S3Server::start(&[]) else { return };
    server.create_bucket("team");
    let proxy = CuttingProxy::to(server.address);
    push_and_pull(&format!(
        "[storage]\nremote = \"s3://team/evals\"\nendpoint = \"http://{}\"\nregion = \"us-east-1\"\nallow-http = true\n",
        proxy.address
    ));
    assert!(proxy.cuts() > 40, "{} cuts", proxy.cuts());
}
