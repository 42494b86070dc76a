//! `cargo cobalt run --shard` and `merge`: several machines get the same results as one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cobalt::Report;
use cobalt_core::report::Shard;
use cobalt_core::store::read_report;
use serde_json::Value;

use crate::project::{ProgramOutput, Project};
use crate::snapshot::assert_printed;

/// This many cities, every third with a wrong answer.
pub(crate) fn cities(project: &Project, number: usize) {
    let ids: Vec<_> = (0..number).map(|index| format!("city-{index}")).collect();
    let answers: Vec<_> = ids.iter().map(|id| id.replace("city", "City")).collect();
    let says = |index: usize| if index % 3 == 2 { "Nowhere" } else { &*answers[index] };
    project.answers(&ids.iter().enumerate().map(|(index, id)| (&**id, says(index))).collect::<Vec<_>>());
}

/// The command as on a separate machine, with results in a folder of this name.
pub(crate) fn on(project: &Project, machine: &str, arguments: &[&str]) -> Command {
    let mut command = project.command(arguments);
    command.env("COBALT_DIR", machine);
    command
}

/// Runs a shard on a machine named after its number.
fn shard(project: &Project, shard: &str, arguments: &[&str]) -> ProgramOutput {
    let machine = format!("artefacts/{}", shard.split('/').next().unwrap());
    ProgramOutput::by(&mut on(project, &machine, &[&["run", "--shard", shard], arguments].concat()), 0)
}

/// Three machines that run a third each.
fn in_three(project: &Project) {
    for index in ["1/3", "2/3", "3/3"] {
        shard(project, index, &[]);
    }
}

/// The reports in a machine's folder, by experiment.
pub(crate) fn reports(folder: &Path) -> Vec<Report> {
    let files = fs::read_dir(folder.join("results")).unwrap().flatten();
    let mut reports: Vec<_> = files.map(|file| read_report(&file.path()).unwrap()).collect();
    reports.sort_by(|one, other| one.name.cmp(&other.name));
    reports
}

/// A report without fields that differ in each run: IDs and times.
pub(crate) fn timeless(report: &Report) -> Value {
    fn forget(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for name in ["id", "timestamp", "latencyMs", "avgLatencyMs", "latency", "totalDurationMs"] {
                    fields.remove(name);
                }
                fields.values_mut().for_each(forget);
            }
            Value::Array(values) => values.iter_mut().for_each(forget),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(Report { shards: Vec::new(), ..report.clone() }).unwrap();
    forget(&mut value);
    value
}

#[test]
fn shards_that_are_merged_are_the_report_of_one_run() {
    let project = Project::steered();
    cities(&project, 20);
    ProgramOutput::by(&mut on(&project, "whole", &["run"]), 0);
    let said = shard(&project, "1/3", &[]);
    assert_printed!(said);
    shard(&project, "2/3", &[]);
    shard(&project, "3/3", &[]);
    let parts = reports(&project.path("artefacts/2"));
    assert!(
        parts
            .iter()
            .all(|part| part.partial && part.shard.map(|it| it.to_string()).as_deref() == Some("2/3"))
    );
    assert!(parts.iter().all(|part| part.thresholds().is_empty() && part.baseline.is_none()));

    let said = ProgramOutput::by(&mut on(&project, "merged", &["merge", "artefacts"]), 0);
    assert_printed!(said);
    let (whole, merged) = (reports(&project.path("whole")), reports(&project.path("merged")));
    assert_eq!((whole.len(), merged.len()), (2, 2));
    for (whole, merged) in whole.iter().zip(&merged) {
        assert_eq!(timeless(whole), timeless(merged));
        assert_ne!(whole.id, merged.id);
        let parts: Vec<_> = ["1", "2", "3"]
            .iter()
            .flat_map(|machine| reports(&project.path(&format!("artefacts/{machine}"))))
            .filter(|part| part.name == merged.name)
            .collect();
        assert_eq!(merged.shards, parts.iter().map(|part| part.id.clone()).collect::<Vec<_>>());
        assert_eq!(Some(merged.timestamp), parts.iter().map(|part| part.timestamp).min());
        let longest = parts.iter().map(|part| part.summary.total_duration_ms).max();
        assert_eq!(Some(merged.summary.total_duration_ms), longest);
    }
    // It is an ordinary run.
    let history = ProgramOutput::by(&mut on(&project, "merged", &["history", "--json"]), 0);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&history.stdout).unwrap().len(), 2);
    ProgramOutput::by(
        &mut on(&project, "whole", &["compare", "gated@latest", "merged/results/none.json"]),
        4,
    );
}

