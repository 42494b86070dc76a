//! Measures the wall time of a whole process.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cargo-cobalt");
/// Repetitions of each case; the median is shown.
const ROUNDS: usize = 11;

/// Measures a case and prints its line.
pub(crate) fn show(case: &str, mut prepare: impl FnMut(), folder: &Path, arguments: &[&str]) {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            prepare();
            measure(folder, arguments)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    println!("{case:<10} {:>8.1}", rounds[ROUNDS / 2]);
}

/// Runs the command; returns its wall time in milliseconds.
fn measure(folder: &Path, arguments: &[&str]) -> f64 {
    let mut command = Command::new(PROGRAM);
    command.arg("cobalt").args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    for variable in ["COBALT_DIR", "COBALT_RESULTS_DIR", "COBALT_HISTORY_DB"] {
        command.env_remove(variable);
    }
    let started = Instant::now();
    let status = command.status().expect("failed to start the command");
    let took = started.elapsed().as_secs_f64() * 1000.0;
    assert!(status.success(), "{status}");
    took
}
