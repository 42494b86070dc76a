//! The list of resources: three for each project, the newest runs, and templates for the others.

use std::sync::Arc;

use cobalt_core::reporters::escape_control;
use cobalt_core::wording::count;
use rmcp::model::{Annotations, Resource, ResourceTemplate, Role};

use super::contents::{self, ITEM, JSON, PROJECT_QUERY, RUN, ResourceKind, SCHEMA, json_text};
use crate::error::Error;
use crate::mcp::past_runs::{PastRuns, State};
use crate::mcp::projects::Project;
use crate::mcp::view::truncate;
use crate::runs::RunView;

/// How many runs are listed; the template reads the others.
const MAX_RUNS: usize = 20;

/// The most bytes of a title or a description.
const LONGEST: usize = 500;

/// How important a resource is to an assistant, from 0 to 1.
const PRIORITY_HIGH: f32 = 0.9;
const PRIORITY_MEDIUM: f32 = 0.6;
const PRIORITY_LOW: f32 = 0.3;

/// The resources of these projects.
pub fn all(projects: &[Arc<Project>]) -> Result<Vec<Resource>, Error> {
    let mut resources = Vec::new();
    let mut runs = Vec::new();
    for project in projects {
        resources.extend(project_resources(project, projects)?);
        // An error in the store is reported when its contents are read.
        let Ok(past) = PastRuns::open(project) else { continue };
        let ended = past.runs().into_iter().take(MAX_RUNS);
        runs.extend(ended.chain(past.unfinished()).map(|run| (project, run)));
    }
    runs.sort_by(|(_, one), (_, two)| two.timestamp.cmp(&one.timestamp));
    resources.extend(runs.into_iter().take(MAX_RUNS).map(|(project, run)| resource(run, project, projects)));
    Ok(resources)
}

/// A run in the list.
fn resource(run: RunView, project: &Project, projects: &[Arc<Project>]) -> Resource {
    let items = count(run.items.total, "item");
    let finished = || format!("{} of {items} finished", run.items.finished);
    let description = match run.state {
        State::Finished => {
            let scores: Vec<_> = run.scores.iter().map(|(name, mean)| format!("{name} {mean:.3}")).collect();
            format!("{}: {items}; {}", run.status.as_str(), scores.join(", "))
        }
        State::Running => format!("in progress: {}", finished()),
        State::Interrupted => format!("interrupted: {}", finished()),
    };
    let title = format!("{} at {}", run.experiment, run.timestamp);
    let mut annotations = annotations(PRIORITY_LOW);
    annotations.last_modified = Some(run.timestamp);
    let name = format!("run-{}", run.id);
    Resource::new(ResourceKind::Run(run.id).uri(project, projects), name)
        .with_title(truncate::text(&escape_control(&title), LONGEST))
        .with_description(truncate::text(&escape_control(&description), LONGEST))
        .with_mime_type(JSON)
        .with_annotations(annotations)
}

fn project_resources(project: &Project, projects: &[Arc<Project>]) -> Result<[Resource; 3], Error> {
    let name = escape_control(&project.name);
    let resource = |place: ResourceKind, name: &str, title, description, priority| {
        Resource::new(place.uri(project, projects), name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(JSON)
            .with_annotations(annotations(priority))
    };
    let settings = json_text(&contents::config(project))?;
    Ok([
        resource(
            ResourceKind::LatestResults,
            "latest-results",
            format!("Latest results of {name}"),
            "The newest run of each experiment: summary and worst items.",
            PRIORITY_HIGH,
        ),
        resource(
            ResourceKind::Experiments,
            "experiments",
            format!("Experiments of {name}"),
            "The experiments with their datasets, evaluators, thresholds and source locations. Reading this builds the project.",
            PRIORITY_MEDIUM,
        ),
        resource(
            ResourceKind::Config,
            "config",
            format!("Configuration of {name}"),
            "The effective settings, and where each comes from. Keys are redacted.",
            PRIORITY_LOW,
        )
        .with_size(settings.len() as u64),
    ])
}

/// The templates for resources that are not listed.
pub fn templates(projects: &[Arc<Project>]) -> Vec<ResourceTemplate> {
    let query = if projects.len() > 1 { PROJECT_QUERY } else { "" };
    let template = |template: &str, query: &str, name: &str, title, description| {
        ResourceTemplate::new(format!("{template}{query}"), name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(JSON)
            .with_annotations(annotations(PRIORITY_MEDIUM))
    };
    vec![
        template(
            RUN,
            query,
            "run",
            "A run",
            "A run with its summary and worst items, by run ID or ID prefix, `latest`, `latest~1`, `EXPERIMENT@latest` or git \
             revision. It may be in progress.",
        ),
        template(
            ITEM,
            query,
            "item",
            "An item of a run",
            "The full result of an item in a run, by item key.",
        ),
        template(
            SCHEMA,
            "",
            "schema",
            "Schema of a tool's results",
            "The full JSON schema of a tool's structured content, by tool name.",
        ),
    ]
}

/// Whether a URI is one of the templates.
pub fn is_template(uri: &str) -> bool {
    [RUN, ITEM, SCHEMA].contains(&uri.strip_suffix(PROJECT_QUERY).unwrap_or(uri))
}

fn annotations(priority: f32) -> Annotations {
    Annotations::default().with_audience(vec![Role::User, Role::Assistant]).with_priority(priority)
}
