//! Creates a new project: an agent in a library, and an experiment that calls it.

use std::path::Path;

use cargo_metadata::MetadataCommand;
use cobalt_core::paths::workspace_root;
use glob::{MatchOptions, Pattern};

use super::dependency::{Dependency, InitError};
use super::example::{self, Agent};
use super::manifest::Manifest;
use super::package::unused_target_name;
use super::plan::{ManifestEdit, Plan, exists_or_link};
use crate::cli::AgentCrate;
use crate::error::Error;
use crate::project::LIBRARY_CRATE;

pub fn plan(folder: &Path, built_on: Option<AgentCrate>) -> Result<Plan, Error> {
    let name = package_name(folder);
    let joins = Workspace::enclosing(folder)?;
    let root = joins.as_ref().map_or(folder, |workspace| workspace.root());
    let target = unused_target_name(folder, |_| false);
    let mut plan = Plan::new(root, folder, &target);

    let shared = joins.as_ref().and_then(|workspace| workspace.manifest.workspace_dependency());
    let (key, dependency) = match shared {
        Some((name, _)) => (name, Dependency::Workspace),
        None => (LIBRARY_CRATE, Dependency::locate(None)?),
    };
    plan.notes.extend(dependency.sharing_note());
    let shares_serde = joins.as_ref().is_some_and(|workspace| workspace.manifest.shares_serde());
    let agent = agent(folder, &name);
    let manifest = manifest(folder, &name, (key, &dependency), shares_serde, &target, built_on)?;
    plan.file(folder.join("Cargo.toml"), &format!("the package `{name}`"), &manifest);
    if let Agent::NewLibrary(_) = agent {
        plan.file(folder.join("src/lib.rs"), "a sample agent", &example::library(built_on));
    }
    example::add_example(&mut plan, &name, &agent, built_on);
    example::add_settings(&mut plan, false);
    example::add_nextest(&mut plan);
    match joins {
        Some(workspace) => {
            let root = workspace.root().to_owned();
            join_workspace(&mut plan, workspace, &name)?;
            plan.ignore_dotenv(&root, "");
        }
        None => plan.ignore_dotenv(folder, "/target\n"),
    }
    Ok(plan)
}

fn manifest(
    folder: &Path,
    name: &str,
    (key, dependency): (&str, &Dependency),
    shares_serde: bool,
    target: &str,
    built_on: Option<AgentCrate>,
) -> Result<String, InitError> {
    let text =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n");
    let mut manifest = Manifest::parse(&folder.join("Cargo.toml"), &text)?;
    built_on.into_iter().for_each(|built_on| manifest.add_crate("dependencies", built_on));
    manifest.add_dependency(key, dependency);
    manifest.add_serde(shares_serde);
    manifest.add_test(target, None);
    Ok(manifest.render_changes()?.unwrap_or(text))
}

/// A library is created if there is no source yet.
fn agent(folder: &Path, package: &str) -> Agent {
    if exists_or_link(&folder.join("src/lib.rs")) {
        Agent::ExistingLibrary(crate_name(package))
    } else if exists_or_link(&folder.join("src/main.rs")) {
        Agent::BinaryOnly
    } else {
        Agent::NewLibrary(crate_name(package))
    }
}

/// Makes the package a member of the enclosing workspace.
fn join_workspace(plan: &mut Plan, mut workspace: Workspace, name: &str) -> Result<(), Error> {
    let metadata = MetadataCommand::new().current_dir(workspace.root()).no_deps().exec()?;
    if metadata.packages.iter().any(|package| package.name.as_str() == name) {
        let root = workspace.root().to_owned();
        return Err(InitError::NameTaken { root, name: name.to_owned() }.into());
    }
    if let Membership::Unlisted(member) = &workspace.membership {
        workspace.manifest.add_member(member);
        plan.edit =
            workspace.manifest.render_changes()?.map(|text| ManifestEdit::new(&workspace.manifest, text));
    }
    Ok(())
}

/// Names that a crate cannot have, or that tests cannot refer to.
const RESERVED: [&str; 58] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "cobalt",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "_",
];

