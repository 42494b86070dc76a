//! Runs of a branch: `branch:main`, and `target`, the target branch of the pull request.

use std::env;

use cobalt_core::store::ci_branch;

use super::known::{KnownRuns, UnknownRun, commit};
use super::resolve::ResolvedName;
use crate::index::IndexedRun;

/// Each CI system's variable with the target branch of the pull request.
const TARGET_VARIABLES: [&str; 3] =
    ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "BUILDKITE_PULL_REQUEST_BASE_BRANCH"];
/// How GitHub names the branches of its merge queue: this, the target branch, and the pull request.
const MERGE_QUEUE: &str = "gh-readonly-queue/";

/// The target branch of the change under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetBranch {
    pub name: String,
    /// Whether the job tests the commit that was pushed to this branch, rather than a pull request.
    pub is_pushed: bool,
}

impl TargetBranch {
    /// That of the CI job in which the command runs.
    pub fn of_job() -> Option<Self> {
        Self::of(|name| env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let targets = TARGET_VARIABLES.iter().filter_map(|name| variable(name));
        // Buildkite's variables of pull requests are `false` without one.
        if let Some(name) = targets.into_iter().find(|name| !name.is_empty() && name != "false") {
            return Some(Self { name, is_pushed: false });
        }
        let name = ci_branch(variable)?;
        let queued = name.strip_prefix(MERGE_QUEUE).and_then(|rest| rest.rsplit_once("/pr-"));
        Some(match queued {
            Some((target, _)) => Self { name: target.to_owned(), is_pushed: false },
            None => Self { name, is_pushed: true },
        })
    }
}

impl KnownRuns {
    /// The latest complete run on a branch, without uncommitted changes, of an experiment or of each.
    pub fn of_branch(
        &self,
        typed: &str,
        experiment: Option<&str>,
        branch: &str,
    ) -> Result<ResolvedName, UnknownRun> {
        self.latest_on(typed, experiment, branch, None)
    }

    /// The same for the target branch of the change under test. After a push, runs of the pushed commit come last: a rerun would compare
    /// the commit with itself.
    pub fn of_target(&self, typed: &str, experiment: Option<&str>) -> Result<ResolvedName, UnknownRun> {
        let Some(TargetBranch { name, is_pushed }) = TargetBranch::of_job() else {
            return Err(UnknownRun::NoTarget { typed: typed.to_owned() });
        };
        let pushed = if is_pushed { commit(&self.folder, "HEAD") } else { None };
        self.latest_on(typed, experiment, &name, pushed.as_deref())
    }

    fn latest_on(
        &self,
        typed: &str,
        experiment: Option<&str>,
        branch: &str,
        last: Option<&str>,
    ) -> Result<ResolvedName, UnknownRun> {
        let name = experiment.map(|experiment| self.experiment(experiment).unwrap_or(experiment));
        let on_branch = |run: &&IndexedRun| {
            run.git_branch.as_deref() == Some(branch) && name.is_none_or(|name| run.name == name)
        };
        let (changed, mut clean): (Vec<_>, Vec<_>) =
            self.complete.iter().filter(on_branch).partition(|run| run.git_dirty == Some(true));
        // The sort is stable: the latest stay first.
        clean.sort_by_key(|run| last.is_some() && run.git_commit.as_deref() == last);
        let mut names: Vec<&str> = Vec::new();
        clean.retain(|run| {
            let is_first = !names.contains(&&*run.name);
            names.push(&run.name);
            is_first
        });
        ResolvedName::of(clean.into_iter().map(|run| self.resolved(run)).collect())
            .ok_or_else(|| self.no_run_on_branch(typed, name, branch, &changed))
    }

    fn no_run_on_branch(
        &self,
        typed: &str,
        experiment: Option<&str>,
        branch: &str,
        changed: &[&IndexedRun],
    ) -> UnknownRun {
        let mut branches: Vec<_> = self.complete.iter().filter_map(|run| run.git_branch.as_deref()).collect();
        branches.sort_unstable();
        branches.dedup();
        UnknownRun::no_run_of_branch(typed, experiment, branch, &branches, changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(variables: &[(&str, &str)]) -> Option<(String, bool)> {
        let target = TargetBranch::of(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        });
        target.map(|TargetBranch { name, is_pushed }| (name, is_pushed))
    }

    #[test]
    fn the_target_is_that_of_the_pull_request_or_the_branch_that_was_pushed_to() {
        let main = |is_pushed| Some(("main".to_owned(), is_pushed));
        let github = ("GITHUB_ACTIONS", "true");
        let head = ("GITHUB_HEAD_REF", "fix");
        assert_eq!(target(&[github, head, ("GITHUB_BASE_REF", "main")]), main(false));
        assert_eq!(target(&[github, ("GITHUB_BASE_REF", ""), ("GITHUB_REF_NAME", "main")]), main(true));
        let queue = ("GITHUB_REF_NAME", "gh-readonly-queue/main/pr-7-0123456789");
        assert_eq!(target(&[github, queue]), main(false));
        let gitlab = ("GITLAB_CI", "true");
        assert_eq!(target(&[gitlab, ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")]), main(false));
        assert_eq!(target(&[gitlab, ("CI_COMMIT_BRANCH", "main")]), main(true));
        let buildkite = [("BUILDKITE", "true"), ("BUILDKITE_BRANCH", "main")];
        for none in ["", "false"] {
            let variables = [&buildkite[..], &[("BUILDKITE_PULL_REQUEST_BASE_BRANCH", none)]].concat();
            assert_eq!(target(&variables), main(true), "{none}");
        }
        assert_eq!(target(&[buildkite[0], ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main")]), main(false));
        assert_eq!(target(&[]), None);
    }
}
