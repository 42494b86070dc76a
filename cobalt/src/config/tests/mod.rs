//! Tests of the configuration, in a temporary project with files and variables.

mod baselines;
mod conversation_evaluators;
mod datasets;
mod errors;
mod function_evaluators;
#[cfg(feature = "judge")]
mod judges;
mod limits;
mod precedence;
mod sources;
mod text_evaluators;
mod trace_evaluators;
#[cfg(not(feature = "judge"))]
mod without_judges;

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{Config, ConfigError, Flags};

/// A workspace with the package `member`, and variables.
struct Project {
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
    flags: Flags,
}

impl Project {
    fn new() -> Self {
        let project =
            Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new(), flags: Flags::default() };
        project.file("Cargo.toml", "[workspace]\nmembers = [\"member\"]\n");
        project.file("member/Cargo.toml", "[package]\nname = \"member\"\n");
        project
    }

    /// A project with this `cobalt.toml` at the workspace root.
    fn with(text: &str) -> Self {
        let project = Self::new();
        project.file("cobalt.toml", text);
        project
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn variable(mut self, name: &'static str, value: impl ToString) -> Self {
        self.variables.push((name, value.to_string()));
        self
    }

    fn flags(mut self, flags: Flags) -> Self {
        self.flags = flags;
        self
    }

    fn try_load(&self) -> Result<Config, ConfigError> {
        Config::with_flags(&self.path("member"), &self.flags, |asked| {
            let set = self.variables.iter().find(|(name, _)| *name == asked);
            set.map(|(_, value)| OsString::from(value))
        })
    }

    fn load(&self) -> Config {
        self.try_load().unwrap()
    }

    /// The error, without the directory in its paths.
    fn error(&self) -> String {
        let message = self.try_load().expect_err("expected an error").to_string();
        message.replace(&format!("{}/", self.folder.path().display()), "")
    }
}
