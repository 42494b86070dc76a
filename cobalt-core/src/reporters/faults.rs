//! Faults that were injected into the calls of tools, for people.

use crate::report::Execution;

/// The maximum number of faults in a line.
const MAX_FAULTS: usize = 5;

/// The faults of a trial in one line: `search#1: timeout, search#2: timeout`. `None` without any.
#[must_use]
pub fn format_faults(run: &Execution) -> Option<String> {
    let mut faults: Vec<_> = run.faults.iter().take(MAX_FAULTS).map(ToString::to_string).collect();
    if run.faults.len() > faults.len() {
        faults.push(format!("and {} more", run.faults.len() - faults.len()));
    }
    (!faults.is_empty()).then(|| faults.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::InjectedFault;

    #[test]
    fn the_first_faults_of_a_trial_are_listed() {
        let fault = |call| InjectedFault { tool: "search".to_owned(), call, fault: "slow 2s".to_owned() };
        let line = |calls: usize| {
            format_faults(&Execution { faults: (1..=calls).map(fault).collect(), ..Execution::default() })
        };
        assert_eq!(line(0), None);
        assert_eq!(line(2).unwrap(), "search#1: slow 2s, search#2: slow 2s");
        assert!(line(7).unwrap().ends_with("search#5: slow 2s, and 2 more"));
    }
}
