//! `cargo cobalt run` and `list` in a temporary project: selection, output and exit codes.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::project::Project;
use crate::snapshot::assert_printed;

#[test]
fn the_exit_code_tells_what_became_of_the_experiments() {
    let project = Project::steered();
    assert_printed!(project.cobalt(&["run", "--ci"], 0));
    assert!(!project.path("foreign-ran").exists(), "targets without Cobalt are not run");

    project.answers(&[("paris", "Paris"), ("rome", "Paris")]);
    let shown = project.cobalt(&["run"], 0);
    assert_printed!(shown);
    project.cobalt(&["run", "--ci", "--filter", "strict"], 1);
    project.cobalt(&["run", "--ci", "--filter", "gated"], 0);

    project.answers(&[("paris", "Nowhere"), ("rome", "Elsewhere")]);
    let missed = project.cobalt(&["run", "--filter", "gated"], 0);
    assert_printed!(missed);

    project.answers(&[("paris", "error"), ("rome", "Rome")]);
    assert_printed!(project.cobalt(&["run", "--ci", "--filter", "gated"], 1));
    assert_printed!(project.cobalt(&["run", "--tset", "evals"], 2));
    project.cobalt(&["run", "--filter", "["], 2).stderr_has("`[` is not a valid pattern");

    project.write("data/items.jsonl", "{\n");
    assert_printed!(project.cobalt(&["run"], 3));
    assert_printed!(project.cobalt(&["list"], 3));
}

#[test]
fn experiments_are_listed_with_their_tags_and_items_and_nothing_is_run() {
    let project = Project::steered();
    let table = project.cobalt(&["list"], 0).stdout;
    let rows: Vec<Vec<_>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        rows[1..],
        [["strict", "2", "capitals", "trial/evals"], ["gated", "2", "smoke", "trial/evals"]]
    );
    let listed: Value = serde_json::from_str(&project.cobalt(&["list", "--json"], 0).stdout).unwrap();
    assert_eq!(listed[1]["experiment"]["thresholds"], json!(["right.pass_rate>=0.5"]));
    assert_printed!(project.cobalt(&["run", "--", "--list"], 0));
    let strict = project.cobalt(&["run", "--filter", "strict", "--", "--list"], 0).stdout;
    assert!(strict.contains("strict::paris") && !strict.contains("gated"), "{strict}");
    assert_printed!(project.cobalt(&["run", "--", "--help"], 0));
    assert!(project.results().is_empty());
    assert!(!project.path("foreign-ran").exists());
}

#[test]
fn where_no_terminal_reads_there_is_a_line_for_what_fails_only_and_no_colour() {
    let project = Project::steered();
    let said = project.cobalt(&["run", "--filter", "strict"], 0);
    assert!(!said.stderr.contains("paris") && !said.stderr.contains('\x1b') && !said.stdout.contains('\x1b'));
    assert_printed!(said);
    let id = said.stdout.lines().find_map(|line| line.strip_prefix("  run     ")).unwrap().to_owned();
    assert!(said.stdout.contains(&format!("_strict_{id}.json")));
    assert_printed!(project.cobalt(&["run", "--filter", "strict", "--color", "always"], 0));
}

#[test]
fn events_go_to_stdout_as_json_and_nothing_else_does_where_the_settings_say_so() {
    let project = Project::steered();
    project.write("cobalt.toml", "reporters = [\"json\", \"cli\"]\ntargets = [\"ev*\"]\n");
    let said = project.cobalt(&["run"], 0);
    let events: Vec<Value> = said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let named = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!(events[0]["event"], "hello");
    assert_eq!(
        ["experiment-started", "item-finished", "run-finished", "experiment-finished"].map(named),
        [2, 4, 4, 2]
    );
    assert!(!said.stderr.contains("foreign"), "`targets` does not include it: {said:?}");
    said.stderr_has("the agent was asked").stderr_has("gated: passed, 1 threshold met");

    project.write("cobalt.toml", "reporters = [\"json\"]\n");
    let said = project.cobalt(&["run"], 0);
    assert!(said.stdout.starts_with('{') && !said.stderr.contains("passed"), "{said:?}");
    project.write("cobalt.toml", "targets = [\"evls\"]\n");
    project.cobalt(&["run"], 4).stderr_has(
        "error: `targets = [\"evls\"]` in cobalt.toml:1 matches none of `trial/evals`, `trial/foreign`; did you mean \
         `evals`?\n",
    );
    project.cobalt(&["run", "evals"], 0);
}