#[test]
fn shards_that_leave_items_out_are_refused() {
    let project = Project::steered();
    cities(&project, 20);
    shard(&project, "1/3", &["--filter", "gated"]);
    shard(&project, "3/3", &["--filter", "gated"]);
    let said = project.cobalt(&["merge", "artefacts", "--reporter", "json"], 3);
    assert_printed!(said);
    assert!(
        said.stdout_has("\"event\":\"experiment-broken\"")
            .stderr
            .contains("experiment `gated` cannot be merged")
    );
    assert!(!project.path(".cobalt/results").exists(), "nothing is written");

    let of_shard = |shard: &str| {
        let shard: Shard = shard.parse().unwrap();
        (0..20).map(|index| format!("city-{index}")).find(|key| shard.contains(key)).unwrap()
    };
    shard(&project, "2/3", &["--filter", "gated", "--", &format!("gated::{}", of_shard("2/3"))]);
    let said = project.cobalt(&["merge", "artefacts"], 3);
    assert_printed!(said);
    shard(&project, "2/3", &["--filter", "gated"]);
    let said = project.cobalt(&["merge", "artefacts"], 0);
    assert_printed!(said);
    assert_eq!(project.results(), ["gated"]);
}

#[test]
fn shards_of_other_data_settings_sources_or_numbers_are_refused_by_name() {
    let project = Project::steered();
    cities(&project, 20);
    shard(&project, "1/2", &["--filter", "gated"]);
    let refused = || {
        let said = project.cobalt(&["merge", "artefacts"], 3);
        assert_printed!(said);
    };
    project.write("src/prompt.txt", "Be brief.");
    shard(&project, "2/2", &["--filter", "gated"]);
    refused();
    fs::remove_file(project.path("src/prompt.txt")).unwrap();
    cities(&project, 21);
    shard(&project, "2/2", &["--filter", "gated"]);
    refused();
    cities(&project, 20);
    project.write("cobalt.toml", "timeout = \"7s\"\n[ci]\nthresholds = [\"latency.avg <= 1h\"]\n");
    shard(&project, "2/2", &["--filter", "gated"]);
    refused();
    project.write("cobalt.toml", "[ci]\nthresholds = [\"latency.avg <= 1h\"]\n");
    shard(&project, "2/2", &["--filter", "gated", "--ci"]);
    refused();
    for file in files(&project, "artefacts/2") {
        fs::remove_file(file).unwrap();
    }
    project.write("cobalt.toml", "");
    shard(&project, "2/3", &["--filter", "gated"]);
    assert_printed!(project.cobalt(&["merge", "artefacts"], 3));
    for file in files(&project, "artefacts/2") {
        fs::remove_file(file).unwrap();
    }
    shard(&project, "2/2", &["--filter", "gated"]);
    project.cobalt(&["merge", "artefacts"], 0);
}

/// The result files on a machine.
fn files(project: &Project, machine: &str) -> Vec<PathBuf> {
    fs::read_dir(project.path(machine).join("results")).unwrap().flatten().map(|file| file.path()).collect()
}

#[test]
fn a_shard_that_crashed_is_told_and_never_left_out() {
    let project = Project::steered();
    cities(&project, 20);
    in_three(&project);
    let dead: Shard = "2/3".parse().unwrap();
    let crash = (0..20).map(|index| format!("city-{index}")).find(|key| dead.contains(key)).unwrap();
    let data = project.read("data/items.jsonl");
    let line = data.lines().find(|line| line.contains(&format!("\"{crash}\""))).unwrap();
    project.write(
        "data/items.jsonl",
        &data.replace(line, &line.replace("\"says\":\"", "\"says\":\"exit\",\"said\":\"")),
    );
    ProgramOutput::by(&mut on(&project, "artefacts/2", &["run", "--shard", "2/3"]), 3);
    let said = project.cobalt(&["merge", "artefacts"], 3);
    assert_printed!(said);
    assert!(project.results().is_empty());
}

