//! `cargo cobalt dataset dedupe`: removes duplicate items and changes nothing else.

use std::fs;
use std::process::Stdio;

use crate::command::{COBALT, program};
use crate::project::ProgramOutput;
use crate::snapshot::assert_printed;
use crate::store::Store;

/// Relative to line 1: line 3 is identical, line 4 has the same input and expected output, line 6 has the same input but a different
/// expected output.
const LINES: &str = "{\"id\": \"a\",  \"input\": \"How do I get my money back?\", \"expectedOutput\": 1}\r\n\
    {\"id\": \"b\", \"input\": \"Who are you?\"}\r\n\
    {\"input\": \"How do I get my money back?\", \"expectedOutput\": 1.0, \"id\": \"a\"}\r\n\
    {\"id\": \"c\", \"input\": \"How do I get my money back?\", \"expectedOutput\": 1}\r\n\
    \r\n\
    {\"id\": \"d\", \"input\": \"How do I get my money back?\", \"expectedOutput\": 2}\r\n\
    {\"id\": \"e\", \"input\": \"how do I get my  money back\", \"expectedOutput\": 1}";

/// A store with a dataset file.
fn store(file: &str, text: &str) -> Store {
    let store = Store::new();
    fs::write(store.folder().join(file), text).unwrap();
    store
}

fn dedupe(store: &Store, arguments: &[&str], code: i32) -> ProgramOutput {
    let mut command = program(COBALT, store.folder());
    ProgramOutput::by(command.args(["cobalt", "dataset", "dedupe"]).args(arguments), code)
}

fn read(store: &Store, file: &str) -> String {
    fs::read_to_string(store.folder().join(file)).unwrap()
}

/// The dataset file without these lines, counted from 1.
fn without(gone: &[usize]) -> String {
    let lines = LINES.split_inclusive('\n').enumerate();
    lines.filter(|(index, _)| !gone.contains(&(index + 1))).map(|(_, line)| line).collect()
}

#[test]
fn an_equal_item_goes_and_all_other_bytes_stay() {
    let store = store("a.jsonl", LINES);
    let said = dedupe(&store, &["a.jsonl", "--dry-run"], 0);
    assert_eq!(read(&store, "a.jsonl"), LINES);
    assert_printed!(said);
    assert_eq!(
        said.stdout,
        "line 3 (`a-2`): is identical to line 1 (`a`)\n\
         line 6 (`d`) kept: same input as line 1 (`a`), but a different expected output; use `--by input` to remove it\n"
    );
    assert_printed!(dedupe(&store, &["a.jsonl"], 0));
    assert_eq!(read(&store, "a.jsonl"), without(&[3]));
}

#[test]
fn the_file_is_written_though_nobody_reads_the_listing_to_its_end() {
    let store = store("a.jsonl", LINES);
    let mut command = program(COBALT, store.folder());
    command.args(["cobalt", "dataset", "dedupe", "a.jsonl"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    child.wait().unwrap();
    assert_eq!(read(&store, "a.jsonl"), without(&[3]));
}

#[cfg(unix)]
#[test]
fn what_is_written_elsewhere_is_for_whoever_may_read_the_file() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let store = store("a.jsonl", LINES);
    let path = |file: &str| store.folder().join(file);
    fs::set_permissions(path("a.jsonl"), fs::Permissions::from_mode(0o600)).unwrap();
    dedupe(&store, &["a.jsonl", "--output", "b.jsonl"], 0);
    assert_eq!(fs::metadata(path("b.jsonl")).unwrap().permissions().mode() & 0o777, 0o600);
    symlink(path("nowhere.jsonl"), path("c.jsonl")).unwrap();
    assert_printed!(dedupe(&store, &["c.jsonl"], 3));
}

#[test]
fn a_field_without_values_has_no_duplicates_and_reasons_are_of_one_pair() {
    let store = store("a.csv", "id,input,expectedOutput\n,a,1\n,b,2\n");
    assert_printed!(dedupe(&store, &["a.csv", "--by", "id"], 0));
    let lines =
        [1, 2, 2].map(|expected| format!("{{\"id\": \"x\", \"expectedOutput\": {expected}}}\n")).concat();
    fs::write(store.folder().join("a.jsonl"), lines).unwrap();
    let said = dedupe(&store, &["a.jsonl", "--by", "id", "--dry-run"], 0);
    assert_eq!(
        said.stdout,
        "line 2 (`x-2`): has the same `id` as line 1 (`x`), but a different expected output\n\
         line 3 (`x-3`): is identical to line 2 (`x-2`)\n"
    );
}

#[test]
fn equal_inputs_go_where_this_is_asked_for() {
    let store = store("a.jsonl", LINES);
    assert_printed!(dedupe(&store, &["a.jsonl", "--by", "input", "--output", "b.jsonl"], 0));
    assert_eq!((read(&store, "a.jsonl"), read(&store, "b.jsonl")), (LINES.to_owned(), without(&[3, 4, 6])));
    assert_printed!(dedupe(&store, &["a.jsonl", "--by", "inptu"], 2));
    assert_printed!(dedupe(&store, &["a.jsonl", "--output", "b.csv"], 3));
}

#[test]
fn near_duplicates_go_unless_they_expect_something_else() {
    let store = store("a.jsonl", LINES);
    assert_printed!(dedupe(&store, &["a.jsonl", "--near", "0.8"], 0));
    assert_eq!(read(&store, "a.jsonl"), without(&[3, 4, 7]));
    dedupe(&store, &["a.jsonl", "--near", "--by", "input"], 2);
    assert_printed!(dedupe(&store, &["a.jsonl", "--near", "0.1"], 2));
}

#[test]
fn elements_and_records_are_taken_out_whole() {
    let json =
        "{ \"name\": \"n\", \"items\": [\n  {\"a\": 1},\n  {\"a\" : 1},\n\n  {\"a\": 2}, {\"a\": 2}\n]}";
    let array = store("a.json", json);
    assert_printed!(dedupe(&array, &["a.json"], 0));
    assert_eq!(read(&array, "a.json"), "{ \"name\": \"n\", \"items\": [\n  {\"a\": 1},\n\n  {\"a\": 2}\n]}");
    let csv = "a,b\r\n\"x\r\ny\",1\r\n2,\"2\"\r\n\"x\r\ny\",1\r\n2,2";
    let table = store("a.csv", csv);
    assert_printed!(dedupe(&table, &["a.csv"], 0));
    assert_eq!(read(&table, "a.csv"), "a,b\r\n\"x\r\ny\",1\r\n2,\"2\"\r\n");
}

#[test]
fn a_file_without_duplicates_is_not_written() {
    let store = store("a.jsonl", "{\"id\": 1}\n{\"id\": 2}");
    let path = store.folder().join("a.jsonl");
    let modified = || fs::metadata(&path).unwrap().modified().unwrap();
    let before = modified();
    let said = dedupe(&store, &["a.jsonl", "--by", "id"], 0);
    assert_eq!(said.stdout, "");
    assert_printed!(said);
    assert_eq!(modified(), before);
    assert_printed!(dedupe(&store, &["b.jsonl"], 3));
    assert_printed!(dedupe(&store, &["a.parquet"], 3));
}

#[test]
fn a_file_without_items_has_no_duplicates() {
    for (file, text) in [("a.jsonl", ""), ("a.json", "[]\n"), ("a.csv", "id,input\r\n")] {
        let store = store(file, text);
        assert_printed!(dedupe(&store, &[file, "--by", "id"], 0));
        assert_eq!(read(&store, file), text);
    }
}
