//! The settings of the project around the current folder, and `cargo cobalt config`, which shows them.

use std::env;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use cobalt::config::{Config, Flags, Setting, project_root, schema};
use cobalt::paths::workspace_root;
use cobalt::reporters::Paint;
use serde_json::Value;

use crate::cli;
use crate::environment::Environment;
use crate::error::Error;
use crate::terminal::{Align, paint, print, print_json, table};

/// The settings for the current folder: those of the nearest package or workspace that it lies in.
///
/// Whatever cargo has told this process of a package is of no account: it may have been started by `cargo run`.
pub(crate) fn settings(flags: &Flags) -> Result<Config, Error> {
    let folder = env::current_dir().map_err(Error::CurrentFolder)?;
    settings_of(&project_root(&folder), flags)
}

/// The settings of the package or the workspace in a folder.
pub(crate) fn settings_of(root: &Path, flags: &Flags) -> Result<Config, Error> {
    let environment = Environment::read(&[root, &workspace_root(root)])?;
    Ok(Config::with_flags(root, flags, |name| environment.get(name))?)
}

pub(crate) fn config(arguments: &cli::Config, flags: &Flags) -> Result<ExitCode, Error> {
    if arguments.schema {
        print_json(&schema())?;
    } else {
        let config = settings(flags)?;
        match arguments.json {
            true => print_json(&config.settings())?,
            false => print(&lines(config.settings(), paint(&io::stdout())))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A line for each setting: its key, its value as the file would have it, and where it comes from.
fn lines(settings: &[Setting], paint: Paint) -> String {
    let row =
        |Setting { key, value, origin, .. }: &Setting| [key.clone(), written(value), origin.to_string()];
    table(["key", "value", "origin"].map(|title| (title, Align::Left)), settings.iter().map(row), paint)
}

/// A value as TOML has it, and nothing where there is none.
pub(crate) fn written(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Array(list) => format!("[{}]", list.iter().map(written).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key} = {}", written(value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        // Texts, numbers and truth values are written as in JSON.
        other => other.to_string(),
    }
}
