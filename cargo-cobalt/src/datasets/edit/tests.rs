//! Added items read back equal, and unchanged content keeps its bytes, for any items in any layout.

use std::fs;
use std::path::Path;

use cobalt::{Dataset, item};
use cobalt_core::item::Item;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{DataFile, WriteError};

/// The layout of an existing file.
#[derive(Clone, Copy, Debug)]
enum FileLayout {
    Lines,
    Array,
    PrettyArray,
    PrettyObject,
    Csv(char),
}

const ALL: [FileLayout; 6] = [
    FileLayout::Lines,
    FileLayout::Array,
    FileLayout::PrettyArray,
    FileLayout::PrettyObject,
    FileLayout::Csv(','),
    FileLayout::Csv('\t'),
];

impl FileLayout {
    fn file(self) -> &'static str {
        match self {
            Self::Lines => "a.jsonl",
            Self::Array | Self::PrettyArray | Self::PrettyObject => "a.json",
            Self::Csv(',') => "a.csv",
            Self::Csv(_) => "a.tsv",
        }
    }

    /// The items as a text.
    fn text(self, items: &[Item]) -> String {
        match self {
            Self::Lines => items.iter().map(|item| json!(item).to_string() + "\n").collect(),
            Self::Array => json!(items).to_string(),
            Self::PrettyArray => serde_json::to_string_pretty(items).unwrap() + "\n",
            Self::PrettyObject => {
                serde_json::to_string_pretty(&json!({ "a": [1], "items": items, "name": "n" })).unwrap()
                    + "\n"
            }
            Self::Csv(delimiter) => {
                let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
                let row = |cells: Vec<String>| cells.join(&delimiter.to_string()) + "\n";
                let cells =
                    |item: &Item| row(item.values().map(|cell| quoted(cell.as_str().unwrap())).collect());
                let header = items.first().map(|item| row(item.keys().map(|name| quoted(name)).collect()));
                header.into_iter().chain(items.iter().map(cells)).collect()
            }
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4).prop_map(|fields| json!(fields)),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    "[ -~\\n\\r\\t\",é🦀\u{2028}{}\\[\\]]{0,6}"
}

/// Items; for CSV, with strings only.
fn items(are_texts: bool) -> impl Strategy<Value = Vec<Item>> {
    let value = if are_texts { text().prop_map(Value::from).boxed() } else { value().boxed() };
    let item = (value.clone(), value).prop_map(|(input, note)| item! { "input": input, "a,\"note\"": note });
    prop::collection::vec(item, 1..6)
}

/// A layout, existing and new items, and whether the file has a byte order mark, CRLF, and no final line ending.
fn case() -> impl Strategy<Value = (FileLayout, Vec<Item>, Vec<Item>, bool, bool, bool)> {
    prop::sample::select(&ALL[..]).prop_flat_map(|written| {
        let are_texts = matches!(written, FileLayout::Csv(_));
        (Just(written), items(are_texts), items(are_texts), any::<bool>(), any::<bool>(), any::<bool>())
    })
}

fn data_file(path: &Path) -> Result<DataFile, WriteError> {
    DataFile::read(path, Path::new("no copies"))
}

fn read(path: &Path) -> Vec<Item> {
    Dataset::from_file(path).unwrap().iter().map(std::sync::Arc::unwrap_or_clone).collect()
}

