//! Datasets from real files: found relative to the package, with detected formats, and errors with file and line.

use std::fs;
use std::path::{Path, PathBuf};

use cobalt::{Dataset, IntoDataset, item};
use serde::Deserialize;
use tempfile::TempDir;

fn write(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    (folder, path)
}

/// Loads a file with this name and content. In errors, its directory is called `datasets`.
fn load(name: &str, content: impl AsRef<[u8]>) -> Result<Dataset, String> {
    let (folder, path) = write(name, content);
    let folder = folder.path().display().to_string();
    Dataset::from_file(&path).map_err(|error| error.to_string().replace(&folder, "datasets"))
}

/// The same two items in every format.
const FILES: [(&str, &str); 6] = [
    ("qa.json", r#"[{"input": "a", "n": "1"}, {"input": "b", "n": "2"}]"#),
    ("qa.JSON", r#"{"name": "qa", "items": [{"input": "a", "n": "1"}, {"input": "b", "n": "2"}]}"#),
    ("qa.jsonl", "{\"input\": \"a\", \"n\": \"1\"}\n\n{\"input\": \"b\", \"n\": \"2\"}\n"),
    ("qa.ndjson", "{\"n\": \"1\", \"input\": \"a\"}\r\n{\"input\": \"b\", \"n\": \"2\"}"),
    ("qa.csv", "input,n\r\na,1\r\n\"b\",\"2\"\r\n"),
    ("qa.tsv", "input\tn\na\t1\nb\t2"),
];

#[test]
fn every_format_gives_the_same_data_set() {
    let expected = Dataset::from_items([item! { "input": "a", "n": "1" }, item! { "input": "b", "n": "2" }]);
    for (name, content) in FILES {
        let dataset = load(name, content).unwrap();
        assert_eq!(dataset.hash(), expected.hash(), "{name}");
        assert_eq!(dataset.keys(), expected.keys(), "{name}");
        let by_content = load("data", content).unwrap();
        assert_eq!(by_content.hash(), expected.hash(), "{name}: format by content");
    }
}

#[test]
fn a_format_asked_for_by_name_overrules_the_extension() {
    let (_folder, path) = write("data.txt", "{\"a\": 1}");
    assert_eq!(Dataset::from_jsonl(&path).unwrap().len(), 1);
    assert!(Dataset::from_json(&path).is_err());
    let (_folder, path) = write("data.json", "a\n1\n2\n");
    assert_eq!(Dataset::from_csv(&path).unwrap().len(), 2);
    let (_folder, path) = write("data.csv", r#"{"items": [{}]}"#);
    assert_eq!(Dataset::from_json(&path).unwrap().len(), 1);
    let (_folder, path) = write("data.tsv", "a\tb\n1\t2\n");
    assert_eq!(Dataset::from_csv(&path).unwrap().get(0), Some(item! { "a": "1", "b": "2" }.into()));
}

#[test]
fn the_source_is_the_path_as_it_was_given() {
    let (_folder, path) = write("data.jsonl", "{\"a\": 1}\n{\"a\": 2}");
    assert_eq!(Dataset::from_file(&path).unwrap().slice(1..).source(), path.display().to_string());
    assert_eq!(Dataset::from_items([item! {}]).source(), "inline");
}

#[test]
fn a_malformed_line_is_named_by_file_and_number() {
    let good = "{\"id\": \"a\", \"input\": \"x\"}\n".repeat(5);
    assert_eq!(
        load("questions.jsonl", good + "{\"id\": \"broken\", \"input\": \n").unwrap_err(),
        "datasets/questions.jsonl:6: expected one complete JSON object: EOF while parsing a value at column 25 (items[5])"
    );
}

#[test]
fn a_file_without_items_is_an_error_that_says_what_to_do() {
    for name in ["a.json", "a.jsonl", "a.csv", "a.tsv", "a.txt", "a"] {
        assert_eq!(
            load(name, "").unwrap_err(),
            format!(
                "datasets/{name}: the dataset is empty (the file is blank); add at least one item or correct the path"
            )
        );
    }
}

#[test]
fn utf_16_is_refused_by_its_name() {
    let text: Vec<u8> = "\u{feff}[{}]".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for name in ["a.json", "a.jsonl", "a.csv", "a.txt"] {
        assert_eq!(
            load(name, &text).unwrap_err(),
            format!("datasets/{name}: expected UTF-8, found UTF-16 (little endian); save the file as UTF-8")
        );
    }
}

#[test]
fn a_file_that_is_not_there_is_reported_with_the_folder_and_a_similar_name() {
    let message = Dataset::from_file("tests/dataset_flies.rs").unwrap_err().to_string();
    assert!(message.starts_with("failed to read tests/dataset_flies.rs: "), "{message}");
    assert!(message.contains("did you mean `dataset_files.rs`?"), "{message}");
    assert!(message.contains(env!("CARGO_MANIFEST_DIR")), "{message}");
    assert!(Dataset::from_file("tests").unwrap_err().to_string().starts_with("failed to read tests: "));
}

#[test]
fn a_path_stands_for_the_data_set_in_the_file() {
    let (_folder, path) = write("data.jsonl", "{\"a\": 1}");
    let text = path.display().to_string();
    assert_eq!(path.clone().into_dataset().unwrap().len(), 1);
    assert_eq!(path.as_path().into_dataset().unwrap().len(), 1);
    assert_eq!(text.as_str().into_dataset().unwrap().len(), 1);
    assert_eq!(text.clone().into_dataset().unwrap().len(), 1);
    assert_eq!(Ok::<_, cobalt::Error>(text).into_dataset().unwrap().len(), 1);
    assert_eq!(Dataset::from_file(&path).into_dataset().unwrap().len(), 1);
}

#[test]
fn an_item_that_does_not_fit_its_type_is_named_by_file_index_and_key() {
    #[derive(Debug, Deserialize)]
    struct Question {
        #[expect(dead_code, reason = "it is only read")]
        expected_output: String,
    }
    let lines = "{\"id\": \"a\", \"expected_output\": \"x\"}\n{\"id\": \"b\", \"expectedOutput\": \"x\"}";
    let (_folder, path) = write("qa.jsonl", lines);
    let message = Dataset::from_file(&path).unwrap().typed::<Question>().unwrap_err().to_string();
    let reason = "items[1] (key `b`): missing field `expected_output`; the fields are `id`, `expectedOutput`; did you \
    mean `expectedOutput`? Add `#[serde(rename_all = \"camelCase\")]` to the struct";
    assert_eq!(message, format!("{}: {reason}", path.display()));
}

/// Regression tests for faults of the original. The one for biased samples is in `dataset_properties.rs`.
mod faults_not_repeated {
    use super::*;

    #[test]
    fn csv_is_broken_by_line_breaks_and_doubled_quotes() {
        let dataset = load("a.csv", "input,expectedOutput\n\"Say \"\"hi\"\",\nthen go\",ok\n").unwrap();
        assert_eq!(
            dataset.get(0),
            Some(item! { "input": "Say \"hi\",\nthen go", "expectedOutput": "ok" }.into())
        );
        assert_eq!(dataset.len(), 1);
    }

    #[test]
    fn a_byte_order_mark_is_refused() {
        for (name, content) in FILES {
            let dataset = load(name, format!("\u{feff}{content}")).unwrap();
            assert_eq!(dataset.get(0), Some(item! { "input": "a", "n": "1" }.into()), "{name}");
        }
    }

    #[test]
    fn items_are_known_by_position_and_not_by_identity() {
        let before = Dataset::from_items(["a", "b", "c"].map(|input| item! { "input": input })).keys();
        let after = Dataset::from_items(["new", "c", "a"].map(|input| item! { "input": input })).keys();
        assert_eq!((&before[0], &before[2]), (&after[2], &after[1]));
        assert!(!before.contains(&after[0]));
    }

    #[test]
    fn two_runs_draw_different_samples() {
        let draw = || Dataset::from_items((0..100).map(|n| item! { "n": n })).sample(10).hash();
        assert_eq!(draw(), draw());
    }
}

#[test]
fn the_problems_of_gsm8k_are_read() {
    let shared = std::env::var_os("COBALT_SHARED").map(PathBuf::from);
    let shared = shared.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    let path = shared.join("data/gsm8k/solutions.jsonl");
    if !path.exists() {
        println!("skipped: {} does not exist", path.display());
        return;
    }
    let dataset = Dataset::from_file(path).unwrap();
    assert_eq!(dataset.len(), 1319);
    assert!(dataset.get(0).unwrap()["question"].as_str().unwrap().starts_with("Janet’s ducks lay 16 eggs"));
}
