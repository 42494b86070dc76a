//! `cargo cobalt run` and `list` on a project of their own: what is run, what is shown, and what the exit code says.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::project::{Project, Said};

#[test]
fn the_exit_code_tells_what_became_of_the_experiments() {
    let project = Project::steered();
    project.cobalt(&["run", "--ci"], 0).says("strict: passed").says("gated: passed, 1 threshold met");
    assert!(!project.path("foreign-ran").exists(), "a foreign target is left alone");

    project.answers(&[("paris", "Paris"), ("rome", "Paris")]);
    let shown = project.cobalt(&["run"], 0);
    shown
        .tells("expected: \"Rome\"")
        .says("strict: FAILED, 1 of 2 items passed")
        .says("low     rome: right 0");
    project.cobalt(&["run", "--ci", "--filter", "strict"], 1);
    project.cobalt(&["run", "--ci", "--filter", "gated"], 0);

    project.answers(&[("paris", "Nowhere"), ("rome", "Elsewhere")]);
    let missed = project.cobalt(&["run", "--filter", "gated"], 0).says("MISSED  right.pass_rate>=0.5");
    missed.says("          output: \"Nowhere\"").tells("with --ci it is 1");

    project.answers(&[("paris", "error"), ("rome", "Rome")]);
    project.cobalt(&["run", "--ci", "--filter", "gated"], 1).says("1 item in error").tells("the agent broke");
    project.cobalt(&["run", "--tset", "evals"], 2).tells("--test");
    project.cobalt(&["run", "--filter", "["], 2).tells("`[` is no pattern");

    project.write("data/items.jsonl", "{\n");
    project.cobalt(&["run"], 3).tells("items.jsonl");
    project.cobalt(&["list"], 3).tells("items.jsonl");
}

#[test]
fn targets_are_chosen_by_name_by_file_and_by_folder_and_experiments_by_name_and_tag() {
    let project = Project::steered();
    let runs = |arguments: &[&str], names: &[&str]| {
        let before = project.results();
        project.cobalt(&[&["run", "--quiet"], arguments].concat(), 0);
        let mut expected = [before, names.iter().map(|&name| name.to_owned()).collect()].concat();
        expected.sort();
        assert_eq!(project.results(), expected, "{arguments:?}");
    };
    runs(&["evals", "--filter", "smoke"], &["gated"]);
    project.write("evals/notes.md", "A folder with the name of a target.");
    runs(&["evals", "--filter", "str*"], &["strict"]);
    runs(&["tests/evals.rs", "--filter", "str*"], &["strict"]);
    runs(&["tests", "--filter", "str*"], &["strict"]);
    runs(&["--file", "tests", "--filter", "gated", "--filter", "capitals"], &["gated", "strict"]);
    runs(&["--test", "evals", "--", "strict::paris"], &["strict"]);

    let nothing = |arguments: &[&str], why: &str| drop(project.cobalt(arguments, 4).tells(why));
    nothing(&["run", "--filter", "no-such-thing"], "cargo cobalt list");
    nothing(&["run", "--", "no-such-case"], "no experiment of `trial/evals` matches");
    nothing(&["run", "--filter", "no-such-thing", "--", "--list"], "no experiment of");
    let there_are = "there are `trial/evals`, `trial/foreign`";
    nothing(
        &["run", "other"],
        &format!("error: no test target with `harness = false` is named `other`; {there_are}"),
    );
    nothing(&["run", "evls"], &format!("did you mean `evals`? {there_are}"));
    nothing(&["list", "--test", "evls"], &format!("did you mean `evals`? {there_are}"));
    nothing(&["run", "tests/evls.rs"], &format!("did you mean `tests/evals.rs`? {there_are}"));
    nothing(
        &["run", "src"],
        &format!("`src` is no test target with `harness = false`, and holds none; {there_are}"),
    );
    nothing(
        &["run", "--package", "other"],
        "error: no package of this workspace is named `other`; there are `trial`",
    );
    nothing(&["run", "--package", "Trail"], "did you mean `trial`?");
    nothing(&["run", "--exclude", "trial"], "error: no package is left");
    nothing(&["list", "--filter", "no-such-thing"], "error: no experiment matches `no-such-thing`");
    nothing(&["list", "foreign"], "`trial/foreign` does not call `cobalt::main()`");
    assert_eq!(project.cobalt(&["list", "--filter", "no-such-thing"], 4).stdout, "");
    assert_eq!(project.cobalt(&["list", "--filter", "no-such-thing", "--json"], 4).stdout, "[]\n");
    project.cobalt(&["run", "foreign"], 4).tells("left alone");
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
    project.cobalt(&["run", "--", "--list"], 0).says("strict::paris: test").says("gated::paris: test");
    let strict = project.cobalt(&["run", "--filter", "strict", "--", "--list"], 0).stdout;
    assert!(strict.contains("strict::paris") && !strict.contains("gated"), "{strict}");
    project.cobalt(&["run", "--", "--help"], 0).says("--exact");
    assert!(project.results().is_empty());
    assert!(!project.path("foreign-ran").exists());
}