#[test]
fn merged_runs_are_judged_as_runs_are() {
    let project = Project::steered();
    cities(&project, 20);
    ProgramOutput::by(&mut on(&project, "whole", &["run", "--filter", "gated"]), 0);
    in_three(&project);
    project.write(
        "cobalt.toml",
        "[ci]\nthresholds = [\"score.avg >= 0.9\", \"vs_baseline.score.drop <= 0.1\"]\n",
    );
    project.cobalt(&["merge", "artefacts"], 0);
    let merge = |arguments: &[&str], code| {
        project.cobalt(&[&["merge", "artefacts", "--ci"], arguments].concat(), code)
    };
    assert_printed!(merge(&[], 1));
    assert_printed!(merge(&["--baseline", "whole/results"], 1));
    project.write("cobalt.toml", "[ci]\nthresholds = [\"vs_baseline.score.drop <= 0.1\"]\n");
    let gated: Vec<_> = ["1", "2", "3"]
        .iter()
        .flat_map(|machine| files(&project, &format!("artefacts/{machine}")))
        .map(|file| file.display().to_string())
        .filter(|path| path.contains("_gated_"))
        .collect();
    let merge = |arguments: &[&str], code| {
        let files: Vec<_> = gated.iter().map(|path| &**path).collect();
        project.cobalt(&[&["merge", "--ci"], arguments, &files].concat(), code)
    };
    assert_printed!(merge(&[], 0));
    merge(&["--on-inconclusive", "fail"], 1);
    assert_printed!(merge(&["--baseline", "whole/results", "--on-inconclusive", "fail"], 0));
    merge(&["--baseline", "none"], 4);
}

#[test]
fn a_shard_without_items_is_skipped_and_missed_by_nobody() {
    let project = Project::steered();
    let (one, two): (Shard, Shard) = ("1/2".parse().unwrap(), "2/2".parse().unwrap());
    let key = (0..).map(|index| format!("city-{index}")).find(|key| two.contains(key)).unwrap();
    assert!(!one.contains(&key));
    project.answers(&[(&key, &key.replace("city", "City"))]);
    let said = shard(&project, "1/2", &["--ci"]);
    assert_printed!(said);
    assert!(!project.path("artefacts/1/results").exists());
    shard(&project, "2/2", &["--ci"]);
    assert_printed!(project.cobalt(&["merge", "artefacts", "--ci"], 0));
    let said = shard(&project, "1/2", &["--", &format!("strict::{key}")]);
    assert_printed!(said);
}

#[test]
fn shards_and_merged_runs_are_earlier_runs_as_others_are() {
    let project = Project::steered();
    cities(&project, 20);
    let run = |arguments: &[&str]| project.cobalt(&[&["run", "--filter", "gated"], arguments].concat(), 0);
    for index in ["1/3", "2/3"] {
        run(&["--shard", index]);
    }
    // Only items that no shard has run count as changed.
    assert_printed!(run(&["--changed"]));
    assert_printed!(run(&["--changed"]));
    run(&["--shard", "3/3"]);
    // A shell may have added a byte order mark.
    for path in files(&project, ".cobalt") {
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, format!("\u{feff}{text}")).unwrap();
    }
    assert_printed!(project.cobalt(&["merge", ".cobalt"], 0));
    assert_printed!(run(&["--changed"]));
    assert_printed!(run(&["--rerun-failed"]));
    let history = project.cobalt(&["history", "--json"], 0);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&history.stdout).unwrap().len(), 1, "the merged run");
    project.cobalt(&["baseline", "set", "gated@latest"], 0);
    // A merged run is not a shard, and its shards can be merged as before.
    let merged = project.cobalt(&["merge", ".cobalt"], 0);
    assert_printed!(merged);
    project.cobalt(&["compare", "gated@latest", "gated@latest~1"], 0);
}

