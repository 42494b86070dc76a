//! What the attributes accept, and what they say about the rest.
//!
//! The messages under `compile/fail` are those of the current stable compiler. After a change, look at the difference
//! that `TRYBUILD=overwrite cargo test -p cobalt --test compile` makes to them.

use std::fs;
use std::path::Path;

#[test]
fn what_is_documented_compiles() {
    trybuild::TestCases::new().pass("tests/compile/pass/*.rs");
}

#[test]
fn mistakes_are_explained_in_their_place() {
    trybuild::TestCases::new().compile_fail("tests/compile/fail/*.rs");
}

/// A file whose name starts with `many_` holds several mistakes, each marked `// mistake`; any other file holds one.
#[test]
fn one_mistake_gives_one_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile/fail");
    let sources = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut checked = 0;
    for source in sources.filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
        let code = fs::read_to_string(&source).unwrap();
        let mistakes = code.matches("// mistake").count().max(1);
        let messages = fs::read_to_string(source.with_extension("stderr")).unwrap();
        let errors = messages.lines().filter(|line| line.starts_with("error")).count();
        assert_eq!(errors, mistakes, "{}\n{messages}", source.display());
        let warnings = messages.lines().filter(|line| line.starts_with("warning")).count();
        assert_eq!(warnings, 0, "{}\n{messages}", source.display());
        checked += 1;
    }
    assert!(checked >= 25, "only {checked} files were found");
}
