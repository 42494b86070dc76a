//! Experiments with variants: which are run, how they are ranked, and the commands that read their runs.

use serde_json::Value;

use crate::project::{ProgramOutput, Project};
use crate::shards::on;
use crate::snapshot::assert_printed;

const ALL: [&str; 3] = ["exp", "exp::large", "exp::small"];
const BEST: &str = "`medium` has the highest mean score, 1.000, and is the cheapest of those that are not worse beyond noise \
                    (`large`): agent cost $2.00 per 1,000 items";

/// A package with an experiment that has variants, and one without. `small` is wrong in every third item.
fn with_variants() -> Project {
    let project = Project::empty();
    project.target("variants");
    project.write("tests/variants.rs", include_str!("fixture/variants.rs"));
    let ids: Vec<_> = (0..30).map(|index| format!("city-{index}")).collect();
    let answers: Vec<_> = ids.iter().map(|id| id.replace("city", "City")).collect();
    let says = |index: usize| if index % 3 == 2 { "Nowhere" } else { &*answers[index] };
    project.answers(&ids.iter().enumerate().map(|(index, id)| (&**id, says(index))).collect::<Vec<_>>());
    project
}

/// Runs with these flags, and returns the names of the runs that were added.
fn added(project: &Project, flags: &[&str]) -> Vec<String> {
    let before = project.results();
    project.cobalt(&[&["run"], flags].concat(), 0);
    let mut after = project.results();
    for name in before {
        after.remove(after.iter().position(|other| *other == name).unwrap());
    }
    after
}

/// The output without line breaks, as long lines are wrapped.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn assert_ranked(said: &ProgramOutput) {
    let text = on_one_line(&said.stdout);
    assert!(text.contains("exp: 3 variants") && text.contains(BEST), "{said:?}");
}

