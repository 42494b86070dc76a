//! How often a request is sent.

use std::time::Duration;

use super::Problem;
use super::retry::LONGEST_WAIT;
use crate::back_off::BackOff;

/// How often a request is sent that is not answered in time. The server may well have worked on it, a model for money, and it
/// is the longest of all failures: whoever waits for a server that is silent is to be told.
const MOST_LATE: u32 = 2;

/// How often a request was sent, and may be sent again.
#[derive(Debug)]
pub(crate) struct Tries {
    retries: u32,
    back_off: BackOff,
    failed: u32,
    late: u32,
}

impl Tries {
    pub(crate) fn new(retries: u32, back_off: BackOff) -> Self {
        Self { retries, back_off, failed: 0, late: 0 }
    }

    /// Waits before a further attempt, after a problem that may pass. Where there is to be none, the error says why, as the end
    /// of a sentence on the problem.
    pub(crate) async fn again(&mut self, problem: &Problem, wait: Option<Duration>) -> Result<(), String> {
        if let Some(wait) = wait.filter(|wait| *wait > LONGEST_WAIT) {
            let wait = humantime::format_duration(Duration::from_secs(wait.as_secs()));
            return Err(format!("; the server asks to wait {wait}, try again after that"));
        }
        self.late += u32::from(matches!(problem, Problem::Late(_)));
        if self.failed == self.retries || self.late == MOST_LATE {
            let attempts = self.failed.saturating_add(1);
            return Err(if attempts == 1 { String::new() } else { format!("; tried {attempts} times") });
        }
        tokio::time::sleep(self.back_off.wait(self.failed, wait)).await;
        self.failed += 1;
        Ok(())
    }
}