#[test]
fn variables_come_from_the_environment_before_env_files_and_cargo_sets_its_own() {
    let project = Project::steered();
    project.write(".env", "FROM_FILE=Paris\nFROM_BOTH=wrong\n");
    project.answers(&[("paris", "$FROM_FILE"), ("rome", "$FROM_BOTH"), ("trial", "$CARGO_PKG_NAME")]);
    let mut command = project.command(&["run", "--filter", "strict"]);
    command.env("FROM_BOTH", "Rome").env("CARGO_PKG_NAME", "cargo-cobalt");
    let said = Said::by(&mut command, 0);
    said.says("strict: FAILED, 2 of 3 items passed").tells("output: \"trial\"");
}

#[test]
fn where_no_terminal_reads_there_is_a_line_for_what_fails_only_and_no_colour() {
    let project = Project::steered();
    let said = project.cobalt(&["run", "--filter", "strict"], 0);
    assert!(!said.stderr.contains("paris") && !said.stderr.contains('\x1b') && !said.stdout.contains('\x1b'));
    let said = said
        .says("the agent was asked")
        .tells("strict: 2 items × 1 run × 1 evaluator, 5 at a time, timeout 30s");
    let id = said.stdout.lines().find_map(|line| line.strip_prefix("  run     ")).unwrap().to_owned();
    assert!(said.stdout.contains(&format!("_strict_{id}.json")));
    project.cobalt(&["run", "--filter", "strict", "--color", "always"], 0).says("\x1b[32mpassed");
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
    assert!(!said.stderr.contains("foreign"), "the settings do not name it: {said:?}");
    said.tells("the agent was asked").tells("gated: passed, 1 threshold met");

    project.write("cobalt.toml", "reporters = [\"json\"]\n");
    let said = project.cobalt(&["run"], 0);
    assert!(said.stdout.starts_with('{') && !said.stderr.contains("passed"), "{said:?}");
    project.write("cobalt.toml", "targets = [\"evls\"]\n");
    project.cobalt(&["run"], 4).tells(
        "error: `targets = [\"evls\"]` of cobalt.toml:1 matches none of `trial/evals`, `trial/foreign`; did you mean \
         `evals`?\n",
    );
    project.cobalt(&["run", "evals"], 0);
}

#[test]
fn a_process_that_ends_before_its_experiments_is_no_success() {
    let project = Project::steered();
    project.answers(&[("paris", "exit")]);
    let said = project.cobalt(&["run", "--filter", "strict"], 3);
    said.tells("`trial/evals` ended (exit status: 0) before experiment `strict` did")
        .tells("cargo cobalt run --resume");
    // Another name: projects of one name share their binaries in the target folder.
    project.write("Cargo.toml", &project.read("Cargo.toml").replace("\"trial\"", "\"early\""));
    let declared = project.read("tests/evals.rs");
    let (experiments, _) = declared.split_once("fn main()").unwrap();
    let main = "fn main() {\n    if std::env::args().len() > 9 {\n        cobalt::main();\n    }\n}\n";
    project.write("tests/evals.rs", &format!("{experiments}{main}"));
    project
        .cobalt(&["run", "--ci"], 3)
        .tells("`early/evals` ended (exit status: 0) before it ran its experiments");
    project.cobalt(&["list"], 3).tells("before it named its experiments");
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
    project
        .cobalt(&["run"], 4)
        .tells("error: there is no test target with `harness = false`")
        .tells("among `trial`");
    std::fs::remove_file(project.path("Cargo.toml")).unwrap();
    let said = project.cobalt(&["list"], 3).tells("is in no cargo project").tells("`cargo cobalt init`");
    assert_eq!(said.stderr.matches("error").count(), 1, "{}", said.stderr);
    project.write("Cargo.toml", "[package\n");
    let said =
        project.cobalt(&["run"], 3).tells("error: failed to read the project: ").tells("Cargo.toml:1:9");
    assert_eq!(said.stderr.matches("error:").count(), 1, "{}", said.stderr);
}