#[test]
fn what_is_no_shard_is_refused_or_passed_over() {
    let project = Project::steered();
    for text in ["0/2", "3/2", "2", "a/b"] {
        assert_printed!(project.cobalt(&["run", "--shard", text], 2));
    }
    for flag in [&["--changed"][..], &["--rerun-failed"], &["--resume", "a"]] {
        assert_printed!(project.cobalt(&[&["run", "--shard", "1/2"], flag].concat(), 2));
    }
    let variables = [("COBALT_SHARD", "1/2"), ("COBALT_ONLY", "failed")];
    assert_printed!(ProgramOutput::by(project.command(&["run"]).envs(variables), 3));
    assert_printed!(ProgramOutput::by(project.command(&["run"]).env("COBALT_SHARD", "5/4"), 3));
    assert_printed!(project.cobalt(&["merge"], 2));
    assert_printed!(project.cobalt(&["merge", "none.json"], 3));
    project.write("empty/package.json", "{\"name\": \"other\"}");
    assert_printed!(project.cobalt(&["merge", "empty"], 4));
    project.write("empty/2026-02-05T14-30-00_strict_0123456789ab.json", "{");
    assert_printed!(project.cobalt(&["merge", "empty"], 3));

    assert_printed!(ProgramOutput::by(project.command(&["run"]).env("COBALT_SHARD", "1/1"), 0));
    ProgramOutput::by(&mut on(&project, ".cobalt/more", &["run"]), 0);
    assert_printed!(project.cobalt(&["merge", ".cobalt"], 0));
    assert_printed!(project.cobalt(&["merge", ".cobalt/more"], 4));
}

/// Rewrites the latencies of the items in a baseline or a result file.
pub(crate) fn set_latencies(path: &Path, latency: impl Fn(usize) -> f64) {
    let mut run: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for (index, item) in run["items"].as_array_mut().unwrap().iter_mut().enumerate() {
        item["latencyMs"] = latency(index).into();
    }
    fs::write(path, run.to_string()).unwrap();
}

/// The keys of the items of a machine's latest run of the experiment `gated`.
fn keys(project: &Project, machine: &str) -> Vec<String> {
    let reports = reports(&project.path(&format!("artefacts/{machine}")));
    let gated = reports.iter().filter(|report| report.name == "gated");
    let gated = gated.max_by_key(|report| report.timestamp).unwrap();
    gated.items.iter().map(|item| item.key.clone()).collect()
}

#[test]
fn the_latencies_of_the_baseline_or_of_a_run_balance_the_shards() {
    let project = Project::steered();
    cities(&project, 8);
    project.cobalt(&["run", "--filter", "gated"], 0);
    project.cobalt(&["baseline", "set", "gated@latest"], 0);
    set_latencies(
        &project.path(".cobalt/baselines/gated.json"),
        |index| if index == 3 { 90.0 } else { 10.0 },
    );
    let shared = |shard: &str, balance: &[&str]| {
        let machine = format!("artefacts/{}", shard.split('/').next().unwrap());
        for name in ["baselines", "results"] {
            fs::create_dir_all(project.path(&format!("{machine}/{name}"))).unwrap();
        }
        fs::copy(
            project.path(".cobalt/baselines/gated.json"),
            project.path(&format!("{machine}/baselines/gated.json")),
        )
        .unwrap();
        let arguments = [&["run", "--filter", "gated", "--shard", shard], balance].concat();
        ProgramOutput::by(&mut on(&project, &machine, &arguments), 0)
    };
    assert_printed!(shared("1/2", &[]));
    shared("2/2", &[]);
    assert_eq!(keys(&project, "1"), ["city-3"]);
    assert_eq!(keys(&project, "2").len(), 7);
    let plans: Vec<_> = ["1", "2"]
        .iter()
        .map(|machine| reports(&project.path(&format!("artefacts/{machine}")))[0].shard_plan.clone())
        .collect();
    assert!(plans[0].is_some() && plans[0] == plans[1], "{plans:?}");
    project.cobalt(&["merge", "artefacts"], 0);

    // One machine has the latencies of another run.
    let path = files(&project, ".cobalt").remove(0);
    set_latencies(&path, |_| 10.0);
    shared("2/2", &["--balance", &path.display().to_string()]);
    assert_eq!(keys(&project, "2").len(), 4);
    assert_printed!(project.cobalt(&["merge", "artefacts"], 3));
    assert_printed!(project.cobalt(&["run", "--balance", "latest"], 2));
}

