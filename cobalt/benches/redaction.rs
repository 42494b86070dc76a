//! The time to search 10 MB of text for secrets.
//!
//! `cargo bench -p cobalt-evals --bench redaction` prints a table and fails if a text takes longer than [`MOST`]. The texts once were
//! slow: base64, one long word, many URLs, many headers.
//!
//! Three secrets are registered, as in a project with some keys.

use std::borrow::Cow;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use cobalt_core::redact::{redacted, register_secret};

/// The length of each text, in bytes.
const SIZE: usize = 10_000_000;
/// Runs per text; the fastest is printed.
const ROUNDS: usize = 5;
/// The time limit per text.
const MOST: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    for number in 1..=3 {
        register_secret("BENCH_KEY", &format!("s3cret-of-the-bench-{number}"));
    }
    // The automaton is built at its first use.
    let started = Instant::now();
    black_box(redacted("a text"));
    println!("{:<28}{:>10.1} ms", "first use", milliseconds(started.elapsed()));
    let mut slow = 0;
    for (name, text) in texts() {
        let took = (0..ROUNDS).map(|_| time(&text)).min().unwrap_or_default();
        slow += usize::from(took > MOST);
        println!("{name:<28}{:>10.1} ms", milliseconds(took));
    }
    match slow {
        0 => ExitCode::SUCCESS,
        slow => {
            eprintln!("{slow} texts of 10 MB took longer than {MOST:?}");
            ExitCode::FAILURE
        }
    }
}

fn time(text: &str) -> Duration {
    let started = processor_time();
    let shown: Cow<'_, str> = redacted(black_box(text));
    black_box(&shown);
    processor_time() - started
}

/// The CPU time of this thread if the system provides it, as the machine may be busy; else the wall time.
fn processor_time() -> Duration {
    static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| STARTED.elapsed(), Duration::from_nanos)
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn texts() -> Vec<(&'static str, String)> {
    let repeated = |text: &str| text.repeat(SIZE.div_ceil(text.len()));
    let prose = "The key of the basic idea is simple: an agent answers, and a judge scores what it said. ";
    let code = "    let token = parser.next_token(&source, Kind::Key)?;\n    if token.is_secret() { return Err(basic()); }\n";
    vec![
        ("base64", base64("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")),
        ("base64 for addresses", base64("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")),
        ("hexadecimal digits", base64("0123456789abcdef")),
        ("prose", repeated(prose)),
        ("code", repeated(code)),
        ("JSON in JSON", repeated(r#"{\"name\": \"Ada\", \"key\": \"a b\", \"text\": \"line\\n\"}, "#)),
        ("percent-encoding", repeated("a%20b%2Fc%3Dd&")),
        ("one letter", repeated("a")),
        ("one long word", repeated("keytokensecret")),
        ("many addresses", repeated("https://example.com/a ")),
        ("many `://`", repeated("://")),
        ("many databases", repeated("redis://:a")),
        ("many webhooks", repeated("https://hooks.example.com/")),
        ("many `Bearer`", repeated("Bearer ")),
        ("many beginnings of tokens", repeated("eyJhbGciOiJIUzI1NiJ9.")),
        ("many beginnings of keys", repeated("-----BEGIN PRIVATE KEY-----")),
        ("many names", repeated("password=")),
        ("many quoted names", repeated("\"api_key\": \"")),
        ("many marks", repeated("[redacted:x]")),
    ]
}

/// Random characters of an alphabet, with a fixed seed.
fn base64(alphabet: &str) -> String {
    let alphabet = alphabet.as_bytes();
    let mut random = fastrand::Rng::with_seed(7);
    (0..SIZE).map(|_| char::from(alphabet[random.usize(..alphabet.len())])).collect()
}
