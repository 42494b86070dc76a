//! Unit tests of the Python bridge. They are skipped, with a message, if Python is not installed.
//!
//! One test also needs the package `deepeval` (4 or later), and the folder `shared` with its stub of OpenAI's API, see CONTRIBUTING.md:
//!
//! ```console
//! $ COBALT_TEST_PYTHON=venv/bin/python cargo test -p shorthand --test bridge
//! ```

use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cobalt::{CommandEvaluator, EvalContext, Evaluator, Item, Output, Score, item};

/// The Python interpreter for the tests.
fn python() -> String {
    env::var("COBALT_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

/// Whether Python is installed; prints a message if not.
fn has_python() -> bool {
    let version =
        Command::new(python()).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_there = version.is_ok_and(|status| status.success());
    if !is_there {
        println!("skipped: `{}` not found", python());
    }
    is_there
}

/// Whether Python has the package `deepeval`; prints a message if not.
fn has_deepeval() -> bool {
    let find = "import importlib.util, sys; sys.exit(importlib.util.find_spec('deepeval') is None)";
    let found = Command::new(python()).args(["-c", find]).status();
    let is_there = found.is_ok_and(|status| status.success());
    if !is_there {
        println!("skipped: `{}` does not have the package `deepeval`", python());
    }
    is_there
}

fn bridge(metric: &str) -> CommandEvaluator {
    CommandEvaluator::new("bridge", python()).args(["bridge.py", metric]).timeout(Duration::from_secs(120))
}

async fn score(bridge: &CommandEvaluator, item: Item, output: &str) -> Result<Score, String> {
    let cx = EvalContext::new(item, Output::new(output));
    bridge.evaluate(&cx).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn equal_texts_are_full_marks_and_what_differs_is_named() {
    if !has_python() {
        return;
    }
    let bridge = bridge("ratio");
    let expected = || item! { "expectedOutput": "Käse für Jürgen.\u{2028}Danke 🚲" };
    let equal = score(&bridge, expected(), "Käse für Jürgen.\u{2028}Danke 🚲").await.unwrap();
    assert_eq!((equal.value(), equal.why()), (1.0, None));
    let other = score(&bridge, expected(), "Käse für Jürgen.\u{2028}Danke 🚗").await.unwrap();
    assert!((0.9..1.0).contains(&other.value()), "{other:?}");
    assert_eq!(other.why(), Some("'🚲' became '🚗'"));
}

#[tokio::test]
async fn an_output_that_cannot_be_scored_is_an_error_and_the_next_one_is() {
    if !has_python() {
        return;
    }
    let bridge = bridge("ratio");
    let error = score(&bridge, item! { "input": "a" }, "a").await.unwrap_err();
    assert_eq!(error, "the program reported an error: KeyError: 'expectedOutput'");
    assert_eq!(score(&bridge, item! { "expectedOutput": "a" }, "a").await.unwrap().value(), 1.0);
}

#[tokio::test]
async fn a_metric_that_is_not_there_is_told_by_the_usage() {
    if !has_python() {
        return;
    }
    let error = score(&bridge("rato"), item! {}, "a").await.unwrap_err();
    assert!(error.contains("exited with code 1") && error.contains("Usage: bridge.py ratio"), "{error}");
}

/// A stub of OpenAI's API on localhost, stopped on drop.
struct Stub {
    process: Child,
    port: String,
}

impl Stub {
    /// Starts it; `None`, with a message, if the folder `shared` is missing.
    fn start() -> Option<Self> {
        let shared = env::var_os("COBALT_SHARED").map(PathBuf::from);
        let shared = shared.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
        let program = shared.join("acceptance/stub_llm.py");
        if !program.exists() {
            println!("skipped: `{}` not found", program.display());
            return None;
        }
        let mut command = Command::new(python());
        command.arg(program).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Some(Self { process, port: port.trim().to_owned() })
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn a_metric_of_deepeval_scores_by_a_model() {
    if !has_deepeval() {
        return;
    }
    let Some(stub) = Stub::start() else { return };
    let bridge = bridge("deepeval")
        .env("OPENAI_API_KEY", "key-of-a-test")
        .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{}/v1", stub.port))
        .env("NO_PROXY", "127.0.0.1")
        .env("CRITERION", "Nothing of the note is left out.");
    // The stub gives 7 of 10 points if it finds this marker.
    let marked = item! { "input": "mtg tmrw", "expectedOutput": "Meeting tomorrow. ZZSCORE=7" };
    let score = score(&bridge, marked, "Meeting tomorrow.").await.unwrap();
    assert_eq!((score.value(), score.why()), (0.7, Some("stub: holds")));
}
