//! Finds the test targets that may hold experiments.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use cargo_metadata::{CargoOpt, Metadata, MetadataCommand, Package, TargetKind};
use cobalt::config::Flags;
use serde::Deserialize;

use crate::cli::{Build, Selection};
use crate::config::settings_of;
use crate::error::Error;

/// The library that an experiment's package depends on.
const LIBRARY: &str = "cobalt";

/// A workspace, or a package by itself.
#[derive(Debug)]
pub(crate) struct Project {
    metadata: Metadata,
}

/// A test target that brings its own `main`, in a package that depends on the library.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) package: Rc<Package>,
    pub(crate) target: String,
    /// Its source file.
    pub(crate) file: PathBuf,
}

impl Project {
    /// Reads the project of the current folder, or that of the manifest that is named.
    pub(crate) fn read(build: &Build) -> Result<Self, Error> {
        let mut command = MetadataCommand::new();
        command.no_deps();
        if let Some(manifest) = &build.manifest_path {
            command.manifest_path(manifest);
        }
        if build.all_features {
            command.features(CargoOpt::AllFeatures);
        }
        let flags = [("--locked", build.locked), ("--offline", build.offline), ("--frozen", build.frozen)];
        let set = flags.iter().filter(|(_, set)| *set).map(|(flag, _)| (*flag).to_owned());
        command.other_options(set.collect::<Vec<_>>());
        Ok(Self { metadata: command.exec()? })
    }

    /// The root of the workspace.
    pub(crate) fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// The test targets that are meant and may hold experiments: those that were asked for; else those that the packages'
    /// settings name.
    pub(crate) fn candidates(
        &self,
        selection: &Selection,
        build: &Build,
        flags: &Flags,
    ) -> Result<Vec<Candidate>, Error> {
        let packages = self.packages(build)?;
        let mut found = Vec::new();
        let wanted = Wanted::new(selection, build)?;
        for package in &packages {
            let mut candidates = candidates_of(package)?;
            if let (Some(root), false) = (package.manifest_path.parent(), candidates.is_empty()) {
                // Read in any case: what is wrong with them is told before anything is built.
                let settings = settings_of(root.as_std_path(), flags)?;
                candidates.retain(|candidate| !wanted.is_all() || settings.has_target(&candidate.target));
            }
            found.extend(candidates);
        }
        let chosen: Vec<_> = found.iter().filter(|candidate| wanted.includes(candidate)).cloned().collect();
        wanted.check(&chosen, &found)?;
        if chosen.is_empty() {
            return Err(Error::NothingMatched(format!(
                "none of the packages {} depends on `{LIBRARY}` and has a test target with `harness = false` that \
                 `targets` of its settings lets through; `cargo cobalt init` adds one",
                names(packages.iter().map(|package| package.name.to_string())),
            )));
        }
        Ok(chosen)
    }

    /// The packages that are meant: those that are named; else the one whose folder this is; else all.
    fn packages(&self, build: &Build) -> Result<Vec<Rc<Package>>, Error> {
        let members = self.metadata.workspace_packages();
        for name in build.package.iter().chain(&build.exclude) {
            if !members.iter().any(|package| *name == *package.name) {
                let known = names(members.iter().map(|package| package.name.to_string()));
                return Err(Error::NothingMatched(format!(
                    "no package of this workspace is named `{name}`; there are {known}"
                )));
            }
        }
        let here = if build.package.is_empty() && !build.workspace { self.member_here(build) } else { None };
        let is_meant = |package: &&&Package| {
            let name = &*package.name;
            let chosen = build.package.is_empty() || build.package.iter().any(|wanted| *wanted == **name);
            let is_here = here.is_none_or(|here| here.id == package.id);
            chosen && is_here && !build.exclude.iter().any(|left_out| *left_out == **name)
        };
        Ok(members.iter().filter(is_meant).map(|package| Rc::new((*package).clone())).collect())
    }

