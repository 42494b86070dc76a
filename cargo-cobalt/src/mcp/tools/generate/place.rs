//! Where the test target and its data set go: beside the agent, within its package, and over no other file.

use std::path::{Path, PathBuf};

use cargo_metadata::TargetKind;

use super::agent::{Agent, package_around};
use crate::error::Error;
use crate::init::is_there;
use crate::mcp::paths::inside_new;
use crate::mcp::projects::Project;

/// Where the files go.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The name of the test target.
    pub(super) target: String,
    pub(super) test: PathBuf,
    /// The test's path as the manifest has to name it, where cargo would not find it by its name.
    pub(super) test_in_manifest: Option<String>,
    pub(super) data: PathBuf,
    /// The data set's path as an experiment names it.
    pub(super) data_in_package: String,
}

impl Place {
    /// Works out the places, and refuses those that are taken.
    pub(super) fn of(
        project: &Project,
        agent: &Agent,
        output: Option<&str>,
        overwrite: bool,
    ) -> Result<Self, Error> {
        let below = |path: &str| agent.folder.join(path).display().to_string();
        let argument = output.map_or_else(|| below(&format!("tests/{}_evals.rs", agent.name)), str::to_owned);
        let test = inside_new(project, "outputFile", &argument)?;
        let target = target(agent, &test, &argument)?;
        let data_in_package = format!("data/{target}.jsonl");
        let data = inside_new(project, "outputFile", &below(&data_in_package))?;
        for path in [&test, &data] {
            if is_there(path) && !overwrite {
                let shown = path.strip_prefix(&project.root).unwrap_or(path).display();
                return Err(Error::Arguments(format!(
                    "`{shown}` is there already: pass `overwrite: true` to have it replaced, or another `outputFile`"
                )));
            }
        }
        let is_found = test == agent.folder.join(format!("tests/{target}.rs"));
        let in_package = || test.strip_prefix(&agent.folder).unwrap_or(&test);
        let test_in_manifest = (!is_found).then(|| with_slashes(in_package()));
        Ok(Self { test_in_manifest, target, test, data, data_in_package })
    }
}

/// The name of the target, which is that of its file.
fn target(agent: &Agent, test: &Path, argument: &str) -> Result<String, Error> {
    let refused = |problem: &str| Err(Error::Arguments(format!("`outputFile`: `{argument}` {problem}")));
    if test.extension().is_none_or(|extension| extension != "rs") {
        return refused("is no Rust source: name a `.rs` file, as `tests/agent_evals.rs`");
    }
    let package = package_around(&agent.metadata, test).map(|(package, _)| &package.id);
    if package != Some(&agent.package.id) {
        return refused(&format!(
            "is in another package than the agent: name a file in `{}`, which has the package `{}`",
            agent.folder.display(),
            agent.package.name
        ));
    }
    if test.starts_with(agent.folder.join("src")) {
        return refused("is among the sources of the package: name a file in `tests/`");
    }
    let name = test.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let is_of_name =
        |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '-';
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) || !name.chars().all(is_of_name) {
        return refused(
            "gives the target a name that cargo does not take: use letters of ASCII, digits, `_` and `-`",
        );
    }
    let is_another = |target: &&cargo_metadata::Target| {
        target.kind.contains(&TargetKind::Test) && target.name == name && target.src_path != test
    };
    match agent.package.targets.iter().find(is_another) {
        Some(other) => refused(&format!(
            "would be the second test target `{name}`, beside `{}`: name another",
            other.src_path
        )),
        None => Ok(name),
    }
}

/// A path as manifests have it on every system.
fn with_slashes(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
