//! Retries after transient errors, for people: of a run, and of a trial.

use super::format::Style;
use crate::report::{Execution, Summary};
use crate::wording::count;

/// How many items and attempts were retried, and how many items passed only after a retry; `None` if none were retried.
#[must_use]
pub fn format_retried(summary: &Summary, paint: Style) -> Option<String> {
    let Summary { retried_items, retried_executions, passed_after_retry, .. } = *summary;
    if retried_items == 0 {
        return None;
    }
    let mut text =
        format!("{}, {}", count(retried_items, "item"), count(retried_executions, "transient failure"));
    if passed_after_retry > 0 {
        let passed = format!("{} passed only after a retry", count(passed_after_retry, "item"));
        text += &format!("; {}", paint.warning(passed));
    }
    Some(text)
}

/// How many attempts a trial took, and why: `3, retried after: the model is busy (2 times)`. `None` if it took one.
#[must_use]
pub fn format_attempts(run: &Execution) -> Option<String> {
    if run.retried.is_empty() {
        return None;
    }
    let errors = run.retried_errors().into_iter().map(|(error, times)| match times {
        1 => error.to_owned(),
        times => format!("{error} ({times} times)"),
    });
    let errors: Vec<_> = errors.collect();
    Some(format!("{}, retried after: {}", run.retried.len() + 1, errors.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Item;
    use crate::report::RetriedExecution;

    #[test]
    fn retries_of_a_run_are_counted_in_a_line_and_items_that_passed_only_after_one_are_named() {
        let line = |retried_items, retried_executions, passed_after_retry| {
            let summary =
                Summary { retried_items, retried_executions, passed_after_retry, ..Summary::default() };
            format_retried(&summary, Style::Plain)
        };
        assert_eq!(line(0, 0, 0), None);
        assert_eq!(line(1, 1, 0).unwrap(), "1 item, 1 transient failure");
        let expected = "3 items, 1,004 transient failures; 2 items passed only after a retry";
        assert_eq!(line(3, 1_004, 2).unwrap(), expected);
    }

    #[test]
    fn attempts_of_a_trial_are_counted_with_their_errors() {
        let run = |errors: &[&str]| Execution {
            retried: errors.iter().map(|error| RetriedExecution::new(error, 1.0, Item::new())).collect(),
            ..Execution::default()
        };
        assert_eq!(format_attempts(&run(&[])), None);
        assert_eq!(format_attempts(&run(&["busy"])).unwrap(), "2, retried after: busy");
        let expected = "4, retried after: busy (2 times); gone";
        assert_eq!(format_attempts(&run(&["busy", "gone", "busy"])).unwrap(), expected);
    }
}
