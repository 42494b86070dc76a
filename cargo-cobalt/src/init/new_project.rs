//! Makes a new project: an agent in a library, and an experiment that calls it.

use std::path::Path;

use cargo_metadata::MetadataCommand;

use super::error::InitError;
use super::example::{self, Agent};
use super::files;
use super::library::Dependency;
use super::manifest::Manifest;
use super::name::{crate_name, package_name};
use super::plan::{Edit, Plan, is_there};
use super::target::free_name;
use super::workspace::{Membership, Workspace};
use crate::error::Error;

pub(super) fn plan(folder: &Path) -> Result<Plan, Error> {
    let name = package_name(folder);
    let joins = Workspace::around(folder)?;
    let root = joins.as_ref().map_or(folder, |workspace| workspace.root());
    let target = free_name(folder, |_| false);
    let mut plan = Plan::new(root, folder, &target);

    let dependency = match joins.as_ref().and_then(|workspace| workspace.manifest.workspace_dependency()) {
        Some(_) => Dependency::Workspace,
        None => Dependency::locate(None)?,
    };
    plan.notes.extend(dependency.note());
    let manifest = manifest(folder, &name, &dependency, &target)?;
    plan.file(folder.join("Cargo.toml"), &format!("the package `{name}`"), &manifest);
    let agent = agent(folder, &name);
    if let Agent::InLibrary(_) = agent {
        plan.file(folder.join("src/lib.rs"), "an agent to start from", &example::library());
    }
    files::add_example(&mut plan, &name, &agent);
    files::add_settings(&mut plan, false);
    files::add_nextest(&mut plan);
    match joins {
        Some(workspace) => {
            let root = workspace.root().to_owned();
            join(&mut plan, workspace, &name)?;
            plan.ignore_keys(&root, "");
        }
        None => plan.ignore_keys(folder, "/target\n"),
    }
    Ok(plan)
}

fn manifest(folder: &Path, name: &str, dependency: &Dependency, target: &str) -> Result<String, InitError> {
    let text =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n");
    let mut manifest = Manifest::parse(&folder.join("Cargo.toml"), &text)?;
    manifest.add_dependency(dependency);
    manifest.add_test(target, None);
    Ok(manifest.changed()?.unwrap_or(text))
}

/// A library is made where there is no source yet.
fn agent(folder: &Path, package: &str) -> Agent {
    if is_there(&folder.join("src/lib.rs")) {
        Agent::BesideLibrary(crate_name(package))
    } else if is_there(&folder.join("src/main.rs")) {
        Agent::BesideBinary
    } else {
        Agent::InLibrary(crate_name(package))
    }
}

/// Makes the package a member of the workspace around it.
fn join(plan: &mut Plan, mut workspace: Workspace, name: &str) -> Result<(), Error> {
    let metadata = MetadataCommand::new().current_dir(workspace.root()).no_deps().exec()?;
    if metadata.packages.iter().any(|package| package.name.as_str() == name) {
        let root = workspace.root().to_owned();
        return Err(InitError::NameTaken { root, name: name.to_owned() }.into());
    }
    if let Membership::Unlisted(member) = &workspace.membership {
        workspace.manifest.add_member(member);
        plan.edit = workspace.manifest.changed()?.map(|text| Edit::new(&workspace.manifest, text));
    }
    Ok(())
}
