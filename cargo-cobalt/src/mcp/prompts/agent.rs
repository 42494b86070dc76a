//! Locates the agent of an experiment: the source of the experiment function, and the project functions that it calls.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use cargo_metadata::MetadataCommand;
use cobalt_core::paths::workspace_root;
use cobalt_core::report::Report;
use walkdir::{DirEntry, WalkDir};

use super::source::{self, Call, Function};

/// The maximum number of functions in the result.
const MOST_PLACES: usize = 12;
/// The maximum number of files to search.
const MOST_FILES: usize = 2000;
/// The library's own packages, which contain no agent.
const LIBRARY: [&str; 4] =
    ["cobalt-evals", "cobalt-evals-core", "cobalt-evals-macros", "cobalt-evals-thresholds"];

/// A function in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionLocation {
    /// The function's name, with its type.
    pub function: String,
    /// Its file, relative to the project folder.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
}

/// The current source of an experiment function.
#[derive(Debug)]
pub struct ExperimentSource {
    /// Its source, including attributes.
    pub source: String,
    /// The project functions that it calls directly or through others in its file; those in other files first.
    pub calls: Vec<FunctionLocation>,
}

/// Finds the experiment function of a run, below a folder. None if the run has no location, or the source no longer has it.
pub fn find_experiment(root: &Path, report: &Report) -> Option<ExperimentSource> {
    let place = report.declared_at.as_ref()?;
    let workspace = workspace_root(root).canonicalize().ok()?;
    // Files of workspace members are relative to the workspace root.
    let path = [root, &workspace].iter().find_map(|folder| folder.join(&place.file).canonicalize().ok())?;
    if !path.starts_with(&workspace) {
        return None;
    }
    let text = source::read(&path)?;
    let functions = source::functions(&text).ok()?;
    let line = usize::try_from(place.line).ok()?;
    let is_there = |function: &&Function| function.is_experiment && function.lines.contains(&line);
    let is_named = |function: &&Function| function.is_experiment && function.name == report.name;
    let experiment = functions.iter().find(is_there).or_else(|| functions.iter().find(is_named))?;
    let within = reachable(experiment, &functions);
    let wanted: Vec<&Call> =
        std::iter::once(experiment).chain(within.iter().copied()).flat_map(|it| &it.calls).collect();
    let mut calls = in_other_files(root, &path, &wanted);
    calls.extend(within.into_iter().map(|function| locate(root, &path, function)));
    calls.truncate(MOST_PLACES);
    Some(ExperimentSource { source: extract_lines(&text, &experiment.lines), calls })
}

/// The functions of the same file that a function calls, directly or transitively.
pub fn reachable<'a>(from: &'a Function, functions: &'a [Function]) -> Vec<&'a Function> {
    let mut reached: Vec<&Function> = Vec::new();
    let mut waiting = vec![from];
    while let Some(function) = waiting.pop() {
        let called =
            functions.iter().filter(|other| function.calls.iter().any(|call| call.may_refer_to(other)));
        for other in called {
            if *other != *from && !reached.contains(&other) {
                reached.push(other);
                waiting.push(other);
            }
        }
    }
    reached
}

/// The called functions in other files: in the sources of the package and of its path dependencies.
fn in_other_files(root: &Path, path: &Path, wanted: &[&Call]) -> Vec<FunctionLocation> {
    let heads: Vec<_> = wanted.iter().map(|call| format!("fn {}", call.name())).collect();
    let mut places = Vec::new();
    for file in source_folders(path).iter().flat_map(|folder| rust_files(folder)).take(MOST_FILES) {
        if file == path || places.len() >= MOST_PLACES {
            continue;
        }
        let Some(text) = source::read(&file) else { continue };
        // A text search is cheaper than parsing.
        if !heads.iter().any(|head| text.contains(head.as_str())) {
            continue;
        }
        let functions = source::functions(&text).unwrap_or_default();
        let called =
            functions.iter().filter(|function| wanted.iter().any(|call| call.may_refer_to(function)));
        places.extend(called.map(|function| locate(root, &file, function)));
    }
    places
}

