//! What the endpoints that write need: their state and their body.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;

use super::access::{self, WriteAccess};
use crate::serve::error::ApiError;
use crate::serve::jobs::Jobs;
use crate::serve::store::Store;

/// What the endpoints need.
#[derive(Debug)]
pub struct WriteContext {
    pub store: Arc<Store>,
    pub access: WriteAccess,
    pub jobs: Arc<Jobs>,
}

impl WriteContext {
    /// Runs on a blocking thread.
    pub async fn blocking<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        tokio::task::spawn_blocking(move || work(&self)).await.map_err(ApiError::from_join_error)?
    }
}

/// A JSON body.
#[derive(Debug)]
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        // The router limits its size.
        let body = Bytes::from_request(request, state).await.map_err(|_| access::body_too_large())?;
        let text = if body.is_empty() { b"{}" } else { &*body };
        let parsed = serde_json::from_slice(text).map(Self);
        parsed.map_err(|error| {
            ApiError::bad_request(format!("invalid body: {error}; see `/api/openapi.json` for the fields"))
        })
    }
}
