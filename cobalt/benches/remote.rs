//! The cost of fetching 100,000 rows of JSONL, of about 300 bytes each, over HTTP from a local server.
//!
//! `cargo bench -p cobalt-evals --bench remote` prints a table, with ratios to reading the same file from disk and to the file size. Each case
//! runs in its own process, without the server, which reports its peak memory. Times differ between machines: compare only times of
//! the same run. Memory is measured on Linux only.
//!
//! | case | description |
//! |---|---|
//! | `nothing` | only the process |
//! | `disk` | `Dataset::from_jsonl` |
//! | `url` | `Dataset::from_url`, without a cached copy |
//! | `gzip` | the same, with compressed transfer |
//! | `copy` | `Dataset::from_url`, with a cached copy |

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, exit};
use std::sync::Arc;
use std::time::Instant;

use cobalt::Dataset;
use flate2::Compression;
use flate2::write::GzEncoder;

const ROWS: usize = 100_000;
const CASES: [&str; 5] = ["nothing", "disk", "url", "gzip", "copy"];
/// Runs per case; the median is printed.
const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [] => table(),
        [case, from] => run(case, from),
        _ => {
            eprintln!("usage: remote [<case> <file or URL>]");
            exit(2);
        }
    }
}

/// Loads a dataset, and prints the time in seconds and the memory in MiB.
fn run(case: &str, from: &str) {
    let started = Instant::now();
    let dataset = match case {
        "nothing" => None,
        "disk" => Some(Dataset::from_jsonl(from)),
        _ => Some(Dataset::from_url(from).load()),
    };
    let seconds = started.elapsed().as_secs_f64();
    if let Some(dataset) = dataset {
        assert_eq!(dataset.expect("a dataset").len(), ROWS);
    }
    println!("{seconds} {}", peak());
}

/// The peak memory of this process, in MiB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    kilobytes.map_or(f64::NAN, |kilobytes: f64| kilobytes / 1024.0)
}

fn table() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rows.jsonl");
    let rows = rows();
    std::fs::write(&file, &rows).expect("a file");
    let (url, mebibytes) = (serve(&rows), rows.len() as f64 / f64::from(1 << 20));
    println!("{ROWS} rows, {mebibytes:.1} MiB");
    println!("{:<8} {:>8} {:>8} {:>8} {:>12}", "case", "wall s", "MiB", "to disk", "MiB to file");
    let (mut own, mut disk) = (0.0, f64::NAN);
    for case in CASES {
        let from = match case {
            "nothing" | "disk" => file.display().to_string(),
            "gzip" => format!("{url}/gzip/rows.jsonl"),
            _ => format!("{url}/rows.jsonl"),
        };
        let mut rounds: Vec<_> = (0..ROUNDS).map(|_| measure(case, &from, folder.path())).collect();
        rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (seconds, peak) = rounds[ROUNDS / 2];
        match case {
            "nothing" => own = peak,
            "disk" => disk = seconds,
            _ => {}
        }
        let (to_disk, to_file) = (seconds / disk, (peak - own) / mebibytes);
        println!("{case:<8} {seconds:>8.3} {peak:>8.1} {to_disk:>8.2} {to_file:>12.2}");
    }
}

/// The time and memory of a case in its own process.
fn measure(case: &str, from: &str, folder: &Path) -> (f64, f64) {
    let cobalt = folder.join(".cobalt");
    if case != "copy" {
        let _ = std::fs::remove_dir_all(&cobalt);
    } else if !cobalt.exists() {
        measure("url", from, folder);
    }
    let me = std::env::current_exe().expect("this binary");
    let output = Command::new(me).args([case, from]).env("COBALT_DIR", &cobalt).output().expect("a process");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let [seconds, peak] = numbers[..] else { panic!("{case}: {}", String::from_utf8_lossy(&output.stderr)) };
    (seconds, peak)
}

fn rows() -> String {
    (0..ROWS)
        .map(|n| {
            let text = "what is the answer to this question, asked of support ".repeat(3);
            format!("{{\"id\":\"item-{n:06}\",\"input\":\"{text}{n}\",\"expectedOutput\":\"answer {n}\",\"metadata\":{{\"level\":{},\"source\":\"a table of questions\"}}}}\n", n % 7)
        })
        .collect()
}

/// Serves the rows until this process exits; compressed below `/gzip/`.
fn serve(rows: &str) -> String {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(rows.as_bytes()).and_then(|()| gzip.flush()).expect("memory");
    let bodies = Arc::new((rows.as_bytes().to_vec(), gzip.finish().expect("memory")));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let bodies = Arc::clone(&bodies);
            std::thread::spawn(move || answer(&stream, &bodies.0, &bodies.1));
        }
    });
    url
}

/// Answers one request; a closed connection is ignored.
fn answer(mut stream: &TcpStream, plain: &[u8], gzip: &[u8]) {
    let lines: Vec<_> =
        BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let (body, encoding) = match lines.first().is_some_and(|line| line.contains(" /gzip/")) {
        true => (gzip, "content-encoding: gzip\r\n"),
        false => (plain, ""),
    };
    let head =
        format!("HTTP/1.1 200 OK\r\n{encoding}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}
