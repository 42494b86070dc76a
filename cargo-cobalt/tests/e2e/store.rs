//! A package with a store of result files, for commands that read past runs.

use std::fs;
use std::path::Path;
use std::process::Command;

use cobalt_core::prices::PriceTable;
use cobalt_core::store::{Layout, PartsWriter, read_report};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{COBALT, program};
use crate::project::ProgramOutput;

/// The number of items of a run.
pub(crate) const ITEMS: usize = 40;

/// A package with a store.
pub(crate) struct Store(TempDir);

/// A run to store: the first `right` items are correct.
pub(crate) struct Kept<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) day: u32,
    pub(crate) right: usize,
    pub(crate) commit: Option<&'a str>,
    pub(crate) partial: bool,
    pub(crate) tags: &'a [&'a str],
}

impl Default for Kept<'_> {
    fn default() -> Self {
        Self {
            id: "aaaaaaaaaaaa",
            name: "desk",
            day: 1,
            right: ITEMS,
            commit: None,
            partial: false,
            tags: &[],
        }
    }
}

impl Store {
    pub(crate) fn new() -> Self {
        let store = Self(tempfile::tempdir().unwrap());
        fs::write(store.0.path().join("Cargo.toml"), "[package]\nname = \"trial\"\n\n[workspace]\n").unwrap();
        fs::create_dir_all(store.0.path().join(".cobalt/results")).unwrap();
        store
    }

    /// An empty store with these settings.
    pub(crate) fn new_with(settings: &str) -> Self {
        let store = Self::new();
        fs::write(store.0.path().join("cobalt.toml"), settings).unwrap();
        store
    }

    /// Two runs of `desk`, the newer one much worse, and an older one of `intent`.
    pub(crate) fn with_a_drop() -> Self {
        let store = Self::new();
        store.keep(&Kept::default());
        store.keep(&Kept { id: "bbbbbbbbbbbb", day: 3, right: 10, ..Kept::default() });
        store.keep(&Kept { id: "cccccccccccc", name: "intent", day: 2, ..Kept::default() });
        store
    }

    pub(crate) fn keep(&self, run: &Kept<'_>) -> String {
        let Kept { id, name, day, right, commit, partial, tags } = *run;
        let item = |index: usize| {
            let score = f64::from(u8::from(index < right));
            json!({
                "index": index, "key": format!("item-{index}"), "status": "ok", "passed": true, "latencyMs": 10.0,
                "input": { "id": format!("item-{index}"), "input": "what now?" },
                "output": { "output": if index < right { "this" } else { "that | `or` <not>" } },
                "evaluations": { "right": { "score": score, "reason": format!("it is worth {score}") } },
            })
        };
        let mut report = json!({
            "schema": 1, "id": id, "name": name, "timestamp": format!("2026-02-{day:02}T14:30:00.000Z"),
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right"], "passMarks": [0.5] },
            "summary": { "totalItems": ITEMS }, "passed": true, "partial": partial, "tags": tags,
            "items": (0..ITEMS).map(item).collect::<Vec<_>>(),
        });
        if let Some(commit) = commit {
            report["git"] = json!({ "commit": commit, "dirty": false });
        }
        let slug = name.replace(['/', ':'], "-");
        let file = format!(".cobalt/results/2026-02-{day:02}T14-30-00_{slug}_{id}.json");
        fs::write(self.0.path().join(&file), report.to_string()).unwrap();
        file
    }

    /// A run whose file was edited.
    pub(crate) fn keep_edited(&self, run: &Kept<'_>, edit: impl FnOnce(&mut Value)) -> String {
        let file = self.keep(run);
        let path = self.folder().join(&file);
        let mut report = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        edit(&mut report);
        fs::write(path, report.to_string()).unwrap();
        file
    }

    /// A run of which all items but the last were replayed; the last diverged from its recording.
    pub(crate) fn keep_replayed(&self, run: &Kept<'_>) {
        self.keep_edited(run, |report| {
            let recorded = "2026-01-21T09:00:00.000Z";
            for item in report["items"].as_array_mut().unwrap() {
                item["traffic"] =
                    json!({ "replayed": 2, "recordedAt": recorded, "asked": ["0123456789", "abcdef0123"] });
            }
            report["items"][ITEMS - 1]["traffic"] = json!({
                "replayed": 1, "live": 1, "recordedAt": recorded, "liveCost": 0.03, "retried": 1, "waitedMs": 1500.0,
                "diverged": "`messages[1].content`: recorded `red`, now `<b>blue</b>`", "asked": ["0123456789", "ffffffffff"],
            });
            report["summary"]["traffic"] = json!({
                "replayedItems": ITEMS - 1, "liveItems": 1, "divergedItems": 1, "replayed": 2 * ITEMS - 1, "live": 1,
                "recordedAt": recorded, "liveCost": 0.03, "retried": 1, "waitedMs": 1500.0, "attributedByContent": 3, "unattributed": 1,
            });
        });
    }