proptest! {
    #[test]
    fn items_that_are_added_are_read_back_and_no_byte_of_the_others_changes(
        (written, there, new, has_mark, has_crlf, lacks_end) in case(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(written.file());
        let mut before = written.text(&there);
        if has_crlf && !matches!(written, FileLayout::Csv(_)) {
            before = before.replace('\n', "\r\n");
        }
        if lacks_end {
            before.truncate(before.trim_end_matches(['\r', '\n']).len());
        }
        if has_mark {
            before.insert(0, '\u{feff}');
        }
        fs::write(&path, &before).unwrap();
        data_file(&path).unwrap().append(new.clone()).unwrap().save().unwrap();
        let after = fs::read_to_string(&path).unwrap();
        prop_assert_eq!(read(&path), [there, new].concat());
        let beginning = before.bytes().zip(after.bytes()).take_while(|(one, other)| one == other).count();
        prop_assert!(after.as_bytes().ends_with(&before.as_bytes()[beginning..]), "{before:?} {after:?}");
    }

    #[test]
    fn items_that_are_removed_are_gone_and_no_byte_of_the_others_changes(
        (written, one, other, has_mark, has_crlf, lacks_end) in case(),
        is_kept in prop::collection::vec(any::<bool>(), 10),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(written.file());
        let all = [one, other].concat();
        let kept: Vec<_> = (0..all.len()).filter(|index| *index == 0 || is_kept[index - 1]).collect();
        let removed: Vec<_> = (0..all.len()).filter(|index| !kept.contains(index)).collect();
        // The result is as if the removed items had never been there.
        let written_as = |items: &[Item]| {
            let text = if has_crlf && !matches!(written, FileLayout::Csv(_)) {
                written.text(items).replace('\n', "\r\n")
            } else {
                written.text(items)
            };
            if has_mark { format!("\u{feff}{text}") } else { text }
        };
        let mut before = written_as(&all);
        let mut expected = written_as(&kept.iter().map(|index| all[*index].clone()).collect::<Vec<_>>());
        if lacks_end && kept.ends_with(&[all.len() - 1]) {
            before.truncate(before.trim_end_matches(['\r', '\n']).len());
            expected.truncate(expected.trim_end_matches(['\r', '\n']).len());
        }
        fs::write(&path, &before).unwrap();
        data_file(&path).unwrap().remove(&removed).unwrap().save().unwrap();
        prop_assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    }
}

/// The text of a file after adding these items.
fn added(file: &str, before: Option<&str>, items: &[Item]) -> Result<String, WriteError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    if let Some(before) = before {
        fs::write(&path, before).unwrap();
    }
    let read = data_file(&path)?;
    let items = read.fit_items(items.to_vec()).into_iter().collect::<Result<_, _>>()?;
    read.append(items)?.save()?;
    Ok(fs::read_to_string(path).unwrap())
}

#[test]
fn a_new_item_is_laid_out_as_the_last_one_is() {
    let new = [item! { "tags": ["x"], "input": "b", "id": 2 }];
    for (file, before, after) in [
        (
            "a.jsonl",
            "{\"id\":1,\"input\":\"a\"}",
            "{\"id\":1,\"input\":\"a\"}\n{\"id\":2,\"input\":\"b\",\"tags\":[\"x\"]}\n",
        ),
        (
            "a.jsonl",
            "{\"input\": \"a\"}\r\n\r\n",
            "{\"input\": \"a\"}\r\n\r\n{\"input\": \"b\", \"id\": 2, \"tags\": [\"x\"]}\r\n",
        ),
        (
            "a.jsonl",
            "{\"a\": {\"a\":1}}\n",
            "{\"a\": {\"a\":1}}\n{\"id\": 2, \"input\": \"b\", \"tags\": [\"x\"]}\n",
        ),
        (
            "a.json",
            "[{\"id\": 1},  {\"id\": 3}]",
            "[{\"id\": 1},  {\"id\": 3},  {\"id\": 2, \"input\": \"b\", \"tags\": [\"x\"]}]",
        ),
        (
            "a.json",
            "[\n\t{\"id\":1}\n]\n",
            "[\n\t{\"id\":1},\n\t{\"id\":2,\"input\":\"b\",\"tags\":[\"x\"]}\n]\n",
        ),
        (
            "a.json",
            "{ \"items\": [\n   {\n\t\t\"id\": 1\n   }\n] }",
            "{ \"items\": [\n   {\n\t\t\"id\": 1\n   },\n   {\n     \"id\": 2,\n     \"input\": \"b\",\n     \"tags\": [\n       \"x\"\n     ]\n   }\n] }",
        ),
    ] {
        assert_eq!(added(file, Some(before), &new).unwrap(), after);
    }
}

