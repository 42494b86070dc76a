//! The agent in its workspace, and the tests that it does not see.

use cobalt::{BoxError, CommandSucceeds, Context, Output};
use code_repair::{repair, visible_tests};

/// Runs the agent.
pub(crate) fn run(context: &Context) -> Result<Output, BoxError> {
    let passes =
        || visible_tests(&mut context.command("cargo")).output().map(|output| output.status.success());
    let repair = repair(context.dir(), passes)?;
    context.metric("test_runs", repair.test_runs);
    Ok(Output::new(match repair.edit {
        Some(edit) => edit.to_string(),
        None => "found no change that helps".to_owned(),
    }))
}

/// The hidden tests of an exercise, in a copy of the crate as the agent left it.
pub(crate) fn hidden_tests() -> CommandSucceeds {
    CommandSucceeds::new("tests", ["cargo", "test", "--quiet", "--offline", "--test", "hidden"])
        .files("hidden/{{id}}")
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
}
