//! Whole manifests before and after an addition.

use super::*;

fn parse(text: &str) -> Manifest {
    Manifest::parse(Path::new("/w/Cargo.toml"), text).unwrap()
}

/// The manifest with what `cargo cobalt init` adds to a package.
fn with_experiments(text: &str) -> String {
    with(text, &Dependency::Path("/cobalt".into()))
}

fn with(text: &str, dependency: &Dependency) -> String {
    let mut manifest = parse(text);
    manifest.add_dependency(LIBRARY_CRATE, dependency);
    manifest.add_test("evals", None);
    let changed = manifest.render_changes().unwrap().unwrap();
    let again = parse(&changed);
    assert!(again.dependency().is_some() && again.harness("evals") == Some(false), "{changed}");
    changed
}

fn with_member(text: &str) -> String {
    let mut manifest = parse(text);
    manifest.add_member("crates/desk");
    let changed = manifest.render_changes().unwrap().unwrap();
    assert!(parse(&changed).workspace_list("members").contains(&"crates/desk"), "{changed}");
    changed
}

const ADDED_DEPENDENCIES: &str = "
[dev-dependencies]
# The package `cobalt` in the package registry is unrelated.
cobalt = { package = \"cobalt-evals\", path = \"/cobalt\" }
";
const ADDED_TEST: &str = "
# Experiments are test cases: `cobalt::main()` replaces the default test harness.
[[test]]
name = \"evals\"
harness = false
";

#[test]
fn tables_that_are_missing_come_to_the_end() {
    let text = "# Ours.\n[package]\nname   = 'p'   # short\n\n[dependencies]\nserde.version = \"1\"\n";
    assert_eq!(with_experiments(text), format!("{text}{ADDED_DEPENDENCIES}{ADDED_TEST}"));
}

#[test]
fn serde_is_added_unless_it_derives() {
    for (dependencies, expected) in [
        ("", Serde::Missing),
        ("[dependencies]\nserde = \"1\"\n", Serde::Missing),
        ("[dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\n", Serde::Derives),
        ("[dev-dependencies.serde]\nversion = \"1\"\nfeatures = [\"derive\"]\n", Serde::Derives),
        ("[dev-dependencies]\nserde = \"1\"\n", Serde::WithoutDerive),
    ] {
        assert_eq!(parse(dependencies).serde(), expected, "{dependencies}");
    }
    for (is_shared, source) in [(false, "version = \"1\""), (true, "workspace = true")] {
        let mut manifest = parse("");
        manifest.add_serde(is_shared);
        let added = manifest.render_changes().unwrap().unwrap();
        assert!(added.contains(&format!("serde = {{ {source}, features = [\"derive\"] }}")), "{added}");
    }
}

#[test]
fn a_comment_at_the_end_stays_where_it_is() {
    for end in ["# tokio = \"1\"", "# tokio = \"1\"\n", "\n# tokio = \"1\"\n\n\n"] {
        let text = format!("[package]\nname = \"p\"\n[dependencies]\nserde = \"1\"\n{end}");
        assert_eq!(
            with_experiments(&text),
            format!("{}\n{ADDED_DEPENDENCIES}{ADDED_TEST}", text.trim_end()),
            "{end:?}"
        );
    }
}

#[test]
fn a_last_line_without_an_end_gets_one() {
    let text = "[package]\nname = \"p\"";
    assert_eq!(with_experiments(text), format!("{text}\n{ADDED_DEPENDENCIES}{ADDED_TEST}"));
}

#[test]
fn a_dependency_goes_behind_the_others() {
    let text = "[package]\nname = \"p\"\n\n[dev-dependencies]\nzebra = \"1\"   # stripes\nant.workspace = true\n\n\
                [features]\ndefault = []\n";
    let expected = format!(
        "[package]\nname = \"p\"\n\n[dev-dependencies]\nzebra = \"1\"   # stripes\nant.workspace = true\n\
         {DEPENDENCY_COMMENT}cobalt = {{ package = \"cobalt-evals\", path = \"/cobalt\" }}\n\n[features]\ndefault = []\n{ADDED_TEST}"
    );
    assert_eq!(with_experiments(text), expected);
}

#[test]
fn dependencies_with_tables_of_their_own_get_one_beside_them() {
    let text = "[package]\nname = \"p\"\n\n[dev-dependencies.serde]\nversion = \"1\"\n";
    let expected = format!(
        "[package]\nname = \"p\"\n{ADDED_DEPENDENCIES}\n[dev-dependencies.serde]\nversion = \"1\"\n{ADDED_TEST}"
    );
    assert_eq!(with_experiments(text), expected);
}

#[test]
fn an_inline_table_stays_inline() {
    let text =
        "dev-dependencies = { serde = \"1\" }\ntest = [{ name = \"unit\" }]\n[package]\nname = \"p\"\n";
    let expected = "dev-dependencies = { serde = \"1\", cobalt = { package = \"cobalt-evals\", path = \"/cobalt\" } }\n\
                    test = [{ name = \"unit\" }, { name = \"evals\", harness = false }]\n[package]\nname = \"p\"\n";
    assert_eq!(with_experiments(text), expected);
    let expected = expected.replace("serde = \"1\", ", "");
    for empty in ["{}", "{ }"] {
        assert_eq!(with_experiments(&text.replace("{ serde = \"1\" }", empty)), expected);
    }
}

#[test]
fn dotted_keys_stay_dotted() {
    let text = "package.name = \"p\"\ndev-dependencies.serde = \"1\"\n";
    let expected = format!(
        "{text}dev-dependencies.cobalt = {{ package = \"cobalt-evals\", path = \"/cobalt\" }}\n{ADDED_TEST}"
    );
    assert_eq!(with_experiments(text), expected);
}

#[test]
fn the_older_spelling_of_the_table_is_kept() {
    let text = "[package]\nname = \"p\"\n\n[dev_dependencies]\nserde = \"1\"\n";
    let expected = format!(
        "{text}{DEPENDENCY_COMMENT}cobalt = {{ package = \"cobalt-evals\", path = \"/cobalt\" }}\n{ADDED_TEST}"
    );
    assert_eq!(with_experiments(text), expected);
}

#[test]
fn a_target_comes_behind_all_tables_wherever_the_others_are() {
    let text = "[[test]]\nname = \"unit\"\n\n[package]\nname = \"p\"\n\n[dependencies.serde]\nversion = \"1\"\n\n\
                [features]\ndefault = []\n\n[dependencies]\nregex = \"1\"\n";
    assert_eq!(with_experiments(text), format!("{text}{ADDED_DEPENDENCIES}{ADDED_TEST}"));
}

#[test]
fn line_ends_and_a_byte_order_mark_are_kept() {
    let text = "\u{feff}# Ours.\r\n[package]\r\nname = \"p\"\r\n";
    let added = format!("{ADDED_DEPENDENCIES}{ADDED_TEST}").replace('\n', "\r\n");
    assert_eq!(with_experiments(text), format!("{text}{added}"));
}

#[test]
fn the_workspace_decides_where_it_does() {
    let text = "[package]\nname = \"p\"\n\n[dev-dependencies]\nserde.workspace = true\n";
    let expected = format!("{text}cobalt.workspace = true\n{ADDED_TEST}");
    assert_eq!(with(text, &Dependency::Workspace), expected);
    let text = "dev-dependencies = { serde = \"1\" }\npackage.name = \"p\"\n";
    assert!(with(text, &Dependency::Workspace).contains("\"1\", cobalt = { workspace = true } }"));
}

#[test]
fn what_cannot_be_kept_as_it_is_stays_and_the_message_says_what_to_write() {
    let scattered =
        "[package]\nname = \"p\"\n[dependencies]\nx.version = \"1\"\ny = \"1\"\nx.optional = true\n";
    let mixed = "[package]\r\nname = \"p\"\n";
    for text in [scattered, mixed] {
        let mut manifest = parse(text);
        assert_eq!(manifest.render_changes().unwrap(), None);
        manifest.add_dependency(LIBRARY_CRATE, &Dependency::Workspace);
        manifest.add_test("evals", None);
        let message = manifest.render_changes().unwrap_err().to_string();
        let by_hand =
            "[dev-dependencies]\ncobalt.workspace = true\n\n[[test]]\nname = \"evals\"\nharness = false\n";
        assert!(message.contains("/w/Cargo.toml") && message.ends_with(by_hand), "{message}");
    }
}

#[test]
fn a_dependency_is_found_wherever_cargo_finds_it() {
    for text in [
        "[dependencies]\ncobalt = \"1\"\n",
        "[dev-dependencies.cobalt]\npackage = \"cobalt-evals\"\npath = \"x\"\n",
        "[dev-dependencies]\ncobalt-evals = \"1\"\n",
        "[target.'cfg(unix)'.dev-dependencies]\ncobalt = { package = \"cobalt-evals\", path = \"x\" }\n",
        "dev-dependencies.cobalt.workspace = true\n",
    ] {
        assert!(parse(text).dependency().is_some(), "{text}");
    }
    assert!(parse("[build-dependencies]\ncobalt = \"1\"\n").dependency().is_none());
}

#[test]
fn a_test_target_has_the_usual_front_end_unless_it_says_otherwise() {
    let manifest = parse("[[test]]\nname = \"a\"\n[[test]]\nname = \"b\"\nharness = false\n");
    assert_eq!(["a", "b", "c"].map(|name| manifest.harness(name)), [Some(true), Some(false), None]);
}

#[test]
fn a_member_is_written_as_the_others_are() {
    let cases = [
        ("[\"a\"]", "[\"a\", \"crates/desk\"]"),
        ("[ \"a\" ]", "[ \"a\", \"crates/desk\" ]"),
        ("[]", "[\"crates/desk\"]"),
        ("[\n    \"a\",\n    \"b\",\n]", "[\n    \"a\",\n    \"b\",\n    \"crates/desk\",\n]"),
        ("[\n  \"a\",\n  \"b\"\n]", "[\n  \"a\",\n  \"b\",\n  \"crates/desk\"\n]"),
        ("[\n  \"a\", # first\n  # no more\n]", "[\n  \"a\", # first\n  # no more\n  \"crates/desk\",\n]"),
    ];
    for (before, after) in cases {
        let text = |members| format!("# Ours.\n[workspace]\nmembers = {members} # all\nresolver = \"3\"\n");
        assert_eq!(with_member(&text(before)), text(after));
    }
}

#[test]
fn a_workspace_without_a_list_of_members_gets_one() {
    let text = "[workspace]\nresolver = \"3\"\n\n[package]\nname = \"p\"\n";
    let expected = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/desk\"]\n\n[package]\nname = \"p\"\n";
    assert_eq!(with_member(text), expected);
    assert_eq!(with_member("workspace = {}\n"), "workspace = { members = [\"crates/desk\"] }\n");
    let dependencies = "[workspace.dependencies]\nserde = \"1\"\n";
    let expected = format!("[workspace]\nmembers = [\"crates/desk\"]\n{dependencies}");
    assert_eq!(with_member(dependencies), expected);
}

#[test]
fn a_manifest_that_is_no_toml_is_named_with_the_place() {
    for text in ["[package]\nname = \n", "\u{feff}[package]\r\nname = \r\n"] {
        let message = Manifest::parse(Path::new("/w/Cargo.toml"), text).unwrap_err().to_string();
        assert!(message.contains("`/w/Cargo.toml`: line 2, column 8: "), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}
