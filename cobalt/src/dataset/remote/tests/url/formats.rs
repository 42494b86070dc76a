//! What tells the format of an answer, and what is no data set.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use crate::dataset::Format;

const LIST: &str = "[{\"input\": \"a\"}, {\"input\": \"b\"}]";
const CSV: &str = "input\na\nb\n";
const TSV: &str = "input\tmore\na\t1\nb\t2\n";

fn gzip(text: &str) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

/// The inputs of an answer, at a path.
fn inputs(path: &str, answer: Answer) -> Result<String, String> {
    let fetched = at(&TestServer::script([answer]), path).map_err(|error| error.to_string())?;
    Ok(fetched.items.iter().map(|item| item["input"].as_str().unwrap()).collect())
}

#[test]
fn the_content_type_tells_the_format() {
    for (kind, body) in [
        ("application/json", LIST),
        ("application/json; charset=utf-8", LIST),
        ("application/x-ndjson", ROWS),
        ("application/jsonl", ROWS),
        ("text/csv; header=present", CSV),
        ("text/tab-separated-values", TSV),
    ] {
        let answer = Answer::text(200, body).header("content-type", kind);
        assert_eq!(inputs("/data", answer).as_deref(), Ok("ab"), "{kind}");
    }
}

#[test]
fn the_extension_tells_the_format() {
    for (path, body) in
        [("/x.json", LIST), ("/x.jsonl?a=b.csv", ROWS), ("/a/x.csv", CSV), ("/x.TSV", TSV), ("/x.json", ROWS)]
    {
        let answer = Answer::text(200, body).header("content-type", "application/octet-stream");
        assert_eq!(inputs(path, answer).as_deref(), Ok("ab"), "{path}");
    }
}

#[test]
fn the_name_of_a_download_tells_the_format() {
    let answer = Answer::text(200, CSV).header("content-disposition", "attachment; filename=\"x.csv\"");
    assert_eq!(inputs("/download?id=1", answer).as_deref(), Ok("ab"));
}

#[test]
fn the_address_behind_a_redirect_tells_the_format() {
    let server = TestServer::start(|asked| match asked.path.as_str() {
        "/latest" => Answer::text(302, "").header("location", "/files/x.csv"),
        _ => Answer::text(200, CSV),
    });
    assert_eq!(at(&server, "/latest").unwrap().items.len(), 2);
}

#[test]
fn the_content_tells_the_format_where_nothing_else_does() {
    for (body, kind) in [(LIST, "text/plain"), (ROWS, "application/octet-stream"), (TSV, "text/plain")] {
        assert_eq!(
            inputs("/data", Answer::text(200, body).header("content-type", kind)).as_deref(),
            Ok("ab")
        );
    }
    assert_eq!(inputs("/", Answer::text(200, ROWS)).as_deref(), Ok("ab"));
}

#[test]
fn a_format_that_is_said_counts() {
    let server = TestServer::script([Answer::text(200, CSV).header("content-type", "application/json")]);
    let remote = Dataset::from_url(server.url("/x.json")).format(Format::Csv);
    assert_eq!(fetch(&remote).unwrap().items.len(), 2);
}

#[test]
fn answers_and_files_may_be_compressed() {
    let packed = || gzip(ROWS);
    let answer = Answer::text(200, packed()).header("content-encoding", "gzip");
    assert_eq!(inputs("/x.jsonl", answer.clone()).as_deref(), Ok("ab"));
    // Stores serve a packed file so, which is unpacked on the way.
    assert_eq!(inputs("/x.jsonl.gz", answer).as_deref(), Ok("ab"));
    let file = Answer::text(200, packed()).header("content-type", "application/gzip");
    assert_eq!(inputs("/x.jsonl.gz", file.clone()).as_deref(), Ok("ab"));
    assert_eq!(inputs("/data", file).as_deref(), Ok("ab"));
    let error = inputs("/x.jsonl", Answer::text(200, "?").header("content-encoding", "br")).unwrap_err();
    assert_eq!(error, "the answer is compressed by `br`, which was not asked for");
}

#[test]
fn the_version_is_that_of_the_answer() {
    let answer = Answer::text(200, ROWS).header("etag", "\"v1\"").header("last-modified", "then");
    assert_eq!(at(&TestServer::script([answer]), "/x.jsonl").unwrap().version.as_deref(), Some("v1"));
    assert_eq!(at(&TestServer::script([Answer::text(200, ROWS)]), "/x.jsonl").unwrap().version, None);
}

#[test]
fn a_page_for_people_is_no_data() {
    let page = "\n<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>";
    let page = Answer::text(200, page).header("content-type", "text/html");
    let error = inputs("/x.csv", page.clone()).unwrap_err();
    assert!(
        error.starts_with("the answer is an HTML page, \"Sign in\", and no data: it may want a login"),
        "{error}"
    );
    let server = TestServer::script([page]);
    let error = at(&server, "/datasets/o/n/blob/main/x.csv").unwrap_err().to_string();
    let file = server.url("/datasets/o/n/resolve/main/x.csv");
    assert!(error.ends_with(&format!("that page shows the file: the file itself is at {file}")), "{error}");
}

#[test]
fn what_came_is_told_where_it_is_no_data_set() {
    let error = inputs("/data", Answer::text(200, format!("Hello\n  {}", "x".repeat(1000)))).unwrap_err();
    assert!(
        error.starts_with("neither its name nor its type (no content type) nor its content tells a format"),
        "{error}"
    );
    assert!(error.contains("; it begins with `Hello xxx") && error.chars().count() < 350, "{error}");
    let error = inputs("/x.jsonl", Answer::text(200, "not found\n")).unwrap_err();
    assert!(error.starts_with("x.jsonl:1: ") && error.ends_with("; it begins with `not found`"), "{error}");
    let error = inputs("/x.jsonl.gz", Answer::text(200, gzip("not found\n"))).unwrap_err();
    assert!(error.ends_with("; it begins with `not found`"), "{error}");
    let error = inputs("/x.jsonl", Answer::text(200, format!("{ROWS}?"))).unwrap_err();
    assert!(error.starts_with("x.jsonl:3: ") && !error.contains("it begins"), "{error}");
}

#[test]
fn an_empty_answer_is_no_data_set() {
    for path in ["/x.jsonl", "/x.json", "/x.csv", "/data"] {
        let error = inputs(path, Answer::text(200, "")).unwrap_err();
        assert!(error.contains("no items"), "{path}: {error}");
    }
    let error = inputs("/data", Answer::text(204, "")).unwrap_err();
    assert_eq!(error, "status 204: there is no content at this address");
}

#[test]
fn a_hundred_thousand_rows_are_fetched() {
    let rows: String = (0..100_000).map(|n| format!("{{\"input\": \"row {n}\"}}\n")).collect();
    let server = TestServer::script([Answer::text(200, rows).in_pieces()]);
    let items = at(&server, "/x.jsonl").unwrap().items;
    assert_eq!((items.len(), &items[99_999]["input"]), (100_000, &"row 99999".into()));
}
