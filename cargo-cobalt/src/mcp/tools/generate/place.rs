//! Where the test target and its data set go: beside the agent, within its package, and over no other file.

use std::path::{Path, PathBuf};

use cargo_metadata::TargetKind;

use super::agent::{Agent, package_around};
use super::reach;
use crate::error::Error;
use crate::init::is_there;
use crate::mcp::paths::{inside, inside_new};
use crate::mcp::projects::Project;
use crate::project::MANIFEST;

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
        let is_found = test == agent.folder.join(format!("tests/{target}.rs"));
        let in_package = || test.strip_prefix(&agent.folder).unwrap_or(&test);
        let test_in_manifest = (!is_found).then(|| with_slashes(in_package()));
        // What a link of this name leads to would be edited.
        inside(project, "agentFile", &below(MANIFEST))?;
        let place = Self { test_in_manifest, target, test, data, data_in_package };
        place.is_free(project, overwrite)?;
        Ok(place)
    }

    /// Refuses places that are taken, unless these files may be replaced.
    pub(super) fn is_free(&self, project: &Project, overwrite: bool) -> Result<(), Error> {
        let Some(path) = [&self.test, &self.data].into_iter().find(|path| is_there(path) && !overwrite)
        else {
            return Ok(());
        };
        let shown = path.strip_prefix(&project.root).unwrap_or(path).display();
        Err(Error::Arguments(format!(
            "`{shown}` is there already: pass `overwrite: true` to have it replaced, or another `outputFile`"
        )))
    }

    /// Refuses places that lie elsewhere by now, since something has become a link.
    pub(super) fn is_still_inside(&self, project: &Project) -> Result<(), Error> {
        for path in [&self.test, &self.data] {
            let named = path.display().to_string();
            if inside_new(project, "outputFile", &named)? != *path {
                return Err(Error::Arguments(format!(
                    "`outputFile`: there has come a link on the way to `{named}`; call again"
                )));
            }
        }
        Ok(())
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
    if is_of_another_target(agent, test) {
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

/// Whether a file is a part of another target than a test of its own, or would become one: cargo takes up what lies in some
/// places by itself, and would run a `build.rs` as soon as it checks.
fn is_of_another_target(agent: &Agent, test: &Path) -> bool {
    let below = test.strip_prefix(&agent.folder).unwrap_or(test);
    let is_taken_up = ["src", "examples", "benches", "build.rs"].iter().any(|place| below.starts_with(place))
        || below.starts_with("tests") && below.components().count() > 2 && below.ends_with("main.rs");
    let mut targets = agent.package.targets.iter();
    is_taken_up
        || targets.any(|target| {
            let is_its_own = target.kind.contains(&TargetKind::Test) && target.src_path == test;
            !is_its_own && reach::is_in(target.src_path.as_std_path(), test)
        })
}

/// A path as manifests have it on every system.
fn with_slashes(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_that_becomes_a_link_is_not_written_to() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = folder.path().canonicalize().unwrap();
        let project = Project { name: "desk".to_owned(), root: root.clone() };
        let place = Place {
            target: "evals".to_owned(),
            test: root.join("tests/evals.rs"),
            test_in_manifest: None,
            data: root.join("data/evals.jsonl"),
            data_in_package: "data/evals.jsonl".to_owned(),
        };
        place.is_still_inside(&project).unwrap();
        symlink(outside.path(), root.join("data")).unwrap();
        assert!(place.is_still_inside(&project).unwrap_err().to_string().contains("outside of the project"));
        fs::remove_file(root.join("data")).unwrap();
        fs::create_dir(root.join("other")).unwrap();
        symlink(root.join("other"), root.join("data")).unwrap();
        assert!(place.is_still_inside(&project).unwrap_err().to_string().contains("a link"));
    }
}
