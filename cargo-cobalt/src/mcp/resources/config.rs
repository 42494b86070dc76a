//! `cobalt://config`: the settings in force, and where each comes from.

use cobalt::config::Setting;
use serde::Serialize;

use super::ROOM;
use crate::mcp::projects::Project;
use crate::mcp::refusal;
use crate::mcp::shown::keep;

/// Keys and passwords in the values are redacted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    project: Project,
    settings: Vec<Setting>,
    /// Why they cannot be read: with this in them, nothing runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What had no room.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

pub(super) fn read(project: &Project) -> Shown {
    let (mut settings, error) = match project.settings() {
        Ok(config) => (config.settings().to_vec(), None),
        Err(error) => (Vec::new(), Some(refusal::text(&error))),
    };
    let mut left_out = Vec::new();
    keep(&mut settings, ROOM, "settings", &mut left_out);
    Shown { project: project.clone(), settings, error, left_out }
}
