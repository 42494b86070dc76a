//! Experiment names: unique in a workspace, and found in both forms.

use std::path::Path;

use serde_json::Value;

use crate::project::Project;
use crate::snapshot::assert_printed;

/// A test target with one experiment over the data of a steered project.
fn target(name: &str) -> String {
    format!(
        "#[cobalt::evaluator]\nfn right(item: &cobalt::Item, output: &str) -> bool {{\n    item[\"answer\"] == output\n}}\n\n\
         #[cobalt::experiment(name = {name:?}, dataset = \"data/items.jsonl\", evaluators = [right])]\n\
         fn agent(item: cobalt::Item) -> String {{\n    item[\"says\"].as_str().unwrap_or_default().to_owned()\n}}\n\n\
         fn main() {{\n    cobalt::main();\n}}\n"
    )
}

/// A package with a test target for each of these experiments.
fn package(name: &str, experiments: &[(&str, &str)]) -> Project {
    let project = Project::empty();
    project.rename(name);
    project.answers(&[("paris", "Paris"), ("rome", "Rome")]);
    for (file, experiment) in experiments {
        project.target(file);
        project.write(&format!("tests/{file}.rs"), &target(experiment));
    }
    project
}

#[test]
fn one_experiment_in_a_module_that_two_targets_share_by_its_path_is_no_other_one() {
    let project = Project::empty();
    project.rename("names_by_path");
    project.answers(&[("paris", "Paris"), ("rome", "Rome")]);
    let (common, main) = {
        let text = target("desk");
        let at = text.find("fn main").unwrap();
        (text[..at].to_owned(), text[at..].to_owned())
    };
    project.write("tests/common.rs", &common);
    for name in ["one", "two"] {
        let file = format!("tests/{name}/main.rs");
        let manifest = project.read("Cargo.toml");
        let entry = format!("\n[[test]]\nname = {name:?}\npath = {file:?}\nharness = false\n");
        project.write("Cargo.toml", &format!("{manifest}{entry}"));
        project.write(&file, &format!("#[path = \"../common.rs\"]\nmod common;\n\n{main}"));
    }
    project.write("Cargo.toml", &project.read("Cargo.toml").replace("edition", "autotests = false\nedition"));
    project.cobalt(&["run", "--ci", "one", "two"], 0);
    assert_eq!(project.results(), ["desk", "desk"]);
    assert_eq!(project.newest_result()["declaredAt"]["file"], "tests/common.rs");
}

#[test]
fn two_test_targets_with_one_experiment_name_are_an_error_before_anything_runs() {
    let project = package("names_twice", &[("one", "desk"), ("two", "desk")]);
    assert_printed!(project.cobalt(&["list"], 3));
    for arguments in [&["run"][..], &["run", "--ci"], &["run", "--filter", "desk", "--runs", "2"]] {
        assert_printed!(project.cobalt(arguments, 3));
    }
    let json = project.cobalt(&["run", "--reporter", "json"], 3);
    assert!(
        json.stdout.contains("\"event\":\"failed\"") && json.stdout.contains("tests/two.rs:6"),
        "{json:?}"
    );
    assert!(project.results().is_empty());

    // It is found from the results of the first one, although only the other one is built.
    project.cobalt(&["run", "one"], 0);
    assert_printed!(project.cobalt(&["run", "two"], 3));
    assert_printed!(project.cobalt(&["list", "two"], 3));
    project.cobalt(&["run", "one"], 0);
    assert_eq!(project.results(), ["desk", "desk"]);

    project.write("tests/two.rs", &target("help"));
    assert_printed!(project.cobalt(&["run", "--ci"], 0));
}

#[test]
fn names_that_are_one_in_test_cases_are_given_twice() {
    let project = package("names_alike", &[("alike_one", "desk/gpt"), ("alike_two", "desk gpt")]);
    assert_printed!(project.cobalt(&["list"], 3));
    assert_printed!(project.cobalt(&["run"], 3));
    assert!(project.results().is_empty());
}

