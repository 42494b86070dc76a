//! Runs of up to a million items of 1 kB: each is a test binary of its own, whose time and peak memory are measured.
//!
//! `cargo bench -p cobalt --bench scale` prints a table; `-- <items>` measures one size. Time must grow in a straight line, and a million
//! items must take less than 400 MiB. Times differ between machines: compare only times of the same run. It needs 4 GB of disk space in
//! the temporary folder.

use std::io::{BufWriter, Write};
use std::process::{Command, Stdio, exit};
use std::time::Instant;

use cobalt::{Dataset, ExactMatch, Item};

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
/// Runs per size; the fastest is printed.
const ROUNDS: usize = 3;
/// Tells this binary to be a test binary, of the items in this file.
const FILE: &str = "BENCH_FILE";

#[cobalt::experiment(dataset = items()?, evaluators = [ExactMatch::new("exact", "expectedOutput")], concurrency = 50)]
async fn echo(item: Item) -> String {
    item["expectedOutput"].as_str().unwrap_or_default().to_owned()
}

fn items() -> Result<Dataset, cobalt::Error> {
    Dataset::from_jsonl(std::env::var_os(FILE).unwrap_or_default())
}

fn main() {
    if std::env::var_os(FILE).is_some() {
        cobalt::main();
    }
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    println!("{:>9}  {:>8}  {:>8}  {:>8}", "items", "wall s", "µs/item", "MiB");
    for items in if sizes.is_empty() { SIZES.to_vec() } else { sizes } {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("items.jsonl");
        write_items(&file, items).expect("a file");
        let rounds = (0..ROUNDS).map(|_| measure(&file, folder.path()));
        let (wall, peak) = rounds.min_by(|one, other| one.0.total_cmp(&other.0)).expect("a round");
        println!("{items:>9}  {wall:>8.2}  {:>8.2}  {peak:>8.1}", wall * 1e6 / items as f64);
    }
}

/// Items of 1 kB with different texts.
fn write_items(path: &std::path::Path, items: usize) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    let mut random = fastrand::Rng::with_seed(1);
    let words: Vec<String> =
        (0..5_000).map(|_| (0..random.usize(2..9)).map(|_| random.lowercase()).collect()).collect();
    for number in 0..items {
        let mut text = String::new();
        while text.len() < 900 {
            text += &words[random.usize(..words.len())];
            text.push(' ');
        }
        writeln!(
            file,
            r#"{{"id": "item-{number:07}", "input": "{text}", "expectedOutput": "answer {number}"}}"#
        )?;
    }
    file.flush()
}

/// The wall time in seconds and the peak memory in MiB, measured by `/usr/bin/time`.
fn measure(file: &std::path::Path, folder: &std::path::Path) -> (f64, f64) {
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "%M"]).arg(std::env::current_exe().expect("this binary"));
    let storage = folder.join(".cobalt");
    command.env(FILE, file).env("COBALT_DIR", &storage).stdout(Stdio::null());
    let started = Instant::now();
    let output = command.output().expect("/usr/bin/time, from the package `time`");
    let wall = started.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stderr);
    let Some(peak) = text.lines().last().and_then(|line| line.parse::<f64>().ok()) else {
        eprintln!("{text}");
        exit(1);
    };
    std::fs::remove_dir_all(storage).expect("the results");
    (wall, peak / 1024.0)
}
