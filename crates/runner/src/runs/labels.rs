//! The labels that a user gives to a run: a name, a note, and tags. They are fields of its result file; nothing else in it changes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use cobalt_core::store::strip_bom;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::atomic_file::replace_unchanged;
use crate::error::Error;

/// Labels: those of a run, or those to change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunLabels {
    /// Empty removes it.
    pub run_name: Option<String>,
    /// Empty removes it.
    pub note: Option<String>,
    pub tags: Option<Vec<String>>,
}

/// The fields of the file, in this order where they are new.
const RUN_NAME: &str = "runName";
const NOTE: &str = "note";
const TAGS: &str = "tags";
/// New fields follow this one.
const PREDECESSOR: &str = "name";
/// How often to try if others change the file at the same time.
const MAX_ATTEMPTS: usize = 20;

/// Changes labels in a result file, atomically. Returns all of the run's labels.
///
/// # Errors
///
/// The file cannot be read or written, is not a result file, or keeps changing.
pub fn write_labels(path: &Path, change: &RunLabels) -> Result<RunLabels, Error> {
    let failed = |reason: String| Error::RunFile { path: path.to_owned(), reason };
    let mut attempts = 0;
    loop {
        let bytes = fs::read(path).map_err(|error| failed(error.to_string()))?;
        let (text, labels) =
            edit(strip_bom(&bytes), change).map_err(|error| failed(format!("not a result file: {error}")))?;
        if text.as_bytes() == strip_bom(&bytes) {
            return Ok(labels);
        }
        attempts += 1;
        match replace_unchanged(path, &bytes, &text) {
            Ok(()) => return Ok(labels),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempts < MAX_ATTEMPTS => {}
            Err(error) => return Err(failed(error.to_string())),
        }
    }
}

/// The labels in a result file.
///
/// # Errors
///
/// The file cannot be read, or is not a result file.
pub fn read_labels(path: &Path) -> Result<RunLabels, Error> {
    let failed = |reason: String| Error::RunFile { path: path.to_owned(), reason };
    let bytes = fs::read(path).map_err(|error| failed(error.to_string()))?;
    let fields = serde_json::from_slice(strip_bom(&bytes));
    let labels = fields.and_then(|Fields(fields)| labels_of(&fields));
    labels.map_err(|error| failed(format!("not a result file: {error}")))
}

fn labels_of(fields: &[(String, Box<RawValue>)]) -> serde_json::Result<RunLabels> {
    Ok(RunLabels {
        run_name: value_of(fields, RUN_NAME)?,
        note: value_of(fields, NOTE)?,
        tags: value_of(fields, TAGS)?,
    })
}

/// The edited text of a result file, and its labels.
fn edit(bytes: &[u8], change: &RunLabels) -> serde_json::Result<(String, RunLabels)> {
    let Fields(mut fields) = serde_json::from_slice(bytes)?;
    let text = |text: &Option<String>| {
        let value = |text: &String| (!text.is_empty()).then(|| to_raw_value(text)).transpose();
        text.as_ref().map(value).transpose()
    };
    let tags = change.tags.as_ref().map(|tags| to_raw_value(tags).map(Some)).transpose()?;
    // The last one ends up first.
    for (name, value) in [(TAGS, tags), (NOTE, text(&change.note)?), (RUN_NAME, text(&change.run_name)?)] {
        let Some(value) = value else { continue };
        let at = fields.iter().position(|(field, _)| field == name);
        match (at, value) {
            (Some(at), Some(value)) => fields[at].1 = value,
            (Some(at), None) => drop(fields.remove(at)),
            (None, Some(value)) => {
                let place = fields.iter().position(|(field, _)| field == PREDECESSOR).map_or(0, |at| at + 1);
                fields.insert(place, (name.to_owned(), value));
            }
            (None, None) => {}
        }
    }
    let labels = labels_of(&fields)?;
    let lines = fields.iter().map(|(name, value)| Ok(format!("  {}: {value}", serde_json::to_string(name)?)));
    let lines = lines.collect::<serde_json::Result<Vec<_>>>()?;
    Ok((format!("{{\n{}\n}}\n", lines.join(",\n")), labels))
}

