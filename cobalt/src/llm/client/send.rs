//! Sends requests: within the limit of calls, and again after what may pass.

use std::time::Duration;

use tokio::sync::Semaphore;

use super::remembered::Remembered;
use super::request::Request;
use super::{ClientError, Target, failure, transport};
use crate::back_off::BackOff;
use crate::http::{AttemptError, Connections, Problem, Refusal, Tries};
use crate::llm::ModelSettings;

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
        let call = transport::call(request).map_err(|problem| failed(&problem))?;
        let mut tries = Tries::new(self.retries, self.back_off);
        loop {
            let slot = self.slots.acquire().await.map_err(|_| failed("the client is closed"))?;
            let (problem, wait) = match transport::attempt(&self.connections, &call, self.timeout).await {
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
            tries.again(&problem, wait).await.map_err(|end| {
                let said = match &problem {
                    Problem::Refused(refusal) => failure::said(refusal),
                    Problem::Broken(problem) | Problem::Late(problem) => problem.clone(),
                };
                failed(&(said + &end))
            })?;
        }
    }
}
