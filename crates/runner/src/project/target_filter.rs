//! Selects test targets by the command line, and checks their required features.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{io, mem};

use cargo_metadata::{Dependency, Package, Target};
use cobalt::command::log;
use cobalt_core::wording;

use super::discover::Candidate;
use crate::cli::{BuildOptions, Selection};
use crate::error::Error;

/// The targets given on the command line; if none, all are selected.
#[derive(Debug)]
pub struct TargetFilter {
    /// Target names or folders.
    words: Vec<String>,
    names: Vec<String>,
    places: Vec<PathFilter>,
}

/// A file or a folder.
#[derive(Debug)]
struct PathFilter {
    typed: PathBuf,
    found: io::Result<PathBuf>,
}

impl TargetFilter {
    pub fn new(selection: &Selection, build: &BuildOptions) -> Self {
        let looks_like_a_path = |target: &String| target.contains(['/', '\\']) || target.ends_with(".rs");
        let (paths, words): (Vec<_>, Vec<_>) = selection.targets.iter().cloned().partition(looks_like_a_path);
        let paths = paths.into_iter().map(PathBuf::from).chain(selection.file.iter().cloned());
        Self { words, names: build.test.clone(), places: paths.map(PathFilter::new).collect() }
    }

    /// Whether nothing was given.
    pub fn is_all(&self) -> bool {
        self.words.is_empty() && self.names.is_empty() && self.places.is_empty()
    }

    /// The selected candidates; each name and each path must match at least one.
    pub fn select(mut self, all: Vec<Candidate>) -> Result<Vec<Candidate>, Error> {
        self.split_names_and_folders(&all);
        for name in &self.names {
            if !all.iter().any(|candidate| candidate.target == *name) {
                return Err(Error::NothingMatched(unknown_name(name, &all)));
            }
        }
        for place in &self.places {
            if !all.iter().any(|candidate| place.contains(candidate)) {
                return Err(Error::NothingMatched(place.no_match_message(&all)));
            }
        }
        let includes = |candidate: &Candidate| {
            self.is_all()
                || self.names.contains(&candidate.target)
                || self.places.iter().any(|place| place.contains(candidate))
        };
        let (mut chosen, others): (Vec<_>, Vec<_>) = all.into_iter().partition(includes);
        for candidate in &others {
            log::debug!(target = candidate, "left out the target; the arguments select others");
        }
        for candidate in &mut chosen {
            if self.is_explicit(candidate) {
                // Cargo reports what is missing.
                candidate.missing_features.clear();
                candidate.is_named = true;
            }
        }
        Ok(chosen)
    }

    /// Target names take precedence over folders.
    fn split_names_and_folders(&mut self, all: &[Candidate]) {
        let is_name = |word: &String| {
            all.iter().any(|candidate| candidate.target == *word) || !Path::new(word).is_dir()
        };
        let (names, folders): (Vec<_>, Vec<_>) = mem::take(&mut self.words).into_iter().partition(is_name);
        self.names.extend(names);
        self.places.extend(folders.into_iter().map(PathBuf::from).map(PathFilter::new));
    }

    /// Whether this target was given explicitly, not just by its folder.
    fn is_explicit(&self, candidate: &Candidate) -> bool {
        let is_its_file = |place: &PathFilter| place.typed.is_file() && place.contains(candidate);
        self.names.contains(&candidate.target) || self.places.iter().any(is_its_file)
    }
}

impl PathFilter {
    fn new(typed: PathBuf) -> Self {
        Self { found: typed.canonicalize(), typed }
    }

    /// Whether a target's file is this file or is in this folder.
    fn contains(&self, candidate: &Candidate) -> bool {
        let Ok(place) = &self.found else { return false };
        candidate.file.canonicalize().is_ok_and(|file| file.starts_with(place))
    }

    fn no_match_message(&self, all: &[Candidate]) -> String {
        let typed = self.typed.display();
        let problem = match &self.found {
            Ok(_) => format!("`{typed}` is not, and does not contain, a test target with `harness = false`"),
            Err(error) => format!("failed to find `{typed}`: {error}"),
        };
        let here = std::env::current_dir().unwrap_or_default();
        let base = if self.typed.is_absolute() { Path::new("") } else { &*here };
        let file =
            |candidate: &Candidate| Some(candidate.file.strip_prefix(base).ok()?.display().to_string());
        let files: Vec<_> = all.iter().filter_map(file).collect();
        let meant = wording::closest(&typed.to_string(), files.iter().map(String::as_str));
        format!("{problem}; {}", suggestion(meant, all))
    }
}

fn unknown_name(name: &str, all: &[Candidate]) -> String {
    let meant = wording::closest(name, all.iter().map(|candidate| &*candidate.target));
    format!("no test target with `harness = false` named `{name}`; {}", suggestion(meant, all))
}

/// A suggestion and the available targets.
fn suggestion(meant: Option<&str>, all: &[Candidate]) -> String {
    let question = meant.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
    format!("{question}available: {}", target_names(all))
}

/// The targets as `package/target`.
pub fn target_names(candidates: &[Candidate]) -> String {
    let names: Vec<_> = candidates.iter().map(ToString::to_string).collect();
    wording::join_quoted(names.iter().map(String::as_str))
}

