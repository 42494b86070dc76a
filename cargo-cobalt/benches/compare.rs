//! Whole-process benchmark of `cargo cobalt compare` on two large runs.
//!
//! `cargo bench -p cargo-cobalt --bench compare` compares runs of 10,000 items; `-- <items>` of another number. Results differ
//! between machines: compare only those of one invocation.
//!
//! | case | meaning |
//! |---|---|
//! | `text` | the table and the items with the largest changes |
//! | `json` | all metrics and a hundred items |
//! | `help` | `--help`: the cost of the process itself |

mod clock;
mod store;

use std::fs;
use std::process::exit;

use clock::show;
use store::write;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [] => table(10_000),
        [items] => table(items.parse().expect("expected a number of items")),
        _ => {
            eprintln!("usage: compare [<items>]");
            exit(2);
        }
    }
}

fn table(items: usize) {
    let folder = tempfile::tempdir().expect("failed to create a folder");
    let results = folder.path().join(".cobalt/results");
    fs::create_dir_all(&results).expect("failed to create a folder");
    // All from one experiment: its name is derived from the number.
    let bytes = [0, 7].map(|run| write(&results, run, items));
    println!("2 runs of {items} items, {} kB each", bytes[0] / 1000);
    println!("{:<10} {:>8}", "case", "wall ms");
    show("text", || (), folder.path(), &["compare", "latest~1", "latest"]);
    show("json", || (), folder.path(), &["compare", "latest~1", "latest", "--json", "--items", "100"]);
    show("help", || (), folder.path(), &["compare", "--help"]);
}
