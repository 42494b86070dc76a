//! Which features of a package are on: cargo refuses to build a target by its name without those that it requires.

use std::collections::BTreeSet;
use std::rc::Rc;

use cargo_metadata::{Dependency, Package, Target};

use crate::cli::Build;

/// The features that a target requires and that are off, where these packages are built with these flags.
pub(super) fn missing(
    target: &Target,
    package: &Package,
    selected: &[Rc<Package>],
    build: &Build,
) -> Vec<String> {
    if target.required_features.is_empty() {
        return Vec::new();
    }
    let on = turned_on(package, selected, build);
    let is_off = |feature: &&String| !on.contains(*feature) && !is_of_dependency(feature, package);
    target.required_features.iter().filter(is_off).cloned().collect()
}

/// What the flags turn on, what is on without any, and what the packages that are built with it ask of it.
fn turned_on(package: &Package, selected: &[Rc<Package>], build: &Build) -> BTreeSet<String> {
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
            // An optional dependency is turned on with its feature.
            Some((dependency, _)) => wanted.push(dependency.to_owned()),
            None => {}
        }
        if on.insert(feature.clone()) {
            wanted.extend(package.features.get(&feature).into_iter().flatten().cloned());
        }
    }
    on
}

/// Whether `dependency/feature` is on because the package depends on it so.
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
        build: Build,
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
        missing(&target, &selected[0], selected, &flags.build)
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
        let on = turned_on(&package("a", &json!([])), &[], &build);
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
