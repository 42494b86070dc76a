//! Finds the test targets that can contain experiments.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{fmt, fs, io};

use cargo_metadata::{CargoOpt, Metadata, MetadataCommand, Package, Target, TargetKind};
use cobalt::command::config::{Config, Flags, Setting};
use cobalt::command::log;
use cobalt_core::error_chain::BoxError;
use cobalt_core::wording;
use glob::Pattern;
use toml_edit::{DocumentMut, Item, TableLike, TomlError, Value};

use super::declared::{DeclaredExperiments, LIBRARY, SourcePlace};
use super::target_filter::{self, TargetFilter, target_names};
use crate::cli::{BuildOptions, Selection};
use crate::config::{settings_of, to_toml};
use crate::error::{CommandError, Error};
use crate::terminal::relative_path;

/// A workspace or a single package.
#[derive(Debug)]
pub struct Project {
    metadata: Metadata,
}

/// A test target with `harness = false` in a package that depends on the library, or a target whose experiments no such target runs.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub package: Rc<Package>,
    pub target: String,
    /// Its source file.
    pub file: PathBuf,
    /// Required features that are disabled. The target is then skipped, unless it was selected explicitly.
    pub missing_features: Vec<String>,
    /// Whether this target was selected explicitly, by name or file.
    pub is_named: bool,
    /// Whether its source files declare experiments.
    pub has_experiments: bool,
    /// Why its experiments cannot run, and the remedy.
    pub problem: Option<String>,
}

impl Candidate {
    /// The message that required features are disabled.
    pub fn needs_features(&self) -> Option<String> {
        let features = wording::join_quoted(self.missing_features.iter().map(String::as_str));
        let word = if self.missing_features.len() == 1 { "feature" } else { "features" };
        (!self.missing_features.is_empty()).then(|| format!("`{self}` needs the {word} {features}"))
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.package.name, self.target)
    }
}

impl Project {
    /// Reads the project of the given manifest, or of the current folder.
    pub fn read(build: &BuildOptions) -> Result<Self, Error> {
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
        let metadata = command.exec().map_err(|error| match folder_without_project(build) {
            Some(folder) => Error::NoProject(folder),
            None => error.into(),
        })?;
        log::debug!(
            root = metadata.workspace_root,
            packages = metadata.workspace_packages().len(),
            "read the project"
        );
        Ok(Self { metadata })
    }

    /// The project with this metadata.
    pub fn of(metadata: Metadata) -> Self {
        Self { metadata }
    }

    /// Cargo's metadata of the workspace.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The root of the workspace.
    pub fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// Cargo's target folder.
    pub fn target_folder(&self) -> &Path {
        self.metadata.target_directory.as_std_path()
    }

    /// Cargo's folder for intermediate artifacts, which its settings can move.
    pub fn build_folder(&self) -> &Path {
        self.metadata.build_directory.as_ref().unwrap_or(&self.metadata.target_directory).as_std_path()
    }

    /// The selected test targets that can contain experiments; without a selection, those in the packages' settings.
    pub fn candidates(
        &self,
        selection: &Selection,
        build: &BuildOptions,
        flags: &Flags,
    ) -> Result<Vec<Candidate>, Error> {
        let packages = self.selected_packages(build)?;
        let wanted = TargetFilter::new(selection, build);
        let mut found = Vec::new();
        let mut held_back = Vec::new();
        for package in &packages {
            let candidates = self.candidates_of(package, &packages, build)?;
            log::debug!(
                package = package.name,
                targets = candidates.len(),
                "searched the package for experiments"
            );
            if let (Some(root), false) = (package.manifest_path.parent(), candidates.is_empty()) {
                // Always read: errors in them are reported before the build.
                let settings = settings_of(root.as_std_path(), flags)?;
                let is_let_through =
                    |candidate: &Candidate| !wanted.is_all() || settings.has_target(&candidate.target);
                let (through, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_let_through);
                for candidate in &others {
                    log::debug!(target = candidate, "left out the target; the setting `targets` excludes it");
                }
                if through.is_empty() {
                    held_back.push(settings_mismatch(&settings, &others));
                }
                found.extend(through);
            }
        }
        if found.is_empty() {
            return Err(Error::NothingMatched(no_targets_message(&packages, &held_back)));
        }
        let chosen = wanted.select(found)?;
        for candidate in &chosen {
            log::debug!(
                target = candidate,
                file = candidate.file.display(),
                has_experiments = candidate.has_experiments,
                missing_features = candidate.missing_features.join(","),
                problem = candidate.problem.as_deref().unwrap_or("none"),
                "selected the test target"
            );
        }
        let problems: Vec<_> = chosen.iter().filter_map(|candidate| candidate.problem.clone()).collect();
        if !problems.is_empty() && !build.keep_going {
            return Err(Error::Multiple(problems));
        }
        let needs: Vec<_> = chosen.iter().filter_map(Candidate::needs_features).collect();
        if needs.len() == chosen.len() {
            return Err(Error::NothingMatched(format!(
                "{}; enable features with `--features`",
                needs.join("; ")
            )));
        }
        Ok(chosen)
    }

