//! Missing keys, experiments that are ignored because of them, and models without a price.

use std::fs;

use serde_json::Value;

use crate::project::{ProgramOutput, Project};

fn keyed() -> Project {
    let project = Project::empty();
    project.target("keyed");
    project.write("tests/judge/mod.rs", include_str!("fixture/judge.rs"));
    project.write("tests/keyed.rs", include_str!("fixture/keyed.rs"));
    project
}

/// The same with another target, whose name sorts first.
fn early_and_keyed() -> Project {
    let project = keyed();
    project.target("early");
    project.write("tests/early.rs", include_str!("fixture/early.rs"));
    project
}

#[test]
fn a_missing_key_is_said_with_all_that_need_it_and_nothing_is_run() {
    let project = keyed();
    project.target("more");
    let mut more = include_str!("fixture/keyed.rs").to_owned();
    for name in ["desk", "sums", "spared", "unread", "free", "free_too"] {
        more = more.replace(&format!("fn {name}("), &format!("fn more_{name}("));
    }
    project.write("tests/more.rs", &more);
    let said = project.cobalt(&["run", "--filter", "judged", "--filter", "free"], 3);
    assert_eq!(
        said.stderr.matches("error: TRIAL_KEY is unset or empty").count(),
        1,
        "both targets report the same error: {said:?}"
    );
    assert!(!said.stdout.contains("the agent was asked") && project.results().is_empty(), "{said:?}");
    said.stderr_has(
        "it is the API key for model `m` of someone, needed by experiments `desk`, `sums`, `more_desk`, `more_sums`.",
    )
    .stderr_has("`.env`");
    project.cobalt(&["list"], 0);

    project.write(".env", "TRIAL_KEY=from-file\n");
    project.cobalt(&["run", "keyed", "--ci", "--filter", "judged"], 0);
    assert_eq!(project.results(), ["desk", "sums"]);
    let mut empty = project.command(&["run", "keyed", "--filter", "judged"]);
    ProgramOutput::by(empty.env("TRIAL_KEY", ""), 3).stderr_has("TRIAL_KEY is unset or empty");
}

#[test]
fn a_key_that_a_later_target_needs_is_missed_before_an_earlier_one_runs() {
    let project = early_and_keyed();
    let nothing_ran = |arguments: &[&str]| {
        let said = project.cobalt(arguments, 3);
        assert_eq!(said.stderr.matches("error: TRIAL_KEY is unset or empty").count(), 1, "{said:?}");
        assert!(!said.stdout.contains("the agent was asked") && project.results().is_empty(), "{said:?}");
        said
    };
    nothing_ran(&["run", "--filter", "thrifty", "--filter", "judged"])
        .stderr_has("it is the API key for model `m` of someone, needed by experiments `desk`, `sums`.");
    nothing_ran(&["run", "--filter", "thrifty", "--filter", "costly", "--filter", "desk"])
        .stderr_has("needed by experiments `costly`, `desk`. Set it");
    nothing_ran(&["run", "--filter", "thrifty", "--filter", "spared", "--", "--include-ignored"])
        .stderr_has("needed by experiments `spared`, `unread`.");
    nothing_ran(&["run", "--", "thrifty", "desk::one"]).stderr_has("needed by experiment `desk`.");
    nothing_ran(&["run", "--", "--format=terse", "thrifty", "desk"])
        .stderr_has("needed by experiment `desk`.");

    let selected = ["run", "--ci", "--", "thrifty", "desk::no-such-item"];
    project.cobalt(&selected, 0).stdout_has("the agent was asked");
    assert_eq!(project.results(), ["thrifty"], "an item that is not selected needs no key");
    project.cobalt(&["run", "--", "--list"], 0).stdout_has("desk::one: test");
    let resumed = project.cobalt(&["run", "--resume", "no-such-run"], 3).stderr_has("no-such-run");
    assert!(
        !resumed.stderr.contains("TRIAL_KEY"),
        "the key is not needed because nothing is run: {resumed:?}"
    );
}

#[test]
fn keys_that_several_targets_lack_are_events_too() {
    let project = early_and_keyed();
    project.write("cobalt.toml", "reporters = [\"json\"]\n");
    let said = project.cobalt(&["run"], 3);
    let event: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(event["event"], "failed");
    assert!(
        event["error"].as_str().unwrap().contains("needed by experiments `costly`, `desk`, `sums`. Set it"),
        "{said:?}"
    );
}

#[test]
fn an_experiment_without_its_variable_is_shown_as_ignored_and_fails_nothing() {
    let project = keyed();
    let said = project.cobalt(&["run", "--ci", "--filter", "spared", "--filter", "free"], 0);
    said.stderr_has("spared: ignored because TRIAL_KEY is not set\n")
        .stderr_has("unread: ignored because TRIAL_KEY is not set\n")
        .stdout_has("\n4 experiments: 2 passed, 2 ignored\n");
    project
        .cobalt(&["run", "--ci", "--filter", "spared"], 0)
        .stdout_has("Nothing to run: 2 experiments ignored");
    project
        .cobalt(&["run", "--", "spared::one"], 0)
        .stderr_has("spared: ignored because TRIAL_KEY is not set\n");
    assert_eq!(project.results(), ["free", "free_too"]);

    project.cobalt(&["list"], 0).stdout_has("spared (ignored: TRIAL_KEY is not set)");
    let listed: Value = serde_json::from_str(&project.cobalt(&["list", "--json"], 0).stdout).unwrap();
    let spared = listed.as_array().unwrap().iter().find(|row| row["experiment"]["name"] == "spared").unwrap();
    assert_eq!(spared["experiment"]["ignoredWithout"], "TRIAL_KEY");

    let forced = project.cobalt(&["run", "--filter", "spared", "--", "--include-ignored"], 3);
    forced.stderr_has(
        "TRIAL_KEY is unset or empty: it is the API key for model `m` of someone, needed by experiment `spared`.",
    );
    project.write(".env", "TRIAL_KEY=from-file\n");
    project.cobalt(&["run", "--ci", "--filter", "spared"], 3).stderr_has("no-such-file.jsonl");
    assert_eq!(project.results(), ["free", "free_too", "spared"]);
}

