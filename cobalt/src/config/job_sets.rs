//! `--shard auto`: the shard and the group of a job, according to the variables of the CI system or cluster that runs it.

use std::fmt;
use std::str::FromStr;

use cobalt_core::report::Shard;
use cobalt_core::wording::join_quoted;

use super::variables::{SHARD, SHARD_INDEX, SHARD_TOTAL};

/// The shard to run: a given one, or that of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardChoice {
    /// The shard that the CI system or the cluster assigns to this job.
    Auto,
    /// This shard.
    Given(Shard),
}

impl FromStr for ShardChoice {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = |_| "expected `auto` or a shard such as `2/4`: its number (from 1), a slash, and the number of shards";
        if text == "auto" { Ok(Self::Auto) } else { text.parse().map(Self::Given).map_err(expected) }
    }
}

impl fmt::Display for ShardChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Given(shard) => shard.fmt(f),
        }
    }
}

/// The name of a group of shards that belong together: those of one pipeline, for example. It becomes part of the names of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardGroup(String);

impl ShardGroup {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ShardGroup {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_allowed = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
        match text {
            _ if text.starts_with('.')
                || !(1..=100).contains(&text.len())
                || !text.bytes().all(is_allowed) =>
            {
                Err("expected up to 100 letters, digits, `-`, `_` and `.`, such as `nightly-7`")
            }
            _ => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for ShardGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The variables by which a system numbers the jobs of a set.
#[derive(Debug)]
struct JobSet {
    system: &'static str,
    index: &'static str,
    total: &'static str,
    numbers: Numbers,
}

/// How the jobs of a set are numbered.
#[derive(Debug)]
enum Numbers {
    /// By one, from this number.
    From(u64),
    /// From `SLURM_ARRAY_TASK_MIN` in steps of `SLURM_ARRAY_TASK_STEP`.
    Array,
}

/// GitHub tells a job its place only in the expressions `strategy.job-index` and `strategy.job-total`, so that the workflow has to set
/// our variables. Kubernetes does not tell the number of completions.
const JOB_SETS: [JobSet; 6] = [
    JobSet { system: "GitHub", index: SHARD_INDEX, total: SHARD_TOTAL, numbers: Numbers::From(0) },
    JobSet { system: "GitLab", index: "CI_NODE_INDEX", total: "CI_NODE_TOTAL", numbers: Numbers::From(1) },
    JobSet {
        system: "Buildkite",
        index: "BUILDKITE_PARALLEL_JOB",
        total: "BUILDKITE_PARALLEL_JOB_COUNT",
        numbers: Numbers::From(0),
    },
    JobSet {
        system: "CircleCI",
        index: "CIRCLE_NODE_INDEX",
        total: "CIRCLE_NODE_TOTAL",
        numbers: Numbers::From(0),
    },
    JobSet {
        system: "Kubernetes",
        index: "JOB_COMPLETION_INDEX",
        total: SHARD_TOTAL,
        numbers: Numbers::From(0),
    },
    JobSet {
        system: "Slurm",
        index: "SLURM_ARRAY_TASK_ID",
        total: "SLURM_ARRAY_TASK_COUNT",
        numbers: Numbers::Array,
    },
];

/// The variables that identify what all jobs of a set have in common, also if some of them run again. `GITHUB_RUN_ATTEMPT` is not
/// part of it: "Re-run failed jobs" keeps the results of the other shards.
const GROUPS: [&str; 5] =
    ["GITHUB_RUN_ID", "CI_PIPELINE_ID", "BUILDKITE_BUILD_ID", "CIRCLE_WORKFLOW_ID", "SLURM_ARRAY_JOB_ID"];

/// The group of this job: what its CI system or cluster calls the pipeline, if it tells.
pub fn group_of_job(variable: impl Fn(&str) -> Option<String>) -> Option<ShardGroup> {
    GROUPS.into_iter().find_map(|name| variable(name)?.trim().parse().ok())
}

/// The shard of this job.
///
/// # Errors
///
/// No variables tell it, only half of them do, those of several systems do, or they have invalid values.
pub fn shard_of_job(variable: impl Fn(&str) -> Option<String>) -> Result<Shard, JobSetError> {
    let variable =
        |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let mut found = Vec::new();
    for jobs in JOB_SETS.iter().filter(|jobs| variable(jobs.index).is_some()) {
        found.push((jobs, jobs.shard(&variable)?));
    }
    let is_total_of_found = |total: &str| found.iter().any(|(jobs, _)| jobs.total == total);
    let halves = JOB_SETS.iter().filter(|jobs| !is_total_of_found(jobs.total));
    let mut halves = halves.filter_map(|jobs| Some((jobs, variable(jobs.total)?)));
    // GitLab sets the number of jobs to 1 for a job that is not in a set.
    match halves.find(|(_, total)| total != "1") {
        Some((jobs, _)) => return Err(jobs.missing(jobs.total, jobs.index)),
        None if found.is_empty() => return single_job(&variable),
        None => {}
    }
    // CircleCI numbers jobs that are not in a set, too.
    if found.iter().any(|(_, shard)| shard.total() > 1) {
        found.retain(|(_, shard)| shard.total() > 1);
    }
    match &found[..] {
        [(_, shard)] => Ok(*shard),
        [(_, shard), ..] if shard.total() == 1 => Ok(*shard),
        several => {
            Err(JobSetError::Several { variables: several.iter().map(|(jobs, _)| jobs.index).collect() })
        }
    }
}

/// The whole run, if the only thing that a system tells is that there is one job.
fn single_job(variable: &impl Fn(&str) -> Option<String>) -> Result<Shard, JobSetError> {
    let is_one = |jobs: &JobSet| variable(jobs.total).is_some();
    if JOB_SETS.iter().any(is_one) {
        return Shard::new(1, 1).ok_or(JobSetError::None);
    }
    Err(if variable("GITHUB_ACTIONS").is_some() { JobSetError::GitHub } else { JobSetError::None })
}

impl JobSet {
    /// The shard of the job whose number is set.
    fn shard(&self, variable: &impl Fn(&str) -> Option<String>) -> Result<Shard, JobSetError> {
        let number = |name: &'static str| {
            let Some(value) = variable(name) else { return Err(self.missing(self.index, name)) };
            value.parse::<u64>().map_err(|_| JobSetError::NotANumber { name, value })
        };
        let (index, total) = (number(self.index)?, number(self.total)?);
        let (first, step) = match self.numbers {
            Numbers::From(first) => (first, 1),
            Numbers::Array => (number("SLURM_ARRAY_TASK_MIN")?, number("SLURM_ARRAY_TASK_STEP")?.max(1)),
        };
        let last = first.saturating_add(total.saturating_sub(1).saturating_mul(step));
        if let Numbers::Array = self.numbers
            && (last != number("SLURM_ARRAY_TASK_MAX")? || index % step != first % step)
        {
            return Err(JobSetError::Gaps);
        }
        let place = index.checked_sub(first).filter(|_| index <= last).map(|ahead| ahead / step + 1);
        let shard = place
            .zip(Some(total))
            .and_then(|(place, total)| Shard::new(u16::try_from(place).ok()?, u16::try_from(total).ok()?));
        shard.ok_or(JobSetError::OutOfRange {
            names: [self.index, self.total],
            values: [index, total],
            first,
        })
    }

    fn missing(&self, set: &'static str, missing: &'static str) -> JobSetError {
        JobSetError::Half { system: self.system, set, missing }
    }
}

/// Why the shard of a job is unknown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobSetError {
    /// No variables tell the shard.
    #[error(
        "the shard is `auto` (by --shard or {SHARD}), but no variable of a CI system or cluster tells the job's number; expected {}; \
         without them, pass a shard such as `2/4`",
        expected_variables()
    )]
    None,

    /// GitHub does not set variables.
    #[error(
        "the shard is `auto` (by --shard or {SHARD}), but GitHub tells a job its number only in expressions; add to the job's `env`: \
         `{SHARD_INDEX}: ${{{{ strategy.job-index }}}}` and `{SHARD_TOTAL}: ${{{{ strategy.job-total }}}}`"
    )]
    GitHub,

    /// The other variable is missing.
    #[error(
        "the shard is `auto` (by --shard or {SHARD}); {set} is set, but not {missing} ({system}); set both, or pass a shard such as \
         `2/4`"
    )]
    Half {
        /// The system.
        system: &'static str,
        /// The variable that is set.
        set: &'static str,
        /// The one that is not.
        missing: &'static str,
    },

    /// Several systems number the job.
    #[error(
        "the shard is `auto` (by --shard or {SHARD}), but several variables tell it: {}; unset all but one, or pass a shard such as \
         `2/4`",
        join_quoted(.variables.iter().copied())
    )]
    Several {
        /// The variables with the job's number.
        variables: Vec<&'static str>,
    },

    /// A variable has an invalid value.
    #[error("{name} is `{value}`; expected a whole number, as the shard is `auto` (by --shard or {SHARD})")]
    NotANumber {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
    },

    /// The job's number does not fit the number of jobs.
    #[error(
        "{} is {} and {} is {}; expected a number from {first} on, and at most 65,535 jobs, as the shard is `auto` (by --shard or \
         {SHARD})",
        .names[0], .values[0], .names[1], .values[1]
    )]
    OutOfRange {
        /// The variables with the job's number and the number of jobs.
        names: [&'static str; 2],
        /// Their values.
        values: [u64; 2],
        /// The number of the first job.
        first: u64,
    },

    /// A Slurm array is a list of numbers.
    #[error(
        "the shard is `auto` (by --shard or {SHARD}), but the numbers of the Slurm array have gaps (SLURM_ARRAY_TASK_MIN, _MAX, _STEP \
         and _COUNT do not fit together); submit a range such as `--array=1-8`, or pass a shard such as `2/4`"
    )]
    Gaps,
}

