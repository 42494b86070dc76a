//! `cargo cobalt push` and `pull`: a team's runs in a folder and on an S3 server.

mod cut;
mod damage;
mod errors;
mod folder;
mod many;
mod s3_server;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::command::{COBALT, program};
use crate::project::ProgramOutput;
use crate::store::Store;

/// The command in a project, with this remote store.
fn command(store: &Store, remote: &str, arguments: &[&str]) -> Command {
    let mut command = program(COBALT, store.folder());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AWS_") {
            command.env_remove(name);
        }
    }
    command.arg("cobalt").args(arguments).env("COBALT_REMOTE", remote);
    command
}

fn cobalt(store: &Store, remote: &Path, arguments: &[&str], code: i32) -> ProgramOutput {
    ProgramOutput::by(&mut command(store, &remote.display().to_string(), arguments), code)
}

/// The result files of a project, by name.
fn results(store: &Store) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(store.folder().join(".cobalt/results")).into_iter().flatten().flatten();
    files
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .filter(|(name, _)| !name.starts_with('.'))
        .collect()
}

/// The IDs that `history --remote` lists, newest first.
fn listed(command: &mut Command) -> Vec<String> {
    let output = ProgramOutput::by(command, 0);
    let runs: Vec<Value> = serde_json::from_str(&output.stdout).unwrap();
    runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

/// All files below a folder, relative to it, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(self::files(&entry.path())),
            false => files.push(entry.path()),
        }
    }
    files.sort();
    files
}
