//! Failing servers and connections, and which requests are retried.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use crate::dataset::Format;

fn fine() -> ScriptedResponse {
    ScriptedResponse::text(200, ROWS)
}

#[test]
fn what_may_pass_is_asked_again() {
    for status in [408, 429, 500, 502, 503, 504] {
        assert_eq!(after([ScriptedResponse::text(status, "not now"), fine()]), (Ok(2), 2), "{status}");
    }
}

#[test]
fn what_will_not_pass_is_not_asked_again() {
    for status in [400, 401, 403, 404, 410] {
        let (fetched, asked) = after([ScriptedResponse::text(status, "no"), fine()]);
        assert!(fetched.unwrap_err().starts_with(&format!("status {status}: no")));
        assert_eq!(asked, 1, "{status}");
    }
}

#[test]
fn the_wait_that_a_server_asks_for_is_kept() {
    let server = TestServer::script([ScriptedResponse::text(429, "").header("retry-after", "0.15"), fine()]);
    at(&server, "/data").unwrap();
    let asked = server.requests();
    assert!(asked[1].at - asked[0].at >= Duration::from_millis(150));
    let (fetched, asked) = after([ScriptedResponse::text(429, "busy").header("retry-after", "3600"), fine()]);
    assert_eq!(fetched.unwrap_err(), "status 429: busy; the server asks to wait 1h; try again after that");
    assert_eq!(asked, 1);
}

#[test]
fn a_server_that_stays_broken_is_given_up() {
    let (fetched, asked) = after([ScriptedResponse::error(503, "overloaded")]);
    assert_eq!(fetched.unwrap_err(), "status 503: overloaded; tried 5 times");
    assert_eq!(asked, 5);
    let server = TestServer::script([ScriptedResponse::text(500, "")]);
    let error = fetch(&Dataset::from_url(server.url("/data")).retries(0)).unwrap_err();
    assert_eq!(error.to_string(), "status 500");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn an_answer_that_is_cut_short_is_asked_for_again_as_a_whole() {
    for cut in [0, 15, 20] {
        assert_eq!(after([fine().cut_after(cut), fine()]), (Ok(2), 2), "{cut}");
        assert_eq!(after([fine().in_pieces().cut_after(cut), fine()]), (Ok(2), 2), "{cut}");
    }
}

#[test]
fn an_answer_that_is_always_cut_short_is_no_shorter_data_set() {
    // After the first of two rows.
    for answer in [fine().cut_after(15), fine().in_pieces().cut_after(15)] {
        let (fetched, asked) = after([answer]);
        let error = fetched.unwrap_err();
        assert!(error.ends_with("; tried 5 times") && asked == 5, "{error}");
    }
}

#[test]
fn a_part_of_a_file_is_no_data_set() {
    let (fetched, asked) = after([ScriptedResponse::text(206, ROWS)]);
    assert_eq!(
        (fetched.unwrap_err().as_str(), asked),
        ("status 206: the response is only a part of the file", 1)
    );
    assert!(after([ScriptedResponse::text(202, "{}")]).0.unwrap_err().contains("not ready yet"));
}

#[test]
fn a_server_that_is_silent_is_given_up() {
    let timeout = Duration::from_millis(60);
    for (answer, expected) in [
        (ScriptedResponse::never(), "no response within 60ms; tried 2 times"),
        (fine().header("content-length", "100"), "the response stalled for 60ms; tried 2 times"),
    ] {
        let server = TestServer::script([answer]);
        let error = fetch(&Dataset::from_url(server.url("/data")).timeout(timeout)).unwrap_err();
        assert_eq!((error.to_string().as_str(), server.requests().len()), (expected, 2));
    }
}

#[test]
fn a_server_that_is_slow_but_steady_may_take_longer_than_the_timeout() {
    let server = TestServer::script([fine().every(Duration::from_millis(40), 3)]);
    let remote = Dataset::from_url(server.url("/data")).timeout(Duration::from_millis(250)).retries(0);
    let started = std::time::Instant::now();
    assert_eq!(fetch(&remote).unwrap().items.len(), 2);
    assert!(started.elapsed() > Duration::from_millis(300));
}

#[test]
fn a_refused_connection_says_so() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error =
        fetch(&Dataset::from_url(format!("http://{address}/x.csv")).retries(1)).unwrap_err().to_string();
    assert!(error.contains("refused") && error.ends_with("; tried 2 times"), "{error}");
}

