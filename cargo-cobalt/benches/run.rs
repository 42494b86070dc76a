//! Whole-process benchmark of `cargo cobalt run`: the overhead of the command over the test binary, when nothing needs to be built.
//!
//! `cargo bench -p cargo-cobalt --bench run` builds a package with an experiment of 10,000 trivial items and prints a table;
//! `-- <items>` sets another number. CPU time includes all child processes. Results differ between machines: compare only those of
//! one invocation.
//!
//! | case | meaning |
//! |---|---|
//! | `binary` | the test binary alone, as run by `cargo test`, with its output discarded |
//! | `build` | `cargo test --no-run` with nothing to build |
//! | `run` | `cargo cobalt run` |
//! | `score` | `cargo cobalt score`: the evaluator scores the stored outputs of the latest run |
//! | `help` | `cargo cobalt run --help` |

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cargo-cobalt");
/// Repetitions of each case, alternating with the others; medians are shown.
const ROUNDS: usize = 11;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [] => table(10_000),
        [items] => table(items.parse().expect("expected a number of items")),
        _ => {
            eprintln!("usage: run [<items>]");
            exit(2);
        }
    }
}

fn table(items: usize) {
    let folder = tempfile::tempdir().expect("failed to create a folder");
    let target = project(folder.path(), items);
    let run = || program(PROGRAM, &["cobalt", "run", "--release"], folder.path(), &target);
    measure(&mut run());
    let binary = binary(&target);
    let mut cases = [
        ("binary", program(&binary, &[], folder.path(), &target)),
        ("build", program("cargo", &["test", "--release", "--no-run"], folder.path(), &target)),
        ("run", run()),
        ("score", program(PROGRAM, &["cobalt", "score", "--release"], folder.path(), &target)),
        ("help", program(PROGRAM, &["cobalt", "run", "--help"], folder.path(), &target)),
    ]
    .map(|(case, command)| (case, command, Vec::new(), Vec::new()));
    for _ in 0..ROUNDS {
        for (_, command, wall, cpu) in &mut cases {
            let (took, used) = measure(command);
            wall.push(took);
            cpu.push(used);
        }
    }
    println!("{items} items\n{:<8} {:>8} {:>8}", "case", "wall ms", "CPU ms");
    for (case, _, wall, cpu) in cases {
        println!("{case:<8} {:>8.1} {:>8.1}", median(wall), median(cpu));
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[ROUNDS / 2]
}

/// Writes a package with an experiment; returns its target folder.
fn project(folder: &Path, items: usize) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in a workspace");
    let manifest = format!(
        "[package]\nname = \"trial\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dev-dependencies]\ncobalt = {{ package = \"cobalt-evals\", path = {:?}, default-features = false }}\n\n\
         [[test]]\nname = \"evals\"\nharness = false\n",
        workspace.join("cobalt")
    );
    let experiment = format!(
        "fn data() -> cobalt::Dataset {{\n    \
         cobalt::Dataset::from_items((0..{items}).map(|n| cobalt::item! {{ \"input\": n, \"answer\": n }}))\n}}\n\n\
         #[cobalt::experiment(dataset = data(), evaluators = [cobalt::ExactMatch::new(\"exact\", \"answer\")])]\n\
         async fn trivial(item: cobalt::Item) -> u64 {{\n    item[\"input\"].as_u64().unwrap_or_default()\n}}\n\n\
         fn main() {{\n    cobalt::main();\n}}\n"
    );
    fs::create_dir_all(folder.join("tests")).expect("failed to create a folder");
    fs::create_dir_all(folder.join("src")).expect("failed to create a folder");
    fs::write(folder.join("Cargo.toml"), manifest).expect("failed to write a file");
    fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock")).expect("failed to write a file");
    fs::write(folder.join("src/lib.rs"), "").expect("failed to write a file");
    fs::write(folder.join("tests/evals.rs"), experiment).expect("failed to write a file");
    folder.join("target")
}

/// The test binary that cargo has built.
fn binary(target: &Path) -> String {
    let built = fs::read_dir(target.join("release/deps")).expect("failed to read the folder").flatten();
    let mut paths = built.map(|entry| entry.path());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("evals-") && path.extension().is_none()
    };
    paths.find(is_it).expect("no test binary").display().to_string()
}

fn program(program: &str, arguments: &[&str], folder: &Path, target: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("CARGO_TARGET_DIR", target).env("CARGO_MANIFEST_DIR", folder);
    command.env_remove("COBALT_DIR").env_remove("COBALT_RESULTS_DIR");
    command
}

/// Runs a command; returns wall time and CPU time in milliseconds.
fn measure(command: &mut Command) -> (f64, f64) {
    let before = cpu_ms();
    let started = Instant::now();
    let status = command.status().expect("failed to start the command");
    let took = started.elapsed().as_secs_f64() * 1000.0;
    assert!(status.success(), "{command:?}: {status}");
    (took, cpu_ms() - before)
}

/// The CPU time of all finished child processes.
fn cpu_ms() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("failed to read the resource usage");
    (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1000.0
}
