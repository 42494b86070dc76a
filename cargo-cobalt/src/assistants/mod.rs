//! The files for coding assistants in a project: `.cobalt/SKILLS.md`, references to it, and the MCP server in `.mcp.json`.

mod changes;
mod edits;
mod skills;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use cobalt_core::paths::workspace_root;

use crate::cli::Update;
use crate::error::Error;
use crate::git_ignored::{IgnoreStatus, check_ignored};
use crate::terminal::{one_line, print};
pub use changes::{Changes, SKILLS};
pub use skills::experiment_guide;

/// Plans all changes before it writes any: an error leaves all files unchanged.
pub fn update(arguments: &Update) -> Result<ExitCode, Error> {
    let folder = env::current_dir().map_err(Error::CurrentFolder)?;
    let root = workspace_root(&folder);
    if !root.join("Cargo.toml").exists() {
        return Err(Error::NoProject(folder));
    }
    let changes = Changes::plan(&root)?;
    if arguments.check {
        print(&changes.text(true)).map_err(Error::Print)?;
        return Ok(if changes.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) });
    }
    changes.apply()?;
    print(&changes.text(false)).map_err(Error::Print)?;
    if let Some(warning) = ignored_warning(&root) {
        eprintln!("warning: {warning}");
    }
    Ok(ExitCode::SUCCESS)
}

/// A warning with the ignore rule, if git ignores the file, which is meant to be committed.
pub fn ignored_warning(root: &Path) -> Option<String> {
    match check_ignored(&[root.join(SKILLS)]) {
        Some(IgnoreStatus::Ignored { rule }) => Some(format!(
            "`{}` excludes `{SKILLS}`; to commit it, replace that rule with `**/.cobalt/*` and `!**/{SKILLS}`",
            one_line(&rule)
        )),
        _ => None,
    }
}
