//! Damaged objects in the store: they are named, and the index is repaired.

use std::fs;
use std::path::{Path, PathBuf};

use super::{cobalt, files};
use crate::project::ProgramOutput;
use crate::store::{Kept, Store};

/// A store in a folder with two runs and a recording, and the machine that pushed them.
struct Team {
    folder: tempfile::TempDir,
    mine: Store,
}

const RUNS: [&str; 2] = ["aaaaaaaaaaaa", "bbbbbbbbbbbb"];

impl Team {
    fn new() -> Self {
        let team = Self { folder: tempfile::tempdir().unwrap(), mine: Store::new() };
        for id in RUNS {
            team.mine.keep(&Kept { id, ..Kept::default() });
        }
        cobalt(&team.mine, &team.remote(), &["push"], 0);
        team
    }

    fn remote(&self) -> PathBuf {
        self.folder.path().join("team")
    }

    /// The objects below a folder of the store.
    fn objects(&self, folder: &str) -> Vec<PathBuf> {
        let root = self.remote().join(folder);
        files(&root).into_iter().map(|path| root.join(path)).collect()
    }

    /// Runs a command on a new machine.
    fn elsewhere(&self, arguments: &[&str], code: i32) -> ProgramOutput {
        cobalt(&Store::new(), &self.remote(), arguments, code)
    }
}

/// Ways to damage an object, by what it contains.
fn damages(content: &[u8], other: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut flipped = content.to_vec();
    flipped[content.len() / 2] ^= 1;
    vec![
        ("truncated", content[..content.len() / 2].to_vec()),
        ("empty", Vec::new()),
        ("zeroed", vec![0; content.len()]),
        ("flipped", flipped),
        ("of another run", other.to_vec()),
    ]
}

fn name(object: &Path) -> String {
    object.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn damaged_index_objects_are_replaced() {
    let team = Team::new();
    let [object, other] = &team.objects("index")[..] else { panic!("two runs") };
    let (content, other) = (fs::read(object).unwrap(), fs::read(other).unwrap());
    let mut damaged = damages(&content, &other);
    let text = String::from_utf8(content).unwrap();
    for (kind, from, to) in [
        ("of no version", "\"format\":1", "\"format\":0"),
        ("claims much", "\"bytes\":", "\"bytes\":9999999999"),
    ] {
        assert!(text.contains(from), "{kind}");
        damaged.push((kind, text.replace(from, to).into_bytes()));
    }
    for (kind, content) in damaged {
        fs::write(object, content).unwrap();
        for arguments in [&["history", "--remote"][..], &["pull"]] {
            let output = team.elsewhere(arguments, 3);
            let said = output.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains(&name(object)) && said.contains("push --rebuild-index"), "{kind}: {said}");
            assert!(output.stdout.contains(RUNS[1]), "{kind}: {output:?}");
        }
        team.elsewhere(&["push", "--rebuild-index"], 0)
            .stdout_has("1 run added")
            .stdout_has("1 damaged object replaced");
        let again = team.elsewhere(&["push", "--rebuild-index"], 0).stdout_has("0 runs added");
        assert!(!again.stdout.contains("replaced"), "{kind}: {again:?}");
        let listed = team.elsewhere(&["history", "--remote"], 0);
        assert!(RUNS.iter().all(|id| listed.stdout.contains(id)), "{kind}: {listed:?}");
    }
}

#[test]
fn damaged_results_are_named() {
    let team = Team::new();
    let [object, other] = &team.objects("runs")[..] else { panic!("two runs") };
    let (content, other) = (fs::read(object).unwrap(), fs::read(other).unwrap());
    for (kind, damaged) in damages(&content, &other) {
        fs::write(object, damaged).unwrap();
        let output = team.elsewhere(&["pull"], 3).stderr_has("damaged").stderr_has(&name(object));
        assert!(output.stdout.contains("1 run pulled"), "{kind}: {output:?}");
        // The run stays listed, and pushing it again repairs it.
        fs::remove_file(object).unwrap();
        cobalt(&team.mine, &team.remote(), &["push", RUNS[0]], 0);
        team.elsewhere(&["pull"], 0).stdout_has("2 runs pulled");
    }
}

#[test]
fn an_index_stays_incomplete_while_a_run_is_damaged() {
    let team = Team::new();
    fs::write(&team.objects("index")[0], "").unwrap();
    fs::write(&team.objects("runs")[0], "damaged").unwrap();
    team.elsewhere(&["push", "--rebuild-index"], 3).stderr_has("damaged");
    team.elsewhere(&["history", "--remote"], 3).stderr_has("incomplete");
}

#[test]
fn damaged_packs_of_recordings_are_named() {
    let team = Team::new();
    let cassettes = team.mine.folder().join("cassettes/desk");
    fs::create_dir_all(&cassettes).unwrap();
    fs::write(cassettes.join("one.json"), "{\"version\":1,\"experiment\":\"desk\"}").unwrap();
    cobalt(&team.mine, &team.remote(), &["push", "--recordings"], 0).stdout_has("1 recording file");
    let pack = team.objects("recordings").remove(0);
    let content = fs::read(&pack).unwrap();
    for (kind, damaged) in damages(&content, b"other") {
        fs::write(&pack, damaged).unwrap();
        let output = team.elsewhere(&["pull", "--recordings"], 3).stderr_has("damaged");
        assert!(output.stderr.contains(&name(&pack)), "{kind}: {output:?}");
    }
    fs::write(&pack, content).unwrap();
    team.elsewhere(&["pull", "--recordings"], 0).stdout_has("1 recording file");
}
