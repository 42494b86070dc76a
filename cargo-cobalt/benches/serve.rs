//! Benchmark of `cargo cobalt serve` on a large store: response times and memory use.
//!
//! `cargo bench -p cargo-cobalt --bench serve` measures a store of 2,001 runs and two of 10,000 items; `-- <runs> <items>`
//! another one. Results differ between machines: compare only those of one invocation.
//!
//! | column | meaning |
//! |---|---|
//! | `first` | the first response, in milliseconds |
//! | `median` | of other requests of the same kind, none of which is cached: each has a different page |
//! | `gzip` | the median of the same, compressed |
//! | `kB` | the uncompressed size of the response |

mod server;
mod store;

use std::fs;
use std::path::Path;
use std::process::exit;
use std::thread;
use std::time::{Duration, Instant};

use server::Server;
use store::write;

/// Repetitions of each request.
const ROUNDS: usize = 21;
/// Number of concurrent clients.
const READERS: usize = 8;
/// Time after which a folder does not count as just changed.
const SETTLED: Duration = Duration::from_secs(3);
/// Items of the other runs.
const FEW: usize = 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |text: &String| text.parse().expect("expected a number");
    match &arguments[..] {
        [] => table(2_001, 10_000),
        [runs, items] => table(number(runs), number(items)),
        _ => {
            eprintln!("usage: serve [<runs> <items>]");
            exit(2);
        }
    }
}

fn table(runs: usize, items: usize) {
    let folder = tempfile::tempdir().expect("failed to create a folder");
    let results = folder.path().join(".cobalt/results");
    fs::create_dir_all(&results).expect("failed to create a folder");
    fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"bench\"\n\n[workspace]\n")
        .expect("failed to write a file");
    // Every seventh run is of the same experiment.
    let large = [runs, runs + 7];
    for run in 0..runs {
        write(&results, run, FEW);
    }
    let bytes = large.map(|run| write(&results, run, items));
    println!("{} runs, two of {items} items, {} kB each", runs + large.len(), bytes[0] / 1000);
    // A folder that has just changed is scanned again each time.
    thread::sleep(SETTLED);
    let server = Server::start(folder.path());
    println!("{:<34} {:>8} {:>8} {:>8} {:>8}", "answer", "first", "median", "gzip", "kB");
    let [one, two] = large.map(|run| format!("/api/runs/{run:012x}"));
    let [a, b] = large.map(|run| format!("{run:012x}"));
    let page = |address: &str, round: usize| {
        format!("{address}{}offset={}", if address.contains('?') { '&' } else { '?' }, round * 7)
    };
    for (name, address) in [
        ("runs", "/api/runs".to_owned()),
        ("runs, 50 with recent averages", "/api/runs?limit=50&recent=20".to_owned()),
        ("run, overview", format!("{one}/overview")),
        ("items", format!("{one}/items?limit=100")),
        ("items by score", format!("{one}/items?limit=100&sort=score:tone&order=desc")),
        (
            "items by state and score",
            format!("{one}/items?state=failing&evaluator=tone&maxScore=0.5&sort=latency"),
        ),
        ("items with a text", format!("{one}/items?search=snow")),
        (
            "items by a field",
            format!("{one}/items?limit=100&sort=metadata.tokens.output&columns=expected,metadata.model"),
        ),
        (
            "items that meet a condition",
            format!("{one}/items?where=metadata.tokens.output%3C50&sort=reason:correct"),
        ),
        ("items in groups", format!("{one}/items?group=metadata.tokens.output&sort=score:tone")),
        ("items beside another run's", format!("{one}/items?compare={b}&only=regressed&sort=change")),
        ("compare", format!("/api/compare?a={a}&b={b}&limit=50")),
        ("compare, the worst", format!("/api/compare?a={a}&b={b}&limit=50&sort=worst&only=regressed")),
        ("trends", "/api/trends?experiment=experiment-0".to_owned()),
    ] {
        let (first, size) = clock(&server, &address, false);
        let has_pages = !["/overview", "/trends"].iter().any(|it| address.contains(it));
        let address = |round| if has_pages { page(&address, round) } else { address.clone() };
        let median = |compressed: bool| {
            let rounds = (1..=ROUNDS).map(|round| clock(&server, &address(round), compressed).0);
            median(rounds.collect())
        };
        println!("{name:<34} {first:>8.1} {:>8.1} {:>8.1} {:>8}", median(false), median(true), size / 1000);
    }
    for (name, address) in
        [("run, whole", two.clone()), ("compare, whole", format!("/api/compare?a={a}&b={b}"))]
    {
        let (first, size) = clock(&server, &address, false);
        let median = |compressed| median((0..3).map(|_| clock(&server, &address, compressed).0).collect());
        println!("{name:<34} {first:>8.1} {:>8.1} {:>8.1} {:>8}", median(false), median(true), size / 1000);
    }
    println!("memory after these, at most: {}", memory(&server));
    read_everything(&server, &results, &[one, two], &format!("/api/compare?a={a}&b={b}"));
    println!("memory after {READERS} readers of everything, at most: {}", memory(&server));
}

/// The response time in milliseconds, and the size.
fn clock(server: &Server, address: &str, compressed: bool) -> (f64, usize) {
    let started = Instant::now();
    let size = server.get(address, compressed);
    (started.elapsed().as_secs_f64() * 1000.0, size)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Eight clients request everything, compressed and uncompressed.
fn read_everything(server: &Server, results: &Path, large: &[String; 2], compare: &str) {
    let ids: Vec<String> = fs::read_dir(results)
        .expect("failed to read the folder")
        .filter_map(|entry| {
            let name = entry
                .expect("failed to read the folder")
                .file_name()
                .into_string()
                .expect("the file name is UTF-8");
            Some(name.strip_suffix(".json")?.rsplit_once('_')?.1.to_owned())
        })
        .collect();
    thread::scope(|scope| {
        for reader in 0..READERS {
            let ids = &ids;
            scope.spawn(move || {
                let compressed = reader % 2 == 0;
                for run in large {
                    for address in ["", "/overview", "/items?sort=cost", "/items?search=snow"] {
                        server.get(&format!("{run}{address}"), compressed);
                    }
                }
                server.get(compare, compressed);
                server.get("/api/runs", compressed);
                for id in ids.iter().skip(reader * 20).take(20) {
                    server.get(&format!("/api/runs/{id}"), compressed);
                    server.get(&format!("/api/runs/{id}/items"), compressed);
                }
            });
        }
    });
}

/// The server's memory use, from Linux.
fn memory(server: &Server) -> String {
    match fs::read_to_string(format!("/proc/{}/status", server.id())) {
        Ok(status) => {
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib: usize =
                line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or_default();
            format!("{} MiB", kib / 1024)
        }
        Err(_) => "not known on this system".to_owned(),
    }
}