/// The source folders of a file's package and of its path dependencies.
fn source_folders(path: &Path) -> Vec<PathBuf> {
    let Some(package) = package_of(path) else { return Vec::new() };
    let mut folders = vec![package.join("src")];
    let manifest = package.join("Cargo.toml");
    let metadata = MetadataCommand::new().no_deps().manifest_path(&manifest).current_dir(package).exec();
    let packages = metadata.map(|metadata| metadata.packages).unwrap_or_default();
    let ours = packages.iter().find(|it| it.manifest_path.as_std_path() == manifest);
    let dependencies = ours.into_iter().flat_map(|package| &package.dependencies);
    let agents = dependencies.filter(|it| !LIBRARY.contains(&&*it.name));
    folders.extend(agents.filter_map(|it| Some(it.path.as_ref()?.join("src").into_std_path_buf())));
    folders
}

/// The folder of a file's package.
pub fn package_of(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.join("Cargo.toml").is_file())
}

/// The Rust files below a folder, sorted.
pub fn rust_files(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let is_hidden =
        |entry: &DirEntry| entry.depth() > 0 && entry.file_name().to_string_lossy().starts_with('.');
    let entries =
        WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(move |entry| !is_hidden(entry));
    let files = entries.flatten().filter(|entry| entry.file_type().is_file());
    files.map(DirEntry::into_path).filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
}

/// A function's location, relative to a folder.
pub fn locate(root: &Path, path: &Path, function: &Function) -> FunctionLocation {
    FunctionLocation { function: function.path(), file: relative_path(root, path), line: function.line }
}

/// A path relative to a folder.
pub fn relative_path(root: &Path, path: &Path) -> String {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    path.strip_prefix(root).unwrap_or(&path).display().to_string()
}

fn extract_lines(text: &str, lines: &RangeInclusive<usize>) -> String {
    let wanted = text.lines().skip(lines.start() - 1).take(lines.end() + 1 - lines.start());
    wanted.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn functions_that_an_experiment_calls_are_found_in_the_package_and_in_path_dependencies() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let package =
            |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n{rest}");
        let beside = "[workspace]\n[dependencies]\nmodel = { path = \"model\" }\n";
        let experiment = "#[cobalt::experiment(dataset = \"a.jsonl\")]\nfn support(item: Item) -> String {\n    asked(&item)\n}\n\n\
                          fn asked(item: &Item) -> String {\n    desk::answer(item);\n    Model::new().complete(\"\")\n}\n\n\
                          fn other() -> String {\n    desk::unused()\n}\n";
        for (file, text) in [
            ("Cargo.toml", &*package("desk", beside)),
            ("src/lib.rs", "pub mod answers;\npub fn unused() {}\n"),
            ("src/answers.rs", "\npub fn answer(item: &Item) {}\n\nimpl Other {\n    fn new() {}\n}\n"),
            ("tests/evals.rs", experiment),
            ("model/Cargo.toml", &package("model", "")),
            (
                "model/src/lib.rs",
                "impl Model {\n    pub fn new() -> Self { Self }\n    pub fn complete(&self) {}\n}\n",
            ),
        ] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), text).unwrap();
        }
        let run = |file: &str| {
            let config = json!({ "runs": 1, "concurrency": 1, "timeout": 1, "evaluators": [] });
            let report = json!({ "id": "0123456789ab", "name": "support", "timestamp": "2026-02-05T14:30:00.000Z",
                "declaredAt": { "file": file, "line": 2 }, "config": config, "summary": { "totalItems": 0 } });
            serde_json::from_value::<Report>(report).unwrap()
        };
        let declared = find_experiment(&root, &run("tests/evals.rs")).unwrap();
        assert!(
            declared.source.starts_with("#[cobalt::experiment")
                && declared.source.ends_with("asked(&item)\n}")
        );
        let places: Vec<_> =
            declared.calls.iter().map(|it| format!("{} {}:{}", it.function, it.file, it.line)).collect();
        let expected = [
            "answer src/answers.rs:2",
            "Model::new model/src/lib.rs:2",
            "Model::complete model/src/lib.rs:3",
            "asked tests/evals.rs:6",
        ];
        assert_eq!(places, expected);
        // A file of a run from elsewhere is not read.
        assert!(super::find_experiment(&root, &run("../../../../etc/passwd")).is_none());
        assert!(super::find_experiment(&root, &run("tests/gone.rs")).is_none());
    }
}
