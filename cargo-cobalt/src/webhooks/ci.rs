//! The job of a CI server that a run is part of, as its variables tell.
//!
//! Sources: <https://docs.github.com/en/actions/reference/workflows-and-actions/variables>,
//! <https://docs.gitlab.com/ci/variables/predefined_variables/>.

use serde::Serialize;

/// A job of a CI server.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ci {
    provider: &'static str,
    /// The page of the job.
    url: Option<String>,
    repository: Option<String>,
    /// The branch or the tag.
    branch: Option<String>,
    /// The number of the pull request or merge request.
    pull_request: Option<String>,
}

impl Ci {
    pub(super) fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let get = |name: &str| variable(name).filter(|value| !value.is_empty());
        if get("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
            Some(Self::github(get))
        } else if get("GITLAB_CI").is_some_and(|value| value == "true") {
            Some(Self::gitlab(get))
        } else {
            None
        }
    }

    fn github(get: impl Fn(&str) -> Option<String>) -> Self {
        let repository = get("GITHUB_REPOSITORY");
        let url = || {
            let (server, repository) = (get("GITHUB_SERVER_URL")?, repository.as_ref()?);
            Some(format!("{server}/{repository}/actions/runs/{}", get("GITHUB_RUN_ID")?))
        };
        // As in `refs/pull/12/merge`.
        let pull_request = || {
            let reference = get("GITHUB_REF")?;
            Some(reference.strip_prefix("refs/pull/")?.split('/').next()?.to_owned())
        };
        Self {
            provider: "github-actions",
            url: url(),
            branch: get("GITHUB_HEAD_REF").or_else(|| get("GITHUB_REF_NAME")),
            pull_request: pull_request(),
            repository,
        }
    }

    fn gitlab(get: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            provider: "gitlab-ci",
            url: get("CI_JOB_URL"),
            repository: get("CI_PROJECT_PATH"),
            branch: get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME").or_else(|| get("CI_COMMIT_REF_NAME")),
            pull_request: get("CI_MERGE_REQUEST_IID"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn told(variables: &[(&str, &str)]) -> Value {
        let get = |name: &str| {
            let found = variables.iter().find(|(set, _)| *set == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        json!(Ci::of(get))
    }

    #[test]
    fn a_pull_request_of_github_is_told_with_its_run() {
        let variables = [
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_SERVER_URL", "https://github.com"),
            ("GITHUB_REPOSITORY", "team/agent"),
            ("GITHUB_RUN_ID", "42"),
            ("GITHUB_REF", "refs/pull/12/merge"),
            ("GITHUB_REF_NAME", "12/merge"),
            ("GITHUB_HEAD_REF", "shorter-prompt"),
        ];
        let expected = json!({
            "provider": "github-actions",
            "url": "https://github.com/team/agent/actions/runs/42",
            "repository": "team/agent",
            "branch": "shorter-prompt",
            "pullRequest": "12",
        });
        assert_eq!(told(&variables), expected);
    }

    #[test]
    fn a_branch_of_gitlab_is_told_with_its_job() {
        let variables = [
            ("GITLAB_CI", "true"),
            ("CI_JOB_URL", "https://gitlab.com/team/agent/-/jobs/7"),
            ("CI_PROJECT_PATH", "team/agent"),
            ("CI_COMMIT_REF_NAME", "main"),
            ("CI_MERGE_REQUEST_IID", ""),
        ];
        let expected = json!({
            "provider": "gitlab-ci",
            "url": "https://gitlab.com/team/agent/-/jobs/7",
            "repository": "team/agent",
            "branch": "main",
            "pullRequest": null,
        });
        assert_eq!(told(&variables), expected);
    }

    #[test]
    fn elsewhere_there_is_no_job() {
        assert_eq!(told(&[("CI", "true"), ("GITHUB_ACTIONS", "false")]), Value::Null);
    }
}
