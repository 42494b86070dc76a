//! `/api/export`: a run in another format, as a download.

use std::io::{self, Write};
use std::slice;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use cobalt_core::store::ReportFile;
use schemars::JsonSchema;
use serde::Deserialize;

use super::respond::{StrictQuery, run_blocking, stream_body};
use crate::error::Error;
use crate::formats::{junit, markdown, write_csv};
use crate::html::html;
use crate::results::{FinishedExperiment, Results};
use crate::serve::error::ApiError;
use crate::serve::store::Store;

/// The run and the format.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportQuery {
    /// The run's id.
    pub run: String,
    pub format: ExportFormat,
}

/// The formats of `cargo cobalt export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    Csv,
    Html,
    Json,
    Junit,
    Markdown,
}

impl ExportFormat {
    /// The file extension and the media type.
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

pub async fn export(
    State(store): State<Arc<Store>>,
    StrictQuery(query): StrictQuery<ExportQuery>,
) -> Result<Response, ApiError> {
    let (ending, media_type) = query.format.file();
    let disposition = format!("attachment; filename=\"{}\"", file_name(&query.run, ending));
    let text = run_blocking(store, move |store| render(store, &query)).await?;
    let head = [
        (CONTENT_TYPE, media_type),
        (CONTENT_DISPOSITION, &disposition),
        // If a browser displays it anyway, it does not have this server's origin.
        (CONTENT_SECURITY_POLICY, "sandbox"),
    ];
    Ok((head, text).into_response())
}

/// A run in another format.
fn render(store: &Store, query: &ExportQuery) -> Result<Body, ApiError> {
    let file = store.report_file(&query.run)?;
    let as_text: fn(&Results) -> String = match query.format {
        ExportFormat::Csv => {
            let prices = store.prices().clone();
            return body_of(file, move |file, body| write_csv(body, slice::from_ref(file), &prices));
        }
        ExportFormat::Json => return body_of(file, |file, mut body| file.write_whole(&mut body)),
        ExportFormat::Html => html,
        ExportFormat::Junit => junit,
        ExportFormat::Markdown => markdown::markdown,
    };
    Ok(as_text(&Results::of(vec![FinishedExperiment::of(file).map_err(Error::from)?])).into())
}

/// The items of a large run are written while they are read.
fn body_of(
    file: ReportFile,
    write: impl FnOnce(&ReportFile, &mut dyn Write) -> io::Result<()> + Send + 'static,
) -> Result<Body, ApiError> {
    if file.parts().is_some() {
        return Ok(stream_body(move |body| write(&file, body)));
    }
    let mut text = Vec::new();
    write(&file, &mut text).map_err(Error::Print)?;
    Ok(text.into())
}

/// The file name of an exported run. The id of an imported result file may contain anything.
fn file_name(id: &str, ending: &str) -> String {
    let is_safe = |character: &char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    format!("run-{}.{ending}", id.chars().filter(is_safe).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn an_id_cannot_leave_the_name_of_its_file() {
        assert_eq!(file_name("81b28d6afd20", "csv"), "run-81b28d6afd20.csv");
        assert_eq!(file_name("../a\"b\r\nc: d", "json"), "run-abcd.json");
    }
}
