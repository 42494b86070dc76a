//! Git in a temporary package.

use std::process::Command;

use crate::project::Project;

/// Runs git with a test identity.
pub(crate) fn git(project: &Project, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=someone", "-c", "user.email=someone@example.org"]).args(arguments);
    assert!(command.current_dir(project.path("")).status().unwrap().success(), "{arguments:?}");
}