/// A terminal tells both processes of Ctrl-C, a supervisor the command alone.
#[test]
#[cfg(unix)]
fn a_run_that_was_stopped_says_how_to_go_on_and_goes_on() {
    for signal in ["kill -INT {0} $(ps -o pid= --ppid {0})", "kill -TERM {0}"] {
        let project = Project::steered();
        project.answers(&[("paris", "Paris"), ("rome", "wait")]);
        let mut command = project.command(&["run", "--filter", "strict"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Once for each item: by then both have been started, and the signal finds the binary.
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
        project.cobalt(&["run", "--resume", "0123456789ab"], 3).tells("there is no such run");
        project.write("go-on", "");
        project.cobalt(&["run", "--ci", "--resume", id], 0).tells("1 done before").says(id);
        assert_eq!(project.results(), ["strict"]);
    }
}

#[test]
fn an_env_file_overrides_no_variable_of_cargo() {
    let project = Project::steered();
    project.write(".env", "CARGO_PKG_NAME=other\nCARGO_MANIFEST_DIR=/other\nLD_LIBRARY_PATH=/other\n");
    project.answers(&[
        ("paris", "$CARGO_PKG_NAME"),
        ("rome", "$CARGO_MANIFEST_DIR"),
        ("library", "$LD_LIBRARY_PATH"),
    ]);
    let mut command = project.command(&["run", "--filter", "strict"]);
    command.env_remove("LD_LIBRARY_PATH");
    let said = crate::project::Said::by(&mut command, 0).tells("output: \"trial\"");
    assert!(!said.stderr.contains("/other"), "{said:?}");
}

#[test]
fn variables_of_the_configuration_of_cargo_are_set() {
    let project = Project::steered();
    project.write(
        ".cargo/config.toml",
        "[env]\nPLAIN = \"a\"\nSET = \"b\"\nCARGO_PKG_NAME = \"c\"\nFORCED = { value = \"d\", force = true }\n",
    );
    project.write(".env", "PLAIN=other\n");
    project.answers(&[
        ("paris", "$PLAIN"),
        ("rome", "$SET"),
        ("oslo", "$FORCED"),
        ("trial", "$CARGO_PKG_NAME"),
    ]);
    let mut command = project.command(&["run", "--filter", "strict"]);
    let said = crate::project::Said::by(command.env("SET", "from outside").env("FORCED", "from outside"), 0);
    said.tells("output: \"a\"")
        .tells("output: \"from outside\"")
        .tells("output: \"d\"")
        .tells("output: \"trial\"");
}

#[test]
fn a_target_without_the_features_that_it_requires_is_left_out_and_named() {
    let project = Project::steered();
    let manifest = std::fs::read_to_string(project.path("Cargo.toml")).unwrap();
    let gated = "[[test]]\nname = \"live\"\nharness = false\nrequired-features = [\"online\"]\n";
    project.write("Cargo.toml", &format!("{manifest}\n{gated}\n[features]\nonline = []\n"));
    project.write("tests/live.rs", include_str!("fixture/evals.rs"));
    project.cobalt(&["run", "--quiet"], 0).tells("left alone: `trial/live` needs the feature `online`");
    project.cobalt(&["run", "--quiet", "live"], 3).tells("requires the features: `online`");
    project.cobalt(&["run", "--quiet", "--features", "online", "live"], 0);
}

#[test]
fn of_nested_packages_the_innermost_is_meant_and_names_may_be_patterns() {
    let project = Project::empty();
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("cobalt");
    let members = ["outer", "outer/nested", "third"];
    project.write("Cargo.toml", &format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n"));
    for member in members {
        let name = member.replace('/', "-");
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n\
             [dev-dependencies]\ncobalt = {{ path = {library:?}, default-features = false }}\n\
             [[test]]\nname = \"of-{name}\"\nharness = false\n"
        );
        project.write(&format!("{member}/Cargo.toml"), &manifest);
        project.write(&format!("{member}/lib.rs"), "");
        project.write(&format!("{member}/tests/of-{name}.rs"), "fn main() {}\n");
    }
    let left_alone = |folder: &str, arguments: &[&str]| {
        let mut command = project.command(&[&["run", "--quiet"], arguments].concat());
        let said = crate::project::Said::by(command.current_dir(project.path(folder)), 4);
        let told = said.stderr.lines().find_map(|line| line.strip_prefix("left alone: ")).unwrap_or_default();
        told.split("; ")
            .filter_map(|told| Some(told.split('/').next()?.trim_matches('`').to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(left_alone("outer/nested/tests", &[]), ["outer-nested"]);
    assert_eq!(left_alone("outer", &[]), ["outer"]);
    assert_eq!(left_alone("", &["--package", "out*"]), ["outer", "outer-nested"]);
    assert_eq!(left_alone("", &["--exclude", "*er", "--exclude", "unknown"]), ["outer-nested", "third"]);
    let warned = project.cobalt(&["run", "--exclude", "unknown"], 4);
    warned.tells("warning: no package of this workspace is named `unknown`");
    project.cobalt(&["run", "--package", "z*"], 4).tells("no package of this workspace is named `z*`");
}
