//! An answer that has begun: read piece by piece, in time, and of bounded length.

use std::io::Write;
use std::time::{Duration, Instant};

use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode, Url};

use super::attempt::broken;
use super::gzip::{Body, WriteError, take_encoding};
use super::{AttemptError, Problem};

/// How long an answer may take.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Patience {
    /// As a whole.
    #[cfg_attr(
        not(feature = "judge"),
        expect(dead_code, reason = "only models are to answer within a time, of whatever length")
    )]
    Whole(Duration),
    /// Until it begins, and then between one piece and the next: a long one may take its time.
    Silence(Duration),
}

/// How much is read of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit<'a> {
    /// The most bytes, decompressed.
    pub(crate) bytes: u64,
    /// What is told where there are more.
    pub(crate) exceeded: &'a str,
}

/// Measures how long an answer takes.
#[derive(Debug)]
pub(super) struct Clock {
    patience: Patience,
    started: Instant,
    has_begun: bool,
}

impl Clock {
    pub(super) fn start(patience: Patience) -> Self {
        Self { patience, started: Instant::now(), has_begun: false }
    }

    /// The next thing that comes, in time.
    pub(super) async fn wait<T>(
        &mut self,
        next: impl Future<Output = reqwest::Result<T>>,
    ) -> Result<T, AttemptError> {
        let (most, left) = match self.patience {
            Patience::Whole(most) => (most, most.saturating_sub(self.started.elapsed())),
            Patience::Silence(most) => (most, most),
        };
        match tokio::time::timeout(left, next).await {
            Ok(next) => {
                self.has_begun = true;
                next.map_err(|error| broken(&error))
            }
            Err(_) => {
                let most = humantime::format_duration(most);
                let problem = match (self.patience, self.has_begun) {
                    (Patience::Silence(_), true) => format!("the answer stood still for {most}"),
                    _ => format!("no answer within {most}"),
                };
                Err(AttemptError::Passing { problem: Problem::Late(problem), wait: None })
            }
        }
    }
}

/// An answer that has begun, with a status of success.
#[derive(Debug)]
pub(crate) struct Answer {
    response: Response,
    is_gzip: bool,
    clock: Clock,
    url: Url,
}

impl Answer {
    pub(super) fn new(mut response: Response, clock: Clock, url: Url) -> Self {
        let is_gzip = take_encoding(&mut response);
        Self { response, is_gzip, clock, url }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Where it is from, after redirects.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Writes the whole of it, decompressed, to somewhere else, and says how many bytes that were. An answer that ends too early
    /// is an error that may pass.
    pub(crate) async fn read_into(
        &mut self,
        to: &mut impl Write,
        limit: Limit<'_>,
    ) -> Result<u64, AttemptError> {
        let failed = |error| match error {
            WriteError::TooLong => AttemptError::broken(limit.exceeded),
            WriteError::Target(error) => {
                AttemptError::broken(format!("the answer cannot be written: {error}"))
            }
            WriteError::Damaged(error) => {
                let problem = Problem::Broken(format!("the answer cannot be decompressed: {error}"));
                AttemptError::Passing { problem, wait: None }
            }
        };
        if !self.is_gzip && self.response.content_length().is_some_and(|length| length > limit.bytes) {
            return Err(failed(WriteError::TooLong));
        }
        let mut body = Body::new(to, self.is_gzip, limit.bytes);
        while let Some(piece) = self.clock.wait(self.response.chunk()).await? {
            body.write(&piece).map_err(failed)?;
        }
        body.finish().map_err(failed)
    }
}
