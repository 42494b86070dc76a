//! Which resources there are: three of each project, the newest runs, and templates for all others.

use std::sync::Arc;

use cobalt_core::reporters::printable;
use cobalt_core::wording::count;
use rmcp::model::{Annotations, Resource, ResourceTemplate, Role};

use super::contents::{self, ITEM, JSON, OF_PROJECT, Place, RUN, SCHEMA, json_text};
use crate::error::Error;
use crate::mcp::past::{Past, State};
use crate::mcp::projects::Project;
use crate::mcp::shown::cut;
use crate::runs::RunView;

/// How many runs are listed; the others are found by the template.
const NEWEST: usize = 20;

/// The most bytes of a title or a description.
const LONGEST: usize = 500;

/// How much an assistant is helped by a resource, from 0 to 1.
const MATTERS_MOST: f32 = 0.9;
const MATTERS: f32 = 0.6;
const IS_DETAIL: f32 = 0.3;

/// The resources of these projects.
pub fn all(projects: &[Arc<Project>]) -> Result<Vec<Resource>, Error> {
    let mut resources = Vec::new();
    let mut runs = Vec::new();
    for project in projects {
        resources.extend(fixed(project, projects)?);
        // A problem of a store is reported when its contents are read.
        let Ok(past) = Past::of(project) else { continue };
        let ended = past.runs().into_iter().take(NEWEST);
        runs.extend(ended.chain(past.unfinished()).map(|run| (project, run)));
    }
    runs.sort_by(|(_, one), (_, two)| two.timestamp.cmp(&one.timestamp));
    resources.extend(runs.into_iter().take(NEWEST).map(|(project, run)| resource(run, project, projects)));
    Ok(resources)
}

/// A run as it is listed.
fn resource(run: RunView, project: &Project, projects: &[Arc<Project>]) -> Resource {
    let items = count(run.items.total, "item");
    let finished = || format!("{} of {items} finished", run.items.finished);
    let description = match run.state {
        State::Ended => {
            let scores: Vec<_> = run.scores.iter().map(|(name, mean)| format!("{name} {mean:.3}")).collect();
            format!("{}: {items}; {}", run.status.as_str(), scores.join(", "))
        }
        State::GoingOn => format!("going on: {}", finished()),
        State::CutOff => format!("cut off: {}", finished()),
    };
    let title = format!("{} at {}", run.experiment, run.timestamp);
    let mut annotations = annotations(IS_DETAIL);
    annotations.last_modified = Some(run.timestamp);
    let name = format!("run-{}", run.id);
    Resource::new(Place::Run(run.id).uri(project, projects), name)
        .with_title(cut::text(&printable(&title), LONGEST))
        .with_description(cut::text(&printable(&description), LONGEST))
        .with_mime_type(JSON)
        .with_annotations(annotations)
}

fn fixed(project: &Project, projects: &[Arc<Project>]) -> Result<[Resource; 3], Error> {
    let name = printable(&project.name);
    let resource = |place: Place, name: &str, title, description, priority| {
        Resource::new(place.uri(project, projects), name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(JSON)
            .with_annotations(annotations(priority))
    };
    let settings = json_text(&contents::config(project))?;
    Ok([
        resource(
            Place::LatestResults,
            "latest-results",
            format!("Latest results of {name}"),
            "The newest run of each experiment: its summary and its worst items.",
            MATTERS_MOST,
        ),
        resource(
            Place::Experiments,
            "experiments",
            format!("Experiments of {name}"),
            "The experiments with their data sets, evaluators, thresholds and source places. Reading it builds the project.",
            MATTERS,
        ),
        resource(
            Place::Config,
            "config",
            format!("Configuration of {name}"),
            "The settings in force, and where each comes from; keys are redacted.",
            IS_DETAIL,
        )
        .with_size(settings.len() as u64),
    ])
}

/// The templates of what is not listed.
pub fn templates(projects: &[Arc<Project>]) -> Vec<ResourceTemplate> {
    let query = if projects.len() > 1 { OF_PROJECT } else { "" };
    let template = |template: &str, query: &str, name: &str, title, description| {
        ResourceTemplate::new(format!("{template}{query}"), name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(JSON)
            .with_annotations(annotations(MATTERS))
    };
    vec![
        template(
            RUN,
            query,
            "run",
            "A run",
            "A run with its summary and its worst items, by its id or the beginning of it, `latest`, `latest~1`, \
             `EXPERIMENT@latest` or a git revision; also one that goes on.",
        ),
        template(
            ITEM,
            query,
            "item",
            "An item of a run",
            "All that a run found of an item, by the item's key.",
        ),
        template(
            SCHEMA,
            "",
            "schema",
            "Schema of a tool's answers",
            "The whole JSON schema of the structured part of what a tool answers, by the tool's name.",
        ),
    ]
}

/// Whether a template is one of them.
pub fn is_template(uri: &str) -> bool {
    [RUN, ITEM, SCHEMA].contains(&uri.strip_suffix(OF_PROJECT).unwrap_or(uri))
}

fn annotations(priority: f32) -> Annotations {
    Annotations::default().with_audience(vec![Role::User, Role::Assistant]).with_priority(priority)
}
