//! `cargo cobalt run` on a project of its own: what it runs, and what its exit code says.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cargo-cobalt");
/// Variables of whoever runs this test, by which the programs below would behave otherwise.
const FOREIGN: [&str; 7] = ["NEXTEST", "COBALT", "RUST_TEST", "CARGO_PKG", "CARGO_MANIFEST", "GITHUB", "CI"];

const EXPERIMENT: &str = r#"
#[cobalt::evaluator]
fn right(item: &cobalt::Item, output: &str) -> bool {
    item["answer"] == output
}

#[cobalt::experiment(
    dataset = cobalt::Dataset::from_items([cobalt::item! { "id": "paris", "answer": "Paris" }]),
    evaluators = [right],
)]
async fn desk(_: cobalt::Item) -> String {
    "ANSWER".to_owned()
}

fn main() {
    cobalt::main();
}
"#;

/// A package that depends on the library, without any experiment yet.
struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let project = Self(tempfile::tempdir().unwrap());
        project.write("src/lib.rs", "");
        project.write("Cargo.lock", &fs::read_to_string(workspace.join("Cargo.lock")).unwrap());
        project.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"trial\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                 [dev-dependencies]\ncobalt = {{ path = {:?}, default-features = false }}\n",
                workspace.join("cobalt")
            ),
        );
        project
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Gives the package a test target whose agent answers so.
    fn answer(&self, answer: &str) {
        self.write("tests/evals.rs", &EXPERIMENT.replace("ANSWER", answer));
        let manifest = fs::read_to_string(self.0.path().join("Cargo.toml")).unwrap();
        if !manifest.contains("[[test]]") {
            self.write("Cargo.toml", &format!("{manifest}\n[[test]]\nname = \"evals\"\nharness = false\n"));
        }
    }

    fn results(&self) -> usize {
        fs::read_dir(self.0.path().join(".cobalt/results")).map_or(0, Iterator::count)
    }

    /// Runs the command and checks its exit code.
    fn run(&self, arguments: &[&str], code: i32) -> String {
        let profile = Path::new(PROGRAM).parent().unwrap();
        let mut command = Command::new(PROGRAM);
        for (name, _) in std::env::vars_os() {
            if FOREIGN.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        let Output { status, stdout, stderr } = command
            .args(["cobalt", "run"])
            .args(arguments)
            .current_dir(self.0.path())
            .env("CARGO_TARGET_DIR", profile.parent().unwrap().join("projects"))
            .env("CARGO_NET_OFFLINE", "true")
            .output()
            .unwrap();
        let text = format!("{}{}", String::from_utf8_lossy(&stderr), String::from_utf8_lossy(&stdout));
        assert_eq!(status.code(), Some(code), "{arguments:?}: {text}");
        text
    }
}

#[test]
fn the_exit_code_tells_what_became_of_the_experiments() {
    let project = Project::new();
    assert!(project.run(&[], 4).contains("no experiment to run"), "there is no target yet");

    project.answer("Paris");
    assert!(project.run(&["--ci"], 0).contains("test desk::paris ... ok"));
    assert_eq!(project.results(), 1);
    assert!(project.run(&["--test", "other"], 4).contains("--test"));
    assert!(project.run(&["--tset", "evals"], 2).contains("--test"), "the right flag is suggested");
    assert!(project.run(&["--", "--list"], 0).contains("desk::paris: test"), "arguments reach the harness");
    assert_eq!(project.results(), 1, "nothing of this has run an item");

    project.answer("Rome");
    assert!(
        project.run(&[], 0).contains("test desk::paris ... FAILED"),
        "shown, and no failure without --ci"
    );
    project.run(&["--ci"], 1);

    project.write("tests/evals.rs", "fn main() { cobalt::main() ");
    assert!(project.run(&[], 3).contains("could not be built"));
    project.write("tests/evals.rs", "use cobalt as _;\nfn main() { cobalt::main(); }\n");
    assert!(
        project.run(&[], 3).contains("no experiment is declared"),
        "a target without experiments is no pass"
    );
}
