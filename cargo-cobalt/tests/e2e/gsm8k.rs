//! The GSM8K program in three shards; merged, they equal a single run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::project::{ProgramOutput, Project};
use crate::shards::{on, reports, timeless};

#[test]
fn three_shards_of_gsm8k_are_the_report_of_one_run() {
    let shared = std::env::var_os("COBALT_SHARED").map(PathBuf::from);
    let shared = shared.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    let (program, data) = (shared.join("acceptance/gsm8k"), shared.join("data/gsm8k/solutions.jsonl"));
    if !program.exists() || !data.exists() {
        println!("skipped: {} or {} is not there", program.display(), data.display());
        return;
    }
    let project = Project::empty();
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("cobalt");
    let manifest = fs::read_to_string(program.join("Cargo.toml")).unwrap();
    let light = format!("{}\", package = \"cobalt-evals\", default-features = false", library.display());
    project.write("Cargo.toml", &manifest.replace("@COBALT@\"", &light));
    for file in ["src/lib.rs", "tests/gsm8k.rs"] {
        project.write(file, &fs::read_to_string(program.join(file)).unwrap());
    }
    fs::copy(data, project.path("solutions.jsonl")).unwrap();
    let quiet = |machine: &str, arguments: &[&str]| {
        ProgramOutput::by(&mut on(&project, machine, &[&["run", "--quiet", "--ci"], arguments].concat()), 0)
    };
    quiet("whole", &[]);
    for index in 1..=3 {
        quiet(&format!("artefacts/{index}"), &["--shard", &format!("{index}/3")]);
    }
    ProgramOutput::by(&mut on(&project, "merged", &["merge", "artefacts", "--ci"]), 0)
        .stdout_has("4 experiments: 4 passed");
    let (whole, merged) = (reports(&project.path("whole")), reports(&project.path("merged")));
    assert_eq!((whole.len(), merged.len()), (4, 4));
    for (whole, merged) in whole.iter().zip(&merged) {
        assert_eq!(merged.items.len(), 1319);
        assert!(timeless(whole) == timeless(merged), "{}", merged.name);
    }
}
