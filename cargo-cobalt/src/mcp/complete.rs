//! Completion of arguments of resource templates and prompts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cobalt_core::experiment_name::matches_name;
use cobalt_core::reporters::escape_control;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionContext, CompletionInfo, Reference};
use tokio::task::block_in_place;
use walkdir::WalkDir;

use super::past_runs::PastRuns;
use super::projects::{Project, Projects};
use super::resources::{is_template, unique_name};
use super::{prompts, tools};
use crate::runs::RunView;
use crate::watch::is_generated;

/// The name of the newest run of any experiment.
const LATEST: &str = "latest";
/// How many files and folders are searched for sources.
const MOST_FILES: usize = 20_000;

/// Completes an argument: values with the typed prefix, newest first.
pub fn complete(projects: &Projects, request: CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    validate_reference(&request.r#ref)?;
    let asked = Completer::of(projects, request.context.unwrap_or_default());
    let (argument, typed) = (request.argument.name, request.argument.value);
    let (values, total) = block_in_place(|| match &*argument {
        "key" => asked.keys(&typed),
        argument => first_of(asked.values(argument).into_iter().filter(|value| value.starts_with(&typed))),
    });
    let has_more = total > values.len();
    let completion = CompletionInfo::with_pagination(values, u32::try_from(total).ok(), has_more);
    Ok(CompleteResult::new(completion.map_err(|error| ErrorData::internal_error(error, None))?))
}

/// Rejects an unknown template or prompt.
fn validate_reference(reference: &Reference) -> Result<(), ErrorData> {
    let (name, is_known, list) = match reference {
        Reference::Resource(template) => {
            (&template.uri, is_template(&template.uri), "resources/templates/list")
        }
        Reference::Prompt(prompt) => {
            (&prompt.name, prompts::all().iter().any(|known| known.name == prompt.name), "prompts/list")
        }
        _ => {
            return Err(ErrorData::invalid_params(
                "only resource templates and prompts have arguments to complete",
                None,
            ));
        }
    };
    if is_known {
        return Ok(());
    }
    Err(ErrorData::invalid_params(
        format!("unknown reference `{}`; see `{list}`", escape_control(name)),
        None,
    ))
}

/// The projects and earlier arguments that determine the values.
struct Completer {
    all: Vec<Arc<Project>>,
    /// The project chosen in an earlier argument, or all projects.
    projects: Vec<Arc<Project>>,
    /// The arguments given so far.
    context: CompletionContext,
}

impl Completer {
    fn of(projects: &Projects, context: CompletionContext) -> Self {
        let all = projects.all();
        let projects = match context.get_argument("project").filter(|name| !name.is_empty()) {
            Some(name) => projects.select(Some(name)).into_iter().collect(),
            None => all.clone(),
        };
        Self { all, projects, context }
    }

    /// All values of an argument; none for free text or if reading fails.
    fn values(&self, argument: &str) -> Vec<String> {
        match argument {
            "project" => self.all.iter().map(|project| unique_name(project, &self.all)).collect(),
            "experiment" => self.experiments(),
            "runId" | "runA" | "runB" | "baseline" | "baselineRunId" | "currentRunId" => self.runs(),
            "tool" => tools::names().map(str::to_owned).into(),
            "focus" => ["edge-cases", "adversarial", "coverage"].map(str::to_owned).into(),
            "agentFile" | "experimentFile" => {
                self.projects.iter().flat_map(|project| sources(&project.root)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The runs of the projects, the newest first.
    fn past_runs(&self) -> Vec<RunView> {
        let past = self.projects.iter().filter_map(|project| PastRuns::open(project).ok());
        RunView::newest_first(past.flat_map(|past| past.unfinished().into_iter().chain(past.runs())))
    }

    /// Experiments with a run; listing the others would need a build.
    fn experiments(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let names = self.past_runs().into_iter().map(|run| run.experiment);
        names.filter(|name| seen.insert(name.clone())).collect()
    }

    fn runs(&self) -> Vec<String> {
        let experiment = self.context.get_argument("experiment").filter(|name| !name.is_empty());
        let runs = self.past_runs().into_iter();
        let ids: Vec<_> = runs
            .filter(|run| experiment.is_none_or(|typed| matches_name(typed, &run.experiment)))
            .map(|run| run.id)
            .collect();
        let latest = (!ids.is_empty()).then(|| LATEST.to_owned());
        latest.into_iter().chain(ids).collect()
    }

    /// The item keys with this prefix in the run chosen in an earlier argument, or in the newest run, as [`first_of`] gives them.
    fn keys(&self, typed: &str) -> (Vec<String>, usize) {
        let run = self.context.get_argument("runId").map_or(LATEST, String::as_str);
        let past = self.projects.iter().filter_map(|project| PastRuns::open(project).ok());
        let Some(found) = past.filter_map(|past| past.find(run).ok()).next() else {
            return Default::default();
        };
        let keys = found.file.outcomes().map_while(Result::ok).map(|item| item.key);
        first_of(keys.filter(|key| key.starts_with(typed)))
    }
}

/// The first values, as many as a response has, and the number of all: a run may have a million items.
fn first_of(values: impl Iterator<Item = String>) -> (Vec<String>, usize) {
    let (mut first, mut total) = (Vec::new(), 0);
    for value in values {
        total += 1;
        if first.len() < CompletionInfo::MAX_VALUES {
            first.push(value);
        }
    }
    (first, total)
}

/// The Rust sources in a folder, as relative paths, last modified first.
fn sources(root: &Path) -> Vec<String> {
    let is_looked_into = |entry: &walkdir::DirEntry| {
        entry.depth() == 0 || !entry.file_type().is_dir() || !is_generated(entry.path())
    };
    let entries = WalkDir::new(root).into_iter().filter_entry(is_looked_into).take(MOST_FILES).flatten();
    let sources = entries.filter(|entry| entry.file_type().is_file());
    let sources = sources.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"));
    let mut sources: Vec<(SystemTime, PathBuf)> = sources
        .filter_map(|entry| {
            let written = entry.metadata().ok()?.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            Some((written, entry.path().strip_prefix(root).ok()?.to_owned()))
        })
        .collect();
    sources.sort_by(|(one, first), (two, second)| two.cmp(one).then_with(|| first.cmp(second)));
    sources.into_iter().map(|(_, path)| path.display().to_string()).collect()
}
