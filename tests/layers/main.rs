//! The module layers: a lower layer must not depend on a higher one, and top-level modules must not depend on each other in a cycle.
//!
//! A room is a top-level module: a folder in a crate's `src`, or a file next to `lib.rs` or `main.rs`.
//! `cargo test --test layers -- --nocapture` prints file sizes and the number of items with restricted visibility.

mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use modules::{Dependencies, Modules, circles};

/// The rooms of each crate, from bottom to top. Rooms on the same line must not depend on each other either.
const CRATES: &[(&str, &[&[&str]])] = &[("cobalt-core", CORE), ("cobalt", COBALT), ("cargo-cobalt", COMMAND)];

const CORE: &[&[&str]] = &[
    // No dependencies.
    &["back_off", "causes", "hash", "nesting", "paths", "pattern", "prices", "slug", "timestamp", "wording"],
    &["redact"],
    // Runs and their storage.
    &["item"],
    &["report"],
    &["names", "reporters"],
    &["store"],
];

const COBALT: &[&[&str]] = &[
    // No dependencies in the library.
    &["http", "template", "threads"],
    &["metrics"],
    // Models, datasets and evaluators; they receive plain settings.
    &["llm"],
    &["settings"],
    &["dataset"],
    &["evaluators"],
    // Project settings.
    &["config"],
    &["error"],
    // Running experiments, from declarations to the test binary.
    &["experiment", "load"],
    &["engine", "private"],
    &["session"],
    &["harness", "shards"],
];

const COMMAND: &[&[&str]] = &[
    // No dependencies in the command.
    &["browser", "cli", "git_ignored", "recent", "requests", "terminal", "written"],
    &["error", "markdown"],
    &["environment", "index", "interrupt", "reference", "results"],
    &["assistants", "config", "runs"],
    &["baseline", "compare", "history", "import", "project"],
    &["clean", "formats", "init", "webhooks"],
    &["datasets", "export", "reporters", "serve"],
    &["run", "show"],
    &["list", "merge", "watch"],
    &["mcp"],
];

/// Maximum number of files in a dependency cycle; all in one room.
const LARGEST_CIRCLE: usize = 2;

/// Maximum number of restricted visibilities, such as `pub(crate)`, in all crates.
const MOST_MARKERS: usize = 1100;

fn src(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(name).join("src")
}

/// The room of a file; `None` for the crate root, which is above all rooms.
fn room(file: &Path, src: &Path) -> Option<String> {
    let inside = file.strip_prefix(src).ok()?;
    let first = inside.iter().next()?.to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!matches!(name, "lib" | "main")).then(|| name.to_owned())
}

/// A file relative to the sources of its crate.
fn shown(file: &Path, src: &Path) -> String {
    file.strip_prefix(src).unwrap_or(file).display().to_string()
}

/// The dependencies of a room on another, as lines `file -> file: names`.
fn ties(dependencies: &Dependencies, src: &Path) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut ties: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (file, taken) in dependencies {
        for (other, names) in taken {
            if let (Some(from), Some(to)) = (room(file, src), room(other, src))
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
fn rooms_know_only_what_lies_below_them() {
    let mut wrong = String::new();
    for (name, floors) in CRATES {
        let src = src(name);
        let floor = |room: &str| floors.iter().position(|rooms| rooms.contains(&room));
        let modules = Modules::read(&src);
        let rooms: BTreeSet<_> = modules.files().into_iter().filter_map(|file| room(file, &src)).collect();
        for room in rooms.iter().filter(|room| floor(room).is_none()) {
            let _ = writeln!(
                wrong,
                "{name}: the room `{room}` has no place in the order; add it above what it needs"
            );
        }
        for room in floors.iter().copied().flatten().filter(|room| !rooms.contains(**room)) {
            let _ = writeln!(wrong, "{name}: there is no room `{room}`; take it out of the order");
        }
        for ((from, to), lines) in ties(&modules.dependencies(true), &src) {
            if floor(&from) <= floor(&to) {
                let lines: Vec<_> = lines.into_iter().collect();
                let _ = writeln!(wrong, "{name}: `{from}` is not above `{to}`:\n  {}", lines.join("\n  "));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn files_need_each_other_in_pairs_of_one_room_at_most() {
    let mut wrong = String::new();
    for (name, _) in CRATES {
        let src = src(name);
        let dependencies = Modules::read(&src).dependencies(false);
        for circle in circles(&dependencies) {
            let rooms: BTreeSet<_> = circle.iter().map(|file| room(file, &src)).collect();
            if circle.len() > LARGEST_CIRCLE || rooms.len() > 1 {
                let files: Vec<_> =
                    circle.iter().filter_map(|file| file.strip_prefix(&src).ok()?.to_str()).collect();
                let _ =
                    writeln!(wrong, "{name}: {} files need each other: {}", files.len(), files.join(", "));
                for (file, taken) in dependencies.iter().filter(|(file, _)| circle.contains(*file)) {
                    for (other, names) in taken.iter().filter(|(other, _)| circle.contains(*other)) {
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
    for name in ["cobalt", "cobalt-core", "cobalt-macros", "cobalt-thresholds", "cargo-cobalt"] {
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
            "{name}: {} files, median {} lines, mean {mean}; {markers} markers of narrowed visibility",
            lines.len(),
            lines[lines.len() / 2],
        );
        all += markers;
    }
    assert!(all <= MOST_MARKERS, "{all} markers of narrowed visibility; at most {MOST_MARKERS}");
}
