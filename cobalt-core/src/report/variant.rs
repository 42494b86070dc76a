//! The variant of an experiment that a run belongs to.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The variant of an experiment that was run, with its settings. The runs of an experiment's variants share a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunVariant {
    /// The experiment's name. The run's name is the same for the default variant, and `<experiment>::<variant>` for the others.
    pub experiment: String,
    /// The variant's name.
    pub name: String,
    /// The ID that the runs of all variants share: 12 hexadecimal digits.
    pub group: String,
    /// Its place among the variants as declared, from 0.
    #[serde(default)]
    pub position: usize,
    /// Whether it is the default variant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_default: bool,
    /// Its settings.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub settings: Value,
}

impl RunVariant {
    /// The name of a variant's run.
    #[must_use]
    pub fn run_name(experiment: &str, variant: &str, is_default: bool) -> String {
        if is_default { experiment.to_owned() } else { format!("{experiment}::{variant}") }
    }
}
