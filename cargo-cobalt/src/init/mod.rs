//! `cargo cobalt init`: a first experiment for a new project or an existing package.

mod dependency;
mod example;
mod manifest;
mod new_project;
mod package;
mod plan;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use crate::assistants::{Changes, ignored_warning};
use crate::atomic_file::{ListingLine, listing};
use crate::cli::Init;
use crate::error::Error;
pub use dependency::InitError;
pub use package::{add_target, library_of};
use plan::{Plan, PlannedFile};
pub use plan::{create, exists_or_link};

/// Plans all changes, then writes them: an error leaves the folder unchanged.
pub fn init(arguments: &Init) -> Result<ExitCode, Error> {
    let folder = plan::resolve(&arguments.dir)?;
    let mut plan = match folder.join("Cargo.toml").exists() {
        true => package::plan(&folder, arguments.agent)?,
        false => new_project::plan(&folder, arguments.agent)?,
    };
    let assistants = Changes::plan(&plan.root)?;
    plan.apply()?;
    assistants.apply()?;
    plan.notes.extend(ignored_warning(&plan.root));
    plan.notes.extend(how_to_install(&plan.package));
    // The work is done even if the output is closed.
    let _ = std::io::stdout().write_all(summary(&plan, &assistants, &arguments.dir).as_bytes());
    Ok(ExitCode::SUCCESS)
}

/// A note for users who run `cargo cobalt` by the alias in a clone.
fn how_to_install(package: &Path) -> Option<String> {
    let source = dependency::run_from()?;
    let clone = source.parent()?.canonicalize().ok()?;
    let install = format!("`cargo install --path {}`", source.display());
    (!package.starts_with(clone))
        .then(|| format!("to use `cargo cobalt` outside of the clone, run {install}"))
}

fn summary(plan: &Plan, assistants: &Changes, folder: &Path) -> String {
    let mut summary = format!("{}\n", plan.root.display());
    summary.push_str(&listing(&lines(plan, assistants)));
    if plan.is_noop() && assistants.is_empty() {
        summary.push_str("\nNothing to do; everything exists already.\n");
    }
    for note in &plan.notes {
        let _ = write!(summary, "\nNote: {note}\n");
    }
    summary + &next_steps(plan, folder)
}

/// New files first, unchanged files last.
fn lines(plan: &Plan, assistants: &Changes) -> Vec<ListingLine> {
    let line = |verb, path: &Path, content: &str| {
        let path = path.strip_prefix(&plan.root).unwrap_or(path).display().to_string();
        ListingLine { verb, path, content: content.to_owned() }
    };
    let files = plan.files.iter().map(|file| match file {
        PlannedFile::New { path, content, .. } => line("created", path, content),
        PlannedFile::Appended { path, content, .. } => line("added to", path, content),
        PlannedFile::Kept(path) => line("kept", path, ""),
    });
    let edit = plan.edit.iter().map(|edit| line("added to", &edit.path, &edit.additions));
    let mut lines: Vec<_> = files.chain(edit).chain(assistants.lines(false)).collect();
    lines.sort_by_key(|line| {
        ["created", "added to", "updated"].iter().position(|verb| *verb == line.verb).unwrap_or(3)
    });
    lines
}

fn next_steps(plan: &Plan, folder: &Path) -> String {
    let mut summary = String::from("\nNext:\n\n");
    let is_here =
        std::env::current_dir().and_then(|here| here.canonicalize()).is_ok_and(|here| here == plan.package);
    if !is_here {
        let folder = folder.display().to_string();
        let folder = if folder.contains(char::is_whitespace) { format!("{folder:?}") } else { folder };
        let _ = writeln!(summary, "  cd {folder}");
    }
    let test = format!("cargo test --test {}", plan.target);
    let width = test.chars().count();
    let _ =
        writeln!(summary, "  {:<width$}  # run the experiments and show their scores", "cargo cobalt run");
    let _ = writeln!(summary, "  {test}  # run them as test cases");
    summary
}