/// A name that cargo accepts: lower-case letters, digits, `-` and `_`, starting with a letter.
pub fn package_name(folder: &Path) -> String {
    let folder = folder.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let words = folder.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    match name.chars().next() {
        None => "agent".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("agent-{name}"),
        Some(_) if RESERVED.contains(&crate_name(&name).as_str()) => format!("{name}-agent"),
        Some(_) => name,
    }
}

/// The name by which code refers to the library of a package.
pub fn crate_name(package: &str) -> String {
    package.replace('-', "_")
}

#[derive(Debug)]
pub struct Workspace {
    pub manifest: Manifest,
    pub membership: Membership,
}

/// Whether a folder is a member of a workspace.
#[derive(Debug, PartialEq, Eq)]
pub enum Membership {
    Member,
    /// Not listed, which cargo refuses; with the path to add to `members`.
    Unlisted(String),
}

impl Workspace {
    /// The enclosing workspace of a folder without a manifest.
    pub fn enclosing(folder: &Path) -> Result<Option<Self>, InitError> {
        let root = workspace_root(folder);
        // The library ignores broken manifests, cargo does not.
        for between in folder.ancestors().skip(1).take_while(|ancestor| *ancestor != root) {
            let path = between.join("Cargo.toml");
            if exists_or_link(&path) {
                Manifest::read(&path)?;
            }
        }
        if root == folder {
            return Ok(None);
        }
        let manifest = Manifest::read(&root.join("Cargo.toml"))?;
        let membership = Membership::of(folder.strip_prefix(&root).unwrap_or(folder), &manifest);
        Ok(Some(Self { manifest, membership }))
    }

    pub fn root(&self) -> &Path {
        self.manifest.folder()
    }
}

impl Membership {
    fn of(folder: &Path, manifest: &Manifest) -> Self {
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        let members = manifest.workspace_list("members");
        let is_listed = |member: &&str| {
            Pattern::new(member.trim_start_matches("./").trim_end_matches('/'))
                .is_ok_and(|pattern| pattern.matches_path_with(folder, options))
        };
        if members.iter().any(is_listed) {
            Self::Member
        } else {
            let parts: Vec<_> = folder.iter().map(|part| part.to_string_lossy()).collect();
            Self::Unlisted(parts.join("/"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_its_name_to_the_package_as_far_as_cargo_allows() {
        let names = [
            ("/w/desk", "desk"),
            ("/w/My Help.Desk (2)", "my-help-desk-2"),
            ("/w/snake_case", "snake_case"),
            ("/w/2048", "agent-2048"),
            ("/w/.hidden-", "hidden"),
            ("/w/質問", "agent"),
            ("/w/Ärger", "rger"),
            ("/w/async", "async-agent"),
            ("/w/Cobalt", "cobalt-agent"),
            ("/w/proc-macro", "proc-macro-agent"),
            ("/", "agent"),
        ];
        for (folder, name) in names {
            assert_eq!(package_name(Path::new(folder)), name, "{folder}");
        }
    }

    #[test]
    fn a_workspace_says_whether_a_folder_belongs_to_it() {
        let text = "[workspace]\nmembers = [\"./app\", \"crates/*\", \"old/kept\"]\n";
        let manifest = Manifest::parse(Path::new("/w/Cargo.toml"), text).unwrap();
        let of = |folder| Membership::of(Path::new(folder), &manifest);
        assert_eq!(of("app"), Membership::Member);
        assert_eq!(of("crates/desk"), Membership::Member);
        assert_eq!(of("crates/desk/deep"), Membership::Unlisted("crates/desk/deep".into()));
        assert_eq!(of("desk"), Membership::Unlisted("desk".into()));
        assert_eq!(of("old/kept"), Membership::Member);
    }

    #[test]
    fn a_package_around_that_is_no_workspace_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("a/Cargo.toml", "[package]\nname = \"a\"\n");
        let around = |path| Workspace::enclosing(&folder.path().join(path)).unwrap();
        assert!(around("a/desk").is_none());
        write("Cargo.toml", "[workspace]\n");
        assert_eq!(around("a/desk").unwrap().root(), folder.path());
        write("Cargo.toml", "[workspace]\nexclude = [\"a\"]\n");
        assert!(around("a/desk").is_none(), "nor does a workspace that excludes the folder");
    }
}
