//! `cobalt_run`.

use serde_json::{Value, json};

use super::assistant::Assistant;
use crate::project::Project;

/// What a tool says is wrong, for who reads.
fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// An evaluation target of its own, so that its sources may change.
fn project(name: &str, source: &str) -> Project {
    let project = Project::empty();
    project.rename(name);
    project.target(name);
    project.write(&format!("tests/{name}.rs"), source);
    project
}

/// Experiments over one item, each of which answers with a text; `Yes` is right.
fn experiments(answers: &[(&str, &str)]) -> String {
    let experiment = |(place, (name, answer)): (usize, &(&str, &str))| {
        format!(
            "#[cobalt::experiment(name = {name:?}, dataset = cobalt::Dataset::from_items([cobalt::item! {{ \"id\": \"one\" }}]), \
             evaluators = [right])]\nfn experiment_{place}(_: cobalt::Item) -> &'static str {{\n    {answer:?}\n}}\n\n"
        )
    };
    let right = "#[cobalt::evaluator]\nfn right(output: &str) -> bool {\n    output == \"Yes\"\n}\n\n";
    let all: String = answers.iter().enumerate().map(experiment).collect();
    format!("{right}{all}")
}

const MAIN: &str = "fn main() {\n    cobalt::main();\n}\n";

#[cfg(unix)]
#[test]
fn a_process_that_ends_with_0_passes_by_what_it_told_alone() {
    let ran = |says: &str| {
        let project = crate::native_exit::project(says);
        let mut assistant = Assistant::of(&project);
        assistant
            .ask("tools/call", json!({ "name": "cobalt_run", "arguments": { "experiments": ["strict"] } }))
    };
    let low = ran("Rome");
    assert_eq!(low["structuredContent"]["passed"], false, "{low}");
    assert_eq!(low["structuredContent"]["verdict"], "1 experiment: 1 failed");
    assert_eq!(ran("Paris")["structuredContent"]["passed"], true);
}

#[test]
fn a_run_answers_with_its_worst_items_first_and_names_the_run_before_it() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "Paris"), ("oslo", "error")]);
    let mut assistant = Assistant::of(&project);
    let ran = assistant.call("cobalt_run", json!({ "experiments": ["strict"] }));
    assert_eq!((&ran["passed"], &ran["verdict"]), (&json!(false), &json!("1 experiment: 1 failed")));
    assert_eq!(ran["project"]["root"], json!(project.path("").canonicalize().unwrap()));
    let run = &ran["runs"][0];
    let keys: Vec<_> = run["items"].as_array().unwrap().iter().map(|item| &item["key"]).collect();
    assert_eq!(keys, ["oslo", "rome", "paris"]);
    assert_eq!((&run["name"], &run["itemsMatching"]), (&json!("strict"), &json!(3)));
    assert_eq!(run["declaredAt"]["file"], "tests/evals.rs");
    assert_eq!(run["previousRunId"], Value::Null);
    assert_eq!(run["id"], project.newest_result()["id"]);

    project.answers(&[("paris", "Paris")]);
    let again =
        assistant.call("cobalt_run", json!({ "experiments": ["strict"], "runs": 3, "concurrency": 1 }));
    assert_eq!(again["passed"], true);
    let config = &again["runs"][0]["config"];
    assert_eq!((&config["runs"], &config["concurrency"]), (&json!(3), &json!(1)));
    assert_eq!(again["runs"][0]["previousRunId"], run["id"]);
    assert!(again["nextSteps"].to_string().contains("cobalt_compare"), "{again}");
    assert_eq!(project.results(), ["strict", "strict"]);
    assert_eq!(assistant.hang_up(), Some(0));
}

#[test]
fn the_text_names_the_verdict_the_items_that_failed_and_the_run() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "Paris")]);
    let mut assistant = Assistant::of(&project);
    let result =
        assistant.ask("tools/call", json!({ "name": "cobalt_run", "arguments": { "filter": "capitals" } }));
    assert_eq!(result["isError"], false);
    let id = result["structuredContent"]["runs"][0]["id"].as_str().unwrap();
    for part in ["1 experiment: 1 failed", "`strict`", "`rome`", "`paris` passed, lowest in `right` 1", id] {
        assert!(text(&result).contains(part), "{part}: {}", text(&result));
    }
    // All items are here, and there is something to fix.
    assert!(!text(&result).contains("shows the rest"), "{}", text(&result));
    assert!(
        text(&result).contains("fix what experiment `strict` tests, which is declared at tests/evals.rs:")
    );
    assert!(text(&result).contains(", and call `cobalt_run` again\n"), "{}", text(&result));
}

