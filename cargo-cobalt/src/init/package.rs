//! Adds a first experiment to an existing package. Its sources are scanned without comments and string literals.

use std::path::{Path, PathBuf};
use std::{env, fs};

use cargo_metadata::{DependencyKind, Edition, Metadata, MetadataCommand, Package, Target, TargetKind};
use toml_edit::{Item, TableLike};

use super::dependency::{Dependency, InitError};
use super::example::{self, Agent};
use super::manifest::{Manifest, Serde};
use super::plan::{ManifestEdit, Plan, exists_or_link};
use crate::cli::AgentCrate;
use crate::error::Error;
use crate::project::{LIBRARY, LIBRARY_CRATE};

pub fn plan(folder: &Path, built_on: Option<AgentCrate>) -> Result<Plan, Error> {
    let mut manifest = Manifest::read(&folder.join("Cargo.toml"))?;
    let metadata = MetadataCommand::new().current_dir(folder).no_deps().exec();
    if manifest.has_workspace() && !manifest.has_package() {
        let members = metadata.map(|metadata| members(&metadata)).unwrap_or_default();
        return Err(InitError::Virtual { root: folder.to_owned(), members }.into());
    }
    let metadata = metadata?;
    let package = package_in(folder, &metadata)?;
    let experiments = Experiments::find(package, &manifest);
    let mut plan = Plan::new(metadata.workspace_root.as_std_path(), folder, experiments.target());

    add_dependency(&mut plan, &mut manifest)?;
    if let Experiments::Missing { .. } = experiments {
        add_serde(&mut plan, &mut manifest)?;
        built_on.into_iter().for_each(|built_on| manifest.add_crate("dev-dependencies", built_on));
    }
    if manifest.harness(experiments.target()).is_none() {
        manifest.add_test(experiments.target(), None);
    }
    match manifest.render_changes()? {
        Some(text) => plan.edit = Some(ManifestEdit::new(&manifest, text)),
        None => plan.keep(manifest.path().to_owned()),
    }
    match &experiments {
        Experiments::Present { source, .. } => plan.keep(source.clone()),
        Experiments::Missing { .. } => {
            example::add_example(&mut plan, &package.name, &agent(package), built_on);
        }
    }
    example::add_settings(&mut plan, manifest.has_settings());
    example::add_nextest(&mut plan);
    plan.ignore_dotenv(metadata.workspace_root.as_std_path(), "");
    Ok(plan)
}

/// A manifest with a test target for experiments.
#[derive(Debug)]
pub struct ManifestUpdate {
    /// Its text; `None` if nothing is missing.
    pub text: Option<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Adds a test target for experiments and, if missing, the library to the manifest of the package in a folder. `path` is the
/// target's file, if it is not the default one.
pub fn add_target(
    folder: &Path,
    metadata: &Metadata,
    manifest: &str,
    target: &str,
    path: Option<&str>,
) -> Result<ManifestUpdate, InitError> {
    package_in(folder, metadata)?;
    let mut manifest = Manifest::parse(&folder.join("Cargo.toml"), manifest)?;
    let mut plan = Plan::new(metadata.workspace_root.as_std_path(), folder, target);
    add_dependency(&mut plan, &mut manifest)?;
    match manifest.harness(target) {
        Some(false) => {}
        None => manifest.add_test(target, path),
        Some(true) => {
            let (manifest, target) = (manifest.path().to_owned(), target.to_owned());
            return Err(InitError::Harness { manifest, target });
        }
    }
    Ok(ManifestUpdate { text: manifest.render_changes()?, notes: plan.notes })
}

/// The folders of a workspace's members, relative to the current folder.
fn members(metadata: &Metadata) -> Vec<String> {
    let folders =
        metadata.workspace_packages().into_iter().filter_map(|package| package.manifest_path.parent());
    let here = env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    folders.map(|folder| folder.strip_prefix(&here).unwrap_or(folder).to_string()).collect()
}

fn package_in<'a>(folder: &Path, metadata: &'a Metadata) -> Result<&'a Package, InitError> {
    let is_it = |package: &&Package| package.manifest_path == folder.join("Cargo.toml");
    let package = metadata.packages.iter().find(is_it);
    let package = package.ok_or_else(|| InitError::NoPackage(folder.to_owned()))?;
    if [LIBRARY, LIBRARY_CRATE].contains(&package.name.as_str()) {
        return Err(InitError::Namesake(folder.to_owned()));
    }
    if package.edition == Edition::E2015 {
        return Err(InitError::Edition(folder.to_owned()));
    }
    let is_library = |dependency: &&cargo_metadata::Dependency| {
        dependency.name == LIBRARY && dependency.kind != DependencyKind::Build
    };
    let mut names = package.dependencies.iter().filter(is_library).filter_map(|found| found.rename.as_ref());
    if let Some(name) = names.find(|name| *name != LIBRARY_CRATE) {
        return Err(InitError::Renamed { folder: folder.to_owned(), name: name.clone() });
    }
    Ok(package)
}