#[test]
fn two_packages_of_a_workspace_do_not_share_a_baseline_and_an_experiment_may_move() {
    let project = Project::empty();
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("cobalt");
    project.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"a\", \"b\"]\n");
    for member in ["a", "b"] {
        let manifest = format!(
            "[package]\nname = \"names-{member}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n\
             [dev-dependencies]\ncobalt = {{ package = \"cobalt-evals\", path = {library:?}, default-features = false }}\n\
             [[test]]\nname = \"of-{member}\"\nharness = false\n"
        );
        project.write(&format!("{member}/Cargo.toml"), &manifest);
        project.write(&format!("{member}/lib.rs"), "");
        project.write(&format!("{member}/tests/of-{member}.rs"), &target("desk"));
        let item = "{\"id\": \"paris\", \"answer\": \"Paris\", \"says\": \"Paris\"}\n";
        project.write(&format!("{member}/data/items.jsonl"), item);
    }
    assert_printed!(project.cobalt(&["run"], 3));
    project.cobalt(&["run", "-p", "names-a"], 0);
    project.cobalt(&["baseline", "set"], 0);
    let baseline: Value = serde_json::from_str(&project.read(".cobalt/baselines/desk.json")).unwrap();
    assert_eq!(baseline["declaredAt"]["file"], "a/tests/of-a.rs");
    assert_printed!(project.cobalt(&["run", "-p", "names-b"], 3));
    assert_eq!(project.results(), ["desk"]);

    // It is no longer declared in the original file: it was moved and keeps its baseline.
    project.write("a/tests/of-a.rs", &target("other"));
    project.cobalt(&["run", "-p", "names-b", "--ci"], 0);
    assert_eq!(project.newest_result()["baseline"]["base"]["id"], baseline["id"]);
    project.cobalt(&["run"], 0);

    // While both files declare it, no run of either becomes the baseline.
    project.write("a/tests/of-a.rs", &target("desk"));
    let refused = project.cobalt(&["baseline", "set", "--experiment", "desk"], 3);
    assert_printed!(refused);
}

#[test]
fn an_experiment_is_found_by_either_form_of_its_name() {
    const FORMS: [&str; 2] = ["traveller/gpt-4o-mini", "traveller-gpt-4o-mini"];
    let project = package("names_forms", &[("forms", FORMS[0]), ("others", "desk")]);
    let ran = |arguments: &[&str]| {
        let before = project.results().len();
        project.cobalt(&[&["run", "--quiet", "--ci"], arguments].concat(), 0);
        assert_eq!(project.results().len(), before + 1, "{arguments:?}");
        let report = project.newest_result();
        assert_eq!(report["name"], FORMS[0], "{arguments:?}");
        report["items"].as_array().unwrap().len()
    };
    for form in FORMS {
        assert_eq!(ran(&["--filter", form]), 2);
        assert_eq!(ran(&["--filter", &form[..13]]), 2);
        assert_eq!(ran(&["--experiment", form]), 2);
        assert_eq!(ran(&["--", form]), 2);
        assert_eq!(ran(&["--", "--exact", &format!("{form}::rome")]), 1);
        let listed = project.cobalt(&["list", "--json", "--experiment", form], 0).stdout;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        assert_eq!(
            (listed.as_array().unwrap().len(), &listed[0]["experiment"]["name"]),
            (1, &FORMS[0].into())
        );
        assert!(!project.cobalt(&["list", "--filter", form], 0).stdout.contains("desk"));
        project.cobalt(&["run", "--experiment", &form[1..]], 4).stderr_has("no experiment named");
    }

    for form in FORMS {
        let runs = project.cobalt(&["history", "--json", "--experiment", form], 0).stdout;
        assert!(!serde_json::from_str::<Value>(&runs).unwrap().as_array().unwrap().is_empty(), "{form}");
        let (latest, before) = (format!("{form}@latest"), format!("{form}@latest~1"));
        project.cobalt(&["compare", &before, &latest], 0);
        project.cobalt(&["export", &latest, "--format", "csv"], 0).stdout_has(FORMS[0]);
        project.cobalt(&["baseline", "set", &latest], 0).stdout_has(FORMS[0]);
        project.cobalt(&["baseline", "set", "--experiment", form], 0).stdout_has(FORMS[0]);
        project.cobalt(&["baseline", "show", "--experiment", form], 0).stdout_has(FORMS[0]);
        project.cobalt(&["run", "--quiet", "forms", "--baseline", &latest], 0);
        let item = format!("{form}::rome");
        let add = ["dataset", "add", "new.jsonl", "--from-run", &latest, "--item", &item, "--dry-run"];
        project.cobalt(&add, 0).stderr_has("Would add 1 item");
    }
}
