//! Shards that meet in a remote store: `cargo cobalt run --push --shard …` and `merge --remote`.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use cobalt::Report;
use cobalt_core::report::ShardPlan;
use serde_json::{Value, json};

use crate::project::{ProgramOutput, Project};
use crate::shards::{on, reports, set_latencies};
use crate::snapshot::assert_printed;

const GROUP: &str = "pipeline-7";

/// The command on a machine of this name, with a folder as the remote store. The agent's answer to `$WORKER` is the name.
fn worker(project: &Project, machine: &str, arguments: &[&str]) -> Command {
    let mut command = on(project, machine, arguments);
    command.env("COBALT_REMOTE", project.path("remote")).env("WORKER", machine);
    command
}

/// The command that runs and pushes a shard of the experiment `strict`.
fn shard(project: &Project, machine: &str, shard: &str) -> Command {
    let arguments = ["run", "--filter", "strict", "--push", "--shard", shard, "--shard-group", GROUP];
    worker(project, machine, &arguments)
}

fn merge(project: &Project, arguments: &[&str], code: i32) -> ProgramOutput {
    let arguments = [&["merge", "--remote", GROUP], arguments].concat();
    ProgramOutput::by(&mut worker(project, "merger", &arguments), code)
}

/// The keys of this many items, of which each answers with the name of the worker.
fn items(project: &Project, number: usize) -> Vec<String> {
    let keys: Vec<_> = (0..number).map(|index| format!("item-{index}")).collect();
    project.answers(&keys.iter().map(|key| (&**key, "$WORKER")).collect::<Vec<_>>());
    keys
}

/// The merged run on the machine that merges, which may have run a shard, too.
fn merged(project: &Project) -> Report {
    let mut merged = reports(&project.path("merger"));
    merged.retain(|report| report.shard.is_none());
    assert_eq!(merged.len(), 1);
    merged.remove(0)
}

/// Which worker answered each item.
fn answers(report: &Report) -> Vec<(String, String)> {
    let items = report.items.iter().map(|item| {
        let item = serde_json::to_value(item).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&item["key"]), text(&item["output"]["output"]))
    });
    items.collect()
}

fn wait_until(what: &str, is: impl Fn() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        sleep(Duration::from_millis(50));
    }
}

/// The files below a folder whose path contains this.
fn files(folder: &Path, part: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        match path.is_dir() {
            true => found.extend(files(&path, part)),
            false => found.push(path.display().to_string()),
        }
    }
    found.retain(|path| path.contains(part));
    found
}

/// A shard in a process group of its own, so that its test binary can be killed with it.
#[cfg(unix)]
fn start(mut command: Command) -> Child {
    use std::os::unix::process::CommandExt as _;

    command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap()
}

