//! `PATCH /api/runs/ID`: the name, note and tags of a run.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use cobalt_core::redact::redacted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::{JsonBody, WriteContext};
use crate::cli::{RunName, RunSelector};
use crate::runs::{RunLabels, write_labels};
use crate::serve::api::PathParams;
use crate::serve::error::ApiError;

/// The longest name of a run and the longest tag, in characters.
const MAX_NAME: usize = 100;
/// The longest note, in characters.
const MAX_NOTE: usize = 4_000;
const MAX_TAGS: usize = 30;

/// The labels to change; those that are absent stay.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LabelsChange {
    /// The run's name, up to 100 characters; empty removes it.
    run_name: Option<String>,
    /// A note, up to 4,000 characters; empty removes it.
    note: Option<String>,
    /// All tags of the run, up to 30.
    tags: Option<Vec<String>>,
}

/// The labels of a run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LabelledRun {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    tags: Vec<String>,
}

pub async fn update(
    State(context): State<Arc<WriteContext>>,
    PathParams(id): PathParams<String>,
    JsonBody(change): JsonBody<LabelsChange>,
) -> Result<Json<LabelledRun>, ApiError> {
    let change = change.validated()?;
    context
        .blocking(move |context| {
            let file = context.store.finished_file(&id)?;
            if let Some(name) = change.run_name.as_ref().filter(|name| context.store.run_file(name).is_ok()) {
                return Err(ApiError::bad_request(format!(
                    "`{name}` is the ID of a run; choose another `runName`"
                )));
            }
            let labels = write_labels(&file, &change)?;
            let RunLabels { run_name, note, tags } = labels;
            Ok(Json(LabelledRun { id, run_name, note, tags: tags.unwrap_or_default() }))
        })
        .await
}

impl LabelsChange {
    /// The trimmed labels without secrets.
    fn validated(self) -> Result<RunLabels, ApiError> {
        if self.run_name.is_none() && self.note.is_none() && self.tags.is_none() {
            return Err(ApiError::bad_request("nothing to change; send `runName`, `note` or `tags`"));
        }
        let one_line = |what: &str, text: &str| {
            let text = text.trim();
            match text.chars().count() <= MAX_NAME && !text.chars().any(char::is_control) {
                true => Ok(redacted(text).into_owned()),
                false => Err(ApiError::bad_request(format!(
                    "expected `{what}` to be one line of at most {MAX_NAME} characters"
                ))),
            }
        };
        let note = |text: String| match text.chars().count() <= MAX_NOTE {
            true => Ok(redacted(text.trim()).into_owned()),
            false => {
                Err(ApiError::bad_request(format!("expected `note` to have at most {MAX_NOTE} characters")))
            }
        };
        let tags = |tags: Vec<String>| {
            let mut seen = BTreeSet::new();
            let tags = tags.iter().map(|tag| one_line("tags", tag)).collect::<Result<Vec<_>, _>>()?;
            let tags: Vec<_> =
                tags.into_iter().filter(|tag| !tag.is_empty() && seen.insert(tag.clone())).collect();
            match tags.len() <= MAX_TAGS {
                true => Ok(tags),
                false => Err(ApiError::bad_request(format!("expected at most {MAX_TAGS} tags"))),
            }
        };
        let run_name = |name: String| {
            let name = one_line("runName", &name)?;
            match name.parse::<RunName>().map(|name| name.meaning) {
                Ok(RunSelector::Lookup) => Ok(name),
                Ok(_) | Err(_) => Err(ApiError::bad_request(format!(
                    "`{name}` selects runs, as `latest`, `target` and `branch:…` do; choose another `runName`"
                ))),
            }
        };
        Ok(RunLabels {
            run_name: self.run_name.map(run_name).transpose()?,
            note: self.note.map(note).transpose()?,
            tags: self.tags.map(tags).transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn validated(change: &Value) -> Result<RunLabels, ApiError> {
        serde_json::from_value::<LabelsChange>(change.clone()).unwrap().validated()
    }

    #[test]
    fn labels_are_trimmed_and_tags_are_there_once() {
        let change =
            json!({ "runName": " tuned prompt ", "note": "two\nlines\n", "tags": ["b", " a", "b", ""] });
        let expected = RunLabels {
            run_name: Some("tuned prompt".to_owned()),
            note: Some("two\nlines".to_owned()),
            tags: Some(vec!["b".to_owned(), "a".to_owned()]),
        };
        assert_eq!(validated(&change).unwrap(), expected);
    }

    #[test]
    fn long_or_broken_labels_are_refused() {
        for change in [
            json!({}),
            json!({ "runName": "x".repeat(101) }),
            json!({ "runName": "two\nlines" }),
            json!({ "note": "x".repeat(4_001) }),
            json!({ "tags": ["\u{1b}[31m"] }),
            json!({ "tags": (0..31).map(|tag| tag.to_string()).collect::<Vec<_>>() }),
        ] {
            assert!(validated(&change).is_err(), "{change}");
        }
    }

    #[test]
    fn names_with_another_meaning_are_refused() {
        for name in ["latest", "desk@latest~2", "latest~x", "target", "branch:main"] {
            let error = validated(&json!({ "runName": name })).unwrap_err();
            assert!(format!("{error:?}").contains("choose another `runName`"), "{error:?}");
        }
        for name in ["", "decade", "2026-11-28", "0123456789ab", "the latest"] {
            assert!(validated(&json!({ "runName": name })).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_secret_in_a_note_is_not_stored() {
        let letters = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0iLxRuO";
        let key = format!("ghp_{letters}");
        let labels = validated(&json!({ "note": format!("made with {key}") })).unwrap();
        assert!(!labels.note.unwrap().contains(&key));
    }
}
