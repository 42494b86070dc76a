//! What was asked: the parts of an address that name something, and the parameters after its `?`.

use std::error::Error;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::ApiError;

/// Parameters that are understood, all of them.
#[derive(Debug)]
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::from_request_parts(parts, state).await;
        query.map(|Query(asked)| Self(asked)).map_err(|refusal| not_understood(&refusal))
    }
}

/// The parts of an address that name something.
#[derive(Debug)]
pub(super) struct Named<T>(pub(super) T);

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
pub(in crate::serve) enum Order {
    /// The smallest first.
    Asc,
    /// The largest first.
    Desc,
}
