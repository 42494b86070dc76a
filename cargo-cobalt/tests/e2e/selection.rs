//! Selection of packages, test targets and experiments.

use std::path::Path;

use crate::project::{ProgramOutput, Project};
use crate::snapshot::assert_printed;

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
    runs(&["--", "gated", "--exact"], &["gated"]);
    assert!(project.newest_result_of("gated").get("partial").is_none_or(|partial| partial == false));

    let nothing = |arguments: &[&str], why: &str| drop(project.cobalt(arguments, 4).stderr_has(why));
    nothing(&["run", "--filter", "no-such-thing"], "cargo cobalt list");
    nothing(&["run", "--", "no-such-case"], "no experiment in `trial/evals` matches");
    nothing(&["run", "--filter", "no-such-thing", "--", "--list"], "no experiment in");
    let there_are = "available: `trial/evals`, `trial/foreign`";
    nothing(
        &["run", "other"],
        &format!("error: no test target with `harness = false` named `other`; {there_are}"),
    );
    nothing(&["run", "evls"], &format!("did you mean `evals`? {there_are}"));
    nothing(&["list", "--test", "evls"], &format!("did you mean `evals`? {there_are}"));
    nothing(&["run", "tests/evls.rs"], &format!("did you mean `tests/evals.rs`? {there_are}"));
    nothing(
        &["run", "src"],
        &format!("`src` is not, and does not contain, a test target with `harness = false`; {there_are}"),
    );
    nothing(
        &["run", "--package", "other"],
        "error: no package named `other` in this workspace; available: `trial`",
    );
    nothing(&["run", "--package", "Trail"], "did you mean `trial`?");
    nothing(&["run", "--exclude", "trial"], "error: no packages left");
    nothing(&["list", "--filter", "no-such-thing"], "error: no experiment matches `no-such-thing`");
    assert_eq!(project.cobalt(&["list", "--filter", "no-such-thing"], 4).stdout, "");
    assert_eq!(project.cobalt(&["list", "--filter", "no-such-thing", "--json"], 4).stdout, "[]\n");
}

#[test]
fn a_target_that_was_named_and_never_calls_cobalt_is_an_error_and_one_beside_others_is_left_alone() {
    let project = Project::steered();
    for named in [
        &["run", "foreign"][..],
        &["run", "--test", "foreign"],
        &["run", "tests/foreign.rs"],
        &["list", "foreign"],
    ] {
        assert_printed!(project.cobalt(named, 3));
    }
    assert_printed!(project.cobalt(&["run", "--ci", "--test", "foreign", "--test", "evals"], 3));
    assert!(project.results().is_empty(), "nothing must run");
    assert_printed!(project.cobalt(&["run", "tests"], 0));
    assert!(!project.path("foreign-ran").exists());
}

#[test]
fn experiments_under_libtest_are_errors() {
    let project = Project::steered();
    let declared = "#[cobalt::experiment(dataset = \"data/items.jsonl\")]\nfn lost(_: cobalt::Item) -> String { String::new() }\n";
    let refuses = |arguments: &[&str], why: &[&str]| {
        let said = project.cobalt(&[&["run", "--ci"], arguments].concat(), 3);
        assert!(why.iter().all(|why| said.stderr.contains(why)), "{said:?}");
        assert!(project.results().is_empty(), "nothing must run");
    };
    project.write("tests/lost.rs", &format!("{declared}fn main() {{ cobalt::main(); }}\n"));
    let remedy =
        ["`trial/lost` has experiments (tests/lost.rs:1)", "[[test]]\nname = \"lost\"\nharness = false"];
    refuses(&[], &remedy);
    refuses(&["-p", "trial"], &remedy);
    refuses(&["--test", "lost"], &remedy);
    let manifest = project.read("Cargo.toml");
    project.write("Cargo.toml", &format!("{manifest}\n[[test]]\nname = \"lost\"\ntest = false\n"));
    refuses(&[], &["add `harness = false` to its `[[test]]` table in Cargo.toml"]);
    project.write("Cargo.toml", &manifest);
    std::fs::remove_file(project.path("tests/lost.rs")).unwrap();

    project.write("src/lib.rs", &format!("#[cfg(test)]\nmod tests {{\n    {declared}}}\n"));
    refuses(&[], &["`trial/trial` has experiments in unit tests (src/lib.rs:3)", "`tests/evals.rs`"]);
    project.write("src/lib.rs", "");
    project.write("examples/lost.rs", &format!("{declared}fn main() {{}}\n"));
    refuses(&[], &["the example `trial/lost` has experiments (examples/lost.rs:1)"]);
    project.write("examples/lost.rs", "fn main() {}\n");
    project.write("tests/foreign.rs", &format!("{declared}fn main() {{}}\n"));
    refuses(&["--filter", "strict"], &["`trial/foreign` does not call `cobalt::main()`"]);
}