#[test]
fn a_process_that_ends_before_its_experiments_is_no_success() {
    let project = Project::steered();
    project.answers(&[("paris", "exit")]);
    let mut said = project.cobalt(&["run", "--filter", "strict"], 3);
    // The start arrives as an event, before or after the lines that the binary prints itself.
    let start =
        said.stderr.split_inclusive('\n').find(|line| line.starts_with("strict: ")).unwrap().to_owned();
    assert!(start.starts_with("strict: 1 item × 1 trial × 1 evaluator"), "{start}");
    said.stderr = said.stderr.replace(&start, "");
    assert_printed!(said);
    let declared = project.read("tests/evals.rs");
    let (experiments, _) = declared.split_once("fn main()").unwrap();
    let main = "fn main() {\n    if std::env::args().len() > 9 {\n        cobalt::main();\n    }\n}\n";
    project.write("tests/evals.rs", &format!("{experiments}{main}"));
    assert_printed!(project.cobalt(&["run", "--ci"], 3));
    assert_printed!(project.cobalt(&["list"], 3));
}

#[test]
fn who_stops_reading_changes_nothing_about_the_run() {
    for reporters in ["", "reporters = [\"json\"]\n"] {
        let project = Project::steered();
        project.write("cobalt.toml", reporters);
        project.answers(&[("paris", "Paris"), ("rome", "Paris")]);
        let mut command = project.command(&["run", "--ci", "--filter", "strict"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(1));
        assert_eq!(project.results(), ["strict"]);
    }
}

#[test]
fn what_an_agent_starts_is_not_asked_by_the_command() {
    let project = Project::steered();
    project.answers(&[("inner", "inner")]);
    project.cobalt(&["run", "--ci", "--filter", "strict"], 0);
}

#[test]
fn a_folder_without_experiments_is_told_how_to_get_one() {
    let project = Project::empty();
    assert_printed!(project.cobalt(&["run"], 4));
    std::fs::remove_file(project.path("Cargo.toml")).unwrap();
    let said = project.cobalt(&["list"], 3);
    assert_printed!(said);
    assert_eq!(said.stderr.matches("error").count(), 1, "{}", said.stderr);
    project.write("Cargo.toml", "[package\n");
    let said = project.cobalt(&["run"], 3);
    assert_printed!(said);
    assert_eq!(said.stderr.matches("error:").count(), 1, "{}", said.stderr);
}

/// A terminal sends Ctrl-C to both processes, a supervisor only to the command.
#[test]
#[cfg(unix)]
fn a_run_that_was_stopped_says_how_to_go_on_and_goes_on() {
    for signal in ["kill -INT {0} $(ps -o pid= --ppid {0})", "kill -TERM {0}"] {
        let project = Project::steered();
        project.answers(&[("paris", "Paris"), ("rome", "wait")]);
        let mut command = project.command(&["run", "--filter", "strict"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Once per item: by then both have been started, and the signal reaches the binary.
        let asked = BufReader::new(child.stdout.take().unwrap()).lines().take(2).map(Result::unwrap);
        assert_eq!(asked.collect::<Vec<_>>(), ["the agent was asked"; 2]);
        std::thread::sleep(std::time::Duration::from_millis(200));
        let signal = signal.replace("{0}", &child.id().to_string());
        assert!(std::process::Command::new("sh").args(["-c", &signal]).status().unwrap().success());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{stderr}");
        let (_, id) = stderr.trim_end().rsplit_once("cargo cobalt run --resume ").unwrap();
        assert!(project.results().is_empty());
        assert_printed!(project.cobalt(&["run", "--resume", "0123456789ab"], 3));
        project.write("go-on", "");
        let said = project.cobalt(&["run", "--ci", "--resume", id], 0).stdout_has(id);
        assert_printed!(said);
        assert_eq!(project.results(), ["strict"]);
    }
}
