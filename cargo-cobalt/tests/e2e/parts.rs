//! Commands on runs in parts, compared with the same runs that are not.

use std::fs;

use crate::store::Store;

const A: &str = "aaaaaaaaaaaa";
const B: &str = "bbbbbbbbbbbb";

/// The names of the result files, sorted.
fn results(store: &Store) -> Vec<String> {
    let files = fs::read_dir(store.folder().join(".cobalt/results")).unwrap();
    let mut names: Vec<_> =
        files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn commands_say_the_same_of_a_run_in_parts() {
    let (whole, parts) = (Store::with_a_drop(), Store::with_a_drop().into_parts());
    assert_eq!(results(&parts).len(), 2 * results(&whole).len());
    for arguments in [
        vec!["history"],
        vec!["compare", A, B],
        vec!["compare", A, B, "--json"],
        vec!["show", A],
        vec!["show", B, "--low"],
        vec!["show", B, "item-12"],
        vec!["show", B, "item-12", "--json"],
        vec!["show", B, "item-3", "--json"],
        vec!["export", A, B, "--format", "csv"],
        vec!["export", B, "--format", "markdown"],
        vec!["export", B, "--format", "junit"],
    ] {
        let [one, other] = [&whole, &parts].map(|store| store.cobalt(&arguments));
        assert_eq!(one.stdout, other.stdout, "{arguments:?}");
        assert_eq!(one.stderr, other.stderr, "{arguments:?}");
    }
    let [one, other] = [&whole, &parts].map(|store| {
        let json = store.cobalt(&["export", A, "--format", "json"]).stdout;
        serde_json::from_str::<cobalt::Report>(&json).unwrap()
    });
    assert_eq!(one, other);
    let [one, other] = [&whole, &parts].map(|store| {
        store.cobalt(&["baseline", "set", A]);
        fs::read_to_string(store.folder().join(".cobalt/baselines/desk.json")).unwrap()
    });
    assert_eq!(one, other);
}

#[test]
fn a_run_in_parts_is_imported_and_deleted_with_both_files() {
    let from = Store::with_a_drop().into_parts();
    let store = Store::new();
    let folder = from.folder().join(".cobalt/results");
    let said = store.cobalt(&["import", folder.to_str().unwrap()]);
    said.stdout_has("3 imported, 0 skipped, 0 refused");
    assert_eq!(results(&store), results(&from));
    store.cobalt(&["import", folder.to_str().unwrap()]).stdout_has("0 imported, 3 skipped, 0 refused");
    store.cobalt(&["show", B, "item-12"]);
    store.cobalt(&["clean", "--results", "--keep", "1", "--yes"]).stderr_has("Removed 2 files");
    assert!(results(&store).iter().all(|name| !name.contains(A)), "{:?}", results(&store));
    assert_eq!(results(&store).len(), 4);
}

#[test]
fn a_damaged_part_is_named_and_is_not_imported() {
    let from = Store::with_a_drop().into_parts();
    let name = results(&from).into_iter().find(|name| name.ends_with(&format!("{A}.items.zst"))).unwrap();
    let path = from.folder().join(".cobalt/results").join(&name);
    let mut bytes = fs::read(&path).unwrap();
    bytes[60] ^= 1;
    fs::write(&path, bytes).unwrap();
    let mut command = crate::command::program(crate::command::COBALT, from.folder());
    let said = crate::project::ProgramOutput::by(command.args(["cobalt", "show", A, "item-3"]), 3);
    said.stderr_has(&name).stderr_has("part 1 of 1 is damaged: its checksum differs");
    let store = Store::new();
    let mut command = crate::command::program(crate::command::COBALT, store.folder());
    let folder = from.folder().join(".cobalt/results");
    let said = crate::project::ProgramOutput::by(command.args(["cobalt", "import"]).arg(folder), 3);
    said.stderr_has("part 1 of 1 is damaged").stdout_has("2 imported, 0 skipped, 1 refused");
}