#[test]
fn an_edit_between_two_calls_is_seen_also_where_it_does_not_build() {
    let source = |answer| experiments(&[("edited", answer)]) + MAIN;
    let project = project("mcp_run_edited", &source("No"));
    let mut assistant = Assistant::of(&project);
    assert_eq!(assistant.call("cobalt_run", json!({}))["passed"], false);
    project.write("tests/mcp_run_edited.rs", &source("Yes"));
    assert_eq!(assistant.call("cobalt_run", json!({}))["passed"], true);

    let broken = source("Yes").replace("output == \"Yes\"", "output == 1 // sk-proj-aB3dE5gH7jK9mN1pQ2rS4");
    project.write("tests/mcp_run_edited.rs", &broken);
    let result = assistant.fails("cobalt_run", json!({}));
    let error = &result["structuredContent"]["compileErrors"][0];
    assert_eq!((&error["file"], &error["line"]), (&json!("tests/mcp_run_edited.rs"), &json!(3)), "{result}");
    assert!(error["rendered"].as_str().unwrap().contains("output == 1 // [redacted:openai-key]"), "{error}");
    assert!(text(&result).contains("`tests/mcp_run_edited.rs:3`"), "{}", text(&result));
    assert!(
        text(&result).contains("fix the compiler errors and call `cobalt_run` again"),
        "{}",
        text(&result)
    );
    assert!(!result.to_string().contains("sk-proj-"), "{result}");

    project.write("tests/mcp_run_edited.rs", &source("Yes"));
    assert_eq!(assistant.call("cobalt_run", json!({}))["passed"], true);
}

#[test]
fn an_experiment_is_chosen_by_its_whole_name_whatever_that_is() {
    let names = ["all", "al*", "-dash", "\"quoted\"", "[x]", "all `of` them"];
    let answers: Vec<_> = names.iter().map(|name| (*name, "Yes")).collect();
    let project = project("mcp_run_odd", &(experiments(&answers) + MAIN));
    let mut assistant = Assistant::of(&project);
    for name in names {
        let ran = assistant.call("cobalt_run", json!({ "experiments": [name] }));
        let ran: Vec<_> = ran["runs"].as_array().unwrap().iter().map(|run| &run["name"]).collect();
        assert_eq!(ran, [name]);
    }
    let result = assistant.fails("cobalt_run", json!({ "experiments": ["all", "alll"] }));
    assert!(text(&result).contains("no experiment is named `alll`"), "{}", text(&result));
    assert!(text(&result).contains("`[x]`"), "{}", text(&result));
    let result = assistant.fails("cobalt_run", json!({ "filter": "none-such" }));
    assert!(text(&result).contains("matches"), "{}", text(&result));
    assert_eq!(project.results().len(), names.len());
}

#[test]
fn a_file_chooses_a_test_target_or_the_experiments_that_it_declares() {
    let main = experiments(&[("in main", "Yes")]) + "#[path = \"parts/more.rs\"]\nmod more;\n\n" + MAIN;
    let project = project("mcp_run_files", &main);
    project.write("tests/parts/more.rs", &experiments(&[("in part", "Yes")]));
    let mut assistant = Assistant::of(&project);
    for (file, names) in [
        ("tests/mcp_run_files.rs", &["in main", "in part"][..]),
        ("tests/parts/more.rs", &["in part"]),
        (project.path("tests/parts/more.rs").to_str().unwrap(), &["in part"]),
    ] {
        let ran = assistant.call("cobalt_run", json!({ "file": file }));
        let mut ran: Vec<_> =
            ran["runs"].as_array().unwrap().iter().map(|run| run["name"].as_str().unwrap()).collect();
        ran.sort_unstable();
        assert_eq!(ran, names, "{file}");
    }
    let result = assistant.fails("cobalt_run", json!({ "file": "src/lib.rs" }));
    assert!(text(&result).contains("is no test target"), "{}", text(&result));
    assert!(text(&result).contains("mcp_run_files"), "{}", text(&result));

    project.write("tests/parts/more.rs", "fn wrong() -> u8 {\n    \"text\"\n}\n");
    let result = assistant.fails("cobalt_run", json!({ "file": "tests/parts/more.rs" }));
    let error = &result["structuredContent"]["compileErrors"][0];
    assert_eq!((&error["file"], &error["line"]), (&json!("tests/parts/more.rs"), &json!(2)), "{result}");
}