#[test]
fn the_shard_and_the_group_are_those_of_the_job() {
    let project = Project::steered();
    cities(&project, 6);
    let job = |index: &str, more: &[(&str, &str)], code| {
        let machine = format!("artefacts/{index}");
        let mut command = on(&project, &machine, &["run", "--filter", "gated", "--shard", "auto"]);
        let gitlab = [("CI_NODE_INDEX", index), ("CI_NODE_TOTAL", "2"), ("CI_PIPELINE_ID", "471")];
        ProgramOutput::by(command.envs(gitlab).envs(more.iter().copied()), code)
    };
    assert_printed!(job("1", &[], 0));
    job("2", &[("COBALT_SHARD_GROUP", "471")], 0);
    let report = reports(&project.path("artefacts/2")).remove(0);
    assert_eq!(report.shard.map(|shard| shard.to_string()).as_deref(), Some("2/2"));
    assert_eq!(report.shard_group.as_deref(), Some("471"));
    project.cobalt(&["merge", "artefacts"], 0);
    assert_eq!(reports(&project.path(".cobalt"))[0].shard_group.as_deref(), Some("471"));
    // Results of another pipeline in the same folder.
    job("2", &[("COBALT_SHARD_GROUP", "472")], 0);
    let mixed = project.cobalt(&["merge", "artefacts"], 3);
    assert_printed!(mixed);
    project.cobalt(&["merge", "artefacts", "--shard-group", "471"], 0);
    project
        .cobalt(&["merge", "artefacts", "--shard-group", "473"], 4)
        .stderr_has("no shards of group `473` found");
    assert_printed!(job("3", &[], 3));
    assert_printed!(job("1", &[("JOB_COMPLETION_INDEX", "0"), ("COBALT_SHARD_TOTAL", "2")], 3));
    assert_printed!(job("1", &[("COBALT_SHARD_GROUP", "../up")], 3));
}

#[test]
fn a_shard_that_is_damaged_is_refused_with_its_file_and_item() {
    let project = Project::steered();
    cities(&project, 6);
    shard(&project, "1/2", &["--filter", "strict"]);
    shard(&project, "2/2", &["--filter", "strict"]);
    let folder = project.path("artefacts/2/results");
    let file = fs::read_dir(&folder).unwrap().flatten().next().unwrap().path();
    let whole = fs::read_to_string(&file).unwrap();
    let report: Value = serde_json::from_str(&whole).unwrap();
    let evaluator = report["config"]["evaluators"][0].as_str().unwrap().to_owned();
    type Damage<'a> = &'a dyn Fn(&mut Value);
    let damages: [Damage<'_>; 5] = [
        &|item| item["evaluations"][&evaluator]["score"] = 9.0.into(),
        &|item| drop(item["evaluations"].as_object_mut().unwrap().remove(&evaluator)),
        &|item| item["latencyMs"] = (-5).into(),
        &|item| item["error"] = "lost".into(),
        &|item| item["evaluations"][&evaluator] = serde_json::json!({ "error": "lost" }),
    ];
    for damage in damages {
        let mut damaged = report.clone();
        damaged["items"][0]["passed"] = true.into();
        damage(&mut damaged["items"][0]);
        fs::write(&file, damaged.to_string()).unwrap();
        let said = project.cobalt(&["merge", "artefacts"], 3);
        assert_printed!(said);
        assert!(!project.path(".cobalt/results").exists(), "nothing is written");
    }
    fs::write(&file, whole).unwrap();
    project.cobalt(&["merge", "artefacts"], 0);
}
