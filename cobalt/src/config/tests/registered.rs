//! Evaluators of the file become evaluators of the program.

use super::Project;
use crate::ExactMatch;
use crate::evaluators::FnEvaluator;
use crate::private::EvaluatorDefinition;

inventory::submit! { EvaluatorDefinition { name: "terse", file: "tests/evals.rs", line: 3, make: terse } }
inventory::submit! { EvaluatorDefinition { name: "polite", file: "tests/evals.rs", line: 9, make: terse } }
inventory::submit! { EvaluatorDefinition { name: "twin", file: "tests/a.rs", line: 1, make: terse } }
inventory::submit! { EvaluatorDefinition { name: "twin", file: "tests/b.rs", line: 2, make: terse } }

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
        "cobalt.toml:1:15: unknown evaluator `ters`; did you mean `terse`?"
    );
    assert_eq!(
        error("[[evaluators]]\ntype = \"function\"\nname = \"unheard-of\"\n"),
        "cobalt.toml:1:1: unknown evaluator `unheard-of`; the functions with `#[cobalt::evaluator]` here are `polite`, \
         `terse`, `twin`"
    );
    let twins = error("evaluators = [\"twin\"]");
    assert!(
        twins.contains("two evaluators are named `twin`: at ") && twins.contains("tests/a.rs:1"),
        "{twins}"
    );
}
