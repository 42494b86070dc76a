//! `cobalt_run`.

use serde_json::json;

use super::assistant::Assistant;
use super::snapshot::{answer, assert_ran, refusals, result, text};
use crate::project::Project;

/// A package with its own test target, whose source can be changed.
fn project(name: &str, source: &str) -> Project {
    let project = Project::empty();
    project.rename(name);
    project.target(name);
    project.write(&format!("tests/{name}.rs"), source);
    project
}

/// Experiments with one item each, given as name and answer; `Yes` is correct.
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
        result(&mut assistant, "cobalt_run", json!({ "experiments": ["strict"] }))
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
    let ran = result(&mut assistant, "cobalt_run", json!({ "experiments": ["strict"] }));
    assert_ran!("worst_items_first", answer(&ran));
    let run = &ran["structuredContent"]["runs"][0];
    assert_eq!(run["id"], project.newest_result()["id"]);

    project.answers(&[("paris", "Paris")]);
    let arguments = json!({ "experiments": ["strict"], "runs": 3, "concurrency": 1 });
    let again = result(&mut assistant, "cobalt_run", arguments);
    assert_ran!("passed_after_another_run", answer(&again));
    assert_eq!(again["structuredContent"]["runs"][0]["previousRunId"], run["id"]);
    assert_eq!(project.results(), ["strict", "strict"]);
    assert_eq!(assistant.hang_up(), Some(0));
}

#[test]
fn the_text_names_the_verdict_the_items_that_failed_and_the_run() {
    let project = Project::steered();
    project.answers(&[("paris", "Paris"), ("rome", "Paris")]);
    let mut assistant = Assistant::of(&project);
    let ran = result(&mut assistant, "cobalt_run", json!({ "filter": "capitals" }));
    assert_eq!(ran["isError"], false);
    assert_ran!("chosen_by_a_tag", text(&ran));
}

#[test]
fn an_edit_between_two_calls_is_seen_also_where_it_does_not_build() {
    let source = |answer| experiments(&[("edited", answer)]) + MAIN;
    let project = project("mcp_run_edited", &source("No"));
    let mut assistant = Assistant::of(&project);
    assert_eq!(assistant.call("cobalt_run", json!({}))["passed"], false);
    project.write("tests/mcp_run_edited.rs", &source("Yes"));
    assert_eq!(assistant.call("cobalt_run", json!({}))["passed"], true);

    let broken = source("Yes").replace("output == \"Yes\"", "1 // sk-proj-aB3dE5gH7jK9mN1pQ2rS4");
    project.write("tests/mcp_run_edited.rs", &broken);
    let result = assistant.fails("cobalt_run", json!({}));
    assert_ran!("compile_error", answer(&result));
    assert!(!result.to_string().contains("sk-proj-"), "{result}");

    project.write("tests/mcp_run_edited.rs", &source("Yes"));
    assert_eq!(assistant.call("cobalt_run", json!({}))["passed"], true);
}

#[test]
fn broken_targets_do_not_stop_others() {
    let project = project("mcp_run_beside", &(experiments(&[("good", "Yes")]) + MAIN));
    project.target("mcp_run_broken");
    project.write("tests/mcp_run_broken.rs", &format!("fn wrong() -> u8 {{\n    \"text\"\n}}\n\n{MAIN}"));
    let mut assistant = Assistant::of(&project);
    let listed = assistant.fails("cobalt_list", json!({}));
    assert_eq!(listed["structuredContent"]["experiments"][0]["experiment"]["name"], "good", "{listed}");
    let result = assistant.fails("cobalt_run", json!({}));
    let ran = &result["structuredContent"];
    assert_eq!((&ran["runs"][0]["name"], &ran["passed"]), (&json!("good"), &json!(false)), "{result}");
    assert_eq!(ran["compileErrors"][0]["file"], "tests/mcp_run_broken.rs", "{result}");
    assert_eq!(ran["verdict"], "1 experiment: 1 passed; another test target is not built: 1 error");

    let named = assistant.call("cobalt_run", json!({ "experiments": ["good"] }));
    assert_eq!((&named["passed"], &named["exitCode"]), (&json!(true), &json!(0)), "{named}");
    let finished = assistant.call("cobalt_run", json!({ "resume": named["runs"][0]["id"] }));
    assert_eq!((&finished["passed"], &finished["runs"][0]["id"]), (&json!(true), &named["runs"][0]["id"]));
    assert_eq!(project.results(), ["good", "good"], "a finished run is not run again");
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
    let unknown = [json!({ "experiments": ["all", "alll"] }), json!({ "filter": "none-such" })];
    assert_ran!("unknown_experiments", refusals(&mut assistant, "cobalt_run", unknown));
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
    let library = [json!({ "file": "src/lib.rs" })];
    assert_ran!("no_test_target", refusals(&mut assistant, "cobalt_run", library));

    project.write("tests/parts/more.rs", "fn wrong() -> u8 {\n    \"text\"\n}\n");
    let result = assistant.fails("cobalt_run", json!({ "file": "tests/parts/more.rs" }));
    let error = &result["structuredContent"]["compileErrors"][0];
    assert_eq!((&error["file"], &error["line"]), (&json!("tests/parts/more.rs"), &json!(2)), "{result}");
}