    /// A run of a variant of `desk`, in the group `ffff00001111`; each item costs this many USD.
    pub(crate) fn keep_variant(&self, run: &Kept<'_>, variant: &str, position: usize, cost: f64) {
        let name = if position == 0 { "desk".to_owned() } else { format!("desk::{variant}") };
        self.keep_edited(&Kept { name: &name, ..*run }, |report| {
            report["variant"] = json!({
                "experiment": "desk", "name": variant, "group": "ffff00001111", "position": position, "isDefault": position == 0,
                "settings": { "model": format!("model-{variant}") },
            });
            let mean = run.right as f64 / ITEMS as f64;
            report["summary"]["scores"]["right"] = json!({
                "avg": mean, "min": 0.0, "max": 1.0, "p50": 1.0, "p95": 1.0, "p99": 1.0, "count": ITEMS, "passRate": mean,
                "ci95": { "low": mean - 0.1, "high": mean + 0.05 },
            });
            report["summary"]["passedItems"] = run.right.into();
            for item in report["items"].as_array_mut().unwrap() {
                item["output"]["metadata"] = json!({ "cost": cost });
            }
        });
    }

    /// Three variants: `mini` and `large` answer right, `nano` hardly ever, and `large` is the most expensive.
    pub(crate) fn with_variants() -> Self {
        let store = Self::new();
        let kept = |id| Kept { id, ..Kept::default() };
        store.keep_variant(&kept("aaaaaaaaaaaa"), "mini", 0, 0.002);
        store.keep_variant(&kept("bbbbbbbbbbbb"), "large", 1, 0.02);
        store.keep_variant(&Kept { right: 5, ..kept("cccccccccccc") }, "nano", 2, 0.001);
        store
    }

    /// A run whose first item passed in its third attempt.
    pub(crate) fn keep_retried(&self, run: &Kept<'_>) {
        self.keep_edited(run, |report| {
            let attempt = json!({ "error": "the model\nis <b>busy</b>", "latencyMs": 1.5 });
            report["items"][0]["retried"] = json!([attempt, attempt]);
            for (field, number) in [("retriedItems", 1), ("retriedExecutions", 2), ("passedAfterRetry", 1)] {
                report["summary"][field] = number.into();
            }
        });
    }

    /// Puts the items of all runs into parts.
    pub(crate) fn into_parts(self) -> Self {
        let root = self.folder().join(".cobalt");
        let layout =
            Layout::new(root.clone(), root.join("results"), root.join("history.db"), root.join("cache"));
        for file in fs::read_dir(layout.results()).unwrap() {
            let path = file.unwrap().path();
            let report = read_report(&path).unwrap();
            fs::remove_file(&path).unwrap();
            let mut writer = PartsWriter::create(&layout, &report, &PriceTable::default()).unwrap();
            report.items.iter().for_each(|item| writer.push(item).unwrap());
            writer.finish(&report).unwrap();
        }
        self
    }

    /// The output of a command that succeeds.
    pub(crate) fn cobalt(&self, arguments: &[&str]) -> ProgramOutput {
        ProgramOutput::by(program(COBALT, self.folder()).arg("cobalt").args(arguments), 0)
    }

    pub(crate) fn compare(&self, arguments: &[&str], code: i32) -> ProgramOutput {
        ProgramOutput::by(&mut self.command(arguments), code)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(COBALT, self.0.path());
        command.args(["cobalt", "compare"]).args(arguments);
        command
    }

    /// The package's folder.
    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    /// The IDs of the runs that these names resolve to.
    pub(crate) fn ids(&self, names: &[&str]) -> Vec<String> {
        let said = self.compare(&[names, &["--json"]].concat(), 0);
        let json: Value = serde_json::from_str(&said.stdout).unwrap();
        let comparisons = json["comparisons"].as_array().unwrap();
        let id = |run: &Value| run["id"].as_str().unwrap()[..1].to_owned();
        let base = id(&comparisons[0]["base"]);
        std::iter::once(base).chain(comparisons.iter().map(|it| id(&it["other"]))).collect()
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut git = program("git", self.0.path());
        // Without any git configuration.
        git.env("GIT_CONFIG_GLOBAL", "").env("GIT_CONFIG_NOSYSTEM", "1");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(arguments);
        ProgramOutput::by(&mut git, 0).stdout.trim().to_owned()
    }
}
