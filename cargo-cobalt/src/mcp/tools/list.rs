//! `cobalt_list`: which experiments there are, and where.

use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Call, tool};
use crate::error::Error;
use crate::list::Row;
use crate::mcp::diagnostics::Diagnostic;
use crate::mcp::projects::Project;

pub(super) const NAME: &str = "cobalt_list";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// The project, by its name or folder; may be left out where only one is served.
    project: Option<String>,
    /// Experiments whose name or tag contains this or, with `*`, `?` or `[…]`, matches it.
    filter: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listed {
    project: Project,
    experiments: Vec<Row>,
    /// What keeps the project from being built.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compile_errors: Vec<Diagnostic>,
    /// What else went wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
}

pub(super) fn description() -> Tool {
    tool::<Arguments, Listed>(
        NAME,
        "List experiments",
        "Builds the project and names its experiments: tags, data sets, evaluators, thresholds, and where each is declared.",
        ToolAnnotations::new().read_only(true).open_world(false),
    )
}

pub(super) async fn call(call: Call<'_>, arguments: Arguments) -> Result<Answer<Listed>, Error> {
    let project = call.projects.choose(arguments.project.as_deref())?;
    let mut command = vec!["list".to_owned(), "--json".to_owned(), "--message-format=json".to_owned()];
    command.extend(arguments.filter.map(|filter| format!("--filter={filter}")));
    let (mut compile_errors, mut listed) = (Vec::new(), String::new());
    let mut running = call.commands.start(&project, &command, &call.context.ct)?;
    while let Some(line) = running.line().await {
        match Diagnostic::read(&line) {
            Some(error) => compile_errors.push(error),
            // Another message of the compiler.
            None if line.starts_with('{') => {}
            None => listed += &line,
        }
    }
    let ended = running.end().await?;
    let experiments: Vec<Row> = serde_json::from_str(&listed).unwrap_or_default();
    let errors = if ended.status.success() || !compile_errors.is_empty() { Vec::new() } else { ended.stderr };
    let text = experiments.iter().map(|row| format!("{}\n", row.experiment.name)).collect();
    let is_error = !ended.status.success();
    let structured = Listed { project: (*project).clone(), experiments, compile_errors, errors };
    Ok(Answer { structured, text, is_error })
}
