//! `--shard auto`: the shard and the group of a job, according to the variables of the CI system or cluster that runs it.

#[cfg(test)]
mod tests;

use cobalt_core::report::Shard;
use cobalt_core::wording::join_quoted;

use super::shard_choice::ShardGroup;
use super::variables::{SHARD, SHARD_GROUP, SHARD_INDEX, SHARD_TOTAL};

/// The shard of a job, and what the system calls the group of jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CiShard {
    /// The shard.
    pub shard: Shard,
    /// The group, if the same system names one.
    pub group: Option<ShardGroup>,
}

/// The variables by which a system numbers the jobs of a set.
#[derive(Debug)]
struct ShardVariables {
    system: &'static str,
    index: &'static str,
    total: &'static str,
    /// Identifies what all jobs of the set have in common, also if some of them run again.
    group: Option<&'static str>,
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

/// GitHub has the numbers only in the expressions `strategy.job-index` and `strategy.job-total`, so the workflow has to set our variables.
/// Kubernetes sets neither the number of completions nor a name that all pods of a job have in common.
///
/// `GITHUB_RUN_ATTEMPT` is not part of the group: "Re-run failed jobs" keeps the results of the other shards.
const SYSTEMS: [ShardVariables; 6] = [
    ShardVariables {
        system: "GitHub",
        index: SHARD_INDEX,
        total: SHARD_TOTAL,
        group: Some("GITHUB_RUN_ID"),
        numbers: Numbers::From(0),
    },
    ShardVariables {
        system: "GitLab",
        index: "CI_NODE_INDEX",
        total: "CI_NODE_TOTAL",
        group: Some("CI_PIPELINE_ID"),
        numbers: Numbers::From(1),
    },
    ShardVariables {
        system: "Buildkite",
        index: "BUILDKITE_PARALLEL_JOB",
        total: "BUILDKITE_PARALLEL_JOB_COUNT",
        group: Some("BUILDKITE_BUILD_ID"),
        numbers: Numbers::From(0),
    },
    ShardVariables {
        system: "CircleCI",
        index: "CIRCLE_NODE_INDEX",
        total: "CIRCLE_NODE_TOTAL",
        group: Some("CIRCLE_WORKFLOW_ID"),
        numbers: Numbers::From(0),
    },
    ShardVariables {
        system: "Kubernetes",
        index: "JOB_COMPLETION_INDEX",
        total: SHARD_TOTAL,
        group: None,
        numbers: Numbers::From(0),
    },
    ShardVariables {
        system: "Slurm",
        index: "SLURM_ARRAY_TASK_ID",
        total: "SLURM_ARRAY_TASK_COUNT",
        group: Some("SLURM_ARRAY_JOB_ID"),
        numbers: Numbers::Array,
    },
];

/// The group of this job if no variable sets its shard: what its CI system or cluster calls the pipeline.
pub fn group_of_job(variable: impl Fn(&str) -> Option<String>) -> Option<ShardGroup> {
    SYSTEMS.iter().find_map(|system| system.group_of(&variable))
}

/// The shard of this job.
///
/// # Errors
///
/// No variables set it, only half of them do, those of several systems do, or they have invalid values.
pub fn shard_of_job(variable: impl Fn(&str) -> Option<String>) -> Result<CiShard, AutoShardError> {
    let variable =
        |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let mut found = Vec::new();
    for system in SYSTEMS.iter().filter(|system| variable(system.index).is_some()) {
        found.push((system, system.shard(&variable)?));
    }
    let is_total_of_found = |total: &str| found.iter().any(|(system, _)| system.total == total);
    let halves = SYSTEMS.iter().filter(|system| !is_total_of_found(system.total));
    let mut halves = halves.filter_map(|system| Some((system, variable(system.total)?)));
    // GitLab sets the number of jobs to 1 for a job that is not in a set.
    match halves.find(|(_, total)| total != "1") {
        Some((system, _)) => return Err(system.missing(system.total, system.index)),
        None if found.is_empty() => return single_job(&variable),
        None => {}
    }
    // CircleCI numbers jobs that are not in a set, too.
    if found.iter().any(|(_, shard)| shard.total() > 1) {
        found.retain(|(_, shard)| shard.total() > 1);
    }
    match &found[..] {
        [(system, shard)] => Ok(CiShard { shard: *shard, group: system.group_for_shard(&variable) }),
        [(system, shard), ..] if shard.total() == 1 => {
            Ok(CiShard { shard: *shard, group: system.group_for_shard(&variable) })
        }
        several => Err(AutoShardError::SeveralSystems {
            variables: several.iter().map(|(system, _)| system.index).collect(),
        }),
    }
}

/// The whole run, if the only variable is the number of jobs, and it is 1.
fn single_job(variable: &impl Fn(&str) -> Option<String>) -> Result<CiShard, AutoShardError> {
    let mut single = SYSTEMS.iter().filter(|system| variable(system.total).is_some());
    if let (Some(system), Some(shard)) = (single.next(), Shard::new(1, 1)) {
        return Ok(CiShard { shard, group: system.group_for_shard(variable) });
    }
    Err(match variable("GITHUB_ACTIONS") {
        Some(_) => AutoShardError::GitHub,
        None => AutoShardError::NoVariables,
    })
}

impl ShardVariables {
    /// The shard of the job whose number is set.
    fn shard(&self, variable: &impl Fn(&str) -> Option<String>) -> Result<Shard, AutoShardError> {
        let number = |name: &'static str| {
            let Some(value) = variable(name) else { return Err(self.missing(self.index, name)) };
            value.parse::<u64>().map_err(|_| AutoShardError::NotANumber { name, value })
        };
        let (index, total) = (number(self.index)?, number(self.total)?);
        let (first, step) = match self.numbers {
            Numbers::From(first) => (first, 1),
            Numbers::Array => (number("SLURM_ARRAY_TASK_MIN")?, number("SLURM_ARRAY_TASK_STEP")?.max(1)),
        };
        let last = first.saturating_add(total.saturating_sub(1).saturating_mul(step));
        if let Numbers::Array = self.numbers {
            // A task that was submitted again has an array of its own, in which it would be the only one.
            if first > 1 {
                return Err(AutoShardError::PartOfArray { index, first });
            }
            if last != number("SLURM_ARRAY_TASK_MAX")? || index % step != first % step {
                return Err(AutoShardError::Gaps);
            }
        }
        let place = index.checked_sub(first).filter(|_| index <= last).map(|ahead| ahead / step + 1);
        let shard = place
            .zip(Some(total))
            .and_then(|(place, total)| Shard::new(u16::try_from(place).ok()?, u16::try_from(total).ok()?));
        shard.ok_or(AutoShardError::OutOfRange {
            names: [self.index, self.total],
            values: [index, total],
            first,
        })
    }