#[test]
fn arguments_that_cannot_be_meant_are_refused_by_their_names() {
    let project = Project::steered();
    let mut assistant = Assistant::of(&project);
    let all = [
        json!({ "runs": "many" }),
        json!({ "runs": -1 }),
        json!({ "runs": 0 }),
        json!({ "concurrency": 5000 }),
        json!({ "experiments": "strict" }),
        json!({ "experiments": ["strict", 7] }),
        json!({ "fil": "a" }),
        json!({ "project": "other" }),
        json!({ "runs": 2, "resume": "latest" }),
        json!({ "resume": "latest" }),
        json!({ "resume": "0123456789ab" }),
        json!({ "filter": "[a" }),
    ];
    assert_ran!("refused_arguments", refusals(&mut assistant, "cobalt_run", all));
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
    let files = files.into_iter().map(|file| json!({ "file": file }));
    assert_ran!("files_outside_of_the_project", refusals(&mut assistant, "cobalt_run", files));
    assert!(project.results().is_empty());
}

#[test]
fn a_process_that_ends_before_its_experiments_is_told_of_with_the_run_to_resume() {
    let project = Project::steered();
    project.answers(&[("paris", "exit")]);
    let mut assistant = Assistant::of(&project);
    let result = assistant.fails("cobalt_run", json!({ "experiments": ["strict"] }));
    // The agent's output goes to stderr and can appear before, after or within the message about the exit.
    let printed = "the agent was asked";
    let mut without = result.clone();
    let content = &mut without["structuredContent"];
    content["printed"].as_array_mut().unwrap().retain(|line| line != printed);
    for error in content["errors"].as_array_mut().unwrap() {
        *error = error.as_str().unwrap().replace(&format!("\n{printed}"), "").into();
    }
    without["content"][0]["text"] = text(&result).replace(&format!("{printed}\n"), "").into();
    assert_ran!("ended_before_its_experiment", answer(&without));
    assert!(result["structuredContent"]["printed"].as_array().unwrap().contains(&json!(printed)), "{result}");
}

#[test]
fn warnings_that_ci_would_show_are_in_the_answer_of_a_run_that_passed() {
    let project = Project::steered();
    let mut command = project.command(&["mcp"]);
    command.env("COBALT_TIMOUT", "5s");
    let mut assistant = Assistant::by(command);
    assistant.hello("2025-11-25", json!({}));
    let ran = result(&mut assistant, "cobalt_run", json!({ "experiments": ["strict"] }));
    assert_ran!("passed_with_a_warning", answer(&ran));
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
    assert_ran!("broken_beside_a_good_one", answer(&result));
    let listed = assistant.fails("cobalt_list", json!({}));
    assert_ran!("broken_beside_a_good_one_listed", answer(&listed));
    let rows = listed["structuredContent"]["experiments"].as_array().unwrap();
    let good = rows.iter().find(|row| row["experiment"]["name"] == "good").unwrap();
    assert_eq!(good["lastRun"]["id"], result["structuredContent"]["runs"][0]["id"]);
}

#[test]
fn a_key_that_is_missing_is_named_and_nothing_is_run() {
    let project = Project::empty();
    project.target("keyed");
    project.write("tests/judge/mod.rs", include_str!("../fixture/judge.rs"));
    project.write("tests/keyed.rs", include_str!("../fixture/keyed.rs"));
    let mut assistant = Assistant::of(&project);
    let result = assistant.fails("cobalt_run", json!({ "filter": "judged" }));
    assert_ran!("missing_key", answer(&result));
    let result = assistant.fails("cobalt_run", json!({ "experiments": ["desk", "free"] }));
    assert_ran!("missing_key_of_one_of_two", answer(&result));
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
