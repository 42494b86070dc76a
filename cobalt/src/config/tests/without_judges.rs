//! Evaluators in the file that call models, without the feature `judge`.

use super::Project;

#[test]
fn a_judge_is_read_and_says_what_it_needs_when_it_is_made() {
    for table in [
        "type = \"llm-judge\", prompt = \"{{output}}\"",
        "type = \"llm-judge\", preset = \"toxicity\"",
        "type = \"g-eval\", criterion = \"It is right.\"",
        "type = \"pairwise\", field = \"before\"",
        "type = \"similarity\", field = \"a\"",
        "type = \"autoevals\", autoeval = \"Levenshtein\"",
    ] {
        let error = Project::with(&format!("evaluators = [{{ {table} }}]")).load().evaluators().unwrap_err();
        let error = error.to_string();
        assert!(error.contains("cobalt.toml:1:15: ") && error.contains("feature `judge`"), "{error}");
    }
}
