//! The contents of resources, and the addresses that name them.

use std::sync::Arc;

use cobalt::command::config::Setting;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::Serialize;

use crate::error::Error;
use crate::index::{Run, RunStatus};
use crate::mcp::guarded;
use crate::mcp::past::{FoundReport, Past, State, project_of};
use crate::mcp::projects::{Project, Projects};
use crate::mcp::shown::{self, ShownItem, ShownRun, Wanted, keep, size};

/// How many bytes a content takes at the most, as `size` counts them: beside it there is only its URI.
const ROOM: usize = 55_000;
/// The type of all of them.
pub const JSON: &str = "application/json";

/// How many runs are shown with items: each has room for some.
const MOST_WITH_ITEMS: usize = 4;
/// The room of the other runs, of which there may be hundreds.
const ROOM_OF_OTHERS: usize = ROOM / 5;

/// `cobalt://config`: the settings in force, and where each comes from. Keys and passwords in the values are redacted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    project: Project,
    settings: Vec<Setting>,
    /// Why they cannot be read: with this in them, nothing runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What had no room.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

pub fn config(project: &Project) -> Shown {
    let (mut settings, error) = match project.settings() {
        Ok(config) => (config.settings().to_vec(), None),
        Err(error) => (Vec::new(), Some(guarded::text(&error))),
    };
    let mut left_out = Vec::new();
    keep(&mut settings, ROOM, "settings", &mut left_out);
    Shown { project: project.clone(), settings, error, left_out }
}

/// `cobalt://latest-results`: the newest run of each experiment, what did not pass first: as many with their worst items as have
/// room, and the others in a row each.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Latest {
    project: Project,
    /// Those that did not pass come first.
    runs: Vec<ShownRun>,
    /// The further ones without their items.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<Row>,
    /// What had no room, and how much of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

/// A run without its items.
#[derive(Debug, Serialize)]
struct Row {
    /// Where all of it is.
    uri: String,
    #[serde(flatten)]
    run: Run,
}

pub fn latest(project: &Project, served: &[Arc<Project>]) -> Result<Latest, Error> {
    let past = Past::of(project)?;
    let mut newest = newest(&past);
    newest.sort_by_key(|run| run.status == RunStatus::Passed);
    let others = newest.split_off(newest.len().min(MOST_WITH_ITEMS));
    let row = |run: &Run| Row { uri: Place::Run(run.id.clone()).uri(project, served), run: run.clone() };
    let (mut others, mut left_out): (Vec<_>, _) = (others.into_iter().map(row).collect(), Vec::new());
    keep(&mut others, ROOM_OF_OTHERS, "others", &mut left_out);
    let room = ROOM.saturating_sub(size(&others) + size(&left_out) + size(project)) / newest.len().max(1);
    let show = |run: &Run| shown::run(&past.find(&run.id)?.report, &Wanted::default(), None, room);
    let mut runs = Vec::new();
    for run in newest {
        match show(run) {
            Ok(shown) => runs.push(shown),
            // It may have been removed since it was listed.
            Err(error) => left_out.push(format!("runs: {}, as {}", run.id, guarded::text(&error))),
        }
    }
    Ok(Latest { project: project.clone(), runs, others, left_out })
}

/// The newest run of each experiment, the newest first. One of some of the items is that of an experiment without another.
fn newest(past: &Past) -> Vec<&Run> {
    let mut newest: Vec<&Run> = Vec::new();
    for run in past.rows() {
        if newest.iter().all(|known| known.name != run.name) {
            newest.push(run);
        }
    }
    newest
}

/// `cobalt://runs/{runId}`: a run with the worst of its items.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OneRun {
    project: Project,
    state: State,
    /// What is worth knowing of which run it is, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    run: ShownRun,
}

/// `cobalt://runs/{runId}/items/{key}`: an item of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OneItem {
    project: Project,
    state: State,
    #[serde(flatten)]
    item: ShownItem,
}

/// The run of a name, and the project that it is of.
struct Found {
    project: Arc<Project>,
    found: FoundReport,
}

fn find(projects: &Projects, project: Option<&str>, name: &str) -> Result<Found, Error> {
    let (project, past): (_, Past) = project_of(projects, project, name)?;
    Ok(Found { found: past.find(name)?, project })
}

pub fn run(projects: &Projects, project: Option<&str>, name: &str) -> Result<OneRun, Error> {
    let Found { project, found } = find(projects, project, name)?;
    let run = shown::run(&found.report, &Wanted::default(), None, ROOM)?;
    Ok(OneRun { project: (*project).clone(), state: found.state, note: found.note, run })
}

pub fn item(projects: &Projects, project: Option<&str>, name: &str, key: &str) -> Result<OneItem, Error> {
    let Found { project, found } = find(projects, project, name)?;
    // Nothing is at this address.
    let item = shown::item(&found.report, key, ROOM);
    let item = item.map_err(|error| Error::NothingMatched(error.to_string()))?;
    Ok(OneItem { project: (*project).clone(), state: found.state, item })
}

/// A content as it is sent.
pub fn json_text(content: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(content).map_err(Error::Json)
}