#[test]
fn ignored_experiments_are_events_too() {
    let project = keyed();
    project.write("cobalt.toml", "reporters = [\"json\"]\n");
    let said = project.cobalt(&["run", "--filter", "spared"], 0);
    let events: Vec<Value> = said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ignored =
        serde_json::json!({ "event": "experiment-ignored", "name": "spared", "variable": "TRIAL_KEY" });
    assert!(events.contains(&ignored), "{said:?}");
}

#[test]
fn a_model_without_a_price_is_named_once() {
    let project = keyed();
    let said = project.cobalt(&["run", "--filter", "free"], 0);
    assert_eq!(said.stdout.matches("no price for `our-model`").count(), 1, "{said:?}");
    said.stdout_has("tokens  1,200, agent cost unknown for 1 item").stdout_has("`[prices]` in cobalt.toml");
    project.write("cobalt.toml", "[prices.our-model]\ninput = 10\noutput = 5\ncached-input = 1\n");
    let said = project.cobalt(&["run", "--filter", "free"], 0);
    assert!(!said.stdout.contains("no price for"), "{said:?}");
    said.stdout_has("tokens  1,200, agent cost $0.0065\n");
}

/// Secrets of a project, none of which looks like a key.
const OF_ENV_FILE: &str = "zebra-quartz-4711";
const OF_SETTING: &str = "maple-onyx-0815";

#[test]
fn secrets_of_the_project_reach_no_place_that_is_kept_or_shown() {
    let project = Project::empty();
    project.target("leaky");
    project.write("tests/leaky.rs", include_str!("fixture/leaky.rs"));
    project.write(".env", &format!("LEAKY_TOKEN={OF_ENV_FILE}\nLEAKY_SETTING={OF_SETTING}\n"));
    project.write("cobalt.toml", &format!("[judge]\nmodel = \"m\"\napi-key = \"{OF_SETTING}\"\n"));
    let said = project.cobalt(&["run"], 0);
    let folder = project.path(".cobalt/results");
    let files = fs::read_dir(folder).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let kept = files.collect::<String>();
    let events = project.cobalt(&["run", "--reporter", "json"], 0);
    for secret in [OF_ENV_FILE, OF_SETTING] {
        let percent = secret.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let hex = secret.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        for written in [secret.to_owned(), percent, hex] {
            assert!(!kept.contains(&written), "{written}: {kept}");
            for said in [&said, &events] {
                assert!(
                    !said.stdout.contains(&written) && !said.stderr.contains(&written),
                    "{written}: {said:?}"
                );
            }
        }
    }
    let run: Value = serde_json::from_str(&kept).unwrap();
    let mark = "[redacted:LEAKY_TOKEN] and [redacted:";
    let item = &run["items"][0];
    let scored = &item["evaluations"]["scored"];
    let places = [
        &item["key"],
        &item["input"]["input"],
        &item["output"]["output"]["said"],
        &item["output"]["metadata"]["debug"],
        &scored["reason"],
        &scored["chainOfThought"],
        &item["evaluations"]["broken"]["error"],
        &run["items"][1]["error"],
    ];
    for place in places {
        assert!(place.as_str().is_some_and(|text| text.contains(mark)), "{place}: {kept}");
    }
    for names in [&item["input"]["names"], &item["output"]["output"], &scored["metadata"]["found"]] {
        assert!(names.as_object().unwrap().keys().any(|name| name.contains(mark)), "{names}: {kept}");
    }
}

#[test]
fn secrets_in_the_error_of_a_dataset_reach_no_report() {
    let project = Project::empty();
    project.target("leaky_dataset");
    project.write("tests/leaky_dataset.rs", include_str!("fixture/leaky_dataset.rs"));
    project.write(".env", &format!("LEAKY_TOKEN={OF_ENV_FILE}\n"));
    let shown = "https://host.test/x?api_key=[redacted:LEAKY_TOKEN]";
    let reporters = ["run", "--reporter", "cli", "--reporter", "junit=junit.xml"];
    let commands = [&reporters[..], &["run", "--reporter", "json"], &["list"], &["list", "--json"]];
    let said = commands.map(|arguments| ProgramOutput::by(&mut project.command(arguments), 3));
    let texts = said.iter().map(|said| format!("{}{}", said.stdout, said.stderr));
    for text in texts.chain([project.read("junit.xml")]) {
        assert!(text.contains(shown) && !text.contains(OF_ENV_FILE), "{text}");
    }
}
