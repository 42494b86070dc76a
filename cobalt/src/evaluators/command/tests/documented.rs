//! That what the documentation says of programs is so.

use std::process::Command;

use super::cx;
use crate::evaluators::{CommandEvaluator, EvalContext, Evaluator};
use crate::experiment::Output;

/// The program in this language that the documentation shows.
fn documented(language: &str) -> &'static str {
    let (_, rest) =
        include_str!("../../../../docs/custom.md").split_once(&format!("\n```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[tokio::test]
async fn the_documented_programs_score() {
    let folder = tempfile::tempdir().unwrap();
    for (interpreter, language, wrong) in
        [("python3", "python", 0.0..0.5), ("node", "javascript", 0.0..0.1), ("sh", "sh", 0.0..0.1)]
    {
        if Command::new(interpreter).args(["-c", ""]).status().is_err() {
            println!("skipped: `{interpreter}` is not there");
            continue;
        }
        let file = folder.path().join(language);
        std::fs::write(&file, documented(language)).unwrap();
        let evaluator = CommandEvaluator::new("documented", interpreter).arg(file.display().to_string());
        let score = async |output: &str| {
            let item = crate::item! { "input": "Capital?", "expectedOutput": "It is Zürich." };
            evaluator.evaluate(&EvalContext::new(item, Output::new(output))).await.unwrap().value()
        };
        assert_eq!(score("It is Zürich.").await, 1.0, "{language}");
        let value = score("Sorry!").await;
        assert!(wrong.contains(&value), "{language}: {value}");
    }
}

#[test]
fn the_documented_request_has_the_fields_of_a_request() {
    let documented: serde_json::Value = serde_json::from_str(documented("json").trim()).unwrap();
    let request = crate::evaluators::command::request::Request::new(1, &cx("an output"), "ratio").unwrap();
    let request: serde_json::Value = serde_json::from_slice(&request.line).unwrap();
    let fields = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(&documented), fields(&request));
}