/// Required features of a target that are disabled when these packages are built with these flags.
pub fn missing_features(
    target: &Target,
    package: &Package,
    selected: &[Rc<Package>],
    build: &BuildOptions,
) -> Vec<String> {
    if target.required_features.is_empty() {
        return Vec::new();
    }
    let on = enabled_features(package, selected, build);
    let is_off = |feature: &&String| !on.contains(*feature) && !is_of_dependency(feature, package);
    target.required_features.iter().filter(is_off).cloned().collect()
}

/// Features enabled by flags, by default, and by the packages built with it.
fn enabled_features(package: &Package, selected: &[Rc<Package>], build: &BuildOptions) -> BTreeSet<String> {
    let mut wanted: Vec<String> =
        build.features.iter().flat_map(|typed| typed.split([',', ' '])).map(str::to_owned).collect();
    if build.all_features {
        wanted.extend(package.features.keys().cloned());
    }
    let folder = package.manifest_path.parent();
    let dependencies = selected.iter().flat_map(|other| &other.dependencies);
    let on_it: Vec<_> = dependencies
        .filter(|dependency| !dependency.optional && dependency.path.as_deref() == folder)
        .collect();
    if !build.no_default_features || on_it.iter().any(|dependency| dependency.uses_default_features) {
        wanted.push("default".to_owned());
    }
    wanted.extend(on_it.iter().flat_map(|dependency| dependency.features.iter().cloned()));
    with_implied(package, wanted)
}

fn with_implied(package: &Package, mut wanted: Vec<String>) -> BTreeSet<String> {
    let mut on = BTreeSet::new();
    while let Some(feature) = wanted.pop() {
        match feature.split_once('/') {
            Some((name, own)) if *name == **package.name => wanted.push(own.to_owned()),
            // An optional dependency is enabled with its feature.
            Some((dependency, _)) => wanted.push(dependency.to_owned()),
            None => {}
        }
        if on.insert(feature.clone()) {
            wanted.extend(package.features.get(&feature).into_iter().flatten().cloned());
        }
    }
    on
}

/// Whether `dependency/feature` is enabled by the package's own dependency.
fn is_of_dependency(feature: &str, package: &Package) -> bool {
    let name = |dependency: &Dependency| dependency.rename.clone().unwrap_or_else(|| dependency.name.clone());
    feature.split_once('/').is_some_and(|(wanted, feature)| {
        let mut named = package.dependencies.iter().filter(|dependency| name(dependency) == wanted);
        named.any(|dependency| !dependency.optional && dependency.features.iter().any(|on| on == feature))
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use serde_json::{Value, json};

    use super::*;

    #[derive(clap::Parser)]
    struct Flags {
        #[command(flatten)]
        build: BuildOptions,
    }

    fn package(name: &str, dependencies: &Value) -> Rc<Package> {
        let features =
            json!({ "default": ["quick"], "quick": ["model/small"], "slow": ["live"], "live": [] });
        let package = json!({
            "name": name, "version": "1.2.3", "id": name, "dependencies": dependencies, "targets": [],
            "features": features, "manifest_path": format!("/w/{name}/Cargo.toml"), "edition": "2024",
        });
        Rc::new(serde_json::from_value(package).unwrap())
    }

    fn dependency(name: &str, features: &[&str]) -> Value {
        json!({
            "name": name, "path": format!("/w/{name}"), "req": "*", "kind": "dev", "optional": false,
            "uses_default_features": false, "features": features, "target": null, "rename": null,
            "registry": null, "source": null,
        })
    }

    fn off(flags: &str, selected: &[Rc<Package>]) -> Vec<String> {
        let target = json!({
            "name": "evals", "kind": ["test"], "src_path": "/w/a/tests/evals.rs",
            "required-features": ["quick", "live", "model/small", "model/large"],
        });
        let target = serde_json::from_value(target).unwrap();
        let flags = Flags::parse_from(std::iter::once("run").chain(flags.split_whitespace()));
        missing_features(&target, &selected[0], selected, &flags.build)
    }

    #[test]
    fn features_are_turned_on_by_flags_and_by_one_another() {
        let selected = [package("a", &json!([]))];
        let off = |flags| off(flags, &selected);
        assert_eq!(off(""), ["live", "model/large"]);
        assert_eq!(off("--no-default-features"), ["quick", "live", "model/small", "model/large"]);
        assert_eq!(off("--features slow,model/large"), [""; 0]);
        assert_eq!(off("-F a/slow --features=b/live"), ["model/large"]);
        assert_eq!(off("--features b/live"), ["live", "model/large"]);
        assert_eq!(off("--no-default-features --all-features"), ["model/large"]);
    }

    #[test]
    fn features_of_one_argument_are_separated_by_spaces_too() {
        let build = Flags::parse_from(["run", "--features", "slow quick"]).build;
        let on = enabled_features(&package("a", &json!([])), &[], &build);
        assert!(on.contains("live") && on.contains("model/small"), "{on:?}");
    }

    #[test]
    fn dependencies_turn_features_on() {
        let on_model = package("a", &json!([dependency("model", &["large"])]));
        assert_eq!(off("", &[on_model]), ["live"]);
        let on_itself = package("a", &json!([dependency("a", &["slow"])]));
        assert_eq!(off("", &[on_itself]), ["model/large"]);
        let other = package("b", &json!([dependency("a", &["live"])]));
        assert_eq!(off("", &[package("a", &json!([])), other]), ["model/large"]);
    }
}