/// Adds serde, with which experiments declare their items, unless the package has it.
fn add_serde(plan: &mut Plan, manifest: &mut Manifest) -> Result<(), InitError> {
    match manifest.serde() {
        Serde::Derives => {}
        Serde::WithoutDerive => plan.notes.push(
            "add the feature `derive` to the dev-dependency `serde`, to declare items as types".to_owned(),
        ),
        Serde::Missing => {
            let root = plan.root.join("Cargo.toml");
            let is_shared = if root == manifest.path() {
                manifest.shares_serde()
            } else {
                Manifest::read(&root)?.shares_serde()
            };
            manifest.add_serde(is_shared);
        }
    }
    Ok(())
}

/// Adds the library, unless the package depends on it unconditionally.
fn add_dependency(plan: &mut Plan, manifest: &mut Manifest) -> Result<(), InitError> {
    let root = plan.root.join("Cargo.toml");
    let root = if root == manifest.path() { None } else { Some(Manifest::read(&root)?) };
    let shared = root.as_ref().unwrap_or(manifest).workspace_dependency();
    let existing = manifest.dependency().or(manifest.optional_dependency());
    if existing.is_none() && shared.is_none() {
        let dependency = Dependency::locate(Some(manifest.path()))?;
        plan.notes.extend(dependency.sharing_note());
        manifest.add_dependency(LIBRARY_CRATE, &dependency);
        return Ok(());
    }
    if existing.or(shared).is_some_and(is_unrelated) {
        plan.notes.push(format!(
            "the dependency `cobalt` is a package of that name, which is an unrelated crate. Use `{}` instead",
            Dependency::locate(None).map_or_else(
                |_| format!("cobalt = {{ package = \"{LIBRARY}\", path = \"…\" }}"),
                |library| format!("cobalt = {}", library.to_table())
            )
        ));
    }
    if manifest.dependency().is_none() {
        // Cargo requires the same source for both.
        let dependency = existing.map_or(Dependency::Workspace, |(_, item)| Dependency::from_optional(item));
        let name = existing.or(shared).map_or(LIBRARY_CRATE, |(name, _)| name);
        manifest.add_dependency(name, &dependency);
    }
    Ok(())
}

/// Whether a dependency `cobalt` names no package, so that it is the package of that name.
fn is_unrelated((name, dependency): (&str, &Item)) -> bool {
    let is_ours = |table: &dyn TableLike| {
        let package = table.get("package").and_then(Item::as_str);
        package == Some(LIBRARY) || table.contains_key("workspace")
    };
    name != LIBRARY && !dependency.as_table_like().is_some_and(is_ours)
}

/// The package's library, if its tests can call it.
pub fn library_of(package: &Package) -> Option<&Target> {
    let is_library =
        |kinds: &[TargetKind]| kinds.contains(&TargetKind::Lib) || kinds.contains(&TargetKind::RLib);
    package.targets.iter().find(|target| is_library(&target.kind))
}

