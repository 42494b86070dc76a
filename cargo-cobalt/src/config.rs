//! The settings of the project around the current folder, and `cargo cobalt config`, which shows them.

use std::env;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use cobalt::config::{Config, Flags, Setting, project_root, schema};
use cobalt::paths::workspace_root;
use cobalt::reporters::Paint;
use serde::Serialize;
use serde_json::Value;

use crate::cli;
use crate::environment::Environment;
use crate::error::Error;
use crate::terminal::{columns, one_line, paint, print};

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
    let text = if arguments.schema {
        json(&schema())?
    } else {
        let config = settings(flags)?;
        match arguments.json {
            true => json(&config.settings())?,
            false => table(config.settings(), paint(&io::stdout())),
        }
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn json(value: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::Print(error.into()))?;
    Ok(format!("{text}\n"))
}

/// A line for each setting: its key, its value as the file would have it, and where it comes from.
fn table(settings: &[Setting], paint: Paint) -> String {
    let rows = settings.iter().map(|Setting { key, value, origin, .. }| {
        [key.clone(), written(value), origin.to_string()].map(|cell| one_line(&cell))
    });
    let rows: Vec<_> = [["key", "value", "origin"].map(str::to_owned)].into_iter().chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| columns(&row[column])).max().unwrap_or(0);
    let widths = [width(0), width(1)];
    let padded = |cell: &str, width: usize| format!("{cell}{}", " ".repeat(width - columns(cell)));
    let line = |[key, value, origin]: &[String; 3]| {
        format!("{}  {}  {origin}", padded(key, widths[0]), padded(value, widths[1]))
    };
    let mut lines = rows.iter().map(line);
    let titles = lines.next().map(|titles| paint.faint(titles));
    titles.into_iter().chain(lines).map(|line| format!("{line}\n")).collect()
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
