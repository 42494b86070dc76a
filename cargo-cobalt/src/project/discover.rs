//! Finds the test targets that hold experiments.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand, Package, PackageId, TargetKind};
use serde::Deserialize;

use crate::cli::Run;
use crate::error::Error;

/// The library that an experiment's package depends on.
const LIBRARY: &str = "cobalt";

/// A test target that holds experiments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Experiments {
    pub(crate) package: String,
    pub(crate) id: PackageId,
    pub(crate) target: String,
}

/// The selected targets of the project in the current folder.
pub(crate) fn experiments(arguments: &Run) -> Result<Vec<Experiments>, Error> {
    let metadata = MetadataCommand::new().no_deps().exec()?;
    let mut found = Vec::new();
    for package in selected(&metadata, arguments) {
        let manual = without_harness(package.manifest_path.as_std_path())?;
        let tests = package.targets.iter().filter(|target| target.kind.contains(&TargetKind::Test));
        let tests = tests.filter(|target| manual.contains(&target.name));
        let tests = tests
            .filter(|target| arguments.build.test.is_empty() || arguments.build.test.contains(&target.name));
        found.extend(tests.map(|target| Experiments {
            package: package.name.to_string(),
            id: package.id.clone(),
            target: target.name.clone(),
        }));
    }
    if found.is_empty() {
        return Err(Error::NothingMatched(format!(
            "no package {}has a test target with `harness = false` and depends on `{LIBRARY}`{}",
            if arguments.build.package.is_empty() { "of this workspace " } else { "that was named " },
            if arguments.build.test.is_empty() { "" } else { ", or none of the name given with --test" },
        )));
    }
    Ok(found)
}

fn selected<'a>(metadata: &'a Metadata, arguments: &'a Run) -> impl Iterator<Item = &'a Package> {
    let chosen = |package: &&Package| {
        arguments.build.package.is_empty()
            || arguments.build.package.iter().any(|name| **name == *package.name)
    };
    let depends =
        |package: &&Package| package.dependencies.iter().any(|dependency| dependency.name == LIBRARY);
    metadata.workspace_packages().into_iter().filter(chosen).filter(depends)
}

/// What cargo's metadata does not tell: which test targets bring their own `main`.
fn without_harness(manifest: &Path) -> Result<HashSet<String>, Error> {
    #[derive(Deserialize)]
    struct Manifest {
        #[serde(default)]
        test: Vec<Test>,
    }

    #[derive(Deserialize)]
    struct Test {
        name: Option<String>,
        path: Option<PathBuf>,
        #[serde(default = "yes")]
        harness: bool,
    }

    fn yes() -> bool {
        true
    }

    let failed = |source: Box<dyn std::error::Error>| Error::Manifest { path: manifest.to_owned(), source };
    let text = fs::read_to_string(manifest).map_err(|error| failed(error.into()))?;
    let manifest: Manifest = toml::from_str(&text).map_err(|error| failed(error.into()))?;
    let manual = manifest.test.into_iter().filter(|test| !test.harness);
    Ok(manual.filter_map(|test| test.name.or_else(|| stem(&test.path?))).collect())
}

fn stem(path: &Path) -> Option<String> {
    Some(path.file_stem()?.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_without_a_harness_are_read_from_the_manifest() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("Cargo.toml");
        let text = "[package]\nname = \"p\"\n[[test]]\nname = \"evals\"\nharness = false\n[[test]]\nname = \"unit\"\n\
                    [[test]]\npath = \"tests/more.rs\"\nharness = false\n";
        fs::write(&manifest, text).unwrap();
        assert_eq!(
            without_harness(&manifest).unwrap(),
            HashSet::from(["evals".to_owned(), "more".to_owned()])
        );
    }

    #[test]
    fn a_manifest_that_is_no_toml_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("Cargo.toml");
        fs::write(&manifest, "[[test]\n").unwrap();
        let message = without_harness(&manifest).unwrap_err().to_string();
        assert!(message.contains("Cargo.toml") && message.contains("line 1"), "{message}");
    }
}
