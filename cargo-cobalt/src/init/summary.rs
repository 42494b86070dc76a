//! What the user reads in the end: what was done, and what to do next.

use std::fmt::Write;
use std::path::Path;

use super::plan::{File, Plan};

pub(super) fn text(plan: &Plan, folder: &Path) -> String {
    let mut text = format!("{}\n", plan.root.display());
    let lines = lines(plan);
    let width = lines.iter().map(|(_, path, _)| path.chars().count()).max().unwrap_or_default();
    for (verb, path, content) in lines {
        text.push_str(format!("  {verb:<8} {path:<width$}  {content}").trim_end());
        text.push('\n');
    }
    if plan.changes_nothing() {
        text.push_str("\nNothing was changed: all of it is there already.\n");
    }
    for note in &plan.notes {
        let _ = write!(text, "\nNote: {note}\n");
    }
    text + &next_steps(plan, folder)
}

/// What was made comes first, and last what was there.
fn lines(plan: &Plan) -> Vec<(&'static str, String, &str)> {
    let shown = |path: &Path| path.strip_prefix(&plan.root).unwrap_or(path).display().to_string();
    let created = plan.files.iter().filter_map(|file| match file {
        File::New { path, content, .. } => Some(("created", shown(path), content.as_str())),
        File::Kept(_) => None,
    });
    let added = plan.edit.iter().map(|edit| ("added to", shown(&edit.path), edit.additions.as_str()));
    let kept = plan.files.iter().filter_map(|file| match file {
        File::Kept(path) => Some(("kept", shown(path), "")),
        File::New { .. } => None,
    });
    created.chain(added).chain(kept).collect()
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
