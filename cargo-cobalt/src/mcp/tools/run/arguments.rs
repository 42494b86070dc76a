//! What a run is asked for with, and the command that it becomes.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::fetching;
use crate::error::Error;
use crate::mcp::paths;
use crate::mcp::projects::Project;

/// The most that a number may ask for: more is a slip, and costs money.
const MOST: u32 = 1000;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::mcp) struct Arguments {
    /// The project, by its name or folder; may be left out where only one is served.
    pub(super) project: Option<String>,
    /// Only the experiments of this Rust file: a test target, or any file in which experiments are declared. Relative to the
    /// project's root.
    pub(super) file: Option<String>,
    /// Only experiments whose name or tag contains this or, with `*`, `?` or `[…]`, matches it.
    pub(super) filter: Option<String>,
    /// Only these experiments, by their whole names, as `cobalt_list` tells them or as in test cases; all where the list is empty.
    pub(super) experiments: Option<Vec<String>>,
    /// How many items of an experiment are worked on at a time, in place of what the project says.
    #[schemars(range(min = 1, max = MOST))]
    pub(super) concurrency: Option<u32>,
    /// How often each item is run, in place of what the experiment says: several runs tell a change from noise, and cost as much
    /// more.
    #[schemars(range(min = 1, max = MOST))]
    pub(super) runs: Option<u32>,
    /// Goes on with a run that was cut off: its id, or `latest` for the newest such run. Items that are finished are not run
    /// again.
    pub(super) resume: Option<String>,
    /// Fetches the data sets anew that come from elsewhere, in place of using the copies that are kept.
    #[serde(default)]
    pub(super) refresh: bool,
    /// Uses the copies of data sets that were fetched before, however old they are, and no network for the build.
    #[serde(default)]
    pub(super) offline: bool,
}

impl Arguments {
    /// Says what cannot be meant.
    pub(super) fn check(&self) -> Result<(), Error> {
        fetching(self.refresh, self.offline)?;
        if self.refresh && self.resume.is_some() {
            return Err(Error::Arguments(
                "`refresh` cannot stand beside `resume`: a run goes on with the data that it began with; leave one of them out"
                    .to_owned(),
            ));
        }
        if self.runs.is_some() && self.resume.is_some() {
            return Err(Error::Arguments(
                "`runs` cannot stand beside `resume`: a run that is resumed runs each item as often as it began with; leave \
                 one of them out"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// The arguments of `cargo cobalt` for it. Values stand behind `=`, whatever they begin with.
    pub(super) fn command(&self, project: &Project) -> Result<Vec<String>, Error> {
        let mut command = ["run", "--reporter=json", "--message-format=json"].map(str::to_owned).to_vec();
        if let Some(file) = &self.file {
            let file = paths::inside(project, "file", file)?;
            command.push(format!("--file={}", file.display()));
        }
        command.extend(self.filter.iter().map(|filter| format!("--filter={filter}")));
        command.extend(self.experiments.iter().flatten().map(|name| format!("--experiment={name}")));
        command.extend(self.concurrency.map(|items| format!("--concurrency={items}")));
        command.extend(self.runs.map(|runs| format!("--runs={runs}")));
        command.extend(fetching(self.refresh, self.offline)?);
        command.extend(self.resume.iter().map(|id| format!("--resume={id}")));
        Ok(command)
    }
}
