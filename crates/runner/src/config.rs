//! The settings of the current project, and `cargo cobalt config`, which shows them.

use std::env;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use cobalt::command::config::{Config, Flags, Setting, project_root, schema};
use cobalt_core::paths::workspace_root;
use cobalt_core::reporters::Style;
use serde_json::Value;

use crate::cli;
use crate::environment::Environment;
use crate::error::Error;
use crate::terminal::{Align, paint, print, print_json, table_up_to};

/// The settings for the current folder: those of the nearest enclosing package or workspace.
///
/// Cargo's variables in this process are ignored: `cargo run` may have set them.
pub fn settings(flags: &Flags) -> Result<Config, Error> {
    let folder = env::current_dir().map_err(Error::CurrentFolder)?;
    let config = settings_of(&project_root(&folder), flags)?;
    config.apply_to_process();
    Ok(config)
}

/// The settings of the package or the workspace in a folder.
pub fn settings_of(root: &Path, flags: &Flags) -> Result<Config, Error> {
    let environment = Environment::read(&[root, &workspace_root(root)])?;
    Ok(Config::with_flags(root, flags, |name| environment.get(name))?)
}

pub fn config(arguments: &cli::Config, flags: &Flags) -> Result<ExitCode, Error> {
    if arguments.schema {
        print_json(&schema()).map_err(Error::Print)?;
    } else {
        let config = settings(flags)?;
        match arguments.json {
            true => print_json(&config.settings()).map_err(Error::Print)?,
            false => print(&lines(config.settings(), paint(&io::stdout()))).map_err(Error::Print)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Wider values do not widen the column.
const WIDEST: usize = 40;

/// A line per setting: its key, its value as in the file, and its origin. A list of tables has a line per table.
fn lines(settings: &[Setting], paint: Style) -> String {
    let titles = ["key", "value", "origin"].map(|title| (title, Align::Left));
    table_up_to(WIDEST, titles, settings.iter().flat_map(rows), paint)
}

fn rows(Setting { key, value, origin, .. }: &Setting) -> Vec<[String; 3]> {
    let elements = value.as_array().filter(|elements| elements.iter().any(Value::is_object));
    let Some(elements) = elements else { return vec![[key.clone(), to_toml(value), origin.to_string()]] };
    let row = |(index, element)| match index {
        0 => [key.clone(), to_toml(element), origin.to_string()],
        _ => [String::new(), to_toml(element), String::new()],
    };
    elements.iter().enumerate().map(row).collect()
}

/// A value in TOML syntax; `none` if there is none.
pub fn to_toml(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Array(list) => format!("[{}]", list.iter().map(to_toml).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key} = {}", to_toml(value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        // Strings, numbers and booleans are written as in JSON.
        other => other.to_string(),
    }
}
