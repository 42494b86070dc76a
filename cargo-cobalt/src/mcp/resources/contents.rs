//! The contents of resources, and their URIs.

use std::sync::Arc;

use cobalt::command::config::Setting;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::Serialize;

use crate::error::Error;
use crate::index::{IndexedRun, RunStatus};
use crate::mcp::panic_guard;
use crate::mcp::past_runs::{LoadedRun, PastRuns, State, find_project};
use crate::mcp::projects::{Project, Projects};
use crate::mcp::view::{self, ItemPage, ItemQuery, RunPage, keep_fitting, size};

/// The maximum `size` of a resource; a response has only its URI in addition.
const ROOM: usize = 55_000;
/// The MIME type of all resources.
pub const JSON: &str = "application/json";

/// How many runs are shown with items, so each has room for some.
const MAX_WITH_ITEMS: usize = 4;
/// The room for the other runs, of which there may be hundreds.
const MAX_BRIEF: usize = ROOM / 5;

/// `cobalt://config`: the effective settings, and where each comes from. Keys and passwords in the values are redacted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigContent {
    project: Project,
    settings: Vec<Setting>,
    /// Why the settings cannot be read; nothing runs until this is fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What did not fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

pub fn config(project: &Project) -> ConfigContent {
    let (mut settings, error) = match project.settings() {
        Ok(config) => (config.settings().to_vec(), None),
        Err(error) => (Vec::new(), Some(panic_guard::error_message(&error))),
    };
    let mut left_out = Vec::new();
    keep_fitting(&mut settings, ROOM, "settings", &mut left_out);
    ConfigContent { project: project.clone(), settings, error, left_out }
}

/// `cobalt://latest-results`: the newest run of each experiment, those that did not pass first: as many as fit with their worst
/// items, the others without items.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LatestContent {
    project: Project,
    /// Runs that did not pass come first.
    runs: Vec<RunPage>,
    /// The other runs, without their items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<BriefRun>,
    /// What did not fit, and how much of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

/// A run without its items.
#[derive(Debug, Serialize)]
struct BriefRun {
    /// The URI of the full run.
    uri: String,
    #[serde(flatten)]
    run: IndexedRun,
}

pub fn latest(project: &Project, served: &[Arc<Project>]) -> Result<LatestContent, Error> {
    let past = PastRuns::open(project)?;
    let mut newest = newest(&past);
    newest.sort_by_key(|run| run.status == RunStatus::Passed);
    let others = newest.split_off(newest.len().min(MAX_WITH_ITEMS));
    let row = |run: &IndexedRun| BriefRun {
        uri: ResourceKind::Run(run.id.clone()).uri(project, served),
        run: run.clone(),
    };
    let (mut others, mut left_out): (Vec<_>, _) = (others.into_iter().map(row).collect(), Vec::new());
    keep_fitting(&mut others, MAX_BRIEF, "others", &mut left_out);
    let room = ROOM.saturating_sub(size(&others) + size(&left_out) + size(project)) / newest.len().max(1);
    let show = |run: &IndexedRun| view::run(&past.find(&run.id)?.file, &ItemQuery::default(), None, room);
    let mut runs = Vec::new();
    for run in newest {
        match show(run) {
            Ok(shown) => runs.push(shown),
            // It may have been removed since it was listed.
            Err(error) => left_out.push(format!("runs: {}: {}", run.id, panic_guard::error_message(&error))),
        }
    }
    Ok(LatestContent { project: project.clone(), runs, others, left_out })
}

/// The newest run of each experiment, newest first. Partial runs count only for experiments without a whole run.
fn newest(past: &PastRuns) -> Vec<&IndexedRun> {
    let mut newest: Vec<&IndexedRun> = Vec::new();
    for run in past.index_rows() {
        if newest.iter().all(|known| known.name != run.name) {
            newest.push(run);
        }
    }
    newest
}

/// `cobalt://runs/{runId}`: a run with its worst items.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunContent {
    project: Project,
    state: State,
    /// A note on how the name was resolved, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    run: RunPage,
}

