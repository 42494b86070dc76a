//! Prompts for users to start an assistant with, generated from the newest runs: failed items and source locations.

mod agent;
mod difference;
mod failing_items;
mod generate;
mod improve;
mod regression;
mod source;
mod text;

use std::sync::Arc;

use cobalt_core::wording;
use rmcp::ErrorData;
use rmcp::handler::server::prompt::cached_arguments_from_schema;
use rmcp::model::{GetPromptRequestParams, GetPromptResult, JsonObject, Prompt, PromptMessage, Role};
use tokio::task::spawn_blocking;

use super::panic_guard;
use super::projects::Projects;
use super::tools::parse;
use crate::error::{Error, ErrorKind};
use text::{Arguments, ToolCallWriter};

/// All prompts.
pub fn all() -> Vec<Prompt> {
    vec![
        prompt::<improve::Arguments>(
            improve::NAME,
            "Improve an agent",
            "Improve the agent of an experiment: failed items of its newest run, source locations, and next steps.",
        ),
        prompt::<generate::Arguments>(
            generate::NAME,
            "Generate tests",
            "Write an experiment for an agent that has none, or add 5 to 10 items to an existing dataset.",
        ),
        prompt::<regression::Arguments>(
            regression::NAME,
            "Check for regressions",
            "Compare the newest runs with the previous ones: what regressed, in which items, and how to find the cause.",
        ),
    ]
}

fn prompt<A: Arguments>(name: &'static str, title: &str, description: &'static str) -> Prompt {
    Prompt::new(name, Some(description), cached_arguments_from_schema::<A>()).with_title(title)
}

/// Writes a prompt.
pub async fn get(projects: &Projects, request: GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    match &*request.name {
        improve::NAME => write::<improve::Arguments>(projects, arguments).await,
        generate::NAME => write::<generate::Arguments>(projects, arguments).await,
        regression::NAME => write::<regression::Arguments>(projects, arguments).await,
        unknown => {
            let names = [improve::NAME, generate::NAME, regression::NAME];
            let instead = wording::suggest_or_list(unknown, names);
            Err(Error::Arguments(format!("unknown prompt `{unknown}`; {instead}")))
        }
    }
    .map_err(|error| to_error_data(&error))
}

/// A protocol error: invalid arguments, or failed to read the prompt's sources.
fn to_error_data(error: &Error) -> ErrorData {
    let message = panic_guard::error_message(error);
    match error.kind() {
        ErrorKind::Arguments | ErrorKind::NothingMatched => ErrorData::invalid_params(message, None),
        _ => ErrorData::internal_error(message, None),
    }
}

async fn write<A: Arguments>(projects: &Projects, mut given: JsonObject) -> Result<GetPromptResult, Error> {
    // Clients with a form send an empty string for an empty field.
    given.retain(|_, value| value != "");
    let arguments: A = parse(given)?;
    let project = projects.select(arguments.project())?;
    let tools = ToolCallWriter::of(projects, &project);
    let project_of_text = Arc::clone(&project);
    let written = spawn_blocking(move || arguments.write(&project_of_text, &tools)).await;
    let text = written.map_err(|error| Error::Server(error.into()))??;
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(format!("Project {}", project.name)))
}
