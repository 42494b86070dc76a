//! Where test binaries come from: cargo builds them, or somebody else did.

use std::ffi::OsString;
use std::path::Path;

use cobalt::command::config::{Config, Flags};

use super::compile::{Binary, BuildOutput, compile};
use super::discover::{Candidate, Project};
use super::inputs::Inputs;
use crate::cli::{BuildOptions, Color, Selection};
use crate::config::{settings, settings_of};
use crate::error::Error;

/// A project and the binaries of its test targets.
pub trait BinarySource {
    fn project(&self) -> &Project;

    /// The settings of the invocation.
    fn settings(&self, flags: &Flags) -> Result<Config, Error>;

    /// The flags for the binaries.
    fn flags(&self, flags: &Flags) -> Flags {
        flags.clone()
    }

    /// The flags that name this source, each after a space, for a command that resumes a run.
    fn repeated_flags(&self) -> String {
        String::new()
    }

    /// The selected test targets.
    fn candidates(&self, selection: &Selection, flags: &Flags) -> Result<Vec<Candidate>, Error>;

    /// A notice that it takes a while until the binaries are there.
    fn notice(&self) -> Option<String> {
        None
    }

    /// The binaries of test targets.
    fn binaries(&self, candidates: &[Candidate]) -> Result<BuildOutput, Error>;

    /// What the binaries of this one's package were built from and may read.
    fn sources(&self, binary: &Binary, flags: &Flags) -> Result<SourceHash, Error>;

    /// The folder whose `.env` is read after that of the package.
    fn environment_folder(&self) -> &Path {
        self.project().root()
    }

    /// Further variables of each binary.
    fn variables(&self) -> Vec<(String, OsString)> {
        Vec::new()
    }
}

/// What binaries were built from and may read.
#[derive(Clone, Debug, Default)]
pub struct SourceHash {
    /// A hash of the sources; empty if it is not known.
    pub code: String,
    /// The files and variables that may be read; `None` if they are not known.
    pub inputs: Option<Inputs>,
}

impl SourceHash {
    /// As a run stores it, for a process with these additional variables.
    pub fn stored(&self, variables: &[(String, OsString)]) -> String {
        match &self.inputs {
            Some(inputs) => format!("{}+{}+{}", self.code, inputs.files, inputs.hash_variables(variables)),
            None => self.code.clone(),
        }
    }
}

/// A project whose binaries are built by cargo.
#[derive(Debug)]
pub struct CargoBuild<'a> {
    project: Project,
    build: &'a BuildOptions,
    color: Color,
}

impl<'a> CargoBuild<'a> {
    /// Reads the project of the given manifest, or of the current folder.
    pub fn read(build: &'a BuildOptions, color: Color) -> Result<Self, Error> {
        Ok(Self { project: Project::read(build)?, build, color })
    }
}

impl BinarySource for CargoBuild<'_> {
    fn project(&self) -> &Project {
        &self.project
    }

    fn settings(&self, flags: &Flags) -> Result<Config, Error> {
        match &self.build.manifest_path {
            Some(_) => settings_of(self.project.root(), flags),
            None => settings(flags),
        }
    }

    fn candidates(&self, selection: &Selection, flags: &Flags) -> Result<Vec<Candidate>, Error> {
        self.project.candidates(selection, self.build, flags)
    }

    fn notice(&self) -> Option<String> {
        self.project.first_build_notice(self.build)
    }

    fn binaries(&self, candidates: &[Candidate]) -> Result<BuildOutput, Error> {
        compile(candidates, self.build, self.color, self.project.root())
    }

    fn sources(&self, binary: &Binary, flags: &Flags) -> Result<SourceHash, Error> {
        let inputs = Some(self.project.inputs(&binary.package, &binary.parts.inputs, flags)?);
        Ok(SourceHash { code: self.project.source_hash(&binary.package)?, inputs })
    }
}
