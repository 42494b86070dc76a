//! The variables that `[env]` of cargo's own configuration files sets for a program that cargo runs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, TomlError};

use super::error::ProjectError;
use crate::error::Error;

/// The folder of a configuration file.
const FOLDER: &str = ".cargo";
/// Its names; where both are there, cargo reads the older one.
const NAMES: [&str; 2] = ["config", "config.toml"];

/// The variables for programs that are started from here, without those that this process has set and that are not forced.
pub(super) fn variables() -> Result<Vec<(String, String)>, Error> {
    let here = env::current_dir().map_err(Error::CurrentFolder)?;
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(FOLDER)));
    let variables = read(&here, home.as_deref())?.into_iter();
    let counts = |variable: &Variable| variable.force || env::var_os(&variable.name).is_none();
    Ok(variables.filter(counts).map(|Variable { name, value, .. }| (name, value)).collect())
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    name: String,
    value: String,
    /// Whether it counts more than what is set already.
    force: bool,
}

/// What the files of a folder and of those around it say, and last that of cargo's home; the nearest counts.
fn read(folder: &Path, home: Option<&Path>) -> Result<Vec<Variable>, Error> {
    let around = folder.ancestors().map(|folder| folder.join(FOLDER));
    let mut variables: Vec<Variable> = Vec::new();
    for folder in around.chain(home.map(Path::to_owned)) {
        let Some(path) = NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file()) else {
            continue;
        };
        let failed = |source: cobalt::BoxError| ProjectError::Manifest { path: path.clone(), source };
        let text = fs::read_to_string(&path).map_err(|error| failed(error.into()))?;
        let config: DocumentMut = text.parse().map_err(|error: TomlError| failed(error.into()))?;
        // Paths are relative to the folder that the file's folder is in.
        let base = folder.parent().unwrap_or(&folder);
        for (name, value) in
            config.get("env").and_then(Item::as_table_like).into_iter().flat_map(|table| table.iter())
        {
            let is_new = variables.iter().all(|variable| variable.name != *name);
            variables.extend(variable(name, value, base).filter(|_| is_new));
        }
    }
    Ok(variables)
}

/// One variable; what has another form, cargo has refused already.
fn variable(name: &str, value: &Item, base: &Path) -> Option<Variable> {
    let is = |field: &str| value.get(field).and_then(Item::as_bool).unwrap_or(false);
    let text = value.as_str().or_else(|| value.get("value")?.as_str())?;
    let path = base.join(text);
    let value = if is("relative") { path.to_str()? } else { text }.to_owned();
    Some(Variable { name: name.to_owned(), value, force: is("force") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, file: &str, text: &str) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(file), text).unwrap();
    }

    fn plain(name: &str, value: &str) -> Variable {
        Variable { name: name.to_owned(), value: value.to_owned(), force: false }
    }

    #[test]
    fn near_files_count_before_far_ones_and_the_home_of_cargo_is_the_last() {
        let outer = tempfile::tempdir().unwrap();
        let (inner, home) = (outer.path().join("inner"), outer.path().join("home/cargo"));
        write(&inner.join(".cargo"), "config.toml", "[env]\nA = \"near\"\n[build]\njobs = 1\n");
        write(&outer.path().join(".cargo"), "config", "[env]\nA = \"far\"\nB = \"far\"\n");
        write(&home, "config.toml", "[env]\nB = \"home\"\nC = { value = \"c\", relative = true }\n");
        let read = read(&inner, Some(&home)).unwrap();
        let c = outer.path().join("home/c");
        assert_eq!(read, [plain("A", "near"), plain("B", "far"), plain("C", c.to_str().unwrap())]);
    }

    #[test]
    fn a_variable_may_be_forced_and_relative_to_the_folder_around() {
        let folder = tempfile::tempdir().unwrap();
        let text =
            "[env]\nDATA = { value = \"data\", relative = true }\nMODE = { value = \"m\", force = true }\n";
        write(&folder.path().join(".cargo"), "config.toml", text);
        let data = folder.path().join("data");
        assert_eq!(
            read(&folder.path().join("tests"), None).unwrap(),
            [plain("DATA", data.to_str().unwrap()), Variable { force: true, ..plain("MODE", "m") }]
        );
    }

    #[test]
    fn a_file_that_is_no_toml_is_named() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join(".cargo"), "config.toml", "[env\n");
        let message = read(folder.path(), None).unwrap_err().to_string();
        assert!(message.contains("config.toml") && message.contains("line 1"), "{message}");
    }
}
