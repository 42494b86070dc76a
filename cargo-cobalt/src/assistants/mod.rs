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
use crate::git_ignored::{Kept, kept};
use crate::terminal::{one_line, print};
pub use changes::{Changes, SKILLS};
pub use skills::how_to_write;

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
    changes.carry_out()?;
    print(&changes.text(false)).map_err(Error::Print)?;
    if let Some(warning) = left_out(&root) {
        eprintln!("warning: {warning}");
    }
    Ok(ExitCode::SUCCESS)
}

/// A warning with the ignore rule, if git ignores the file, which is meant to be committed.
pub fn left_out(root: &Path) -> Option<String> {
    match kept(&[root.join(SKILLS)]) {
        Some(Kept::LeftOut { rule }) => Some(format!(
            "`{}` excludes `{SKILLS}`; to commit it, replace that rule with `**/.cobalt/*` and `!**/{SKILLS}`",
            one_line(&rule)
        )),
        _ => None,
    }
}
