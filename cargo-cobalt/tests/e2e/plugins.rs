//! Evaluators from other crates, configured in `cobalt.toml`.

use std::path::Path;

use crate::project::Project;

/// A workspace whose package `trial` can use the evaluators of `polite` and `brief`, and links some of these crates. Its test
/// target has a unique name, as projects share a target folder.
fn project(target: &str, linked: &[&str], evaluators: &str) -> Project {
    let project = Project::empty();
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("cobalt");
    let library =
        format!("cobalt = {{ package = \"cobalt-evals\", path = {library:?}, default-features = false }}");
    let package =
        |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    project.write(
        "Cargo.toml",
        &format!(
            "{}\n[workspace]\nmembers = [\"polite\", \"brief\"]\n\n[dev-dependencies]\n{library}\n\
             polite = {{ path = \"polite\" }}\nbrief = {{ path = \"brief\" }}\n",
            package("trial")
        ),
    );
    project.target(target);
    let links: String = linked.iter().map(|name| format!("use {name} as _;\n")).collect();
    project.write(
        &format!("tests/{target}.rs"),
        &format!(
            "{links}\nfn items() -> cobalt::Dataset {{\n    cobalt::Dataset::from_items([cobalt::item! {{ \"id\": \"one\" }}])\n}}\n\n\
             #[cobalt::experiment(dataset = items())]\nfn desk(_: cobalt::Item) -> &'static str {{\n    \"Yes, please.\"\n}}\n\n\
             fn main() {{\n    cobalt::main();\n}}\n"
        ),
    );
    for (name, evaluator) in [
        (
            "polite",
            "#[cobalt::evaluator]\npub fn says_please(output: &str) -> bool {\n    output.contains(\"please\")\n}\n",
        ),
        (
            "brief",
            "#[cobalt::evaluator(pass_mark = 0.9)]\npub fn few_words(output: &str) -> bool {\n    output.len() < 40\n}\n",
        ),
    ] {
        let twin = "\n#[cobalt::evaluator(name = \"twin\")]\npub fn named_alike(_: &cobalt::Item) -> bool {\n    true\n}\n";
        project
            .write(&format!("{name}/Cargo.toml"), &format!("{}\n[dependencies]\n{library}\n", package(name)));
        project.write(&format!("{name}/src/lib.rs"), &format!("{evaluator}{twin}"));
    }
    project.write("cobalt.toml", &format!("evaluators = {evaluators}\n"));
    project
}

#[test]
fn an_evaluator_of_a_crate_that_is_linked_is_found_by_its_name() {
    let evaluators = "[\"says_please\", { type = \"few_words\", pass-mark = 0.5 }]";
    let project = project("linked", &["polite", "brief"], evaluators);
    project.cobalt(&["run", "--ci"], 0).stdout_has("says_please").stdout_has("few_words");
    // Evaluator crates have no experiments, like other libraries.
    let said = project.cobalt(&["list", "--workspace"], 0).stdout_has("desk");
    assert!(!said.stderr.contains("polite"), "{said:?}");
    project.cobalt(&["run", "-p", "polite"], 4).stderr_has("no test target with `harness = false`");
}

#[test]
fn one_of_a_crate_that_is_not_linked_is_told_how_it_would_be() {
    let said = project("unlinked", &["brief"], "[\"says_please\"]").cobalt(&["run"], 3);
    said.stderr_has("cobalt.toml:1:15: unknown evaluator `says_please`; available functions with `#[cobalt::evaluator]`: `few_words`, `twin`")
        .stderr_has("If it is in another crate, add `use that_crate as _;` to the test target");
}

#[test]
fn two_crates_with_an_evaluator_of_one_name_are_both_named() {
    let said = project("twins", &["polite", "brief"], "[\"twin\"]").cobalt(&["run"], 3);
    let said = said
        .stderr_has("two evaluators are named `twin`: one in `")
        .stderr_has("give one of them another `name`");
    said.stderr_has("`polite` at ").stderr_has("`brief` at ");
    // Unused names do not matter.
    project("twins", &["polite", "brief"], "[\"few_words\"]").cobalt(&["run", "--ci"], 0);
}
