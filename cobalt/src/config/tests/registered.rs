//! Evaluators of the file become evaluators of the program.

use std::time::Duration;

use super::Project;
use crate::evaluators::EvaluatorDefinition;
use crate::evaluators::{Evaluator as _, FnEvaluator};
use crate::{CommandEvaluator, ExactMatch};

inventory::submit! { EvaluatorDefinition { name: "terse", module: "trial", file: "tests/evals.rs", line: 3, make: terse } }
inventory::submit! { EvaluatorDefinition { name: "my_function", module: "trial", file: "tests/evals.rs", line: 6, make: terse } }
inventory::submit! { EvaluatorDefinition { name: "polite", module: "trial", file: "tests/evals.rs", line: 9, make: terse } }
inventory::submit! { EvaluatorDefinition { name: "twin", module: "mine", file: "tests/a.rs", line: 1, make: terse } }
inventory::submit! { EvaluatorDefinition { name: "twin", module: "theirs::short", file: "tests/b.rs", line: 2, make: terse } }

fn terse() -> FnEvaluator {
    FnEvaluator::new("terse", |_| true).pass_mark(0.7)
}

#[test]
fn evaluators_are_made_in_the_order_of_the_file() {
    let config = Project::with(
        "evaluators = [\n  \"terse\",\n  { type = \"function\", name = \"terse\", pass-mark = 0.9 },\n  \
         { type = \"exact-match\", field = \"answer\", name = \"exact\", case-sensitive = false, trim = true },\n]\n",
    )
    .load();
    let made = config.evaluators().unwrap();
    let made: Vec<_> = made.iter().map(|evaluator| (evaluator.name(), evaluator.pass_mark())).collect();
    assert_eq!(made, [("terse", 0.7), ("terse", 0.9), ("exact", 0.5)]);
    let exact = ExactMatch::new("exact", "answer").case_sensitive(false).trim(true);
    assert_eq!(config.evaluators().unwrap()[2].fingerprint(), format!("{exact:?}"));
}

#[test]
fn an_evaluator_that_is_not_registered_is_told_which_are() {
    let error = |text: &str| {
        let project = Project::with(text);
        let error = project.load().evaluators().unwrap_err().to_string();
        error.replace(&format!("{}/", project.folder.path().display()), "")
    };
    assert_eq!(
        error("evaluators = [\"ters\"]"),
        "cobalt.toml:1:15: unknown evaluator `ters`; did you mean `terse`? the functions with `#[cobalt::evaluator]` \
         here are `my_function`, `polite`, `terse`, `twin`. If it is in another crate, add `use that_crate as _;` to the test target: a \
         crate that nothing refers to is not linked"
    );
    for table in ["type = \"function\"\nname = \"unheard-of\"", "type = \"unheard-of\""] {
        let error = error(&format!("[[evaluators]]\n{table}\n"));
        let expected = "cobalt.toml:1:1: unknown evaluator `unheard-of`; the functions with `#[cobalt::evaluator]` here \
                        are `my_function`, `polite`, `terse`, `twin`. If it is in another crate, ";
        assert!(error.starts_with(expected), "{error}");
    }
    let twins = error("evaluators = [\"twin\"]");
    for part in [
        "two evaluators are named `twin`: ",
        "that of `mine` at tests/a.rs:1",
        "of `theirs::short` at tests/b.rs:2",
    ] {
        assert!(twins.contains(part), "{twins}");
    }
}

#[test]
fn an_evaluator_of_the_library_that_is_taken_for_a_function_is_told_by_its_table() {
    for (name, table) in [
        ("rouge", "{ type = \"rouge\" }"),
        ("hallucination", "{ type = \"llm-judge\", preset = \"hallucination\" }"),
        ("summarization", "{ type = \"llm-judge\", preset = \"summarisation\" }"),
        ("faithfullness", "{ type = \"autoevals\", autoeval = \"Faithfulness\" }"),
        ("exact_match", "{ type = \"exact-match\" }"),
    ] {
        let error = Project::with(&format!("evaluators = [\"{name}\"]")).load().evaluators().unwrap_err();
        let expected = format!("unknown evaluator `{name}`; did you mean `{table}`? the functions ");
        assert!(error.to_string().contains(&expected), "{error}");
    }
}

#[test]
fn the_name_of_a_function_is_a_type_as_well() {
    let config = Project::with("[[evaluators]]\ntype = \"terse\"\npass-mark = 0.9\n").load();
    let made = config.evaluators().unwrap();
    assert_eq!((made[0].name(), made[0].pass_mark()), ("terse", 0.9));
}

#[test]
fn a_function_may_be_named_nearly_like_a_type() {
    let config = Project::with("evaluators = [{ type = \"my_function\", pass-mark = 0.9 }]").load();
    assert_eq!(config.evaluators().unwrap()[0].pass_mark(), 0.9);
}

#[test]
fn a_program_is_an_evaluator_with_all_that_is_said_of_it() {
    let config = Project::with(
        "[[evaluators]]\ntype = \"command\"\nname = \"ratio\"\ncommand = [\"python3\", \"bridge.py\"]\n\
         env = { METRIC = \"ratio\" }\nkeep-alive = false\nprocesses = 3\ntimeout = \"2s\"\npass-mark = 0.9\n",
    )
    .load();
    let made = CommandEvaluator::new("ratio", "python3").arg("bridge.py").env("METRIC", "ratio");
    let made = made.keep_alive(false).processes(3).timeout(Duration::from_secs(2)).pass_mark(0.9);
    let evaluator = &config.evaluators().unwrap()[0];
    assert_eq!((evaluator.fingerprint(), evaluator.pass_mark()), (made.fingerprint(), 0.9));
}
