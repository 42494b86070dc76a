//! Finds the test targets that may hold experiments.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{fmt, fs};

use cargo_metadata::{CargoOpt, Metadata, MetadataCommand, Package, TargetKind};
use cobalt::config::{Config, Flags, Setting};
use cobalt::suggest;
use toml_edit::{DocumentMut, TomlError};

use super::harness::harness;
use super::wanted::{Wanted, names};
use crate::cli::{Build, Selection};
use crate::config::{settings_of, written};
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

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.package.name, self.target)
    }
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
        let metadata = command.exec().map_err(|error| match nothing_around(build) {
            Some(folder) => Error::NoProject(folder),
            None => error.into(),
        })?;
        Ok(Self { metadata })
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
        let wanted = Wanted::new(selection, build);
        let mut found = Vec::new();
        let mut held_back = Vec::new();
        for package in &packages {
            let candidates = candidates_of(package)?;
            if let (Some(root), false) = (package.manifest_path.parent(), candidates.is_empty()) {
                // Read in any case: what is wrong with them is told before anything is built.
                let settings = settings_of(root.as_std_path(), flags)?;
                let is_let_through =
                    |candidate: &Candidate| !wanted.is_all() || settings.has_target(&candidate.target);
                let (through, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_let_through);
                if through.is_empty() {
                    held_back.push(by_settings(&settings, &others));
                }
                found.extend(through);
            }
        }
        if found.is_empty() {
            return Err(Error::NothingMatched(nothing_found(&packages, &held_back)));
        }
        wanted.choose(found)
    }

    /// The packages that are meant: those that are named; else the one whose folder this is; else all.
    fn packages(&self, build: &Build) -> Result<Vec<Rc<Package>>, Error> {
        let members = self.metadata.workspace_packages();
        for name in build.package.iter().chain(&build.exclude) {
            if !members.iter().any(|package| *name == *package.name) {
                let known = || members.iter().map(|package| &**package.name);
                return Err(Error::NothingMatched(unknown_package(name, known)));
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

/// The current folder, where no manifest is named and neither it nor a folder above has one.
fn nothing_around(build: &Build) -> Option<PathBuf> {
    let folder = std::env::current_dir().ok().filter(|_| build.manifest_path.is_none())?;
    let has_manifest = folder.ancestors().any(|folder| folder.join("Cargo.toml").exists());
    (!has_manifest).then_some(folder)
}

fn candidates_of(package: &Rc<Package>) -> Result<Vec<Candidate>, Error> {
    if !package.dependencies.iter().any(|dependency| dependency.name == LIBRARY) {
        return Ok(Vec::new());
    }
    let manifest = read_manifest(package.manifest_path.as_std_path())?;
    let tests = package.targets.iter().filter(|target| target.kind.contains(&TargetKind::Test));
    let candidate = |target: &cargo_metadata::Target| Candidate {
        package: Rc::clone(package),
        target: target.name.clone(),
        file: target.src_path.clone().into(),
    };
    Ok(tests.filter(|target| harness(&manifest, &target.name) == Some(false)).map(candidate).collect())
}

fn unknown_package<'a, Names: Iterator<Item = &'a str>>(name: &str, known: impl Fn() -> Names) -> String {
    let question = suggest::closest(name, known()).map(|meant| format!("did you mean `{meant}`? "));
    format!(
        "no package of this workspace is named `{name}`; {}there are {}",
        question.unwrap_or_default(),
        suggest::list(known())
    )
}

/// Says that the settings of a package name none of its targets.
fn by_settings(settings: &Config, candidates: &[Candidate]) -> String {
    let setting = settings.settings().iter().find(|setting| setting.key == "targets");
    let setting = setting.map(|Setting { value, origin, .. }| format!(" = {}` of {origin}", written(value)));
    let targets = || candidates.iter().map(|candidate| &*candidate.target);
    let meant = settings.targets().find_map(|target| suggest::closest(target, targets()));
    let setting = setting.unwrap_or_else(|| "`".to_owned());
    let question = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    format!("`targets{setting} matches none of {}{question}", names(candidates))
}

/// Says why there is nothing to run: what the settings hold back, or that there is no target at all.
fn nothing_found(packages: &[Rc<Package>], held_back: &[String]) -> String {
    match (packages, held_back) {
        ([], _) => "no package is left: `--exclude` names all that are meant".to_owned(),
        (_, []) => format!(
            "there is no test target with `harness = false` in a package that depends on `{LIBRARY}`, among {}; \
             `cargo cobalt init` adds one",
            suggest::list(packages.iter().map(|package| &**package.name))
        ),
        (_, held_back) => held_back.join("\n"),
    }
}

fn read_manifest(path: &Path) -> Result<DocumentMut, Error> {
    let failed = |source: Box<dyn std::error::Error>| Error::Manifest { path: path.to_owned(), source };
    let text = fs::read_to_string(path).map_err(|error| failed(error.into()))?;
    text.trim_start_matches('\u{feff}').parse().map_err(|error: TomlError| failed(error.into()))
}
