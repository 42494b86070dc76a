//! Whole-process benchmark of `cargo cobalt history`: the first call, which indexes every result file, and later ones.
//!
//! `cargo bench -p cargo-cobalt --bench history` prints a table; `-- <runs> <items>` measures another store. Results differ
//! between machines: compare only those of one invocation.
//!
//! | case | meaning |
//! |---|---|
//! | `first` | there is no index yet; all files are read |
//! | `again` | nothing has changed |
//! | `one more` | one file is new |
//! | `help` | `--help`: the cost of the process itself |

mod clock;
mod store;

use std::fs;
use std::process::exit;

use clock::show;
use store::write;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |text: &String| text.parse().expect("expected a number");
    match &arguments[..] {
        [] => table(2_000, 50),
        [runs, items] => table(number(runs), number(items)),
        _ => {
            eprintln!("usage: history [<runs> <items>]");
            exit(2);
        }
    }
}

fn table(runs: usize, items: usize) {
    let folder = tempfile::tempdir().expect("failed to create a folder");
    let results = folder.path().join(".cobalt/results");
    fs::create_dir_all(&results).expect("failed to create a folder");
    let bytes: usize = (0..runs).map(|run| write(&results, run, items)).sum();
    println!("{runs} runs of {items} items, {} kB each", bytes / runs.max(1) / 1000);
    let index = folder.path().join(".cobalt/history.db");
    // It does not exist before the first round.
    let forget = || fs::remove_file(&index).unwrap_or_default();
    let mut next = runs..;
    let one_more = || {
        write(&results, next.next().unwrap_or(runs), items);
    };
    println!("{:<10} {:>8}", "case", "wall ms");
    show("first", forget, folder.path(), &["history"]);
    show("again", || (), folder.path(), &["history"]);
    show("one more", one_more, folder.path(), &["history"]);
    show("help", || (), folder.path(), &["history", "--help"]);
}
