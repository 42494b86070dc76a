//! What requests have in common: the parts of an address that name something, the parameters after its `?`, orders and moments.

use std::cmp::Ordering;
use std::error::Error;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::cli::Since;
use crate::serve::error::ApiError;

/// Parameters that are understood, all of them.
#[derive(Debug)]
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::from_request_parts(parts, state).await;
        query.map(|Query(asked)| Self(asked)).map_err(|refusal| not_understood(&refusal))
    }
}

/// The parts of an address that name something.
#[derive(Debug)]
pub(crate) struct Named<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(named)| Self(named)).map_err(|refusal| not_understood(&refusal))
    }
}

/// Says what is wrong with an address. The refusal itself only says that something is.
fn not_understood(refusal: &(dyn Error + 'static)) -> ApiError {
    let reason = refusal.source().unwrap_or(refusal);
    ApiError::bad_request(format!(
        "the address is not understood: {reason}; `/api/openapi.json` has what may be asked"
    ))
}

/// Which way a list goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    /// The smallest first.
    Asc,
    /// The largest first.
    Desc,
}

/// By a figure: those without it come last, whichever way the others go.
pub(crate) fn known_first(one: Option<f64>, two: Option<f64>, is_descending: bool) -> Ordering {
    match (one, two) {
        (Some(one), Some(two)) if is_descending => two.total_cmp(&one),
        (Some(one), Some(two)) => one.total_cmp(&two),
        (one, two) => two.is_some().cmp(&one.is_some()),
    }
}

/// A moment as timestamps of runs are written.
pub(crate) fn moment(name: &str, text: &str) -> Result<String, ApiError> {
    let moment: Result<Since, _> = text.parse();
    moment.map(Since::timestamp).map_err(|error| ApiError::bad_request(format!("`{name}={text}`: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_figure_comes_last_both_ways() {
        let sorted = |is_descending| {
            let mut figures = [None, Some(1.0), Some(3.0), None, Some(2.0)];
            figures.sort_by(|one, two| known_first(*one, *two, is_descending));
            figures
        };
        assert_eq!(sorted(false), [Some(1.0), Some(2.0), Some(3.0), None, None]);
        assert_eq!(sorted(true), [Some(3.0), Some(2.0), Some(1.0), None, None]);
    }
}