#[test]
fn arguments_that_cannot_be_meant_are_refused_by_their_names() {
    let project = Project::steered();
    let mut assistant = Assistant::of(&project);
    for (arguments, parts) in [
        (json!({ "runs": "many" }), ["`runs`", "many"]),
        (json!({ "runs": -1 }), ["`runs`", "-1"]),
        (json!({ "runs": 0 }), ["`runs`", "from 1 to 1000"]),
        (json!({ "concurrency": 5000 }), ["`concurrency`", "from 1 to 1000"]),
        (json!({ "experiments": "strict" }), ["`experiments`", "a list of texts"]),
        (json!({ "experiments": ["strict", 7] }), ["`experiments[1]`", "7"]),
        (json!({ "fil": "a" }), ["`fil`", "`file`"]),
        (json!({ "project": "other" }), ["`other`", "there are"]),
        (json!({ "runs": 2, "resume": "latest" }), ["`runs`", "`resume`"]),
        (json!({ "resume": "latest" }), ["`resume`", "no run was cut off"]),
        (json!({ "resume": "0123456789ab" }), ["0123456789ab", "run"]),
        (json!({ "filter": "[a" }), ["`[a`", "pattern"]),
    ] {
        let result = assistant.fails("cobalt_run", arguments.clone());
        for part in parts {
            assert!(text(&result).contains(part), "{arguments}: {}", text(&result));
        }
    }
    assert!(project.results().is_empty());
}

#[test]
fn a_file_outside_of_the_project_is_refused() {
    let (project, other) = (Project::steered(), Project::steered());
    let outside = other.path("tests/evals.rs");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, project.path("tests/link.rs")).unwrap();
    let mut assistant = Assistant::of(&project);
    let up = format!("../{}/tests/evals.rs", other.path("").file_name().unwrap().to_str().unwrap());
    let mut files = vec![outside.to_str().unwrap(), &up, "/etc/passwd"];
    files.extend(cfg!(unix).then_some("tests/link.rs"));
    for file in files {
        let result = assistant.fails("cobalt_run", json!({ "file": file }));
        assert!(text(&result).contains("is outside of the project"), "{file}: {}", text(&result));
    }
    assert!(project.results().is_empty());
}

#[test]
fn a_process_that_ends_before_its_experiments_is_told_of_with_the_run_to_resume() {
    let project = Project::steered();
    project.answers(&[("paris", "exit")]);
    let mut assistant = Assistant::of(&project);
    let result = assistant.fails("cobalt_run", json!({ "experiments": ["strict"] }));
    let ran = &result["structuredContent"];
    assert_eq!((&ran["notRun"][0]["state"], &ran["passed"]), (&json!("cutOff"), &json!(false)), "{ran}");
    assert!(ran["errors"].to_string().contains("before experiment `strict` did"), "{ran}");
    // What the agent prints comes to stderr.
    assert!(ran["printed"].to_string().contains("the agent was asked"), "{ran}");
    project.answers(&[("paris", "exit")]);
    let id = ran["notRun"][0]["runId"].as_str().unwrap();
    assert!(ran["nextSteps"].to_string().contains(id), "{ran}");
}

#[test]
fn warnings_that_ci_would_show_are_in_the_answer_of_a_run_that_passed() {
    let warning = "the environment variable COBALT_TIMOUT is unknown, and changes nothing; did you mean `COBALT_TIMEOUT`?";
    let project = Project::steered();
    let mut command = project.command(&["mcp"]);
    command.env("COBALT_TIMOUT", "5s");
    let mut assistant = Assistant::by(command);
    assistant.hello("2025-11-25", json!({}));
    let call = json!({ "name": "cobalt_run", "arguments": { "experiments": ["strict"] } });
    let result = assistant.ask("tools/call", call);
    let ran = &result["structuredContent"];
    assert_eq!((&ran["passed"], &ran["warnings"]), (&json!(true), &json!([warning])), "{result}");
    assert!(text(&result).contains(&format!("- warning: ``{warning}``")), "{}", text(&result));
}

