//! What the user reads in the end: what was done, and what to do next.

use std::fmt::Write;
use std::path::Path;

use super::plan::{File, Plan};
use crate::assistants::Changes;
use crate::written::{Line, listing};

pub(super) fn text(plan: &Plan, assistants: &Changes, folder: &Path) -> String {
    let mut text = format!("{}\n", plan.root.display());
    text.push_str(&listing(&lines(plan, assistants)));
    if plan.changes_nothing() && assistants.is_empty() {
        text.push_str("\nNothing was changed: all of it is there already.\n");
    }
    for note in &plan.notes {
        let _ = write!(text, "\nNote: {note}\n");
    }
    text + &next_steps(plan, folder)
}

/// What was made comes first, and last what was there.
fn lines(plan: &Plan, assistants: &Changes) -> Vec<Line> {
    let line = |verb, path: &Path, content: &str| {
        let path = path.strip_prefix(&plan.root).unwrap_or(path).display().to_string();
        Line { verb, path, content: content.to_owned() }
    };
    let files = plan.files.iter().map(|file| match file {
        File::New { path, content, .. } => line("created", path, content),
        File::Appended { path, content, .. } => line("added to", path, content),
        File::Kept(path) => line("kept", path, ""),
    });
    let edit = plan.edit.iter().map(|edit| line("added to", &edit.path, &edit.additions));
    let mut lines: Vec<_> = files.chain(edit).chain(assistants.lines(false)).collect();
    lines.sort_by_key(|line| {
        ["created", "added to", "updated"].iter().position(|verb| *verb == line.verb).unwrap_or(3)
    });
    lines
}

fn next_steps(plan: &Plan, folder: &Path) -> String {
    let mut text = String::from("\nNext:\n\n");
    let is_here =
        std::env::current_dir().and_then(|here| here.canonicalize()).is_ok_and(|here| here == plan.package);
    if !is_here {
        let folder = folder.display().to_string();
        let folder = if folder.contains(char::is_whitespace) { format!("{folder:?}") } else { folder };
        let _ = writeln!(text, "  cd {folder}");
    }
    let test = format!("cargo test --test {}", plan.target);
    let width = test.chars().count();
    let _ = writeln!(text, "  {:<width$}  # runs the experiments and shows their scores", "cargo cobalt run");
    let _ = writeln!(text, "  {test}  # the same as test cases");
    text
}