#[test]
fn modules_shared_with_libtest_run() {
    let project = Project::steered();
    project.target("shared");
    let shared = "macro_rules! experiment {\n    ($name:ident) => {\n        \
                  #[cobalt::experiment(dataset = \"data/items.jsonl\", evaluators = [cobalt::FnEvaluator::new(\"any\", |_| true)])]\n        \
                  fn $name(_: cobalt::Item) -> String { String::new() }\n    };\n}\nexperiment!(in_module);\n";
    project.write("tests/common/mod.rs", shared);
    let declared = "#[macro_use]\nmod common;\n";
    project.write(
        "tests/shared.rs",
        &format!("{declared}experiment!(in_target);\nfn main() {{ cobalt::main(); }}\n"),
    );
    project.write("tests/unit.rs", &format!("{declared}#[test]\nfn unit() {{}}\n"));
    project.cobalt(&["run", "--filter", "in_*"], 0);
    assert_eq!(project.results(), ["in_module", "in_target"]);
    project.write("tests/unit.rs", &format!("{declared}experiment!(lost);\n"));
    project.cobalt(&["run"], 3).stderr_has("`trial/unit` has experiments (tests/common/mod.rs:3)");
}

#[test]
fn a_target_without_the_features_that_it_requires_is_left_out_and_named() {
    let project = Project::steered();
    let manifest = std::fs::read_to_string(project.path("Cargo.toml")).unwrap();
    let gated = "[[test]]\nname = \"live\"\nharness = false\nrequired-features = [\"online\"]\n";
    project.write("Cargo.toml", &format!("{manifest}\n{gated}\n[features]\nonline = []\n"));
    let live = include_str!("fixture/evals.rs")
        .replace("fn strict(", "fn live_strict(")
        .replace("fn gated(", "fn live_gated(");
    project.write("tests/live.rs", &live);
    assert_printed!(project.cobalt(&["run", "--quiet"], 0));
    assert_printed!(project.cobalt(&["run", "--quiet", "live"], 3));
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
             [dev-dependencies]\ncobalt = {{ package = \"cobalt-evals\", path = {library:?}, default-features = false }}\n\
             [[test]]\nname = \"of-{name}\"\nharness = false\n"
        );
        project.write(&format!("{member}/Cargo.toml"), &manifest);
        project.write(&format!("{member}/lib.rs"), "");
        project.write(&format!("{member}/tests/of-{name}.rs"), "fn main() {}\n");
    }
    let left_alone = |folder: &str, arguments: &[&str]| {
        let mut command = project.command(&[&["run", "--quiet"], arguments].concat());
        let said = ProgramOutput::by(command.current_dir(project.path(folder)), 4);
        let told = said.stderr.lines().find_map(|line| line.strip_prefix("not run: ")).unwrap_or_default();
        told.split("; ")
            .filter_map(|told| Some(told.split('/').next()?.trim_matches('`').to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(left_alone("outer/nested/tests", &[]), ["outer-nested"]);
    assert_eq!(left_alone("outer", &[]), ["outer"]);
    assert_eq!(left_alone("", &["--package", "out*"]), ["outer", "outer-nested"]);
    assert_eq!(left_alone("", &["--exclude", "*er", "--exclude", "unknown"]), ["outer-nested", "third"]);
    let warned = project.cobalt(&["run", "--exclude", "unknown"], 4);
    assert_printed!(warned);
    assert_printed!(project.cobalt(&["run", "--package", "z*"], 4));
}

#[test]
fn an_experiment_is_chosen_by_its_whole_name_and_a_slip_is_told_before_anything_runs() {
    let project = Project::steered();
    let unknown = "error: no experiment named `stric`; did you mean `strict`? available: `gated`, `strict`";
    for command in ["run", "list"] {
        let said = project.cobalt(&[command, "--experiment", "strict", "--experiment", "stric"], 4);
        assert!(said.stderr.contains(unknown), "{said:?}");
    }
    project.cobalt(&["run", "--experiment", "strict", "--filter", "smoke"], 4);
    assert!(project.results().is_empty());
    assert_printed!(project.cobalt(&["run", "--experiment", "strict", "--runs", "3", "--ci"], 0));
    assert_eq!(project.results(), ["strict"]);
    project.cobalt(&["run", "--runs", "3", "--resume", "0123456789ab"], 2);
}

#[test]
fn where_a_binary_knows_no_names_of_experiments_nothing_is_run() {
    let project = Project::steered();
    project.target("older");
    // Like a binary of another version, which does not understand the request.
    let main = "fn main() {\n    eprintln!(\"error: asked for what this version does not know\");\n    if std::env::args().count() < 99 {\n        \
                std::process::exit(3);\n    }\n    cobalt::main();\n}\n";
    project.write("tests/older.rs", main);
    for command in ["run", "list"] {
        assert_printed!(project.cobalt(&[command, "--experiment", "strict"], 3));
    }
    assert!(project.results().is_empty());
}