    /// The test targets of a package with `harness = false`, and targets with experiments that are not run.
    fn candidates_of(
        &self,
        package: &Rc<Package>,
        packages: &[Rc<Package>],
        build: &BuildOptions,
    ) -> Result<Vec<Candidate>, Error> {
        if !depends_on_library(package) {
            log::trace!(package = package.name, "skips the package; it does not depend on `cobalt`");
            return Ok(Vec::new());
        }
        let manifest = read_manifest(package.manifest_path.as_std_path())?;
        let read = |target: &Target, known: &BTreeSet<PathBuf>| {
            DeclaredExperiments::read(package, target.src_path.as_std_path(), known)
        };
        let missing = |target: &Target| target_filter::missing_features(target, package, packages, build);
        let candidate = |target: &Target, has_experiments, problem| Candidate {
            package: Rc::clone(package),
            target: target.name.clone(),
            file: target.src_path.as_std_path().to_owned(),
            missing_features: missing(target),
            is_named: false,
            has_experiments,
            problem,
        };
        let (run, others): (Vec<_>, Vec<_>) =
            package.targets.iter().partition(|target| is_harness_test(target, &manifest));
        let run: Vec<_> = run.into_iter().map(|target| (target, read(target, &BTreeSet::new()))).collect();
        // The experiments of these files run, whichever other targets contain the files.
        let is_built = |(target, _): &&(&Target, _)| missing(target).is_empty();
        let calls_main = |(_, declared): &&(&Target, DeclaredExperiments)| declared.calls_main;
        let files = |(_, declared): &(&Target, DeclaredExperiments)| declared.files.clone();
        let main_files = run.iter().filter(is_built).filter(calls_main).flat_map(files).collect();
        let mut run_files: BTreeSet<_> = run.iter().filter(is_built).flat_map(files).collect();
        let mut candidates = Vec::new();
        for (target, declared) in run {
            let declared = if declared.calls_main { declared } else { read(target, &main_files) };
            candidates.push(candidate(target, !declared.places.is_empty(), None));
        }
        // Without required features, cargo does not build a target either.
        for target in others.into_iter().filter(|target| missing(target).is_empty()) {
            let declared = read(target, &run_files);
            match self.problem(package, target, &manifest, &declared)? {
                None if target.is_lib() => run_files.extend(declared.files),
                None => log::trace!(
                    package = package.name,
                    target = target.name,
                    "skips the target; it has no experiments that do not run elsewhere"
                ),
                problem => candidates.push(candidate(target, !declared.places.is_empty(), problem)),
            }
        }
        Ok(candidates)
    }

    /// Why the experiments of a target that is not run would not run at all, and the remedy.
    fn problem(
        &self,
        package: &Package,
        target: &Target,
        manifest: &DocumentMut,
        declared: &DeclaredExperiments,
    ) -> Result<Option<String>, Error> {
        let name = format!("{}/{}", package.name, target.name);
        let place = |SourcePlace { file, line, .. }: &SourcePlace| format!("{}:{line}", relative_path(file));
        let kind = |kind| target.kind.contains(&kind);
        for (table, target_kind) in [("test", TargetKind::Test), ("bench", TargetKind::Bench)] {
            let listed = harness(manifest, table, &target.name);
            if !kind(target_kind) || listed == Some(false) {
                continue;
            }
            let what = match declared.first(false) {
                Some(first) => format!("has experiments ({}) that do not run", place(first)),
                None if declared.calls_main => "calls `cobalt::main()`, which does not run".to_owned(),
                None => return Ok(None),
            };
            let manifest = relative_path(package.manifest_path.as_std_path());
            let remedy = match listed {
                Some(_) => format!("add `harness = false` to its `[[{table}]]` table in {manifest}"),
                None => format!(
                    "add this to {manifest}:\n\n[[{table}]]\nname = \"{}\"\nharness = false\n",
                    target.name
                ),
            };
            let main =
                if declared.calls_main { "" } else { "\nand to its file: `fn main() { cobalt::main(); }`" };
            return Ok(Some(format!("`{name}` {what}, because libtest runs this target; {remedy}{main}")));
        }
        let move_them = "move them to a test target with `harness = false`, such as `tests/evals.rs`";
        if let Some(first) = declared.first(true) {
            let place = place(first);
            return Ok(Some(format!(
                "`{name}` has experiments in unit tests ({place}), which do not run; {move_them}"
            )));
        }
        let Some(first) = declared.first(false) else { return Ok(None) };
        if kind(TargetKind::Bin) && !target.test {
            // Its author says that it has no tests.
            return Ok(None);
        }
        let place = place(first);
        Ok(if [TargetKind::Bin, TargetKind::Example, TargetKind::Bench].into_iter().any(kind) {
            let what = target.kind.first().map(ToString::to_string).unwrap_or_default();
            (!declared.calls_main).then(|| {
                format!("the {what} `{name}` has experiments ({place}), which do not run; {move_them}")
            })
        } else if kind(TargetKind::CustomBuild) || self.is_tested(package)? {
            None
        } else {
            Some(format!(
                "the library `{name}` has experiments ({place}), but no test target with `harness = false` uses it; \
                 add one with `cargo cobalt init`"
            ))
        })
    }