#[cfg(unix)]
#[test]
fn a_shard_that_was_killed_is_taken_over_and_its_finished_items_are_not_run_again() {
    let project = Project::steered();
    let keys = items(&project, 40);
    let own = ShardPlan::default().items("2/4".parse().unwrap(), &keys);
    let last = *own.last().unwrap();
    let says = |(index, key): (usize, &String)| (key.clone(), if index == last { "wait" } else { "$WORKER" });
    let says: Vec<_> = keys.iter().enumerate().map(says).collect();
    project.answers(&says.iter().map(|(key, says)| (&**key, *says)).collect::<Vec<_>>());
    fs::create_dir(project.path("remote")).unwrap();
    ProgramOutput::by(&mut project.command(&["list"]), 0);

    let others: Vec<_> = [("one", "1/4"), ("three", "3/4"), ("four", "4/4")]
        .map(|(machine, index)| start(shard(&project, machine, index)))
        .into();
    for mut other in others {
        assert!(other.wait().unwrap().success());
    }
    let mut dying = start(shard(&project, "two", "2/4"));
    let journal = || {
        let journals = files(&project.path("two/runs"), ".jsonl");
        journals.first().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default()
    };
    wait_until("items of the shard", || journal().lines().count() == own.len());
    let id = serde_json::from_str::<Value>(journal().lines().next().unwrap()).unwrap()["id"].clone();
    let segments = format!("journals/{GROUP}/{}", id.as_str().unwrap());
    wait_until("segments", || !files(&project.path("remote"), &segments).is_empty());
    // The journal is read every five seconds.
    sleep(Duration::from_secs(6));
    let group = nix::unistd::Pid::from_raw(i32::try_from(dying.id()).unwrap());
    nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL).unwrap();
    dying.wait().unwrap();
    fs::remove_dir_all(project.path("two")).unwrap();
    // As if it had died a minute ago.
    let state = project.path(&format!("remote/journals/{GROUP}/_state/shards/2-of-4.json"));
    let minute_ago = SystemTime::now() - Duration::from_secs(60);
    fs::File::options().write(true).open(state).unwrap().set_modified(minute_ago).unwrap();

    let refused = merge(&project, &["--wait", "0s", "--dead-after", "30s"], 3);
    assert_printed!(refused);
    fs::write(project.path("go-on"), "").unwrap();
    let said = merge(&project, &["--take-over", "--wait", "60s", "--dead-after", "30s"], 0);
    assert!(said.stderr.contains("taking over shard 2/4: no heartbeat for 1m"), "{}", said.stderr);

    let merged = merged(&project);
    assert_eq!(
        merged.items.iter().map(|item| &item.key).collect::<Vec<_>>(),
        keys.iter().collect::<Vec<_>>()
    );
    assert!(!merged.partial && merged.shard.is_none());
    assert_eq!(merged.shard_group.as_deref(), Some(GROUP));
    for (index, (key, answer)) in answers(&merged).into_iter().enumerate() {
        let worker = ["one", "two", "three", "four"]
            .into_iter()
            .zip(1..)
            .find(|(_, shard)| {
                let shard = format!("{shard}/4").parse().unwrap();
                ShardPlan::default().items(shard, &keys).contains(&index)
            })
            .unwrap()
            .0;
        let expected = if index == last { key.replacen("item", "Item", 1) } else { worker.to_owned() };
        assert_eq!(answer, expected, "{key}");
    }
    assert!(files(&project.path("remote"), &segments).is_empty(), "journals are deleted");
    let history = worker(&project, "reader", &["history", "--remote", "--json"]).output().unwrap();
    let history: Vec<Value> = serde_json::from_slice(&history.stdout).unwrap();
    assert_eq!(history.iter().map(|run| run["id"].as_str().unwrap()).collect::<Vec<_>>(), [merged.id]);
}

/// The state of a shard of `strict` that was stopped before it started a run.
fn write_stopped(project: &Project, shard: [u16; 2], state: &str, options: &Value) {
    let [index, of] = shard;
    let status = json!({
        "shard": { "index": index, "of": of }, "token": "5ea00522f3eb", "state": state, "experiments": ["strict"], "runs": {},
        "options": options,
    });
    project
        .write(&format!("remote/journals/{GROUP}/_state/shards/{index}-of-{of}.json"), &status.to_string());
}