const LIST: &str = "[{\"input\": \"a\"}, {\"input\": \"b\"}]";
const CSV: &str = "input\na\nb\n";
const TSV: &str = "input\tmore\na\t1\nb\t2\n";

fn gzip(text: &str) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

/// The inputs of the items in a response, at a path.
fn inputs(path: &str, answer: ScriptedResponse) -> Result<String, String> {
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
        let answer = ScriptedResponse::text(200, body).header("content-type", kind);
        assert_eq!(inputs("/data", answer).as_deref(), Ok("ab"), "{kind}");
    }
}

#[test]
fn the_extension_tells_the_format() {
    for (path, body) in
        [("/x.json", LIST), ("/x.jsonl?a=b.csv", ROWS), ("/a/x.csv", CSV), ("/x.TSV", TSV), ("/x.json", ROWS)]
    {
        let answer = ScriptedResponse::text(200, body).header("content-type", "application/octet-stream");
        assert_eq!(inputs(path, answer).as_deref(), Ok("ab"), "{path}");
    }
}

#[test]
fn the_name_of_a_download_tells_the_format() {
    let answer =
        ScriptedResponse::text(200, CSV).header("content-disposition", "attachment; filename=\"x.csv\"");
    assert_eq!(inputs("/download?id=1", answer).as_deref(), Ok("ab"));
}

#[test]
fn the_address_behind_a_redirect_tells_the_format() {
    let server = TestServer::start(|asked| match asked.path.as_str() {
        "/latest" => ScriptedResponse::text(302, "").header("location", "/files/x.csv"),
        _ => ScriptedResponse::text(200, CSV),
    });
    assert_eq!(at(&server, "/latest").unwrap().items.len(), 2);
}

#[test]
fn the_content_tells_the_format_where_nothing_else_does() {
    for (body, kind) in [(LIST, "text/plain"), (ROWS, "application/octet-stream"), (TSV, "text/plain")] {
        assert_eq!(
            inputs("/data", ScriptedResponse::text(200, body).header("content-type", kind)).as_deref(),
            Ok("ab")
        );
    }
    assert_eq!(inputs("/", ScriptedResponse::text(200, ROWS)).as_deref(), Ok("ab"));
}

#[test]
fn a_format_that_is_said_counts() {
    let server =
        TestServer::script([ScriptedResponse::text(200, CSV).header("content-type", "application/json")]);
    let remote = Dataset::from_url(server.url("/x.json")).format(Format::Csv);
    assert_eq!(fetch(&remote).unwrap().items.len(), 2);
}

#[test]
fn answers_and_files_may_be_compressed() {
    let packed = || gzip(ROWS);
    let answer = ScriptedResponse::text(200, packed()).header("content-encoding", "gzip");
    assert_eq!(inputs("/x.jsonl", answer.clone()).as_deref(), Ok("ab"));
    // Object stores serve compressed files like this; the client decompresses them.
    assert_eq!(inputs("/x.jsonl.gz", answer).as_deref(), Ok("ab"));
    let file = ScriptedResponse::text(200, packed()).header("content-type", "application/gzip");
    assert_eq!(inputs("/x.jsonl.gz", file.clone()).as_deref(), Ok("ab"));
    assert_eq!(inputs("/data", file).as_deref(), Ok("ab"));
    let error =
        inputs("/x.jsonl", ScriptedResponse::text(200, "?").header("content-encoding", "br")).unwrap_err();
    assert_eq!(error, "the response is compressed with `br`, which was not requested");
}

#[test]
fn the_version_is_that_of_the_answer() {
    let answer = ScriptedResponse::text(200, ROWS).header("etag", "\"v1\"").header("last-modified", "then");
    assert_eq!(at(&TestServer::script([answer]), "/x.jsonl").unwrap().version.as_deref(), Some("v1"));
    assert_eq!(
        at(&TestServer::script([ScriptedResponse::text(200, ROWS)]), "/x.jsonl").unwrap().version,
        None
    );
}

#[test]
fn a_page_for_people_is_no_data() {
    let page = "\n<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>";
    let page = ScriptedResponse::text(200, page).header("content-type", "text/html");
    let error = inputs("/x.csv", page.clone()).unwrap_err();
    assert!(
        error.starts_with("the response is an HTML page, \"Sign in\", not data; it may require a login"),
        "{error}"
    );
    let server = TestServer::script([page]);
    let error = at(&server, "/datasets/o/n/blob/main/x.csv").unwrap_err().to_string();
    let file = server.url("/datasets/o/n/resolve/main/x.csv");
    assert!(
        error.ends_with(&format!("this page displays the file; the file itself is at {file}")),
        "{error}"
    );
}

