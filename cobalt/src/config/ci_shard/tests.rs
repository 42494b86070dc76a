//! Jobs of each system: their shards and groups, and which variables are refused.

use super::*;

fn shard(variables: &[(&str, &str)]) -> Result<String, String> {
    let shard = shard_of_job(|name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    });
    shard.map(|found| found.shard.to_string()).map_err(|error| error.to_string())
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
            "several variables set it: `CI_NODE_INDEX`, `JOB_COMPLETION_INDEX`",
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
fn some_tasks_of_an_array_that_are_submitted_again_are_not_the_whole_run() {
    assert_eq!(shard(&slurm("1", ["1", "1", "1", "1"])).as_deref(), Ok("1/1"));
    for task in [slurm("3", ["1", "3", "3", "1"]), slurm("6", ["4", "5", "8", "1"])] {
        let error = shard(&task).unwrap_err();
        let expected = format!("`--shard {}/8`, or set COBALT_SHARD_INDEX", task[4].1);
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn the_group_is_that_of_the_system_that_numbers_the_jobs() {
    let group = |variables: &[(&str, &str)]| {
        let read = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        shard_of_job(read).unwrap().group.map(|group| group.to_string())
    };
    let pipeline = [("CI_PIPELINE_ID", "471"), ("SLURM_ARRAY_JOB_ID", "9")];
    let with = |more: &[(&'static str, &'static str)]| [&pipeline[..], more].concat();
    assert_eq!(group(&with(&slurm("1", ["8", "1", "8", "1"]))).as_deref(), Some("9"));
    let gitlab = [("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")];
    assert_eq!(group(&with(&gitlab)).as_deref(), Some("471"));
    let own = [("COBALT_SHARD_INDEX", "1"), ("COBALT_SHARD_TOTAL", "4")];
    assert_eq!(group(&with(&own)).as_deref(), Some("471"), "they may be set on any system");
    let pod = [("JOB_COMPLETION_INDEX", "1"), ("COBALT_SHARD_TOTAL", "4")];
    assert_eq!(group(&with(&pod)), None);
}

#[test]
fn without_numbers_the_pipeline_is_the_group() {
    let group = |name: &'static str, value: &'static str| {
        group_of_job(|asked| (asked == name).then(|| value.to_owned())).map(|group| group.to_string())
    };
    for name in SYSTEMS.iter().filter_map(|system| system.group) {
        assert_eq!(group(name, "12-a").as_deref(), Some("12-a"));
    }
    assert_eq!(group("GITHUB_RUN_ID", ""), None);
}
