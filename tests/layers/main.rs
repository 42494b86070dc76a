//! The module layers: a lower layer must not depend on a higher one, and top-level modules must not depend on each other in a cycle.
//!
//! A top-level module is a folder in a crate's `src`, or a file next to `lib.rs` or `main.rs`.
//! `cargo test --test layers -- --nocapture` prints file sizes and the number of items with restricted visibility.

mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use modules::{Dependencies, Modules, cycles};

/// The top-level modules of each crate, from bottom to top. Modules on the same line must not depend on each other either.
const CRATES: &[(&str, &[&[&str]])] =
    &[("cobalt-core", CORE), ("cobalt", COBALT), ("crates/runner", RUNNER), ("cargo-cobalt", COMMAND)];

const CORE: &[&[&str]] = &[
    // No dependencies.
    &[
        "atomic_write",
        "back_off",
        "duration",
        "error_chain",
        "hash",
        "nesting",
        "paths",
        "pattern",
        "serde_skip",
        "slug",
        "timestamp",
        "wording",
    ],
    &["prices", "redact"],
    // Runs and their storage.
    &["item", "recordings"],
    &["trace"],
    &["report"],
    &["experiment_name", "reporters"],
    &["store"],
];

const COBALT: &[&[&str]] = &[
    // The log, which everything may write to.
    &["log"],
    // No other dependencies in the library.
    &["budget", "http", "limits", "processes", "template", "thread_pool", "trace", "wait_timeout"],
    // The gateway for the traffic of agents, and its recordings.
    &["recording", "workspace"],
    &["metrics"],
    // Models, datasets and evaluators; they receive plain settings.
    &["llm"],
    &["settings"],
    &["dataset"],
    &["evaluators", "tools"],
    // Project settings.
    &["config"],
    &["error"],
    // Running experiments, from declarations to the test binary.
    &["experiment", "dataset_loading"],
    &["rescore"],
    &["engine", "private"],
    &["session"],
    &["harness", "shards"],
];

const RUNNER: &[&[&str]] = &[
    // No dependencies in the crate.
    &[
        "atomic_file",
        "browser",
        "cli",
        "git_ignored",
        "http_client",
        "process_group",
        "shell",
        "sized_cache",
        "terminal",
    ],
    &["dashboard_link", "error", "markdown", "text_table"],
    &["environment", "index", "interrupt", "results"],
    &["config", "runs"],
    &["remote"],
    &["lookup"],
    &["baseline", "compare", "history", "project"],
    // What the complete command adds.
    &["extensions"],
    &["clean", "formats", "shards", "webhooks"],
    &["reporters"],
    &["run", "show"],
    &["list", "score"],
    &["estimate", "recordings"],
    &["start"],
];

const COMMAND: &[&[&str]] = &[
    &["columnar", "html", "import", "reference"],
    &["assistants"],
    &["archive", "datasets", "init", "otlp"],
    &["export", "merge", "serve", "watch"],
    &["mcp"],
];

/// Maximum number of files in a dependency cycle; all in one top-level module.
const MAX_CYCLE: usize = 2;

/// Maximum number of restricted visibilities, such as `pub(crate)`, in all crates.
const MAX_RESTRICTED: usize = 1231;

fn src(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(name).join("src")
}

/// The top-level module of a file; `None` for the crate root, which is above all top-level modules.
fn top_module(file: &Path, src: &Path) -> Option<String> {
    let inside = file.strip_prefix(src).ok()?;
    let first = inside.iter().next()?.to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!matches!(name, "lib" | "main")).then(|| name.to_owned())
}

/// A file relative to the sources of its crate.
fn shown(file: &Path, src: &Path) -> String {
    file.strip_prefix(src).unwrap_or(file).display().to_string()
}

/// The dependencies of a top-level module on another, as lines `file -> file: names`.
fn ties(dependencies: &Dependencies, src: &Path) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut ties: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (file, taken) in dependencies {
        for (other, names) in taken {
            if let (Some(from), Some(to)) = (top_module(file, src), top_module(other, src))
                && from != to
            {
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                let line = format!("{} -> {}: {}", shown(file, src), shown(other, src), names.join(", "));
                ties.entry((from, to)).or_default().insert(line);
            }
        }
    }
    ties
}

#[test]
fn modules_depend_only_on_lower_layers() {
    let mut wrong = String::new();
    for (name, layers) in CRATES {
        let src = src(name);
        let layer =
            |top_module: &str| layers.iter().position(|top_modules| top_modules.contains(&top_module));
        let modules = Modules::read(&src);
        let top_modules: BTreeSet<_> =
            modules.files().into_iter().filter_map(|file| top_module(file, &src)).collect();
        for top_module in top_modules.iter().filter(|top_module| layer(top_module).is_none()) {
            let _ = writeln!(
                wrong,
                "{name}: module `{top_module}` is not in the order; add it above its dependencies"
            );
        }
        for top_module in
            layers.iter().copied().flatten().filter(|top_module| !top_modules.contains(**top_module))
        {
            let _ = writeln!(wrong, "{name}: module `{top_module}` does not exist; remove it from the order");
        }
        for ((from, to), lines) in ties(&modules.dependencies(true), &src) {
            if layer(&from) <= layer(&to) {
                let lines: Vec<_> = lines.into_iter().collect();
                let _ = writeln!(wrong, "{name}: `{from}` is not above `{to}`:\n  {}", lines.join("\n  "));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn at_most_two_files_of_one_module_depend_on_each_other() {
    let mut wrong = String::new();
    for (name, _) in CRATES {
        let src = src(name);
        let dependencies = Modules::read(&src).dependencies(false);
        for cycle in cycles(&dependencies) {
            let top_modules: BTreeSet<_> = cycle.iter().map(|file| top_module(file, &src)).collect();
            if cycle.len() > MAX_CYCLE || top_modules.len() > 1 {
                let files: Vec<_> =
                    cycle.iter().filter_map(|file| file.strip_prefix(&src).ok()?.to_str()).collect();
                let _ =
                    writeln!(wrong, "{name}: {} files need each other: {}", files.len(), files.join(", "));
                for (file, taken) in dependencies.iter().filter(|(file, _)| cycle.contains(*file)) {
                    for (other, names) in taken.iter().filter(|(other, _)| cycle.contains(*other)) {
                        let names: Vec<_> = names.iter().map(String::as_str).collect();
                        let _ = writeln!(
                            wrong,
                            "  {} -> {}: {}",
                            shown(file, &src),
                            shown(other, &src),
                            names.join(", ")
                        );
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn visibility_is_narrowed_only_where_a_public_type_has_something_to_hide() {
    let mut all = 0;
    for name in [
        "cobalt",
        "cobalt-core",
        "cobalt-macros",
        "cobalt-thresholds",
        "crates/otlp",
        "crates/runner",
        "cargo-cobalt",
    ] {
        let modules = Modules::read(&src(name));
        let (mut lines, mut markers) = (Vec::new(), 0);
        for file in modules.files() {
            let text = fs::read_to_string(file).unwrap();
            lines.push(text.lines().count());
            markers += ["pub(crate)", "pub(super)", "pub(in "]
                .map(|marker| text.matches(marker).count())
                .iter()
                .sum::<usize>();
        }
        lines.sort_unstable();
        let mean = lines.iter().sum::<usize>() / lines.len();
        println!(
            "{name}: {} files, median {} lines, mean {mean}; {markers} restricted visibilities",
            lines.len(),
            lines[lines.len() / 2],
        );
        all += markers;
    }
    assert!(all <= MAX_RESTRICTED, "{all} restricted visibilities; at most {MAX_RESTRICTED}");
}
