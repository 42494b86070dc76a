//! The projects that an assistant may ask about.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use cobalt::config::{Config, Flags, project_root};
use cobalt::suggest;
use schemars::JsonSchema;
use serde::Serialize;

use crate::config::settings_of;
use crate::error::Error;

/// A package, or a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Project {
    /// The name of its folder.
    pub(super) name: String,
    /// Its folder, without links.
    pub(super) root: PathBuf,
}

impl Project {
    /// The project around a folder.
    fn around(folder: &Path) -> Result<Self, Error> {
        let nowhere = || Error::NoProject(folder.to_owned());
        let folder = folder.canonicalize().map_err(|_| nowhere())?;
        let root = project_root(&folder);
        if !root.join("Cargo.toml").is_file() {
            return Err(nowhere());
        }
        let name = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned();
        Ok(Self { name, root })
    }

    /// Its settings, as they are now.
    pub(super) fn settings(&self) -> Result<Config, Error> {
        settings_of(&self.root, &Flags::default())
    }
}

/// All of them.
#[derive(Debug)]
pub(super) struct Projects {
    /// Those named on the command line; else that of the current folder.
    given: Vec<Arc<Project>>,
    /// Those of the assistant's roots.
    of_roots: RwLock<Vec<Arc<Project>>>,
}

impl Projects {
    /// The projects of the folders that were named, or else that of the current one.
    pub(super) fn of(folders: &[PathBuf]) -> Result<Self, Error> {
        let mut given = Vec::new();
        for folder in folders {
            add(&mut given, Project::around(folder)?);
        }
        if folders.is_empty() {
            let here = std::env::current_dir().map_err(Error::CurrentFolder)?;
            // There may be a root that is in one.
            given.extend(Project::around(&here).ok().map(Arc::new));
        }
        Ok(Self { given, of_roots: RwLock::default() })
    }

    /// Takes over what the assistant says its roots are; those that are in no project are left out.
    pub(super) fn set_roots(&self, folders: &[PathBuf]) {
        let mut of_roots = Vec::new();
        folders
            .iter()
            .filter_map(|folder| Project::around(folder).ok())
            .for_each(|it| add(&mut of_roots, it));
        *self.of_roots.write().unwrap_or_else(PoisonError::into_inner) = of_roots;
    }

    /// All of them, those of the command line first.
    pub(super) fn all(&self) -> Vec<Arc<Project>> {
        let mut all = self.given.clone();
        for project in &*self.of_roots.read().unwrap_or_else(PoisonError::into_inner) {
            if !all.contains(project) {
                all.push(Arc::clone(project));
            }
        }
        all
    }

    /// The project of that name or folder; without one, the only project that there is.
    pub(super) fn choose(&self, name: Option<&str>) -> Result<Arc<Project>, Error> {
        let all = self.all();
        let is_meant = |project: &&Arc<Project>| match name {
            Some(name) => project.name == name || project.root == Path::new(name),
            None => true,
        };
        let mut meant = all.iter().filter(is_meant);
        match (meant.next(), meant.next()) {
            (Some(project), None) => Ok(Arc::clone(project)),
            (Some(_), Some(_)) => Err(Error::Arguments(format!(
                "several projects are served: name one in `project`, by its name or, where names are the same, by its \
                 folder; {}",
                listed(&all)
            ))),
            (None, _) => Err(unknown(name, &all)),
        }
    }
}

fn add(projects: &mut Vec<Arc<Project>>, project: Project) {
    if !projects.iter().any(|known| **known == project) {
        projects.push(Arc::new(project));
    }
}

fn unknown(name: Option<&str>, all: &[Arc<Project>]) -> Error {
    Error::Arguments(match name {
        Some(name) if !all.is_empty() => {
            format!(
                "no project `{name}` is served: {}",
                suggest::instead(name, all.iter().map(|it| &*it.name))
            )
        }
        _ => "no project is served: start `cargo cobalt mcp` in one, or with `--project DIR`".to_owned(),
    })
}

fn listed(all: &[Arc<Project>]) -> String {
    let all: Vec<_> = all.iter().map(|it| format!("{} ({})", it.name, it.root.display())).collect();
    format!("there are {}", suggest::list(all.iter().map(String::as_str)))
}
