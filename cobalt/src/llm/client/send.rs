//! Sends requests: within the limit of calls, and again after what may pass.

use std::time::Duration;

use tokio::sync::Semaphore;

use super::connections::Connections;
use super::failure::{self, Refusal};
use super::remembered::Remembered;
use super::request::Request;
use super::retry::LONGEST_WAIT;
use super::transport::{self, AttemptError, Problem};
use super::{ClientError, Target};
use crate::back_off::BackOff;
use crate::llm::ModelSettings;

/// How often a request is sent that is not answered in time. The model may well have worked on it, for money, and it is
/// the longest of all failures: a run whose server is silent is to end.
const MOST_LATE: u32 = 2;

/// Sends the requests of this process.
#[derive(Debug)]
pub(crate) struct Client {
    connections: Connections,
    /// One for each request that may be on its way.
    slots: Semaphore,
    timeout: Duration,
    retries: u32,
    back_off: BackOff,
    pub(super) remembered: Remembered,
}

/// Why there is no answer, while something may still be left out of the request.
#[derive(Debug)]
pub(super) enum SendError {
    Refused(Refusal),
    Failed(ClientError),
}

impl Client {
    pub(crate) fn new(settings: &ModelSettings) -> Self {
        Self::with_back_off(settings, BackOff::default())
    }

    /// With other waits before further attempts.
    pub(crate) fn with_back_off(settings: &ModelSettings, back_off: BackOff) -> Self {
        Self {
            connections: Connections::default(),
            slots: Semaphore::new(settings.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            timeout: settings.timeout,
            retries: settings.retries,
            back_off,
            remembered: Remembered::default(),
        }
    }

    /// Sends a request of which nothing can be left out.
    pub(super) async fn send_whole(
        &self,
        target: &Target,
        request: &Request,
    ) -> Result<Vec<u8>, ClientError> {
        self.send(target, request).await.map_err(|error| match error {
            SendError::Refused(refusal) => failure::refused(target, request, &refusal),
            SendError::Failed(error) => error,
        })
    }

    /// Sends a request until there is an answer, or no further attempt would help. A wait holds no slot.
    pub(super) async fn send(&self, target: &Target, request: &Request) -> Result<Vec<u8>, SendError> {
        let failed = |problem: &str| SendError::Failed(failure::failed(target, request, problem));
        let http = self.connections.to(&request.url).map_err(|problem| failed(&problem))?;
        let (mut attempt, mut late) = (0, 0);
        loop {
            let slot = self.slots.acquire().await.map_err(|_| failed("the client is closed"))?;
            let (problem, wait) = match transport::attempt(&http, request, self.timeout).await {
                Ok(answer) => return Ok(answer),
                Err(AttemptError::Final(Problem::Refused(refusal))) => {
                    return Err(SendError::Refused(refusal));
                }
                Err(AttemptError::Final(Problem::Broken(problem) | Problem::Late(problem))) => {
                    return Err(failed(&problem));
                }
                Err(AttemptError::Passing { problem, wait }) => (problem, wait),
            };
            drop(slot);
            let said = match &problem {
                Problem::Refused(refusal) => failure::said(refusal),
                Problem::Broken(problem) => problem.clone(),
                Problem::Late(problem) => {
                    late += 1;
                    problem.clone()
                }
            };
            if let Some(wait) = wait.filter(|wait| *wait > LONGEST_WAIT) {
                let wait = humantime::format_duration(Duration::from_secs(wait.as_secs()));
                return Err(failed(&format!("{said}; the server asks to wait {wait}, try again after that")));
            }
            if attempt == self.retries || late == MOST_LATE {
                return Err(failed(&tried(&said, attempt + 1)));
            }
            tokio::time::sleep(self.back_off.wait(attempt, wait)).await;
            attempt += 1;
        }
    }
}

/// What went wrong the last time, and how often it was tried.
fn tried(said: &str, attempts: u32) -> String {
    if attempts == 1 { said.to_owned() } else { format!("{said}; tried {attempts} times") }
}