#[test]
fn experiments_that_a_stopped_shard_had_not_started_are_run_with_its_options() {
    let project = Project::steered();
    items(&project, 6);
    fs::create_dir(project.path("remote")).unwrap();
    let shard_with_trials = |machine: &str, index: &str| {
        let mut command = shard(&project, machine, index);
        ProgramOutput::by(command.args(["--runs", "2"]), 0)
    };
    shard_with_trials("one", "1/2");
    write_stopped(&project, [2, 2], "stopped", &json!({ "runs": 2, "filter": ["strict"] }));
    let refused = merge(&project, &["--wait", "0s"], 3);
    assert!(refused.stderr.contains("1 of 2 shards finished; stopped: 2/2"), "{}", refused.stderr);
    let said = merge(&project, &["--take-over", "--", "--quiet"], 0);
    assert!(said.stderr.contains("taking over shard 2/2: it was stopped"), "{}", said.stderr);
    let run = merged(&project);
    assert_eq!(run.config.runs, 2, "shards with other numbers of trials would be refused");
    let mut workers: Vec<_> = answers(&run).into_iter().map(|(_, worker)| worker).collect();
    workers.sort_unstable();
    assert_eq!(workers, ["merger", "merger", "merger", "one", "one", "one"]);

    // The same results are merged only if that is asked for.
    let refused = merge(&project, &["--wait", "0s"], 3);
    assert!(refused.stderr.contains("merged before: 1/2, 2/2"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--again"), "{}", refused.stderr);
    let again = merge(&project, &["--wait", "0s", "--again"], 0);
    assert!(again.stderr.contains("merging group `pipeline-7`: 2 runs, pushed "), "{}", again.stderr);
    // A job that runs again has new results, and waits for the others.
    shard_with_trials("one", "1/2");
    let refused = merge(&project, &["--wait", "0s"], 3);
    assert!(refused.stderr.contains("1 of 2 shards finished; merged before: 2/2"), "{}", refused.stderr);
    shard_with_trials("two", "2/2");
    merge(&project, &["--wait", "0s"], 0);
}

#[test]
fn a_shard_that_is_over_budget_is_taken_over_only_with_a_budget() {
    let project = Project::steered();
    items(&project, 4);
    fs::create_dir(project.path("remote")).unwrap();
    ProgramOutput::by(&mut shard(&project, "one", "1/2"), 0);
    write_stopped(&project, [2, 2], "budgetSpent", &json!({ "maxCost": "0.01" }));
    let refused = merge(&project, &["--take-over", "--wait", "0s"], 3);
    assert!(refused.stderr.contains("over budget: 2/2"), "{}", refused.stderr);
    assert!(refused.stderr.contains("`--take-over -- --max-cost USD`"), "{}", refused.stderr);
    let said = merge(&project, &["--take-over", "--", "--max-cost", "2"], 0);
    assert!(said.stderr.contains("its budget was used up, and it has $2 more"), "{}", said.stderr);
    let refused = merge(&project, &["--take-over", "--", "--max-kost", "2"], 2);
    assert!(refused.stderr.contains("unexpected argument '--max-kost'"), "{}", refused.stderr);
}

#[test]
fn a_shard_without_a_group_is_not_pushed_and_one_of_others_is_refused() {
    let project = Project::steered();
    items(&project, 6);
    fs::create_dir(project.path("remote")).unwrap();
    let arguments = ["run", "--filter", "strict", "--push", "--shard", "1/2"];
    assert_printed!(ProgramOutput::by(&mut worker(&project, "one", &arguments), 2));
    assert!(!project.path("one").exists(), "nothing is run");
    let mut pod = worker(&project, "one", &["run", "--filter", "strict", "--push", "--shard", "auto"]);
    let pod = pod.envs([("JOB_COMPLETION_INDEX", "0"), ("COBALT_SHARD_TOTAL", "2")]);
    ProgramOutput::by(pod, 2).stderr_has("COBALT_SHARD_GROUP");
    // A job of another set.
    let mut status = json!({
        "shard": { "index": 1, "of": 2 }, "token": "5ea00522f3eb", "state": "running", "experiments": ["gated"], "runs": {},
    });
    let object = format!("remote/journals/{GROUP}/_state/shards/1-of-2.json");
    project.write(&object, &status.to_string());
    let refused = ProgramOutput::by(&mut shard(&project, "one", "1/2"), 3);
    assert!(refused.stderr.contains("is running with other experiments (`gated`, here `strict`)"));
    status["runs"] = json!({ "gated": "../../x" });
    project.write(&object, &status.to_string());
    let refused = merge(&project, &["--wait", "0s"], 3);
    assert!(refused.stderr.contains("`../../x` is not the ID of a run or a process"), "{}", refused.stderr);
}

#[test]
fn a_group_whose_shards_had_no_items_is_named() {
    let project = Project::steered();
    items(&project, 2);
    fs::create_dir(project.path("remote")).unwrap();
    for index in ["1/2", "2/2"] {
        write_stopped(&project, [index[..1].parse().unwrap(), 2], "finished", &json!({}));
    }
    merge(&project, &["--wait", "0s"], 4)
        .stderr_has("the shards of the group `pipeline-7` are finished, but had no items");
}

#[cfg(unix)]
#[test]
fn a_merge_that_waits_ends_at_once_when_it_is_interrupted() {
    let project = Project::steered();
    fs::create_dir(project.path("remote")).unwrap();
    let mut waiting = worker(&project, "merger", &["merge", "--remote", GROUP]);
    let waiting = waiting.stderr(Stdio::piped()).spawn().unwrap();
    sleep(Duration::from_secs(2));
    let id = nix::unistd::Pid::from_raw(i32::try_from(waiting.id()).unwrap());
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM).unwrap();
    let ended = waiting.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_written_does_not_keep_a_shard_from_being_pushed() {
    let project = Project::steered();
    items(&project, 4);
    fs::create_dir(project.path("remote")).unwrap();
    let mut one = shard(&project, "one", "1/2");
    ProgramOutput::by(one.args(["--reporter", "junit=/dev/full"]), 3);
    ProgramOutput::by(&mut shard(&project, "two", "2/2"), 0);
    merge(&project, &["--wait", "0s"], 0);
}

#[test]
fn the_first_shard_of_a_group_sets_the_plan_of_all() {
    let project = Project::steered();
    items(&project, 8);
    fs::create_dir(project.path("remote")).unwrap();
    let push_run_with = |latency: &dyn Fn(usize) -> f64| {
        let machine = tempfile::tempdir_in(project.path("remote").parent().unwrap()).unwrap();
        let machine = machine.path().display().to_string();
        ProgramOutput::by(&mut worker(&project, &machine, &["run", "--filter", "strict"]), 0);
        for path in files(Path::new(&machine), "results/") {
            set_latencies(Path::new(&path), latency);
        }
        ProgramOutput::by(&mut worker(&project, &machine, &["push"]), 0);
    };
    push_run_with(&|index| if index == 3 { 90.0 } else { 10.0 });
    ProgramOutput::by(&mut shard(&project, "one", "1/2"), 0);
    // A newer run does not change the plan.
    push_run_with(&|_| 10.0);
    assert_printed!(merge(&project, &["--wait", "0s"], 3));
    ProgramOutput::by(&mut shard(&project, "two", "2/2"), 0);
    merge(&project, &["--wait", "0s"], 0);
    let workers: Vec<_> = answers(&merged(&project)).into_iter().map(|(_, worker)| worker).collect();
    assert_eq!(workers, ["two", "two", "two", "one", "two", "two", "two", "two"]);
}

#[test]
fn a_group_that_is_unknown_is_refused_with_what_to_do() {
    let project = Project::steered();
    fs::create_dir(project.path("remote")).unwrap();
    assert_printed!(merge(&project, &["--wait", "0s"], 4));
    let merge_with =
        |arguments: &[&str]| worker(&project, "merger", &[&["merge", "--wait", "0s"], arguments].concat());
    assert_printed!(ProgramOutput::by(&mut merge_with(&["--remote"]), 2));
    let said = ProgramOutput::by(merge_with(&["--remote"]).env("CI_PIPELINE_ID", "471"), 4);
    assert!(said.stderr.contains("no shard of the group `471`"), "{}", said.stderr);
    let store = format!("--remote={}", project.path("remote").display());
    let mut with_url = merge_with(&[&store, "--shard-group", "night"]);
    let said = ProgramOutput::by(with_url.env_remove("COBALT_REMOTE"), 4);
    assert!(said.stderr.contains("no shard of the group `night`"), "{}", said.stderr);
    let mut twice = merge_with(&["--remote", "a", "--shard-group", "b"]);
    ProgramOutput::by(&mut twice, 2).stderr_has("the shard group is given twice");
    let without = ProgramOutput::by(&mut on(&project, "merger", &["merge", "--remote", GROUP]), 3);
    assert!(without.stderr.contains("no remote store is configured"), "{}", without.stderr);
    ProgramOutput::by(&mut merge_with(&["--remote", "--dead-after", "5s"]), 2).stderr_has("at least `30s`");
}
