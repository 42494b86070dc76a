//! `/api`, `/api/health` and `/api/openapi.json`: what this server is.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::openapi::{description, paths};
use crate::serve::store::Store;

/// What this server is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Index {
    name: &'static str,
    /// The version of the command.
    version: &'static str,
    /// The name of the project's folder.
    project: String,
    /// The endpoints that there are.
    endpoints: Vec<&'static str>,
}

/// That the server is there.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Health {
    /// `ok`
    status: &'static str,
    /// The version of the command.
    version: &'static str,
    /// A hash of where the project lies, by which its own commands know its server.
    project: String,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) async fn index(State(store): State<Arc<Store>>) -> Json<Index> {
    Json(Index { name: "Cobalt", version: VERSION, project: store.project_name(), endpoints: paths() })
}

pub(crate) async fn health(State(store): State<Arc<Store>>) -> Json<Health> {
    Json(Health { status: "ok", version: VERSION, project: store.project_hash() })
}

pub(crate) async fn openapi() -> Json<Value> {
    Json(description())
}
