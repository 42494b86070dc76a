//! Runs of up to a million items of 1 kB: each is a test binary of its own, whose time, CPU time and peak memory are measured.
//!
//! `cargo bench -p cobalt-evals --bench scale` prints a table; `-- <items>` measures one size. Time must grow in a straight line, and a million
//! items must take less than 400 MiB. Times differ between machines: compare only times of the same run. It needs 4 GB of disk space in
//! the temporary folder.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};
use std::time::Instant;

use cobalt::{Dataset, ExactMatch, Item};
use cobalt_core::store::ReportFile;

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
    println!("{:>9}  {:>8}  {:>8}  {:>8}  {:>8}", "items", "wall s", "µs/item", "CPU s", "MiB");
    for items in if sizes.is_empty() { SIZES.to_vec() } else { sizes } {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("items.jsonl");
        write_items(&file, items).expect("a file");
        let rounds = (0..ROUNDS).map(|_| measure(&file, items, folder.path()));
        let fastest = rounds.min_by(|one, other| one.wall.total_cmp(&other.wall)).expect("a round");
        let Usage { wall, cpu, peak } = fastest;
        println!("{items:>9}  {wall:>8.2}  {:>8.2}  {cpu:>8.2}  {peak:>8.1}", wall * 1e6 / items as f64);
    }
    // An ordinary exit would fail, as this process ran no experiment.
    #[cfg(unix)]
    signal_hook::low_level::exit(0);
}

/// Items of 1 kB with different texts.
fn write_items(path: &Path, items: usize) -> std::io::Result<()> {
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

/// What a run has used.
struct Usage {
    /// The wall time in seconds.
    wall: f64,
    /// The CPU time of all threads in seconds, of the program and of the system for it.
    cpu: f64,
    /// The peak memory in MiB.
    peak: f64,
}

/// Measures a run by `/usr/bin/time`. One that fails or loses an item ends this program.
fn measure(file: &Path, items: usize, folder: &Path) -> Usage {
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "%M %U %S"]).arg(std::env::current_exe().expect("this binary"));
    let storage = folder.join(".cobalt");
    command.env(FILE, file).env("COBALT_DIR", &storage).stdout(Stdio::null());
    let started = Instant::now();
    let output = command.output().expect("/usr/bin/time, from the package `time`");
    let wall = started.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stderr);
    let figures: Vec<f64> =
        text.lines().last().unwrap_or_default().split(' ').filter_map(|it| it.parse().ok()).collect();
    let passed = passed_items(&storage.join("results"));
    let &[peak, user, system] = &figures[..] else { fail(&format!("no usage in:\n{text}")) };
    if !output.status.success() || passed != Some(items) {
        fail(&format!("{}, with {passed:?} of {items} items passed:\n{text}", output.status));
    }
    std::fs::remove_dir_all(storage).expect("the results");
    Usage { wall, cpu: user + system, peak: peak / 1024.0 }
}

/// How many items passed in the only result, of all that its file has.
fn passed_items(results: &Path) -> Option<usize> {
    let files = std::fs::read_dir(results).ok()?.map(|entry| Some(entry.ok()?.path()));
    let files: Vec<PathBuf> = files.collect::<Option<_>>()?;
    let mut heads = files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let (head, None) = (heads.next()?, heads.next()) else { return None };
    let file = ReportFile::open(head).ok()?;
    let passed = file.report().summary.passed_items;
    (file.item_count() == file.report().summary.total_items).then_some(passed)
}

fn fail(message: &str) -> ! {
    eprintln!("the run failed: {message}");
    exit(1)
}
