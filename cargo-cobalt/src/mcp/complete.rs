//! What an argument of a template or a prompt may be, as far as it is typed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cobalt_core::names::is_name_of;
use cobalt_core::reporters::printable;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionContext, CompletionInfo, Reference};
use tokio::task::block_in_place;
use walkdir::WalkDir;

use super::past::Past;
use super::projects::{Project, Projects};
use super::resources::{is_template, name_among};
use super::shown::keys;
use super::{prompts, tools};
use crate::runs::RunView;
use crate::watch::is_made;

/// The newest run of any experiment.
const LATEST: &str = "latest";
/// How many files and folders are looked through for sources.
const MOST_FILES: usize = 20_000;

/// Completes an argument: values that begin with what is typed, the newest first.
pub fn complete(projects: &Projects, request: CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    check(&request.r#ref)?;
    let asked = Asked::of(projects, request.context.unwrap_or_default());
    let (argument, typed) = (request.argument.name, request.argument.value);
    let mut values = block_in_place(|| asked.values(&argument));
    values.retain(|value| value.starts_with(&typed));
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let has_more = total > values.len();
    let completion = CompletionInfo::with_pagination(values, u32::try_from(total).ok(), has_more);
    Ok(CompleteResult::new(completion.map_err(|error| ErrorData::internal_error(error, None))?))
}

/// Refuses what is no template, and no prompt.
fn check(reference: &Reference) -> Result<(), ErrorData> {
    let (name, is_known, list) = match reference {
        Reference::Resource(template) => {
            (&template.uri, is_template(&template.uri), "resources/templates/list")
        }
        Reference::Prompt(prompt) => {
            (&prompt.name, prompts::all().iter().any(|known| known.name == prompt.name), "prompts/list")
        }
        _ => {
            return Err(ErrorData::invalid_params(
                "templates and prompts have arguments, and nothing else",
                None,
            ));
        }
    };
    if is_known {
        return Ok(());
    }
    Err(ErrorData::invalid_params(format!("there is no `{}`: `{list}` tells all", printable(name)), None))
}

/// Where values are looked for.
struct Asked {
    all: Vec<Arc<Project>>,
    /// The project that was chosen before, else all of them.
    projects: Vec<Arc<Project>>,
    /// The arguments that were given before.
    context: CompletionContext,
}

impl Asked {
    fn of(projects: &Projects, context: CompletionContext) -> Self {
        let all = projects.all();
        let projects = match context.get_argument("project").filter(|name| !name.is_empty()) {
            Some(name) => projects.choose(Some(name)).into_iter().collect(),
            None => all.clone(),
        };
        Self { all, projects, context }
    }

    /// All values of an argument; none where it is of free text. What cannot be read has none either.
    fn values(&self, argument: &str) -> Vec<String> {
        match argument {
            "project" => self.all.iter().map(|project| name_among(project, &self.all)).collect(),
            "experiment" => self.experiments(),
            "runId" | "runA" | "runB" | "baseline" | "baselineRunId" | "currentRunId" => self.runs(),
            "key" => self.keys(),
            "tool" => tools::names().map(str::to_owned).into(),
            "focus" => ["edge-cases", "adversarial", "coverage"].map(str::to_owned).into(),
            "agentFile" | "experimentFile" => {
                self.projects.iter().flat_map(|project| sources(&project.root)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The runs of the projects, the newest first.
    fn past(&self) -> Vec<RunView> {
        let past = self.projects.iter().filter_map(|project| Past::of(project).ok());
        RunView::newest_first(past.flat_map(|past| past.unfinished().into_iter().chain(past.runs())))
    }

    /// Those that were run; to learn of others, the project would have to be built.
    fn experiments(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let names = self.past().into_iter().map(|run| run.experiment);
        names.filter(|name| seen.insert(name.clone())).collect()
    }

    fn runs(&self) -> Vec<String> {
        let experiment = self.context.get_argument("experiment").filter(|name| !name.is_empty());
        let runs = self.past().into_iter();
        let ids: Vec<_> = runs
            .filter(|run| experiment.is_none_or(|typed| is_name_of(typed, &run.experiment)))
            .map(|run| run.id)
            .collect();
        let latest = (!ids.is_empty()).then(|| LATEST.to_owned());
        latest.into_iter().chain(ids).collect()
    }

    /// The keys of the items of the run that was chosen before, else of the newest one.
    fn keys(&self) -> Vec<String> {
        let run = self.context.get_argument("runId").map_or(LATEST, String::as_str);
        let past = self.projects.iter().filter_map(|project| Past::of(project).ok());
        let found = past.filter_map(|past| past.find(run).ok()).next();
        found.map_or_else(Vec::new, |found| keys(&found.report))
    }
}

/// The Rust sources in a folder, as seen from it, those that were written last first.
fn sources(root: &Path) -> Vec<String> {
    let is_looked_into = |entry: &walkdir::DirEntry| {
        entry.depth() == 0 || !entry.file_type().is_dir() || !is_made(entry.path())
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
