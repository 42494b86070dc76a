//! The files beside a manifest: the example in its package, the settings at the root of the workspace.

use std::fs;
use std::path::Path;

use super::example::{self, Agent};
use super::plan::{Plan, is_there};

/// The example: an experiment and its data set.
///
/// It bears the name of its package: the packages of a workspace share one history.
pub(super) fn add_example(plan: &mut Plan, package: &str, agent: &Agent) {
    let dataset = free_dataset(&plan.package);
    let text = example::experiments(agent, package, &plan.target, &dataset);
    plan.file(plan.package.join(format!("tests/{}.rs", plan.target)), "an experiment to start from", &text);
    plan.file(plan.package.join(dataset), "its data set", example::ITEMS);
    if plan.target != "evals" {
        plan.notes
            .push(format!("there are other tests called `evals`: the experiment is in `{}`", plan.target));
    }
}

fn free_dataset(package: &Path) -> String {
    let numbered = (2..).map(|number| format!("datasets/messages-{number}.jsonl"));
    let mut names = std::iter::once("datasets/messages.jsonl".to_owned()).chain(numbered);
    names.find(|name| !is_there(&package.join(name))).unwrap_or_default()
}

/// The settings, which are the whole workspace's.
///
/// No file is made where it would hide settings that are there: the package's file comes before that of the
/// workspace, and both before those in the manifest.
pub(super) fn add_settings(plan: &mut Plan, manifest_has_settings: bool) {
    let own = plan.package.join("cobalt.toml");
    if is_there(&own) {
        plan.keep(own);
    } else if !manifest_has_settings {
        plan.file(plan.root.join("cobalt.toml"), "the settings, each commented out", example::SETTINGS);
    }
}

/// A profile for nextest, which takes an experiment for one test.
pub(super) fn add_nextest(plan: &mut Plan) {
    let path = plan.root.join(".config/nextest.toml");
    let profile = example::nextest(&plan.target);
    let filter = format!("binary({})", plan.target);
    if fs::read_to_string(&path).is_ok_and(|existing| !existing.contains(&filter)) {
        let settings = profile.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let settings: String = settings.map(|line| format!("\n    {line}")).collect();
        plan.notes
            .push(format!(".config/nextest.toml could treat experiments as they need it, with{settings}"));
    }
    plan.file(path, "what nextest needs to know of experiments", &profile);
}
