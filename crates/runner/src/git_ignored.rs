//! Checks whether git ignores files, and by which rule.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Whether git ignores files.
#[derive(Debug)]
pub enum IgnoreStatus {
    /// It ignores none of them.
    NotIgnored,
    /// It ignores at least one, by this rule: `<file>:<line>:<pattern>`.
    Ignored { rule: String },
}

/// Asks git about files of one folder; `None` without git.
pub fn check_ignored(files: &[PathBuf]) -> Option<IgnoreStatus> {
    let output = Command::new("git")
        .args(["check-ignore", "--verbose", "--"])
        .args(files)
        .current_dir(files.first()?.parent()?)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    // Each line is the rule, a tab and the path. Negated patterns are listed, too.
    let mut rules = text.lines().filter_map(|line| line.split('\t').next());
    let leaves_out =
        |rule: &&str| !rule.splitn(3, ':').nth(2).is_some_and(|pattern| pattern.starts_with('!'));
    match (output.status.code()?, rules.find(leaves_out)) {
        (0, Some(rule)) => Some(IgnoreStatus::Ignored { rule: rule.to_owned() }),
        (0 | 1, _) => Some(IgnoreStatus::NotIgnored),
        _ => None,
    }
}
