//! How much is read.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

const LIMIT: &str = "it has more than the 20 KiB that `max_bytes` (in cobalt.toml `max-bytes`) allows";

/// What comes of an answer of which 20 KiB may be read, and how often the server was asked.
fn limited(path: &str, answer: Answer) -> (Result<usize, String>, usize) {
    let server = TestServer::script([answer]);
    let fetched = fetch(&Dataset::from_url(server.url(path)).max_bytes(20 << 10));
    (fetched.map(|fetched| fetched.items.len()).map_err(|error| error.to_string()), server.asked().len())
}

#[test]
fn no_more_is_read_than_is_allowed() {
    let rows = ROWS.repeat(1000);
    for answer in [Answer::text(200, rows.as_str()), Answer::text(200, rows.as_str()).in_pieces()] {
        assert_eq!(limited("/x.jsonl", answer), (Err(LIMIT.to_owned()), 1));
    }
    let most = ROWS.repeat((20 << 10) / ROWS.len());
    assert!(limited("/x.jsonl", Answer::text(200, most)).0.is_ok());
}

#[test]
fn the_limit_is_of_what_is_unpacked() {
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    bomb.write_all(ROWS.repeat(1000).as_bytes()).unwrap();
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 1000);
    let answer = Answer::text(200, bomb.as_slice()).header("content-encoding", "gzip");
    assert_eq!(limited("/x.jsonl", answer), (Err(LIMIT.to_owned()), 1));
    let (fetched, _) = limited("/x.jsonl.gz", Answer::text(200, bomb));
    assert!(fetched.is_err(), "{fetched:?}");
}

#[test]
fn a_compressed_answer_that_is_cut_short_is_no_shorter_data_set() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(ROWS.repeat(1000).as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let half = Answer::text(200, &gzip[..gzip.len() / 2]).header("content-encoding", "gzip");
    let whole = Answer::text(200, gzip.as_slice()).header("content-encoding", "gzip");
    assert_eq!(after([half.clone(), whole]), (Ok(2000), 2));
    assert!(after([half]).0.is_err());
}
