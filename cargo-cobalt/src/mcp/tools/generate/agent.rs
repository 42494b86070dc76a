//! The agent: its source, its package, and its public API that a test can call.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{Dependency, DependencyKind, Metadata, MetadataCommand, Package, Target, TargetKind};
use cobalt_core::wording;

use super::public_paths::{self, PublicItem};
use crate::error::Error;
use crate::init::library_of;
use crate::mcp::paths::resolve_existing;
use crate::mcp::projects::Project;
use crate::project::LIBRARY;

/// The longest source that is sent to a model, in bytes.
const LONGEST: u64 = 200_000;

/// An agent with its source.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its file, relative to the package folder.
    pub file: String,
    pub source: String,
    /// The base name of its test target.
    pub name: String,
    pub package: Package,
    /// The folder of the package.
    pub folder: PathBuf,
    /// The workspace, or the single package.
    pub metadata: Metadata,
    /// The public items that a test can call, by their paths.
    pub callable: Vec<PublicItem>,
}

impl Agent {
    /// Reads the file of the argument `agentFile`.
    pub fn read(project: &Project, argument: &str) -> Result<Self, Error> {
        let file = resolve_existing(project, "agentFile", argument)?;
        let source = source(&file, argument)?;
        let metadata = MetadataCommand::new().current_dir(file.parent().unwrap_or(&file)).no_deps().exec()?;
        let (package, folder) = package_around(&metadata, &file).ok_or_else(|| {
            Error::Arguments(format!("`agentFile`: `{argument}` is not in a package of this workspace"))
        })?;
        let (package, folder) = (package.clone(), folder.to_owned());
        let callable = callable(&package, &file, argument)?;
        let shown = file.strip_prefix(&folder).unwrap_or(&file).display().to_string();
        let name = name(&file, &package);
        Ok(Self { file: shown, source, name, package, folder, metadata, callable })
    }

    /// The crates that a test of the package can use, except `cobalt`, with their features.
    pub fn dependencies(&self) -> Vec<String> {
        let is_usable = |kind| matches!(kind, DependencyKind::Normal | DependencyKind::Development);
        let is_there = |it: &&Dependency| is_usable(it.kind) && !it.optional && it.target.is_none();
        let usable = self.package.dependencies.iter().filter(is_there);
        let mut names: Vec<_> = usable
            .filter(|dependency| dependency.name != LIBRARY)
            .map(|dependency| {
                let name = dependency.rename.as_ref().unwrap_or(&dependency.name).replace('-', "_");
                match dependency.features.is_empty() {
                    true => format!("`{name}`"),
                    false => {
                        format!(
                            "`{name}` (with {})",
                            wording::join_quoted(dependency.features.iter().map(|it| &**it))
                        )
                    }
                }
            })
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// Whether evaluators that call models are compiled in.
    pub fn has_judges(&self) -> bool {
        let mut cobalt =
            self.package.dependencies.iter().filter(|dependency| dependency.name == LIBRARY).peekable();
        // The library is added with its default features.
        cobalt.peek().is_none()
            || cobalt.any(|it| it.uses_default_features || it.features.iter().any(|name| name == "judge"))
    }
}

fn source(file: &Path, argument: &str) -> Result<String, Error> {
    let refused = |problem: String| Error::Arguments(format!("`agentFile`: `{argument}` {problem}"));
    if file.extension().is_none_or(|extension| extension != "rs") {
        return Err(refused("is not a Rust source: name the `.rs` file with the agent".to_owned()));
    }
    let unreadable = |error: std::io::Error| refused(format!("cannot be read: {error}"));
    let length = fs::metadata(file).map_err(unreadable)?.len();
    if length > LONGEST {
        return Err(refused(format!(
            "has {length} bytes, but the limit is {LONGEST}: name a smaller file, or split it"
        )));
    }
    let source = fs::read_to_string(file).map_err(unreadable)?;
    syn::parse_file(&source).map_err(|error| {
        let start = error.span().start();
        refused(format!("is not valid Rust: line {}, column {}: {error}", start.line, start.column + 1))
    })?;
    Ok(source)
}

/// The innermost package around a file, and its folder.
pub fn package_around<'a>(metadata: &'a Metadata, file: &Path) -> Option<(&'a Package, &'a Path)> {
    let members = metadata.workspace_packages().into_iter();
    let folders =
        members.filter_map(|package| Some((package, package.manifest_path.parent()?.as_std_path())));
    let around = folders.filter(|(_, folder)| file.starts_with(folder));
    around.max_by_key(|(_, folder)| folder.components().count())
}

fn callable(package: &Package, file: &Path, argument: &str) -> Result<Vec<PublicItem>, Error> {
    let refused = |problem: String| Error::Arguments(format!("`agentFile`: `{argument}` {problem}"));
    let has_file = |target: &&Target| public_paths::contains_file(target.src_path.as_std_path(), file);
    let Some(library) = library_of(package) else {
        return Err(refused(format!(
            "is in the package `{}`, which has only binaries, and a test cannot call into a binary: move the code to test \
             into a library, `src/lib.rs`, use it from the binary, and name its file here",
            package.name
        )));
    };
    let root = library.src_path.as_std_path();
    if let Some(callable) = public_paths::public_items(root, &library.name.replace('-', "_"), file) {
        return match callable.is_empty() {
            true => Err(refused(
                "has nothing that a test can call: make its functions and their parent modules `pub`, or re-export them \
                 with `pub use`"
                    .to_owned(),
            )),
            false => Ok(callable),
        };
    }
    let mut binaries = package.targets.iter().filter(|target| target.kind.contains(&TargetKind::Bin));
    Err(match binaries.find(has_file) {
        Some(binary) => refused(format!(
            "is in the binary `{}`, and a test cannot call into a binary: move the code to test into the library `{}`, and \
             name its file here",
            binary.name, library.name
        )),
        None => refused(format!(
            "is not a module of the library `{}`: declare it with `pub mod`, or name another file",
            library.name
        )),
    })
}

/// The name of the file or, for a root file, of its module or package.
fn name(file: &Path, package: &Package) -> String {
    let stem =
        |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = match &*stem(file) {
        "mod" => file.parent().map(stem).unwrap_or_default(),
        "lib" | "main" => package.name.to_string(),
        other => other.to_owned(),
    };
    name.replace('-', "_")
}