    /// The group that this system sets.
    fn group_of(&self, variable: &impl Fn(&str) -> Option<String>) -> Option<ShardGroup> {
        variable(self.group?)?.trim().parse().ok()
    }

    /// The group of a shard that this system's variables set. Our own variables may be set on any system.
    fn group_for_shard(&self, variable: &impl Fn(&str) -> Option<String>) -> Option<ShardGroup> {
        match self.index {
            SHARD_INDEX => group_of_job(variable),
            _ => self.group_of(variable),
        }
    }

    fn missing(&self, set: &'static str, missing: &'static str) -> AutoShardError {
        AutoShardError::Half { system: self.system, set, missing }
    }
}

/// Why `auto` does not find the shard of a job.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AutoShardError {
    /// No variables set the shard.
    #[error(
        "the shard is `auto` (by --shard or {SHARD}), but no variable of a CI system or cluster sets the job's number; expected {}; \
         without them, pass a shard such as `2/4`",
        expected_variables()
    )]
    NoVariables,

    /// GitHub does not set variables.
    #[error(
        "the shard is `auto` (by --shard or {SHARD}), but GitHub sets a job's number only in expressions; add to the job's `env`: \
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
        "the shard is `auto` (by --shard or {SHARD}), but several variables set it: {}; unset all but one, or pass a shard such as \
         `2/4`",
        join_quoted(.variables.iter().copied())
    )]
    SeveralSystems {
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

    /// A Slurm array does not start at 0 or 1, as if some tasks of a larger one were submitted again.
    #[error(
        "the shard is `auto` (by --shard or {SHARD}), but the Slurm array starts at {first} (SLURM_ARRAY_TASK_MIN), so the number of \
         shards is unknown; to run some tasks of an array again, pass their shards, such as `--shard {index}/8`, or set {SHARD_INDEX} \
         (from 0) and {SHARD_TOTAL} and unset SLURM_ARRAY_TASK_ID, with the {SHARD_GROUP} of the others"
    )]
    PartOfArray {
        /// The number of the task.
        index: u64,
        /// That of the first one.
        first: u64,
    },

    /// A Slurm array is a list of numbers.
    #[error(
        "the shard is `auto` (by --shard or {SHARD}), but the numbers of the Slurm array have gaps (SLURM_ARRAY_TASK_MIN, _MAX, _STEP \
         and _COUNT do not fit together); submit a range such as `--array=1-8`, or pass a shard such as `--shard 2/4`, or set \
         {SHARD_INDEX} and {SHARD_TOTAL}"
    )]
    Gaps,
}

fn expected_variables() -> String {
    let pair = |ShardVariables { system, index, total, .. }: &ShardVariables| {
        format!("{index} and {total} ({system})")
    };
    SYSTEMS.iter().map(pair).collect::<Vec<_>>().join(", ")
}