#[test]
fn what_came_is_told_where_it_is_no_data_set() {
    let error =
        inputs("/data", ScriptedResponse::text(200, format!("Hello\n  {}", "x".repeat(1000)))).unwrap_err();
    assert!(
        error.starts_with("cannot detect the format from the name, the content type (none) or the content"),
        "{error}"
    );
    assert!(error.contains("; it starts with `Hello xxx") && error.chars().count() < 350, "{error}");
    let error = inputs("/x.jsonl", ScriptedResponse::text(200, "not found\n")).unwrap_err();
    assert!(error.starts_with("x.jsonl:1: ") && error.ends_with("; it starts with `not found`"), "{error}");
    let error = inputs("/x.jsonl.gz", ScriptedResponse::text(200, gzip("not found\n"))).unwrap_err();
    assert!(error.ends_with("; it starts with `not found`"), "{error}");
    let error = inputs("/x.jsonl", ScriptedResponse::text(200, format!("{ROWS}?"))).unwrap_err();
    assert!(error.starts_with("x.jsonl:3: ") && !error.contains("it starts"), "{error}");
}

#[test]
fn an_empty_answer_is_no_data_set() {
    for path in ["/x.jsonl", "/x.json", "/x.csv", "/data"] {
        let error = inputs(path, ScriptedResponse::text(200, "")).unwrap_err();
        assert!(error.contains("no items"), "{path}: {error}");
    }
    let error = inputs("/data", ScriptedResponse::text(204, "")).unwrap_err();
    assert_eq!(error, "status 204: there is no content at this URL");
}

#[test]
fn a_hundred_thousand_rows_are_fetched() {
    let rows: String = (0..100_000).map(|n| format!("{{\"input\": \"row {n}\"}}\n")).collect();
    let server = TestServer::script([ScriptedResponse::text(200, rows).in_pieces()]);
    let items = at(&server, "/x.jsonl").unwrap().items;
    assert_eq!((items.len(), &items[99_999]["input"]), (100_000, &"row 99999".into()));
}

const LIMIT: &str = "it exceeds the limit of 20 KiB set by `max_bytes` (`max-bytes` in cobalt.toml)";

/// The number of items in a response with a limit of 20 KiB, and the number of requests.
fn limited(path: &str, answer: ScriptedResponse) -> (Result<usize, String>, usize) {
    let server = TestServer::script([answer]);
    let fetched = fetch(&Dataset::from_url(server.url(path)).max_bytes(20 << 10));
    (fetched.map(|fetched| fetched.items.len()).map_err(|error| error.to_string()), server.requests().len())
}

#[test]
fn no_more_is_read_than_is_allowed() {
    let rows = ROWS.repeat(1000);
    for answer in
        [ScriptedResponse::text(200, rows.as_str()), ScriptedResponse::text(200, rows.as_str()).in_pieces()]
    {
        assert_eq!(limited("/x.jsonl", answer), (Err(LIMIT.to_owned()), 1));
    }
    let most = ROWS.repeat((20 << 10) / ROWS.len());
    assert!(limited("/x.jsonl", ScriptedResponse::text(200, most)).0.is_ok());
}

#[test]
fn the_limit_is_of_what_is_unpacked() {
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    bomb.write_all(ROWS.repeat(1000).as_bytes()).unwrap();
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 1000);
    let answer = ScriptedResponse::text(200, bomb.as_slice()).header("content-encoding", "gzip");
    assert_eq!(limited("/x.jsonl", answer), (Err(LIMIT.to_owned()), 1));
    let (fetched, _) = limited("/x.jsonl.gz", ScriptedResponse::text(200, bomb));
    assert!(fetched.is_err(), "{fetched:?}");
}

#[test]
fn a_compressed_answer_that_is_cut_short_is_no_shorter_data_set() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(ROWS.repeat(1000).as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let half = ScriptedResponse::text(200, &gzip[..gzip.len() / 2]).header("content-encoding", "gzip");
    let whole = ScriptedResponse::text(200, gzip.as_slice()).header("content-encoding", "gzip");
    assert_eq!(after([half.clone(), whole]), (Ok(2000), 2));
    assert!(after([half]).0.is_err());
}
