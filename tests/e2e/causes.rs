//! Error causes are shown and saved, whatever the error type.

use crate::sandbox::{Sandbox, fixture};

const WHOLE: &str = "HTTP error: connection refused";

#[test]
fn an_error_of_an_agent_an_evaluator_or_a_data_set_has_all_its_causes() {
    let sandbox = Sandbox::new();
    let finished = sandbox.program(fixture!("causes")).run().code(101);
    let data = format!("the dataset of experiment `data` cannot be used: {WHOLE}");
    finished.says(&[&data]);
    let mut reports = sandbox.reports();
    reports.sort_by(|one, other| one.name.cmp(&other.name));
    let errors = reports.iter().map(|report| (&*report.name, report.items[0].error()));
    assert_eq!(
        errors.collect::<Vec<_>>(),
        [
            ("boxed", Some(WHOLE)),
            ("plain", Some(WHOLE)),
            ("scored", None),
            ("sendable", Some(WHOLE)),
            ("shown", Some("only words: at length")),
        ]
    );
    for (name, evaluation) in reports[2].items[0].first_trial().evaluations.iter() {
        assert_eq!(evaluation.error.as_deref(), Some(WHOLE), "{name}");
    }
}
