//! Benchmark of results in parts: writing three runs of many items, opening them in the page, and the commands that read them.
//!
//! `cargo bench -p cargo-cobalt --bench parts` measures runs of 100,000 items; `-- <items>` others. `-- <items> <folder>` writes
//! the runs into a folder and stops: look at them with `COBALT_DIR=<folder> cargo cobalt serve`. Results differ between machines:
//! compare only those of one invocation.

#[path = "server/mod.rs"]
mod server;
#[path = "store/parts.rs"]
mod store;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio, exit};
use std::time::Instant;

use server::Server;
use store::write_in_parts;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cargo-cobalt");
/// The numbers of the runs.
const RUNS: [usize; 3] = [1, 2, 3];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |text: &String| text.parse().expect("expected a number");
    match &arguments[..] {
        [] => table(100_000),
        [items] => table(number(items)),
        [items, folder] => {
            RUNS.iter().for_each(|run| drop(write_in_parts(Path::new(folder), *run, number(items))))
        }
        _ => {
            eprintln!("usage: parts [<items> [<folder>]]");
            exit(2);
        }
    }
}

fn table(items: usize) {
    let folder = tempfile::tempdir().expect("failed to create a folder");
    fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"bench\"\n\n[workspace]\n")
        .expect("failed to write a file");
    let started = Instant::now();
    for run in RUNS {
        let head = write_in_parts(&folder.path().join(".cobalt"), run, items);
        let size = |path: &Path| fs::metadata(path).expect("the file exists").len();
        println!(
            "written: {items} items, head {} kB, items {} MB",
            size(&head) / 1000,
            size(&head.with_extension("items.zst")) / 1_000_000
        );
    }
    println!(
        "all took {:.1} s, memory of the writer at most {}",
        started.elapsed().as_secs_f64(),
        memory("self")
    );
    commands(folder.path());
    pages(folder.path());
}

/// The wall time and memory of commands.
fn commands(folder: &Path) {
    println!("{:<34} {:>8} {:>9}", "command", "seconds", "memory");
    let [a, b, c] = RUNS.map(|run| format!("{run:012x}"));
    let csv = folder.join("a.csv").display().to_string();
    for arguments in [
        vec!["history"],
        vec!["compare", &a, &b],
        vec!["compare", &a, &b, &c],
        vec!["show", &a, "item-0000042"],
        vec!["show", &a, "--low"],
        vec!["export", &a, "--output", &csv],
    ] {
        let started = Instant::now();
        let mut command = Command::new(PROGRAM);
        command
            .arg("cobalt")
            .args(&arguments)
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        for variable in ["COBALT_DIR", "COBALT_RESULTS_DIR", "COBALT_HISTORY_DB"] {
            command.env_remove(variable);
        }
        let mut child = command.spawn().expect("failed to start the command");
        let mut peak = String::new();
        let status = loop {
            peak = Some(memory(&child.id().to_string())).filter(|now| now != UNKNOWN).unwrap_or(peak);
            if let Some(status) = child.try_wait().expect("failed to wait") {
                break status;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        assert!(status.success(), "{arguments:?}: {status}");
        let name = arguments.iter().filter(|it| it.len() < 20).copied().collect::<Vec<_>>().join(" ");
        println!("{name:<34} {:>8.2} {peak:>9}", started.elapsed().as_secs_f64());
    }
}

fn pages(folder: &Path) {
    let server = Server::start(folder);
    println!("{:<34} {:>8} {:>8} {:>12}", "answer", "ms", "kB", "memory");
    let [a, b, c] = RUNS.map(|run| format!("{run:012x}"));
    let run = format!("/api/runs/{a}");
    for (name, address) in [
        ("run, overview", format!("{run}/overview")),
        ("items", format!("{run}/items?limit=100")),
        ("items, the last", format!("{run}/items?limit=100&order=desc")),
        ("items by score", format!("{run}/items?limit=100&sort=score:tone&order=desc")),
        ("items with errors", format!("{run}/items?limit=100&state=error&sort=latency")),
        ("items with a text", format!("{run}/items?limit=100&search=yesterday%20snow%20snow")),
        ("items by a field", format!("{run}/items?limit=100&group=input.topic")),
        ("an item", format!("{run}/items/item-0000042")),
        ("compare", format!("/api/compare?a={a}&b={b}&limit=50")),
        ("compare, the worst", format!("/api/compare?a={a}&b={b}&limit=50&sort=worst")),
        ("ranking of three", format!("/api/ranking?runs={a},{b},{c}")),
        ("run, whole", run.clone()),
    ] {
        let started = Instant::now();
        let size = server.get(&address, false);
        let (taken, memory) = (started.elapsed().as_secs_f64() * 1000.0, memory(&server.id().to_string()));
        println!("{name:<34} {taken:>8.0} {:>8} {memory:>12}", size / 1000);
    }
}

/// What [`memory`] says on other systems.
const UNKNOWN: &str = "not known on this system";

/// The largest memory use of a process, from Linux.
fn memory(process: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kib: Option<usize> = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    kib.map_or_else(|| UNKNOWN.to_owned(), |kib| format!("{} MiB", kib / 1024))
}