fn value_of<T: DeserializeOwned>(
    fields: &[(String, Box<RawValue>)],
    name: &str,
) -> serde_json::Result<Option<T>> {
    let value = fields.iter().find(|(field, _)| field == name);
    value.map_or(Ok(None), |(_, value)| serde_json::from_str(value.get()))
}

/// The fields of an object in their order, with the text of their values.
struct Fields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let (mut fields, mut places) = (Vec::new(), BTreeMap::new());
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    // Of two fields with the same name, readers use none: it is an error.
                    if places.insert(name.clone(), fields.len()).is_some() {
                        return Err(serde::de::Error::custom(format!("duplicate field `{name}`")));
                    }
                    fields.push((name, value));
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use cobalt_core::report::Report;

    use super::*;

    const FILE: &str = "{\n  \"schema\": 1,\n  \"id\": \"5ea00522f3eb\",\n  \"name\": \"desk\",\n  \"timestamp\": \"2026-02-05T10:00:34.836Z\",\n  \
                        \"tags\": [],\n  \"unknown\": 1.50,\n  \"config\": {\n    \"runs\": 1, \"concurrency\": 1, \"timeout\": 1000, \
                        \"evaluators\": []\n  },\n  \"summary\": {},\n  \"items\": [\n    {\"index\":0}\n  ]\n}\n";

    fn labels(run_name: Option<&str>, note: Option<&str>, tags: Option<&[&str]>) -> RunLabels {
        RunLabels {
            run_name: run_name.map(str::to_owned),
            note: note.map(str::to_owned),
            tags: tags.map(|tags| tags.iter().map(|tag| (*tag).to_owned()).collect()),
        }
    }

    #[test]
    fn only_the_labels_of_a_file_change_and_all_of_them_can_be_removed() {
        let change = labels(Some("tuned"), Some("better \"tone\""), Some(&["a"]));
        let (text, after) = edit(FILE.as_bytes(), &change).unwrap();
        assert_eq!(after, change);
        let expected = FILE
            .replace(
                "\"desk\",\n",
                "\"desk\",\n  \"runName\": \"tuned\",\n  \"note\": \"better \\\"tone\\\"\",\n",
            )
            .replace("\"tags\": []", "\"tags\": [\"a\"]");
        assert_eq!(text, expected);
        let (again, after) = edit(text.as_bytes(), &labels(None, Some("other"), None)).unwrap();
        assert_eq!(after, labels(Some("tuned"), Some("other"), Some(&["a"])));
        let (plain, _) = edit(again.as_bytes(), &labels(Some(""), Some(""), Some(&[]))).unwrap();
        assert_eq!(plain, FILE);
    }

    #[test]
    fn a_labelled_file_is_read_and_keeps_its_labels_when_it_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let file = FILE.replace("{\"index\":0}", "");
        fs::write(&path, format!("\u{feff}{file}")).unwrap();
        write_labels(&path, &labels(Some("tuned"), Some("why"), None)).unwrap();
        let report: Report = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!((report.run_name.as_deref(), report.note.as_deref()), (Some("tuned"), Some("why")));
        assert_eq!(report.without_items().run_name.as_deref(), Some("tuned"));
        assert!(report.to_json().unwrap().contains("\"runName\": \"tuned\""));
    }

    #[test]
    fn labels_that_are_changed_at_once_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        fs::write(&path, FILE).unwrap();
        let changes = [
            labels(Some("tuned"), None, None),
            labels(None, Some("why"), None),
            labels(None, None, Some(&["a"])),
        ];
        std::thread::scope(|scope| {
            for change in &changes {
                scope.spawn(|| write_labels(&path, change).unwrap());
            }
        });
        let all = labels(Some("tuned"), Some("why"), Some(&["a"]));
        assert_eq!(write_labels(&path, &RunLabels::default()).unwrap(), all);
    }

    #[test]
    fn other_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        for text in ["[]", "{\"id\": 1, \"id\": 2}", "no JSON"] {
            fs::write(&path, text).unwrap();
            assert!(write_labels(&path, &labels(Some("tuned"), None, None)).is_err(), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
