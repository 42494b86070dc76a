//! The overhead of judging beyond the models' own time: a loopback server answers after 10 ms.
//!
//! `cargo bench -p cobalt-evals --bench judge` prints a table. Every case runs this binary as a new process, with empty memory. Times differ
//! between machines: compare only times of the same run.
//!
//! | case | description |
//! |---|---|
//! | `asked` | 1,000 judged items, 50 in parallel: at least 0.2 s of server time |
//! | `known` | the same again, from the cache |
//! | `large` | 1,000 judged items, from a cache with 100,000 responses |
//! | `similar` | 1,000 similarity items with 20 distinct texts |
//! | `shared` | 1,000 judged items in each of 8 parallel processes, with one cache |

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cobalt::{Dataset, Experiment, Item, LlmJudge, Similarity};
use serde_json::{Value, json};

/// Items per experiment.
const ITEMS: usize = 1_000;
/// Responses in a large cache.
const MANY: usize = 100_000;
/// Processes that share a cache.
const PROCESSES: usize = 8;
/// The latency of the model.
const LATENCY: Duration = Duration::from_millis(10);
/// Runs per case; the median is printed.
const ROUNDS: usize = 5;

fn main() {
    match std::env::args().skip(1).find(|argument| argument != "--bench").as_deref() {
        None => table(),
        Some("similar") => run(similar()),
        Some(from) => run(judged(from.parse().expect("the number of the first item"))),
    }
}

/// An experiment whose items are numbered from this one.
fn judged(from: usize) -> Experiment {
    let items = (from..from + ITEMS).map(|n| cobalt::item! { "input": format!("question {n}") });
    Experiment::new("judged", Dataset::from_items(items))
        .evaluator(LlmJudge::new("right", "Is `{{output}}` an answer to `{{input}}`?").model("gpt-4o-mini"))
}

fn similar() -> Experiment {
    let items = (0..ITEMS).map(|n| {
        cobalt::item! { "input": format!("text {}", n % 10), "expectedOutput": format!("other {}", n / 10 % 10) }
    });
    Experiment::new("similar", Dataset::from_items(items))
        .evaluator(Similarity::new("close", "expectedOutput"))
}

fn run(experiment: Experiment) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let began = Instant::now();
    let answer = |item: Item| async move { item["input"].as_str().unwrap_or_default().to_owned() };
    let report = runtime.block_on(experiment.concurrency(50).run(answer)).expect("a report");
    let took = began.elapsed();
    let failed = report
        .items
        .iter()
        .flat_map(|item| &item.runs)
        .find_map(|run| run.evaluations.iter().find_map(|(_, evaluation)| evaluation.error.clone()));
    assert_eq!(failed, None);
    println!("{}", took.as_secs_f64());
}

fn table() {
    println!("{:<10} {:>8}  {:>8}  {:>8}", "case", "asked", "seconds", "worst");
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    rounds("asked", &server, |round| vec![process(&server, &folder.path().join(round.to_string()), "0")]);
    rounds("known", &server, |round| vec![process(&server, &folder.path().join(round.to_string()), "0")]);
    rounds("similar", &server, |round| {
        vec![process(&server, &folder.path().join(format!("similar {round}")), "similar")]
    });
    let large = folder.path().join("large");
    for from in (0..MANY).step_by(ITEMS) {
        server.latency.store(0, Ordering::Relaxed);
        process(&server, &large, &from.to_string());
    }
    server.latency.store(LATENCY.as_micros() as usize, Ordering::Relaxed);
    rounds("large", &server, |round| vec![process(&server, &large, &(round * ITEMS * 7).to_string())]);
    let shared = folder.path().join("shared");
    rounds("shared", &server, |round| {
        // Each shares half of its items with the next one.
        let firsts: Vec<_> =
            (0..PROCESSES).map(|number| (round * 100_000 + number * ITEMS / 2).to_string()).collect();
        let all = || {
            thread::scope(|scope| {
                let running: Vec<_> =
                    firsts.iter().map(|first| scope.spawn(|| process(&server, &shared, first))).collect();
                running.into_iter().map(|process| process.join().expect("no error")).collect::<Vec<_>>()
            })
        };
        let took = all();
        let before = server.requests();
        all();
        assert_eq!(server.requests(), before, "an answer was lost");
        took
    });
}

/// Prints a line: the requests per round, the median and the longest time.
fn rounds(case: &str, server: &Server, round: impl Fn(usize) -> Vec<f64>) {
    let before = server.requests();
    let mut times: Vec<f64> = (0..ROUNDS).flat_map(round).collect();
    times.sort_by(f64::total_cmp);
    let requests = (server.requests() - before) as f64 / ROUNDS as f64;
    println!("{case:<10} {requests:>8}  {:>8.3}  {:>8.3}", times[times.len() / 2], times[times.len() - 1]);
}

/// Runs a case in its own process, and returns the time that it prints.
fn process(server: &Server, folder: &Path, case: &str) -> f64 {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command
        .arg(case)
        .env("COBALT_DIR", folder)
        .env("OPENAI_BASE_URL", &server.url)
        .env("OPENAI_API_KEY", "none");
    let output = command.stderr(Stdio::inherit()).output().expect("a process");
    assert!(output.status.success(), "{case}");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("seconds")
}

/// A server that answers prompts and embeds texts, with a thread per connection.
struct Server {
    url: String,
    requests: Arc<AtomicUsize>,
    /// In microseconds.
    latency: Arc<AtomicUsize>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let (requests, latency) = (Arc::default(), Arc::new(AtomicUsize::new(LATENCY.as_micros() as usize)));
        let server = Self { url, requests, latency };
        let (requests, latency) = (Arc::clone(&server.requests), Arc::clone(&server.latency));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (requests, latency) = (Arc::clone(&requests), Arc::clone(&latency));
                thread::spawn(move || {
                    let mut stream = BufReader::new(stream);
                    while let Some((path, body)) = read(&mut stream) {
                        requests.fetch_add(units(&body), Ordering::Relaxed);
                        thread::sleep(Duration::from_micros(latency.load(Ordering::Relaxed) as u64));
                        if write(stream.get_mut(), &answer(&path, &body)).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        server
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

/// The content of a request: a prompt, or a number of texts.
fn units(body: &Value) -> usize {
    body["input"].as_array().map_or(1, Vec::len)
}

fn answer(path: &str, body: &Value) -> Value {
    let usage = json!({"prompt_tokens": 40, "completion_tokens": 10, "total_tokens": 50});
    if path.ends_with("/embeddings") {
        let vector = vec![0.036_f32; 1536];
        let rows = (0..units(body)).map(|index| json!({"index": index, "embedding": vector}));
        return json!({"data": rows.collect::<Vec<_>>(), "usage": usage});
    }
    let text = json!({"chainOfThought": "It is.", "reason": "It is.", "verdict": true}).to_string();
    let message = json!({"role": "assistant", "content": text});
    json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage})
}

/// The path and the body of the next request.
fn read(stream: &mut BufReader<TcpStream>) -> Option<(String, Value)> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        line.clear();
        stream.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((path, serde_json::from_slice(&body).ok()?))
}

fn write(stream: &mut TcpStream, body: &Value) -> std::io::Result<()> {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes())
}