fn agent(package: &Package) -> Agent {
    match library_of(package) {
        Some(library) => Agent::ExistingLibrary(library.name.replace('-', "_")),
        None => Agent::BinaryOnly,
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum Experiments {
    Present { target: String, source: PathBuf },
    Missing { target: String },
}

impl Experiments {
    pub fn find(package: &Package, manifest: &Manifest) -> Self {
        let tests = package.targets.iter().filter(|target| target.kind.contains(&TargetKind::Test));
        let tests: Vec<_> = tests.collect();
        let ready = |test: &&&Target| {
            manifest.harness(&test.name) == Some(false) && stripped_source(test).contains("cobalt::")
        };
        // Unlisted targets are built with the default harness, and their `main` is never called.
        let unlisted = |test: &&&Target| {
            let code = stripped_source(test);
            let calls_main = code.contains("fn main()") && code.contains("cobalt::main()");
            let is_program = calls_main && !code.contains("#[test]");
            manifest.harness(&test.name).is_none() && is_program
        };
        if let Some(test) = tests.iter().find(ready).or_else(|| tests.iter().find(unlisted)) {
            return Self::Present { target: test.name.clone(), source: test.src_path.clone().into() };
        }
        let is_taken =
            |name: &str| tests.iter().any(|test| test.name == name) || manifest.harness(name) == Some(true);
        Self::Missing { target: unused_target_name(manifest.folder(), is_taken) }
    }

    pub fn target(&self) -> &str {
        match self {
            Self::Present { target, .. } | Self::Missing { target } => target,
        }
    }
}

fn stripped_source(test: &Target) -> String {
    strip_comments_and_strings(&fs::read_to_string(&test.src_path).unwrap_or_default())
}

/// The usual name, or the first one not used by a target or by a file in the package's `tests`.
pub fn unused_target_name(package: &Path, is_taken: impl Fn(&str) -> bool) -> String {
    let tests = package.join("tests");
    let is_free = |name: &String| {
        !is_taken(name)
            && !exists_or_link(&tests.join(name))
            && !exists_or_link(&tests.join(format!("{name}.rs")))
    };
    let mut others = (2..).map(|number| format!("experiments-{number}"));
    let usual = ["evals", "experiments"].map(str::to_owned).into_iter().find(is_free);
    usual.or_else(|| others.find(is_free)).unwrap_or_default()
}

/// The code, with a space in place of each comment and string literal.
pub fn strip_comments_and_strings(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    let mut is_in_name = false;
    while let Some(first) = rest.chars().next() {
        // The end of a name can look like the start of a raw string.
        let other = if is_in_name && first.is_alphanumeric() { 0 } else { comment_or_string_len(rest) };
        if other > 0 {
            code.push(' ');
            rest = &rest[other..];
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        }
        is_in_name = other == 0 && (first.is_alphanumeric() || first == '_');
    }
    code
}

/// The length of the comment or string literal at the start; 0 if there is none.
fn comment_or_string_len(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment_len(text);
    }
    // A quote in a character literal does not start a string.
    if let Some(quote) = ["'\"'", "'\\\"'"].into_iter().find(|quote| text.starts_with(quote)) {
        return quote.len();
    }
    if text.starts_with('"') {
        return string_literal_len(text);
    }
    let raw = ["br", "cr", "r"].into_iter().find_map(|prefix| text.strip_prefix(prefix));
    raw.and_then(after_raw_string).map_or(0, |behind| text.len() - behind.len())
}

/// The rest after a raw string, which is given without its prefix letter.
fn after_raw_string(text: &str) -> Option<&str> {
    let quoted = text.trim_start_matches('#');
    let hashes = &text[..text.len() - quoted.len()];
    let content = quoted.strip_prefix('"')?;
    Some(content.split_once(&format!("\"{hashes}")).map_or("", |(_, behind)| behind))
}

/// Block comments nest.
fn block_comment_len(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(found) = text[at..].find(['/', '*']) {
        at += found;
        let step = match text.get(at..at + 2) {
            Some("/*") => {
                depth += 1;
                2
            }
            Some("*/") => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn string_literal_len(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_left_out() {
        let cases = [
            ("a(); // fn main\nb();", "a();  \nb();"),
            ("/// docs\n/* x /* y */ z */fn f() {}", " \n fn f() {}"),
            ("f(\"data/*.jsonl\", 1); g()", "f( , 1); g()"),
            ("f(\"https://host \\\" //\"); g()", "f( ); g()"),
            ("f(r\"\\\", r#\"a \"/* b\"#); var\"x\"", "f( ,  ); var "),
            ("f('\"', '\\\"', 'a); g(1 / 2 * 3)", "f( ,  , 'a); g(1 / 2 * 3)"),
            ("/* not closed fn main()", " "),
            ("é /*é*/ é", "é   é"),
        ];
        for (source, expected) in cases {
            assert_eq!(strip_comments_and_strings(source), expected, "{source}");
        }
    }
}
