//! `Program`: finds the program of a `CommandEvaluator` and builds its command.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::env;
use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cobalt_core::paths;
use cobalt_core::redact::{REDACTED, is_secret, redacted, register_variables};

use crate::settings::{Argument, EnvironmentName, VariableValue};

/// Shorter secrets are not redacted: they occur in ordinary words.
const SHORTEST_SECRET: usize = 4;

/// A program with its arguments and additional environment variables.
#[derive(Debug)]
pub struct CommandConfig<'p> {
    pub name: &'p str,
    pub arguments: &'p [Argument],
    pub variables: &'p BTreeMap<EnvironmentName, VariableValue>,
}

impl CommandConfig<'_> {
    /// Finds the file to start.
    pub fn find(&self) -> Result<PathBuf, String> {
        let root = paths::package_root();
        if self.name.is_empty() {
            return Err("the command is empty; name a program".to_owned());
        }
        // As in shells, only a bare name is looked up in `PATH`.
        if Path::new(self.name).components().count() > 1 || self.name.starts_with('.') {
            let path = root.join(self.name);
            return find_executable(&path).ok_or_else(|| {
                format!("`{}` {}; looked for `{}`", self.name, not_executable_reason(&path), path.display())
            });
        }
        let own = self.variables().find(|(name, _)| *name == "PATH").map(|(_, folders)| folders.into());
        let folders = own.or_else(|| env::var_os("PATH"));
        let found = folders
            .iter()
            .flat_map(env::split_paths)
            .find_map(|folder| find_executable(&root.join(folder).join(self.name)));
        found.ok_or_else(|| {
            let hint = match find_executable(&root.join(self.name)) {
                Some(_) => {
                    format!("; for a file in the package, write `./{}`", self.name)
                }
                None => String::new(),
            };
            format!(
                "program `{}` not found in PATH; install it, or set the path of its file{hint}",
                self.name
            )
        })
    }

    fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(EnvironmentName(name), VariableValue(value))| (&**name, &**value))
    }

    /// The arguments without secrets.
    pub fn redacted_arguments(&self) -> Vec<Cow<'_, str>> {
        self.arguments.iter().map(|Argument(argument)| redacted(argument)).collect()
    }

    /// The variables, with secret values redacted.
    pub fn redacted_variables(&self) -> BTreeMap<&str, Cow<'_, str>> {
        let shown = self.variables().map(|(name, value)| match is_secret(name) {
            true => (name, Cow::Borrowed(REDACTED)),
            false => (name, redacted(value)),
        });
        shown.collect()
    }

    /// Redacts the secrets among the variables in a text, which may include output of the program.
    pub fn redact(&self, text: String) -> String {
        let secrets =
            self.variables().filter(|(name, value)| is_secret(name) && value.len() >= SHORTEST_SECRET);
        secrets.fold(text, |text, (_, secret)| text.replace(secret, REDACTED))
    }

    /// Builds the command: in the package's folder, with pipes.
    pub fn command(&self) -> Result<Command, String> {
        register_variables(self.variables());
        let mut command = Command::new(self.find()?);
        command.args(self.arguments.iter().map(|Argument(argument)| argument));
        command.envs(self.variables()).current_dir(paths::package_root());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }
}

/// The file, with or without the platform's suffix for executables, if it can be started.
fn find_executable(path: &Path) -> Option<PathBuf> {
    let mut with_suffix = OsString::from(path);
    with_suffix.push(EXE_SUFFIX);
    let candidates = [path.to_owned(), PathBuf::from(with_suffix)];
    candidates.into_iter().find(|path| path.is_file() && is_executable(path))
}

/// Why a file cannot be started.
fn not_executable_reason(path: &Path) -> &'static str {
    if path.is_file() {
        "is not executable; make it executable, or put its interpreter before it"
    } else {
        "does not exist"
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.extension().is_some()
}