#[test]
fn a_file_without_items_gets_some() {
    let new = [item! { "input": "b", "id": "2" }];
    let pretty = "[\n  {\n    \"id\": \"2\",\n    \"input\": \"b\"\n  }\n]";
    for (file, before, after) in [
        ("a.jsonl", None, "{\"id\": \"2\", \"input\": \"b\"}\n".to_owned()),
        ("a.ndjson", Some("\u{feff}"), "\u{feff}{\"id\": \"2\", \"input\": \"b\"}\n".to_owned()),
        ("deep/er/a.json", None, format!("{pretty}\n")),
        ("a.json", Some(" \n"), format!("{pretty}\n")),
        ("a.json", Some("[ ]\n"), format!("{pretty}\n")),
        ("a.json", Some("{\"items\": []}"), format!("{{\"items\": {pretty}}}")),
        ("a.csv", None, "id,input\n2,b\n".to_owned()),
        ("a.tsv", Some("input\tid\textra\r\n"), "input\tid\textra\r\nb\t2\t\r\n".to_owned()),
    ] {
        assert_eq!(added(file, before, &new).unwrap(), after, "{file}");
    }
}

#[test]
fn a_cell_is_quoted_where_it_has_to_be() {
    let new = [item! { "a": "1,5", "b": "say \"no\"\nor \u{2028}" }, item! { "a": "", "b": 2.5 }];
    let after = added("a.csv", Some("a,b\n\"x\",y"), &new).unwrap();
    assert_eq!(after, "a,b\n\"x\",y\n\"1,5\",\"say \"\"no\"\"\nor \u{2028}\"\n,2.5\n");
    assert_eq!(added("a.csv", Some("a\nx\n"), &[item! {}]).unwrap(), "a\nx\n\"\"\n");
}

#[test]
fn what_does_not_fit_into_cells_is_refused() {
    let refused = |item: Item| added("a.csv", Some("id,input\n1,a\n"), &[item]).unwrap_err().to_string();
    assert!(
        refused(item! { "inptu": "a" })
            .contains("no column for `inptu`; it has `id`, `input`: add the column")
    );
    assert!(refused(item! { "input": ["a"] }).contains("`input` is a list: use a `.jsonl` file"));
    let blank = added("a.csv", None, &[item! { " ": "a" }]).unwrap_err().to_string();
    assert!(blank.contains("would not read back") && blank.contains("column 1"), "{blank}");
}

#[test]
fn what_is_no_text_is_refused_with_what_to_do() {
    let new = [item! { "input": "a" }];
    for (file, before, why) in [
        ("a.jsonl.gz", None, "compressed, which cannot be edited in place: decompress it"),
        ("a.parquet", None, "a columnar file"),
        ("a.json", Some("PAR1"), "a columnar file"),
        ("a.txt", None, "is not a data format: use `.jsonl`"),
        ("a.jsonl", Some("{\"a\": 1}\n{"), "a.jsonl:2: "),
    ] {
        let error = added(file, before, &new).unwrap_err().to_string();
        assert!(error.contains(why), "{file}: {error}");
    }
    let remote = data_file(Path::new("https://example.com/a.jsonl")).unwrap_err().to_string();
    assert!(remote.contains("is a remote dataset"), "{remote}");
}

#[test]
fn a_file_that_somebody_changes_meanwhile_is_left_as_they_wrote_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let new = || vec![item! { "input": "new" }];
    let draft = data_file(&path).unwrap().append(new()).unwrap();
    fs::write(&path, "{\"input\": \"theirs\"}\n").unwrap();
    assert!(matches!(draft.save(), Err(WriteError::Changed(_))));
    let draft = data_file(&path).unwrap().append(new()).unwrap();
    fs::write(&path, "{\"input\": \"theirs, too\"}\n").unwrap();
    assert!(matches!(draft.save(), Err(WriteError::Changed(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"input\": \"theirs, too\"}\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
}

#[test]
fn a_file_that_would_be_taken_for_another_format_without_an_item_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let two = "{\"input\": 1}\n{\"input\": 1}\n";
    fs::write(&path, two).unwrap();
    let error = data_file(&path).unwrap().remove(&[1]).unwrap_err();
    assert!(matches!(error, WriteError::NotReadBack { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), two);
}

#[test]
fn an_item_that_no_cell_can_hold_shapes_no_new_file() {
    let file = DataFile::parse(Path::new("a.csv"), false, Vec::new()).unwrap();
    let fitted = file.fit_items(vec![item! { "id": "a" }, item! { "id": "b", "context": ["c"] }]);
    assert_eq!(fitted[0].as_ref().unwrap(), &item! { "id": "a" });
    assert!(fitted[1].as_ref().unwrap_err().to_string().contains("`context` is a list"));
}
