//! One attempt to have a request answered: within the timeout, and with an answer of bounded length.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Url};

use super::failure::is_quota;
use super::request::Request;
use crate::http::{self, AttemptError, Call, Connections, Limit, Patience, Problem, Redirects};

/// The longest answer that is read.
const LONGEST: Limit<'_> =
    Limit { bytes: 16 << 20, exceeded: "the answer is longer than the 16 MiB that are read" };

/// A request, ready to be sent.
pub(super) fn call(request: &Request) -> Result<Call, String> {
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    for (name, value) in &request.headers {
        headers.insert(*name, http::secret(value)?);
    }
    Ok(Call {
        method: Method::POST,
        url: Url::parse(&request.url).map_err(|error| error.to_string())?,
        headers,
        body: request.body.clone(),
        redirects: Redirects::Within,
    })
}

/// Sends a request once.
pub(super) async fn attempt(
    connections: &Connections,
    call: &Call,
    timeout: Duration,
) -> Result<Vec<u8>, AttemptError> {
    let mut answer =
        http::attempt(connections, call, Patience::Whole(timeout)).await.map_err(|error| match error {
            AttemptError::Passing { problem: Problem::Refused(refusal), .. } if is_quota(&refusal) => {
                AttemptError::Final(Problem::Refused(refusal))
            }
            other => other,
        })?;
    let mut body = Vec::new();
    answer.read_into(&mut body, LONGEST).await?;
    Ok(body)
}