/// How all of them begin.
const SCHEME: &str = "cobalt://";
/// The parameter that names a project.
const PROJECT: &str = "project=";
/// All but what RFC 3986 calls unreserved, as RFC 6570 has it for a variable of a template.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The template of a run, and that of an item of one.
pub const RUN: &str = "cobalt://runs/{runId}";
pub const ITEM: &str = "cobalt://runs/{runId}/items/{key}";
/// The template of the schema of a tool's answers, which are alike for all projects.
pub const SCHEMA: &str = "cobalt://schemas/{tool}";
/// What follows them where several projects are served, as RFC 6570 has it.
pub const OF_PROJECT: &str = "{?project}";

/// What there is, in words.
const THERE: &str = "there are cobalt://config, cobalt://experiments, cobalt://latest-results, cobalt://runs/{runId} and \
     cobalt://runs/{runId}/items/{key}, each with ?project= where several projects are served, and cobalt://schemas/{tool}";

/// What a URI names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub place: Place,
    /// The project, by its name or folder.
    pub project: Option<String>,
}

/// A resource of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Config,
    Experiments,
    LatestResults,
    /// A run, by its id or as runs are named.
    Run(String),
    /// An item of a run, by its key.
    Item {
        run: String,
        key: String,
    },
    /// The schema of what a tool answers, by its name.
    Schema(String),
}

impl Address {
    /// Reads a URI.
    pub fn read(uri: &str) -> Result<Self, Error> {
        let unknown = || Error::NothingMatched(format!("no resource is at `{uri}`: {THERE}"));
        let rest = uri.strip_prefix(SCHEME).ok_or_else(unknown)?;
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        let place = match path.split('/').collect::<Vec<_>>()[..] {
            ["config"] | ["config", ""] => Place::Config,
            ["experiments"] | ["experiments", ""] => Place::Experiments,
            ["latest-results"] | ["latest-results", ""] => Place::LatestResults,
            ["runs", run] if !run.is_empty() => Place::Run(decoded(uri, run)?),
            ["runs", run, "items", key] if !run.is_empty() => {
                Place::Item { run: decoded(uri, run)?, key: decoded(uri, key)? }
            }
            ["schemas", tool] if !tool.is_empty() => Place::Schema(decoded(uri, tool)?),
            _ => return Err(unknown()),
        };
        let project = match query.filter(|query| !query.is_empty()) {
            Some(query) => Some(decoded(uri, query.strip_prefix(PROJECT).ok_or_else(unknown)?)?),
            None => None,
        };
        Ok(Self { place, project })
    }
}

impl Place {
    /// The URI of it, which names the project where several are served.
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
            _ => format!("?{PROJECT}{}", encoded(&name_among(project, all))),
        };
        format!("{SCHEME}{path}{query}")
    }
}

/// The name of a project, or its folder where another has the same name.
pub fn name_among(project: &Project, all: &[Arc<Project>]) -> String {
    match all.iter().filter(|other| other.name == project.name).count() {
        0 | 1 => project.name.clone(),
        _ => project.root.display().to_string(),
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// A part of a URI as it was before it was encoded.
fn decoded(uri: &str, part: &str) -> Result<String, Error> {
    let malformed = |why| Error::Arguments(format!("`{uri}` is no URI: {why}"));
    let is_code = |rest: &str| rest.len() >= 2 && rest.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit);
    if !part.split('%').skip(1).all(is_code) {
        return Err(malformed("two hexadecimal digits are expected after each `%`; a `%` itself is `%25`"));
    }
    let text = percent_decode_str(part).decode_utf8();
    Ok(text.map_err(|_| malformed("what is percent-encoded is expected to be UTF-8"))?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(name: &str, root: &str) -> Arc<Project> {
        Arc::new(Project { name: name.to_owned(), root: root.into() })
    }

    #[test]
    fn whatever_a_key_has_in_it_comes_back_out_of_its_uri() {
        let all = [project("one", "/a/one"), project("two & more", "/a/two")];
        for key in ["paris", "a/b", "../..", "100%", "%2F", "a?b=c#d", "größe", "a b+c", ""] {
            let place = Place::Item { run: "8fd9a1c0b2e4".to_owned(), key: key.to_owned() };
            let uri = place.uri(&all[1], &all);
            let read = Address::read(&uri).unwrap();
            assert_eq!(read, Address { place, project: Some("two & more".to_owned()) }, "{uri}");
        }
    }

    #[test]
    fn one_project_is_not_named_and_two_of_a_name_are_by_their_folders() {
        let one = project("app", "/a/app");
        assert_eq!(Place::Config.uri(&one, std::slice::from_ref(&one)), "cobalt://config");
        let all = [one, project("app", "/b/app")];
        assert_eq!(Place::Config.uri(&all[1], &all), "cobalt://config?project=%2Fb%2Fapp");
    }

    #[test]
    fn what_is_no_address_is_refused() {
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
            assert!(matches!(Address::read(uri), Err(Error::NothingMatched(_))), "{uri}");
        }
        for uri in ["cobalt://runs/%", "cobalt://runs/%4", "cobalt://runs/%zz", "cobalt://runs/%FF"] {
            assert!(matches!(Address::read(uri), Err(Error::Arguments(_))), "{uri}");
        }
    }
}
