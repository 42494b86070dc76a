//! Each way to the gateway, in a process of its own as `cargo test` starts it: with a server and a key, then without.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cobalt::Report;
use cobalt::report::TrafficSummary;
use tempfile::TempDir;

use crate::model::{KEY, Model};

/// An even number, as items of [`by_content`] run in pairs.
const ITEMS: usize = 6;

/// A package with one experiment.
struct Package {
    folder: TempDir,
    experiment: &'static str,
}

impl Package {
    fn new(experiment: &'static str, question: impl Fn(usize) -> String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let item = |number| format!("{{ \"id\": \"i{number}\", \"input\": \"{}\" }}\n", question(number));
        fs::write(folder.path().join("items.jsonl"), (0..ITEMS).map(item).collect::<String>()).unwrap();
        Self { folder, experiment }
    }

    /// Runs its experiment: with a model and its key, or without both, as CI does.
    fn run(&self, model: Option<&Model>) -> Report {
        let mut command = Command::new(example());
        // Nothing else of this process's environment: no key, no proxy, no setting.
        command.env_clear().env("CARGO_MANIFEST_DIR", self.folder.path()).current_dir(self.folder.path());
        match model {
            Some(model) => command.env("OPENAI_BASE_URL", &model.url).env("OPENAI_API_KEY", KEY),
            // Then the program's other experiments, which have no recordings, replay too, so that clients get a placeholder for the key.
            None => command.env("CI", "true"),
        };
        let finished = command.arg(self.experiment).output().unwrap();
        let text = [finished.stdout, finished.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(finished.status.success(), "{}", text.concat());
        let results = self.folder.path().join(".cobalt/results");
        let files: Vec<_> = fs::read_dir(&results).unwrap().map(|entry| entry.unwrap().path()).collect();
        let [file] = &files[..] else { panic!("{files:?}") };
        let report = cobalt::files::read_report(file).unwrap();
        fs::remove_dir_all(results).unwrap();
        report
    }

    /// Records and replays, and returns what the recording says of its traffic.
    fn record_and_replay(&self) -> TrafficSummary {
        let model = Model::start();
        let recorded = self.run(Some(&model));
        assert_eq!(model.take_requests(), ITEMS);
        drop(model);
        let replayed = self.run(None);
        let traffic = replayed.summary.traffic.unwrap();
        assert_eq!((traffic.replayed_items, traffic.live_items), (ITEMS, 0));
        for (now, then) in replayed.items.iter().zip(&recorded.items) {
            assert!(now.runs[0].output.is_some());
            assert_eq!(now.runs[0].output, then.runs[0].output);
        }
        recorded.summary.traffic.unwrap()
    }
}

/// The program. `cargo test` builds it, unless only some targets are selected.
fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(Path::parent).unwrap().join("examples/attributed_clients");
    let path = path.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        path.exists(),
        "run `cargo build --all-features --examples`: {} is missing; `cargo test --test` does not build it",
        path.display()
    );
    path
}

/// With the variables alone, requests are attributed by content.
fn by_content(experiment: &'static str) {
    let traffic = Package::new(experiment, |item| format!("item {item}: count")).record_and_replay();
    assert_eq!(traffic.unattributed, 0);
    assert!(traffic.attributed_by_content > 0);
}

/// All items ask the same, and have an answer of their own: only an exact way can tell them apart.
fn exactly(experiment: &'static str) {
    let traffic = Package::new(experiment, |_| "item 0: count".to_owned()).record_and_replay();
    assert_eq!((traffic.unattributed, traffic.attributed_by_content), (0, 0));
}

#[test]
fn rig_reads_the_variable() {
    by_content("rig_by_variable");
}

#[test]
fn async_openai_reads_the_variable() {
    by_content("async_openai_by_variable");
}

#[test]
fn a_resolver_of_genai_reads_the_variable() {
    by_content("genai_by_variable");
}

#[test]
fn the_adapter_of_rig_is_exact() {
    exactly("rig_by_adapter");
}

#[test]
fn the_layer_for_async_openai_is_exact() {
    exactly("async_openai_by_adapter");
}

#[test]
fn a_header_of_async_openai_is_exact() {
    exactly("async_openai_by_header");
}

#[test]
fn a_header_of_genai_is_exact() {
    exactly("genai_by_header");
}

#[test]
fn a_client_of_genai_for_each_item_is_exact() {
    exactly("genai_by_base_url");
}
