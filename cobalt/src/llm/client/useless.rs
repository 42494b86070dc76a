//! What is said of answers that are in the form of the API, but of no use.

use serde::de::DeserializeOwned;

use super::ClientError;
use crate::http::said::shown;
use crate::prices::Tokens;
use crate::wording::cut;

/// The longest name of a tool that is shown, in characters.
const LONGEST_NAME: usize = 64;

pub(super) const CUT_OFF: &str = "the answer was cut off by the limit of tokens";
pub(super) const FILTERED: &str = "the answer was held back by a content filter";
pub(super) const EMPTY: &str = "the answer holds neither a text nor a call of a tool";

/// The answer as that which it is to hold.
pub(super) fn parsed<T: DeserializeOwned>(answer: &[u8], what: &str) -> Result<T, ClientError> {
    serde_json::from_slice(answer).map_err(|error| {
        // It may repeat a text of the answer, however long.
        let error = shown(&error.to_string());
        ClientError::malformed(format!("the answer holds no {what}: {error}"), Tokens::default())
    })
}

/// The model would not answer, and may have said why.
pub(super) fn refused(why: Option<&str>) -> String {
    let why = why.map(|why| format!(": {}", shown(why))).unwrap_or_default();
    format!("the model refused to answer{why}")
}

/// The model called another tool than the one that was asked for.
pub(super) fn other_tool(called: Option<&str>, asked: &str) -> String {
    let called = cut(called.unwrap_or_default(), LONGEST_NAME);
    format!("the model called the tool `{called}`, but was asked to call `{asked}`")
}