#[test]
fn a_run_of_all_variants_is_ranked_and_thresholds_compare_them() {
    let project = with_variants();
    let said = project.cobalt(&["run", "--experiment", "exp", "--ci"], 1);
    assert_ranked(&said);
    let text = on_one_line(&said.stdout);
    assert!(text.contains("MISSED the drop of right is 0.333"), "{said:?}");
    assert!(text.contains("3 experiments: 2 passed, 1 FAILED: exp::small"), "{said:?}");
    assert_eq!(project.results(), ALL);

    let said = project.cobalt(&["run", "--experiment", "exp", "--reporter", "json", "--quiet"], 0);
    let events = said.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let rankings: Vec<_> = events.filter(|event| event["event"] == "variants-compared").collect();
    let [ranking] = &*rankings else { panic!("one ranking: {rankings:?}") };
    let runs = ranking["runs"].as_array().unwrap();
    let labels: Vec<_> = runs.iter().map(|run| run["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["small", "medium", "large"]);
    assert_eq!((&runs[1]["isDefault"], &runs[1]["settings"]["model"]), (&true.into(), &"m-1".into()));
    assert_eq!(ranking["recommendation"]["best"], 1);
    assert_eq!(ranking["recommendation"]["cheapest"], 1);
}

#[test]
fn variants_are_selected_by_name_and_their_settings_changed() {
    let project = with_variants();
    assert_eq!(added(&project, &["--variant", "small"]), ["exp::small"]);
    assert_eq!(added(&project, &["--experiment", "exp", "--variant", "small,large"]), &ALL[1..]);
    assert_eq!(added(&project, &["--experiment", "exp::small"]), ["exp::small"]);
    assert_eq!(added(&project, &["--experiment", "exp::medium"]), ["exp"]);
    assert_eq!(added(&project, &["--experiment", "exp"]), ALL);
    assert_eq!(added(&project, &["--filter", "small"]), ["exp::small"]);
    assert_eq!(added(&project, &["--set", "model=l-1"]), ["exp::model=l-1"]);
    assert_eq!(added(&project, &["--variant", "small", "--set", "model=m-1"]), ["exp::small,model=m-1"]);
    let run = project.newest_result();
    assert_eq!(
        (&run["variant"]["settings"]["model"], &run["summary"]["totalItems"]),
        (&"m-1".into(), &30.into())
    );
    // A threshold against a variant that was not run is inconclusive.
    project.cobalt(&["run", "--variant", "small", "--ci", "--on-inconclusive", "pass"], 0);
    let said = project.cobalt(&["run", "--variant", "small", "--ci", "--on-inconclusive", "fail"], 1);
    let text = on_one_line(&said.stdout);
    assert!(
        text.contains("variant `large` was not run in the same group, or not with all items; run it too"),
        "{said:?}"
    );
}

#[test]
fn unknown_variants_and_settings_are_refused_with_those_that_exist() {
    let project = with_variants();
    assert_printed!(project.cobalt(&["run", "--variant", "smal"], 4));
    assert_printed!(project.cobalt(&["run", "--experiment", "exp", "--variant", "tiny"], 4));
    assert_printed!(project.cobalt(&["run", "--experiment", "plain", "--variant", "small"], 4));
    assert_printed!(project.cobalt(&["run", "--experiment", "exp::smal"], 4));
    assert_printed!(project.cobalt(&["run", "--set", "modl=l-1"], 3));
    assert_printed!(project.cobalt(&["list", "--variant", "smal"], 4));
    assert!(project.results().is_empty(), "nothing is run");
}

#[test]
fn each_variant_is_listed_and_estimated() {
    let project = with_variants();
    assert_printed!(project.cobalt(&["list"], 0));
    project.cobalt(&["list", "--variant", "large"], 0).stdout_has("exp::large");
    let said = project.cobalt(&["list", "--json"], 0);
    let listed: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    let variants: Vec<_> = listed.iter().map(|it| it["experiment"]["variant"]["name"].as_str()).collect();
    assert_eq!(variants, [Some("small"), Some("medium"), Some("large"), None]);
    project.cobalt(&["run", "--experiment", "exp"], 0);
    let said = project.cobalt(&["run", "--estimate"], 0);
    for row in ["exp::small 30 live $0.030", "exp 30 live $0.060", "exp::large 30 live $0.30"] {
        assert!(on_one_line(&said.stdout).contains(row), "{said:?}");
    }
    said.stdout_has("total cost at least $0.39");
    let said = project.cobalt(&["run", "--estimate", "--variant", "small,large"], 0);
    said.stdout_has("2 experiments: total cost $0.33");
}

#[test]
fn shards_of_variants_are_merged_into_a_ranking_and_compared_by_thresholds() {
    let project = with_variants();
    for (shard, machine) in [("1/2", "artefacts/1"), ("2/2", "artefacts/2")] {
        let mut command = on(&project, machine, &["run", "--experiment", "exp", "--shard", shard]);
        let said = ProgramOutput::by(&mut command, 0);
        assert!(!said.stdout.contains("3 variants"), "{said:?}");
    }
    let said = project.cobalt(&["merge", "artefacts", "--ci"], 1);
    assert_ranked(&said);
    assert!(on_one_line(&said.stdout).contains("MISSED the drop of right is 0.333"), "{said:?}");
    assert_eq!(project.results(), ALL);
    assert_ranked(&project.cobalt(&["compare", "exp@latest"], 0));
}

#[test]
fn what_reads_earlier_runs_tells_variants_apart() {
    let project = with_variants();
    project.cobalt(&["run"], 0);
    let said = project.cobalt(&["run", "--changed"], 0);
    for name in ALL {
        assert!(
            said.stderr.contains(&format!("{name}: nothing to run: nothing has changed since run")),
            "{said:?}"
        );
    }
    said.stdout_has("Nothing to run: 4 experiments skipped.");

    let history = |experiment: &str| -> Vec<String> {
        let said = project.cobalt(&["history", "--experiment", experiment, "--json"], 0);
        let runs: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
        let mut names: Vec<_> = runs.iter().map(|run| run["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(history("exp"), ALL);
    assert_eq!(history("exp::small"), ["exp::small"]);

    project.cobalt(&["baseline", "set", "exp::large@latest"], 0);
    assert!(project.path(".cobalt/baselines/exp-large.json").exists());
    assert!(!project.path(".cobalt/baselines/exp.json").exists());
    project.cobalt(&["baseline", "set", "--allow-failed"], 0);
    for file in ["exp", "exp-large", "exp-small"] {
        assert!(project.path(&format!(".cobalt/baselines/{file}.json")).exists(), "{file}");
    }
    let said = project.cobalt(&["run", "--experiment", "exp"], 0);
    assert_eq!(said.stdout.matches("vs. baseline").count(), 3, "{said:?}");

    assert_ranked(&project.cobalt(&["compare", "exp::large@latest"], 0));
    let id = project.newest_result_of("exp-small")["id"].as_str().unwrap().to_owned();
    assert_ranked(&project.cobalt(&["compare", &id], 0));
    let id = project.newest_result_of("plain")["id"].as_str().unwrap().to_owned();
    project.cobalt(&["compare", &id], 2).stderr_has("is not a variant");
}