    /// The member in whose folder the command was started, below the workspace's root.
    fn member_here(&self, build: &Build) -> Option<&Package> {
        let folder = match &build.manifest_path {
            Some(manifest) => manifest.parent()?.canonicalize().ok()?,
            None => std::env::current_dir().ok()?.canonicalize().ok()?,
        };
        let root = self.root().canonicalize().ok()?;
        let inside: Vec<_> = folder.ancestors().take_while(|ancestor| *ancestor != root).collect();
        self.metadata.workspace_packages().into_iter().find(|package| {
            let its_folder = package.manifest_path.parent().and_then(|folder| folder.canonicalize().ok());
            its_folder.is_some_and(|folder| inside.contains(&&*folder))
        })
    }
}

fn candidates_of(package: &Rc<Package>) -> Result<Vec<Candidate>, Error> {
    if !package.dependencies.iter().any(|dependency| dependency.name == LIBRARY) {
        return Ok(Vec::new());
    }
    let manual = without_harness(package.manifest_path.as_std_path())?;
    let tests = package.targets.iter().filter(|target| target.kind.contains(&TargetKind::Test));
    let candidate = |target: &cargo_metadata::Target| Candidate {
        package: Rc::clone(package),
        target: target.name.clone(),
        file: target.src_path.clone().into(),
    };
    Ok(tests.filter(|target| manual.contains(&target.name)).map(candidate).collect())
}

/// Which targets were asked for; without any, all are meant.
#[derive(Debug, Default)]
struct Wanted {
    names: Vec<String>,
    /// Files, or folders of such files, with the paths as they were typed.
    places: Vec<(PathBuf, PathBuf)>,
}

impl Wanted {
    fn new(selection: &Selection, build: &Build) -> Result<Self, Error> {
        let mut wanted = Self { names: build.test.clone(), places: Vec::new() };
        let mut paths = selection.file.clone();
        for target in &selection.targets {
            let looks_like_a_path = target.contains(['/', '\\']) || target.ends_with(".rs");
            if looks_like_a_path || Path::new(target).is_dir() {
                paths.push(target.into());
            } else {
                wanted.names.push(target.clone());
            }
        }
        for path in paths {
            let place = path.canonicalize().map_err(|error| {
                Error::NothingMatched(format!("failed to find `{}`: {error}", path.display()))
            })?;
            wanted.places.push((path, place));
        }
        Ok(wanted)
    }

    /// Whether nothing was asked for.
    fn is_all(&self) -> bool {
        self.names.is_empty() && self.places.is_empty()
    }

    fn includes(&self, candidate: &Candidate) -> bool {
        self.is_all()
            || self.names.contains(&candidate.target)
            || self.places.iter().any(|(_, place)| is_at(candidate, place))
    }

    /// Each name and each path must have brought something in.
    fn check(&self, chosen: &[Candidate], all: &[Candidate]) -> Result<(), Error> {
        let known = || names(all.iter().map(|candidate| candidate.target.clone()));
        for name in &self.names {
            if !chosen.iter().any(|candidate| candidate.target == *name) {
                return Err(Error::NothingMatched(format!(
                    "no test target with `harness = false` is named `{name}`; there are {}",
                    known()
                )));
            }
        }
        for (typed, place) in &self.places {
            if !chosen.iter().any(|candidate| is_at(candidate, place)) {
                return Err(Error::NothingMatched(format!(
                    "`{}` is no test target with `harness = false`, and holds none; there are {}; a target is declared in \
                     the package's Cargo.toml with `[[test]]`, `name` and `harness = false`",
                    typed.display(),
                    known()
                )));
            }
        }
        Ok(())
    }
}

/// Whether a target's file is this file, or lies in this folder.
fn is_at(candidate: &Candidate, place: &Path) -> bool {
    candidate.file.canonicalize().is_ok_and(|file| file.starts_with(place))
}

fn names(names: impl Iterator<Item = String>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
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