/// `cobalt://runs/{runId}/items/{key}`: an item of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemContent {
    project: Project,
    state: State,
    #[serde(flatten)]
    item: ItemPage,
}

/// A run found by name, and its project.
struct ResolvedRun {
    project: Arc<Project>,
    found: LoadedRun,
}

fn find(projects: &Projects, project: Option<&str>, name: &str) -> Result<ResolvedRun, Error> {
    let (project, past): (_, PastRuns) = find_project(projects, project, name)?;
    Ok(ResolvedRun { found: past.find(name)?, project })
}

pub fn run(projects: &Projects, project: Option<&str>, name: &str) -> Result<RunContent, Error> {
    let ResolvedRun { project, found } = find(projects, project, name)?;
    let run = view::run(&found.file, &ItemQuery::default(), None, ROOM)?;
    Ok(RunContent { project: (*project).clone(), state: found.state, note: found.note, run })
}

pub fn item(projects: &Projects, project: Option<&str>, name: &str, key: &str) -> Result<ItemContent, Error> {
    let ResolvedRun { project, found } = find(projects, project, name)?;
    // There is no resource at this URI.
    let item = view::item(&found.file, key, ROOM);
    let item = item.map_err(|error| Error::NothingMatched(error.to_string()))?;
    Ok(ItemContent { project: (*project).clone(), state: found.state, item })
}

/// The content as JSON.
pub fn json_text(content: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(content).map_err(Error::Json)
}

/// The URI scheme.
const SCHEME: &str = "cobalt://";
/// The query parameter for a project.
const PROJECT: &str = "project=";
/// All characters except RFC 3986's unreserved ones, as RFC 6570 requires for template variables.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The URI templates of a run, and of an item of a run.
pub const RUN: &str = "cobalt://runs/{runId}";
pub const ITEM: &str = "cobalt://runs/{runId}/items/{key}";
/// The URI template of the schema of a tool's results, which is the same for all projects.
pub const SCHEMA: &str = "cobalt://schemas/{tool}";
/// The RFC 6570 suffix of templates if several projects are served.
pub const PROJECT_QUERY: &str = "{?project}";

/// All resources, for error messages.
const AVAILABLE: &str = "available: cobalt://config, cobalt://experiments, cobalt://latest-results, cobalt://runs/{runId} and \
     cobalt://runs/{runId}/items/{key}, each with ?project= if several projects are served, and cobalt://schemas/{tool}";

/// A parsed resource URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceUri {
    pub place: ResourceKind,
    /// The project's name or folder.
    pub project: Option<String>,
}

/// A resource of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    Config,
    Experiments,
    LatestResults,
    /// A run, by ID or another run name.
    Run(String),
    /// An item of a run, by its key.
    Item {
        run: String,
        key: String,
    },
    /// The schema of a tool's results, by tool name.
    Schema(String),
}

impl ResourceUri {
    /// Parses a URI.
    pub fn parse(uri: &str) -> Result<Self, Error> {
        let unknown = || Error::NothingMatched(format!("unknown resource `{uri}`; {AVAILABLE}"));
        let rest = uri.strip_prefix(SCHEME).ok_or_else(unknown)?;
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        let place = match path.split('/').collect::<Vec<_>>()[..] {
            ["config"] | ["config", ""] => ResourceKind::Config,
            ["experiments"] | ["experiments", ""] => ResourceKind::Experiments,
            ["latest-results"] | ["latest-results", ""] => ResourceKind::LatestResults,
            ["runs", run] if !run.is_empty() => ResourceKind::Run(decoded(uri, run)?),
            ["runs", run, "items", key] if !run.is_empty() => {
                ResourceKind::Item { run: decoded(uri, run)?, key: decoded(uri, key)? }
            }
            ["schemas", tool] if !tool.is_empty() => ResourceKind::Schema(decoded(uri, tool)?),
            _ => return Err(unknown()),
        };
        let project = match query.filter(|query| !query.is_empty()) {
            Some(query) => Some(decoded(uri, query.strip_prefix(PROJECT).ok_or_else(unknown)?)?),
            None => None,
        };
        Ok(Self { place, project })
    }
}