fn expected_variables() -> String {
    let pair = |JobSet { system, index, total, .. }: &JobSet| format!("{index} and {total} ({system})");
    JOB_SETS.iter().map(pair).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(variables: &[(&str, &str)]) -> Result<String, String> {
        let shard = shard_of_job(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        });
        shard.map(|shard| shard.to_string()).map_err(|error| error.to_string())
    }

    /// The variables of a task of a Slurm array.
    fn slurm(id: &'static str, range: [&'static str; 4]) -> Vec<(&'static str, &'static str)> {
        let names = ["COUNT", "MIN", "MAX", "STEP"].map(|name| match name {
            "COUNT" => "SLURM_ARRAY_TASK_COUNT",
            "MIN" => "SLURM_ARRAY_TASK_MIN",
            "MAX" => "SLURM_ARRAY_TASK_MAX",
            _ => "SLURM_ARRAY_TASK_STEP",
        });
        names.into_iter().zip(range).chain([("SLURM_ARRAY_TASK_ID", id)]).collect()
    }

    #[test]
    fn each_system_numbers_its_jobs_from_its_own_first_number() {
        for (variables, expected) in [
            (vec![("COBALT_SHARD_INDEX", "0"), ("COBALT_SHARD_TOTAL", "4")], "1/4"),
            (vec![("COBALT_SHARD_INDEX", "3"), ("COBALT_SHARD_TOTAL", " 4 ")], "4/4"),
            (vec![("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")], "1/4"),
            (vec![("BUILDKITE_PARALLEL_JOB", "1"), ("BUILDKITE_PARALLEL_JOB_COUNT", "4")], "2/4"),
            (vec![("CIRCLE_NODE_INDEX", "2"), ("CIRCLE_NODE_TOTAL", "4")], "3/4"),
            (vec![("JOB_COMPLETION_INDEX", "7"), ("COBALT_SHARD_TOTAL", "8")], "8/8"),
            (slurm("1", ["8", "1", "8", "1"]), "1/8"),
            (slurm("7", ["8", "0", "7", "1"]), "8/8"),
            (slurm("8", ["4", "0", "12", "4"]), "3/4"),
        ] {
            assert_eq!(shard(&variables).as_deref(), Ok(expected), "{variables:?}");
        }
    }

    #[test]
    fn a_job_that_is_not_in_a_set_runs_everything() {
        let circle = ("CIRCLE_NODE_INDEX", "0");
        assert_eq!(shard(&[("CI_NODE_TOTAL", "1")]).as_deref(), Ok("1/1"));
        assert_eq!(shard(&[circle, ("CIRCLE_NODE_TOTAL", "1")]).as_deref(), Ok("1/1"));
        let own = [("COBALT_SHARD_INDEX", "1"), ("COBALT_SHARD_TOTAL", "3")];
        assert_eq!(shard(&[&own[..], &[("CI_NODE_TOTAL", "1")]].concat()).as_deref(), Ok("2/3"));
        assert_eq!(shard(&[&own[..], &[circle, ("CIRCLE_NODE_TOTAL", "1")]].concat()).as_deref(), Ok("2/3"));
    }

    #[test]
    fn half_of_the_variables_and_those_of_two_systems_are_refused_by_name() {
        for (variables, expected) in [
            (&[("CI_NODE_INDEX", "1")][..], "CI_NODE_INDEX is set, but not CI_NODE_TOTAL (GitLab)"),
            (&[("CI_NODE_TOTAL", "4")], "CI_NODE_TOTAL is set, but not CI_NODE_INDEX (GitLab)"),
            (
                &[("JOB_COMPLETION_INDEX", "1")],
                "JOB_COMPLETION_INDEX is set, but not COBALT_SHARD_TOTAL (Kubernetes)",
            ),
            (
                &[("COBALT_SHARD_TOTAL", "4"), ("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")],
                "COBALT_SHARD_TOTAL is set, but not COBALT_SHARD_INDEX",
            ),
            (
                &[
                    ("CI_NODE_INDEX", "1"),
                    ("CI_NODE_TOTAL", "4"),
                    ("JOB_COMPLETION_INDEX", "1"),
                    ("COBALT_SHARD_TOTAL", "4"),
                ],
                "several variables tell it: `CI_NODE_INDEX`, `JOB_COMPLETION_INDEX`",
            ),
            (
                &[("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_ARRAY_TASK_COUNT", "2")],
                "not SLURM_ARRAY_TASK_MIN (Slurm)",
            ),
            (&[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "4")], "CI_NODE_INDEX is 0 and CI_NODE_TOTAL is 4"),
            (&[("CI_NODE_INDEX", "5"), ("CI_NODE_TOTAL", "4")], "expected a number from 1 on"),
            (&[("CIRCLE_NODE_INDEX", "x"), ("CIRCLE_NODE_TOTAL", "4")], "CIRCLE_NODE_INDEX is `x`"),
            (&[], "expected COBALT_SHARD_INDEX and COBALT_SHARD_TOTAL (GitHub), CI_NODE_INDEX"),
            (&[("GITHUB_ACTIONS", "true")], "`COBALT_SHARD_INDEX: ${{ strategy.job-index }}`"),
        ] {
            let error = shard(variables).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        for task in [slurm("3", ["3", "1", "7", "1"]), slurm("3", ["2", "1", "5", "4"])] {
            assert!(shard(&task).unwrap_err().contains("have gaps"), "{task:?}");
        }
    }

    #[test]
    fn the_jobs_of_a_pipeline_are_a_group() {
        let group = |name: &'static str, value: &'static str| {
            group_of_job(|asked| (asked == name).then(|| value.to_owned())).map(|group| group.to_string())
        };
        for name in GROUPS {
            assert_eq!(group(name, "12-a").as_deref(), Some("12-a"));
        }
        assert_eq!(group("GITHUB_RUN_ID", ""), None);
        for text in ["", ".", "../x", "a/b", "é", &"a".repeat(101)] {
            assert!(text.parse::<ShardGroup>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_choice_is_auto_or_a_shard() {
        for text in ["auto", "2/4"] {
            assert_eq!(text.parse::<ShardChoice>().unwrap().to_string(), text);
        }
        assert!("5/4".parse::<ShardChoice>().unwrap_err().starts_with("expected `auto` or a shard"));
    }
}