#[test]
fn an_experiment_that_is_broken_is_told_of_beside_those_that_ran() {
    let source = experiments(&[("good", "Yes")])
        + "#[cobalt::experiment(dataset = \"data/none.jsonl\", evaluators = [right])]\nfn broken(_: cobalt::Item) -> &'static str {\n    \
           \"Yes\"\n}\n\n"
        + MAIN;
    let project = project("mcp_run_broken", &source);
    let mut assistant = Assistant::of(&project);
    let result = assistant.fails("cobalt_run", json!({}));
    let ran = &result["structuredContent"];
    assert_eq!(ran["runs"][0]["name"], "good");
    assert_eq!((&ran["notRun"][0]["name"], &ran["notRun"][0]["state"]), (&json!("broken"), &json!("broken")));
    assert!(text(&result).contains("data/none.jsonl"), "{}", text(&result));
    let result = assistant.fails("cobalt_list", json!({}));
    let listed = &result["structuredContent"]["experiments"];
    assert_eq!(listed.as_array().unwrap().len(), 2, "{result}");
    let good = listed.as_array().unwrap().iter().find(|row| row["experiment"]["name"] == "good").unwrap();
    assert_eq!(
        (&good["lastRun"]["status"], &good["lastRun"]["id"]),
        (&json!("passed"), &ran["runs"][0]["id"])
    );
}

#[test]
fn a_key_that_is_missing_is_named_and_nothing_is_run() {
    let project = Project::empty();
    project.target("keyed");
    project.write("tests/judge/mod.rs", include_str!("../fixture/judge.rs"));
    project.write("tests/keyed.rs", include_str!("../fixture/keyed.rs"));
    let mut assistant = Assistant::of(&project);
    for arguments in [json!({ "filter": "judged" }), json!({ "experiments": ["desk", "free"] })] {
        let result = assistant.fails("cobalt_run", arguments);
        for part in ["TRIAL_KEY is not set", "`desk`", "`.env`"] {
            assert!(text(&result).contains(part), "{part}: {}", text(&result));
        }
        assert_eq!(result["structuredContent"]["exitCode"], 3, "{result}");
    }
    assert!(project.results().is_empty());
}

#[test]
fn many_experiments_with_and_without_results_have_the_room_of_one_answer() {
    let long = "No\n".repeat(1000);
    let names: Vec<_> = (0..40).map(|place| format!("experiment {place}")).collect();
    let answers: Vec<_> = names.iter().map(|name| (&**name, &*long)).collect();
    let broken = |place| {
        let data = format!("{}/{place}.jsonl", ["x".repeat(200), "y".repeat(200)].join("/"));
        format!(
            "#[cobalt::experiment(dataset = {data:?}, evaluators = [right])]\nfn broken_{place}(_: cobalt::Item) -> &'static str {{\n    \
             \"Yes\"\n}}\n\n"
        )
    };
    let broken: String = (0..40).map(broken).collect();
    let project = project("mcp_run_many", &(experiments(&answers) + &broken + MAIN));
    let mut assistant = Assistant::of(&project);
    for (tool, is_list) in [("cobalt_run", false), ("cobalt_list", true)] {
        let result = assistant.fails(tool, json!({}));
        let size = result.to_string().len();
        assert!(size < 60_000 && text(&result).len() < 8_000, "{tool}: {size}, {}", text(&result).len());
        let answer = &result["structuredContent"];
        let number = |list: &str| answer[list].as_array().map_or(0, Vec::len);
        if is_list {
            let more = answer["moreExperiments"].as_u64().unwrap_or(0);
            assert_eq!(number("experiments") + usize::try_from(more).unwrap(), 80);
            continue;
        }
        assert_eq!(number("runs") + number("moreRuns"), 40);
        assert!(number("runs") > 2, "{}", number("runs"));
        for part in ["80 experiments: 40 failed, 40 cannot be run", "of them failed"] {
            assert!(text(&result).contains(part), "{part}: {}", text(&result));
        }
    }
}
