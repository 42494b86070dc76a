//! `/api/export`: a run in another format, as a file.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use super::asked::Asked;
use super::{ApiError, with};
use crate::serve::store::Store;

/// Which run, and in which format.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct ExportQuery {
    /// The run's id.
    pub(in crate::serve) run: String,
    pub(in crate::serve) format: ExportFormat,
}

/// The formats of `cargo cobalt export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::serve) enum ExportFormat {
    Csv,
    Html,
    Json,
    Junit,
    Markdown,
}

impl ExportFormat {
    /// The ending of its files, and their media type.
    fn file(self) -> (&'static str, &'static str) {
        match self {
            Self::Csv => ("csv", "text/csv; charset=utf-8"),
            Self::Html => ("html", "text/html; charset=utf-8"),
            Self::Json => ("json", "application/json"),
            Self::Junit => ("xml", "application/xml"),
            Self::Markdown => ("md", "text/markdown; charset=utf-8"),
        }
    }
}

pub(super) async fn export(
    State(store): State<Arc<Store>>,
    Asked(query): Asked<ExportQuery>,
) -> Result<Response, ApiError> {
    let (ending, media_type) = query.format.file();
    let file_name = format!("attachment; filename=\"{}.{ending}\"", query.run);
    let text = with(store, move |store| store.export(&query)).await?.0;
    Ok(([(CONTENT_TYPE, media_type.to_owned()), (CONTENT_DISPOSITION, file_name)], text).into_response())
}
