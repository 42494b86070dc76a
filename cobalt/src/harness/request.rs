//! What `cargo cobalt` asks of a test binary that it starts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::filter::Filter;
use crate::config::REQUEST as VARIABLE;
use crate::pattern::Pattern;
use crate::reporters::PROTOCOL;

/// What a test binary is to tell events of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// The experiments are run.
    Run,
    /// The experiments are only listed.
    List,
    /// The keys that are missing for what would be run; nothing is.
    MissingKeys,
    /// The experiments are named as they are declared, and no data is read.
    Names,
}

/// A request: to tell events, rather than to print test cases.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    protocol: String,
    /// The process that asks. What its child starts in turn is not asked.
    asker: u32,
    /// The file or the pipe that the events are written to.
    pub events: PathBuf,
    /// Patterns of which an experiment's name or one of its tags must match one; none selects every experiment.
    pub filters: Vec<Pattern>,
    /// The whole names of the experiments that are meant; none means every experiment.
    pub experiments: Vec<String>,
    /// What is asked for.
    pub wanted: Wanted,
}

impl Request {
    /// A request in the version of this library, about all experiments.
    #[must_use]
    pub fn new(events: PathBuf, wanted: Wanted) -> Self {
        Self {
            protocol: PROTOCOL.to_owned(),
            asker: std::process::id(),
            events,
            filters: Vec::new(),
            experiments: Vec::new(),
            wanted,
        }
    }

    /// The variable and its value for a process that is asked.
    ///
    /// # Errors
    ///
    /// A path that is no UTF-8.
    pub fn variable(&self) -> serde_json::Result<(&'static str, String)> {
        Ok((VARIABLE, serde_json::to_string(self)?))
    }

    /// Whether it is answered where the arguments ask for the lines that libtest prints. These name no key that is missing, nor
    /// an experiment that was not asked for.
    pub(super) fn is_answered_beside_test_output(&self) -> bool {
        matches!(self.wanted, Wanted::MissingKeys | Wanted::Names)
    }

    /// Which experiments are meant.
    pub(super) fn filter(&self) -> Filter<'_> {
        Filter { patterns: &self.filters, names: &self.experiments }
    }

    /// The request to this process, if there is one.
    pub(super) fn from_environment() -> Result<Option<Self>, String> {
        match std::env::var(VARIABLE) {
            Ok(text) if !text.is_empty() => Ok(Some(Self::read(&text)?).filter(Self::is_for_this_process)),
            _ => Ok(None),
        }
    }

    #[cfg(unix)]
    fn is_for_this_process(&self) -> bool {
        self.asker == std::os::unix::process::parent_id()
    }

    #[cfg(not(unix))]
    fn is_for_this_process(&self) -> bool {
        true
    }

    fn read(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Version {
            protocol: String,
        }

        let unfit = |problem: String| {
            format!(
                "{VARIABLE} asks for what this version of the library does not know: {problem}; let `cargo cobalt` and \
                 the library `cobalt` be of one version"
            )
        };
        let version: Version = serde_json::from_str(text).map_err(|error| unfit(error.to_string()))?;
        if version.protocol != PROTOCOL {
            return Err(unfit(format!("it speaks `{}`, and this is `{PROTOCOL}`", version.protocol)));
        }
        serde_json::from_str(text).map_err(|error| unfit(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_made() {
        let mut request = Request::new("/tmp/events".into(), Wanted::MissingKeys);
        request.filters = vec!["smoke".parse().unwrap()];
        request.experiments = vec!["desk".to_owned()];
        let (_, text) = request.variable().unwrap();
        let read = Request::read(&text).unwrap();
        assert_eq!(
            (read.events, read.filters, read.experiments, read.wanted),
            (request.events, request.filters, request.experiments, request.wanted)
        );
    }

    #[test]
    fn a_request_of_another_version_is_refused_with_both_versions() {
        let error =
            Request::read(r#"{"protocol": "cobalt experiments, protocol 99", "new": 1}"#).unwrap_err();
        assert!(error.contains("protocol 99") && error.contains(PROTOCOL), "{error}");
    }
}
