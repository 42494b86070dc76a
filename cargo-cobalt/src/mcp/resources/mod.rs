//! The resources that an assistant reads without calling a tool: settings, experiments and run results.

mod catalogue;
mod contents;

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents};
use serde_json::json;
use tokio::task::block_in_place;

use super::panic_guard;
use super::projects::Project;
use super::tools::{self, ToolContext};
use crate::error::{Error, ErrorKind};
pub use catalogue::{is_template, templates};
use contents::{JSON, json_text};
pub use contents::{ResourceKind, ResourceUri, unique_name};

/// All resources of these projects, except older runs.
pub fn all(projects: &[Arc<Project>]) -> Result<Vec<Resource>, ErrorData> {
    let all = block_in_place(|| catalogue::all(projects));
    all.map_err(|error| ErrorData::internal_error(panic_guard::error_message(&error), None))
}

/// The project that a URI names.
pub fn project_of(uri: &str) -> Option<String> {
    ResourceUri::parse(uri).ok()?.project
}

/// Reads the resource at a URI.
pub async fn read(call: ToolContext<'_>, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let text = text(call, uri).await.map_err(|error| to_error_data(&error, uri))?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(JSON)]))
}

async fn text(call: ToolContext<'_>, uri: &str) -> Result<String, Error> {
    let ResourceUri { place, project } = ResourceUri::parse(uri)?;
    let (projects, project) = (call.projects, project.as_deref());
    match &place {
        ResourceKind::Experiments => json_text(&tools::experiments(call, &*projects.select(project)?).await?),
        // Reading files must not block other requests.
        ResourceKind::Config => block_in_place(|| json_text(&contents::config(&*projects.select(project)?))),
        ResourceKind::LatestResults => {
            block_in_place(|| json_text(&contents::latest(&*projects.select(project)?, &projects.all())?))
        }
        ResourceKind::Schema(tool) => json_text(&tools::schema_of_answer(tool)?),
        ResourceKind::Run(run) => block_in_place(|| json_text(&contents::run(projects, project, run)?)),
        ResourceKind::Item { run, key } => {
            block_in_place(|| json_text(&contents::item(projects, project, run, key)?))
        }
    }
}

/// A protocol error: not found, invalid URI, or failed to read.
pub fn to_error_data(error: &Error, uri: &str) -> ErrorData {
    let (message, data) = (panic_guard::error_message(error), Some(json!({ "uri": uri })));
    match error.kind() {
        ErrorKind::NothingMatched => ErrorData::resource_not_found(message, data),
        ErrorKind::Arguments => ErrorData::invalid_params(message, data),
        _ => ErrorData::internal_error(message, data),
    }
}