impl ResourceKind {
    /// The URI, with the project if several are served.
    pub fn uri(&self, project: &Project, all: &[Arc<Project>]) -> String {
        let path = match self {
            Self::Config => "config".to_owned(),
            Self::Experiments => "experiments".to_owned(),
            Self::LatestResults => "latest-results".to_owned(),
            Self::Run(run) => format!("runs/{}", encoded(run)),
            Self::Item { run, key } => format!("runs/{}/items/{}", encoded(run), encoded(key)),
            Self::Schema(tool) => format!("schemas/{}", encoded(tool)),
        };
        let query = match all.len() {
            0 | 1 => String::new(),
            _ if matches!(self, Self::Schema(_)) => String::new(),
            _ => format!("?{PROJECT}{}", encoded(&unique_name(project, all))),
        };
        format!("{SCHEME}{path}{query}")
    }
}

/// The name of a project, or its folder if another has the same name.
pub fn unique_name(project: &Project, all: &[Arc<Project>]) -> String {
    match all.iter().filter(|other| other.name == project.name).count() {
        0 | 1 => project.name.clone(),
        _ => project.root.display().to_string(),
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Decodes a part of a URI.
fn decoded(uri: &str, part: &str) -> Result<String, Error> {
    let malformed = |why| Error::Arguments(format!("`{uri}` is not a valid URI: {why}"));
    let is_code = |rest: &str| rest.len() >= 2 && rest.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit);
    if !part.split('%').skip(1).all(is_code) {
        return Err(malformed("expected two hexadecimal digits after `%`; write a literal `%` as `%25`"));
    }
    let text = percent_decode_str(part).decode_utf8();
    Ok(text.map_err(|_| malformed("percent-encoded bytes must be UTF-8"))?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(name: &str, root: &str) -> Arc<Project> {
        Arc::new(Project { name: name.to_owned(), root: root.into() })
    }

    #[test]
    fn any_key_survives_a_round_trip_through_its_uri() {
        let all = [project("one", "/a/one"), project("two & more", "/a/two")];
        for key in ["paris", "a/b", "../..", "100%", "%2F", "a?b=c#d", "größe", "a b+c", ""] {
            let place = ResourceKind::Item { run: "8fd9a1c0b2e4".to_owned(), key: key.to_owned() };
            let uri = place.uri(&all[1], &all);
            let read = ResourceUri::parse(&uri).unwrap();
            assert_eq!(read, ResourceUri { place, project: Some("two & more".to_owned()) }, "{uri}");
        }
    }

    #[test]
    fn a_single_project_is_not_named_and_two_of_one_name_are_named_by_folder() {
        let one = project("app", "/a/app");
        assert_eq!(ResourceKind::Config.uri(&one, std::slice::from_ref(&one)), "cobalt://config");
        let all = [one, project("app", "/b/app")];
        assert_eq!(ResourceKind::Config.uri(&all[1], &all), "cobalt://config?project=%2Fb%2Fapp");
    }

    #[test]
    fn invalid_uris_are_refused() {
        for uri in [
            "",
            "config",
            "file:///etc/passwd",
            "cobalt://",
            "cobalt://nothing",
            "cobalt://config/more",
            "cobalt://runs",
            "cobalt://runs/",
            "cobalt://runs/a/b",
            "cobalt://runs/../config",
            "cobalt://runs/a/items",
            "cobalt://runs/a/items/b/c",
            "cobalt://config?other=1",
        ] {
            assert!(matches!(ResourceUri::parse(uri), Err(Error::NothingMatched(_))), "{uri}");
        }
        for uri in ["cobalt://runs/%", "cobalt://runs/%4", "cobalt://runs/%zz", "cobalt://runs/%FF"] {
            assert!(matches!(ResourceUri::parse(uri), Err(Error::Arguments(_))), "{uri}");
        }
    }
}