    /// Whether a test target with `harness = false` of this package, or of a package that depends on it, runs experiments of its library.
    fn is_tested(&self, package: &Package) -> Result<bool, Error> {
        for member in self.metadata.workspace_packages() {
            if depends_on_library(member) && self.depends_on(member, package) {
                let manifest = read_manifest(member.manifest_path.as_std_path())?;
                if member.targets.iter().any(|target| is_harness_test(target, &manifest)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether a member of the workspace is another one, or depends on it through members.
    fn depends_on(&self, member: &Package, other: &Package) -> bool {
        let members = self.metadata.workspace_packages();
        let (mut seen, mut waiting) = (Vec::new(), vec![member]);
        while let Some(package) = waiting.pop() {
            if package.id == other.id {
                return true;
            }
            if !seen.contains(&&package.id) {
                seen.push(&package.id);
                let folders: Vec<_> =
                    package.dependencies.iter().filter_map(|dependency| dependency.path.as_deref()).collect();
                let is_dependency = |member: &&&Package| {
                    member.manifest_path.parent().is_some_and(|folder| folders.contains(&folder))
                };
                waiting.extend(members.iter().filter(is_dependency).copied());
            }
        }
        false
    }

    /// The selected packages, by name or by a pattern as in cargo; otherwise the package of the current folder; otherwise all.
    fn selected_packages(&self, build: &BuildOptions) -> Result<Vec<Rc<Package>>, Error> {
        let members = self.metadata.workspace_packages();
        let is_unknown = |pattern: &&String| !members.iter().any(|package| matches_name(package, pattern));
        let unknown = |pattern: &String| {
            let instead = wording::suggest_or_list(pattern, members.iter().map(|package| &**package.name));
            format!("no package named `{pattern}` in this workspace; {instead}")
        };
        if let Some(pattern) = build.package.iter().find(is_unknown) {
            return Err(Error::NothingMatched(unknown(pattern)));
        }
        for pattern in build.exclude.iter().filter(is_unknown) {
            eprintln!("warning: {}", unknown(pattern));
        }
        let here =
            if build.package.is_empty() && !build.workspace { self.current_member(build) } else { None };
        let is_meant = |package: &&&Package| {
            let is_one_of =
                |patterns: &[String]| patterns.iter().any(|pattern| matches_name(package, pattern));
            let is_here = here.is_none_or(|here| here.id == package.id);
            let chosen = build.package.is_empty() || is_one_of(&build.package);
            chosen && is_here && !is_one_of(&build.exclude)
        };
        if let Some(here) = here {
            log::debug!(package = here.name, "selects the package of the current folder");
        }
        Ok(members.iter().filter(is_meant).map(|package| Rc::new((*package).clone())).collect())
    }

    /// The innermost workspace member whose folder contains the current folder, except one in the workspace root.
    fn current_member(&self, build: &BuildOptions) -> Option<&Package> {
        let folder = match &build.manifest_path {
            Some(manifest) => manifest.parent()?.canonicalize().ok()?,
            None => std::env::current_dir().ok()?.canonicalize().ok()?,
        };
        let root = self.root().canonicalize().ok()?;
        let inside: Vec<_> = folder.ancestors().take_while(|ancestor| *ancestor != root).collect();
        let folder_of = |package: &Package| package.manifest_path.parent()?.canonicalize().ok();
        let members = self.metadata.workspace_packages().into_iter();
        let around = members.filter_map(|package| Some((package, folder_of(package)?)));
        let around = around.filter(|(_, folder)| inside.contains(&&**folder));
        Some(around.max_by_key(|(_, folder)| folder.components().count())?.0)
    }
}

fn depends_on_library(package: &Package) -> bool {
    package.dependencies.iter().any(|dependency| dependency.name == LIBRARY)
}

/// Whether a target is a test with `harness = false`.
fn is_harness_test(target: &Target, manifest: &DocumentMut) -> bool {
    target.kind.contains(&TargetKind::Test) && harness(manifest, "test", &target.name) == Some(false)
}

fn matches_name(package: &Package, pattern: &str) -> bool {
    Pattern::new(pattern).is_ok_and(|pattern| pattern.matches(&package.name))
}

/// The current folder, if no manifest is given and neither it nor its parents contain one.
fn folder_without_project(build: &BuildOptions) -> Option<PathBuf> {
    let folder = std::env::current_dir().ok().filter(|_| build.manifest_path.is_none())?;
    let has_manifest = folder.ancestors().any(|folder| folder.join("Cargo.toml").exists());
    (!has_manifest).then_some(folder)
}

/// The message that the settings of a package match none of its targets.
fn settings_mismatch(settings: &Config, candidates: &[Candidate]) -> String {
    let setting = settings.settings().iter().find(|setting| setting.key == "targets");
    let setting = setting.map(|Setting { value, origin, .. }| format!(" = {}` in {origin}", to_toml(value)));
    let targets = || candidates.iter().map(|candidate| &*candidate.target);
    let meant = settings.targets().find_map(|target| wording::closest(target, targets()));
    let setting = setting.unwrap_or_else(|| "`".to_owned());
    let question = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    format!("`targets{setting} matches none of {}{question}", target_names(candidates))
}

/// Explains why there is nothing to run: settings exclude all targets, or there are none.
fn no_targets_message(packages: &[Rc<Package>], held_back: &[String]) -> String {
    match (packages, held_back) {
        ([], _) => "no packages left: `--exclude` excludes all selected packages".to_owned(),
        (_, []) => format!(
            "no test target with `harness = false` found in a package that depends on `{LIBRARY}`; searched: {}; \
             add one with `cargo cobalt init`",
            wording::join_quoted(packages.iter().map(|package| &**package.name))
        ),
        (_, held_back) => held_back.join("\n"),
    }
}

fn read_manifest(path: &Path) -> Result<DocumentMut, ProjectError> {
    let failed = |source: BoxError| ProjectError::Manifest { path: path.to_owned(), source };
    let text = fs::read_to_string(path).map_err(|error| failed(error.into()))?;
    text.trim_start_matches('\u{feff}').parse().map_err(|error: TomlError| failed(error.into()))
}

/// The `harness` setting of a target in the tables `test` or `bench`; `None` if the manifest does not list the target.
pub fn harness(manifest: &DocumentMut, table: &str, target: &str) -> Option<bool> {
    let tests: Vec<&dyn TableLike> = match manifest.get(table)? {
        Item::ArrayOfTables(tables) => tables.iter().map(|table| table as &dyn TableLike).collect(),
        Item::Value(Value::Array(values)) => {
            let tables = values.iter().filter_map(Value::as_inline_table);
            tables.map(|table| table as &dyn TableLike).collect()
        }
        _ => Vec::new(),
    };
    let test = tests.into_iter().find(|test| target_name(*test) == Some(target))?;
    Some(test.get("harness").and_then(Item::as_bool).unwrap_or(true))
}

/// The name of a target, by default that of its file.
fn target_name(test: &dyn TableLike) -> Option<&str> {
    let text = |key| test.get(key).and_then(Item::as_str);
    text("name").or_else(|| Path::new(text("path")?).file_stem()?.to_str())
}

#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    #[error("failed to read `{}`: {source}", .path.display())]
    Manifest { path: PathBuf, source: BoxError },

    #[error("failed to read the sources in `{}`: {source}; make them readable", .path.display())]
    Sources { path: PathBuf, source: io::Error },

    #[error("failed to read cargo's output: {0}")]
    Messages(io::Error),

    #[error("failed to build the experiments; fix the compiler errors above")]
    Build,

    #[error("failed to read the binary `{}`: {source}", .path.display())]
    Binary { path: PathBuf, source: io::Error },
}

impl CommandError for ProjectError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_without_a_harness_are_known_by_their_name_or_their_file() {
        let tables = "[[test]]\nname = \"evals\"\nharness = false\n[[test]]\nname = \"unit\"\n\
                      [[test]]\npath = \"tests/more.rs\"\nharness = false\n";
        let inline = "test = [{ name = \"evals\", harness = false }, { name = \"unit\" }, \
                      { path = \"tests/more.rs\", harness = false }]\n";
        for text in [tables, inline] {
            let manifest = text.parse().unwrap();
            let found = ["evals", "unit", "more", "other"].map(|target| harness(&manifest, "test", target));
            assert_eq!(found, [Some(false), Some(true), Some(false), None], "{text}");
        }
    }
}
