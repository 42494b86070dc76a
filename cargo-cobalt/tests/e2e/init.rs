//! `cargo cobalt init` in empty folders and in packages: what it creates and what it does not change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::command::{COBALT, program as start};
use crate::snapshot::{assert_text, folders};

/// All files with their content.
type Files = BTreeMap<PathBuf, String>;

/// A temporary folder.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let place = Self::new();
        files.iter().for_each(|(file, text)| place.write(file, text));
        place
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.path().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    fn files(&self) -> Files {
        fn collect(folder: &Path, files: &mut Files) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => collect(&path, files),
                    false => drop(files.insert(path.clone(), fs::read_to_string(path).unwrap())),
                }
            }
        }
        let mut files = Files::new();
        collect(self.0.path(), &mut files);
        files
    }

    /// Runs a program in a subfolder and checks its exit code.
    fn run(&self, folder: &str, program: &str, arguments: &[&str], code: i32) -> String {
        let output = start(program, &self.0.path().join(folder)).args(arguments).output().unwrap();
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        assert_eq!(output.status.code(), Some(code), "{program} {arguments:?}: {text}");
        text
    }

    fn init(&self, folder: &str) -> String {
        self.run("", COBALT, &["cobalt", "init", folder], 0)
    }

    /// Runs the command, which must fail, and checks that it changes nothing.
    fn refuses(&self, folder: &str) -> String {
        let before = self.files();
        let text = self.run("", COBALT, &["cobalt", "init", folder], 3);
        assert_eq!(self.files(), before, "{text}");
        text
    }

    /// Runs the experiments of a package in every supported way.
    fn experiments_pass(&self, folder: &str) {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let run = self.run(folder, COBALT, &["cobalt", "run", "--ci"], 0);
        assert!(run.contains("right_team"), "{run}");
        let test = self.run(folder, &cargo, &["test"], 0);
        assert!(test.contains("11 passed"), "expected ten items and a threshold: {test}");
        let nextest = Command::new(&cargo).args(["nextest", "--version"]).output().unwrap();
        match nextest.status.success() {
            true => assert!(self.run(folder, &cargo, &["nextest", "run"], 0).contains("1 passed")),
            false => eprintln!("skipped: cargo-nextest is not installed"),
        }
    }

    /// Uses the same crate versions as this workspace, and the library's features of the other projects, for which it is already built.
    fn share_builds(&self, folder: &str) {
        let file = self.0.path().join(folder).join("Cargo.toml");
        let manifest = fs::read_to_string(&file).unwrap();
        let light = manifest.replace("/cobalt\" }", "/cobalt\", default-features = false }");
        assert_ne!(light, manifest);
        fs::write(&file, light).unwrap();
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        fs::copy(workspace.join("Cargo.lock"), file.with_file_name("Cargo.lock")).unwrap();
    }

    fn second_call_changes_nothing(&self, folder: &str) {
        let before = self.files();
        let text = self.init(folder);
        assert!(text.contains("Nothing to do"), "{text}");
        assert_eq!(self.files(), before, "{text}");
    }
}

#[test]
fn a_new_project_passes_as_it_is() {
    let place = Place::new();
    let text = place.init("desks/2 Desks");
    assert_text!(text);
    // The page for assistants is tested elsewhere.
    let mut files = place.files();
    files.retain(|path, _| !path.ends_with("SKILLS.md"));
    let text: String = files.iter().map(|(path, text)| format!("== {}\n{text}\n", path.display())).collect();
    folders().bind(|| insta::assert_snapshot!("files_of_a_new_project", text));
    place.share_builds("desks/2 Desks");
    place.experiments_pass("desks/2 Desks");
    place.second_call_changes_nothing("desks/2 Desks");
}

/// The first code block of this kind in a page.
fn code<'a>(page: &'a str, kind: &str) -> &'a str {
    let (_, code) = page.split_once(&format!("```{kind}\n")).unwrap();
    code.split_once("```").unwrap().0
}

#[test]
fn first_pages_work_after_init() {
    let place = Place::new();
    place.init("desk");
    place.share_builds("desk");
    let page = include_str!("../../../docs/first-experiment.md");
    place.write("desk/datasets/questions.jsonl", code(page, "json"));
    place.write("desk/tests/evals.rs", code(page, "rust,no_run"));
    let run = place.run("desk", COBALT, &["cobalt", "run"], 0);
    assert!(run.contains("geography: FAILED, 1 of 2 items passed"), "{run}");
    let page = include_str!("../../../docs/gate.md");
    place.write("desk/datasets/sums.jsonl", code(page, "json"));
    let tests = place.read("desk/tests/evals.rs");
    place.write("desk/tests/evals.rs", &format!("{}{tests}", code(page, "rust,no_run")));
    let mut commands = code(page, "console").lines().filter_map(|line| line.strip_prefix("$ cargo "));
    for command in commands.by_ref().take(2) {
        place.run("desk", COBALT, &command.split(' ').collect::<Vec<_>>(), 0);
    }
    place.read("desk/.cobalt/baselines/sums.json");
}

#[test]
fn a_package_that_is_there_gets_an_experiment_and_keeps_its_tests_and_its_format() {
    let manifest =
        "# Ours.\r\n[package]\r\nname = \"desk\"  # short\r\nversion = \"0.1.0\"\r\nedition = \"2018\"\r\n";
    let nextest = "[profile.default]\nfail-fast = false\n";
    let place = Place::with(&[
        ("Cargo.toml", manifest),
        ("src/main.rs", "fn main() {}\n"),
        ("tests/evals.rs", "#[test]\nfn unit() {}\n"),
        ("datasets/messages.jsonl", "{}\n"),
        (".config/nextest.toml", nextest),
    ]);
    let before = place.files();
    let text = place.init(".");
    assert_text!(text);
    let changed = place.read("Cargo.toml");
    let added = changed.strip_prefix(manifest).unwrap_or_else(|| panic!("{changed}"));
    assert_eq!(added.matches('\n').count(), added.matches("\r\n").count(), "{added:?}");
    let after = place.files();
    assert!(before.iter().all(|(path, text)| path.ends_with("Cargo.toml") || after[path] == *text));
    assert!(place.read("tests/experiments.rs").contains("cannot call into a binary"));

    place.share_builds("");
    place.write(".config/nextest.toml", "[profile.default]\ndefault-filter = 'binary(experiments)'\n");
    let experiments = place.read("tests/experiments.rs");
    assert!(experiments.contains("datasets/messages-2.jsonl"), "{experiments}");
    place.experiments_pass("");
    place.second_call_changes_nothing(".");
}

const WORKSPACE: &str = concat!(
    "[workspace]\nresolver = \"3\"\nmembers = [\n    \"app\",\n]\n\n[workspace.dependencies]\ncobalt = { package = \"cobalt-evals\", path = '",
    env!("CARGO_MANIFEST_DIR"),
    "/../cobalt' }\n",
);
const MEMBER: &str = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

fn workspace() -> Place {
    Place::with(&[("Cargo.toml", WORKSPACE), ("app/Cargo.toml", MEMBER), ("app/src/lib.rs", "")])
}

#[test]
fn a_member_depends_on_the_library_as_its_workspace_says_and_shares_its_settings() {
    let place = workspace();
    place.init("app");
    assert!(place.read("app/Cargo.toml").contains("\n[dev-dependencies]\ncobalt.workspace = true\n"));
    assert_eq!(place.read("Cargo.toml"), WORKSPACE);
    for file in ["cobalt.toml", ".cobalt/.gitignore", ".config/nextest.toml"] {
        place.read(file);
    }
    assert!(place.read("app/tests/evals.rs").contains("as `app::…`"));
    assert!(!place.0.path().join("app/cobalt.toml").exists());
    place.second_call_changes_nothing("app");
}

#[test]
fn a_new_folder_in_a_workspace_becomes_a_member() {
    let place = workspace();
    place.init("agents/desk");
    let expected = WORKSPACE.replace("    \"app\",\n", "    \"app\",\n    \"agents/desk\",\n");
    assert_eq!(place.read("Cargo.toml"), expected);
    assert!(place.read("agents/desk/Cargo.toml").contains("cobalt.workspace = true"));
    assert!(
        !place.0.path().join("agents/desk/.gitignore").exists(),
        "Cargo's target folder is in the workspace root"
    );
    place.second_call_changes_nothing("agents/desk");
    assert!(place.refuses("more/app").contains("already has a package `app`"));
}

#[test]
fn a_folder_that_a_workspace_excludes_stands_for_itself() {
    let place = workspace();
    let excluding = WORKSPACE.replace("resolver", "exclude = [\"lab\"]\nresolver");
    place.write("Cargo.toml", &excluding);
    place.init("lab");
    assert_eq!(place.read("Cargo.toml"), excluding);
    assert!(!place.read("lab/Cargo.toml").contains("[workspace]"));
    place.read("lab/.cobalt/.gitignore");
    place.second_call_changes_nothing("lab");
}

#[test]
fn a_workspace_that_is_no_package_names_its_members() {
    let text = workspace().refuses(".");
    assert!(text.contains("not a package; pass the folder of its member: `cargo cobalt init app`"), "{text}");
}

#[test]
fn the_example_of_each_package_has_a_name_of_its_own() {
    let place = workspace();
    place.init("app");
    place.init("agents/desk");
    assert!(place.read("app/tests/evals.rs").contains("name = \"app\""));
    assert!(place.read("agents/desk/tests/evals.rs").contains("name = \"desk\""));
}

#[test]
fn a_path_that_others_do_not_have_is_pointed_out() {
    let note = "is a path on this machine";
    let place = Place::with(&[("app/Cargo.toml", MEMBER), ("app/src/lib.rs", "")]);
    assert!(place.init("app").contains(note) && place.init("new").contains(note));
    assert!(!workspace().init("app").contains(note), "the library is declared by the workspace");
}

#[test]
fn settings_that_would_not_be_read_are_refused() {
    let text = Place::new().run("", COBALT, &["cobalt", "init", "--config", "ci.toml"], 2);
    assert!(text.contains("unexpected argument '--config'"), "{text}");
}

#[test]
fn a_package_that_cargo_does_not_count_to_the_workspace_around_is_refused_in_cargo_s_words() {
    let place = workspace();
    place.write("stray/Cargo.toml", &MEMBER.replace("app", "stray"));
    place.write("stray/src/lib.rs", "");
    assert!(place.refuses("stray").contains("`workspace.members`"));
}

#[test]
fn a_broken_manifest_is_named_with_its_line() {
    let place = Place::with(&[("Cargo.toml", "[package]\nname = \n")]);
    assert!(place.refuses(".").contains("Cargo.toml`: line 2, column 8"));
    assert!(place.refuses("new").contains("Cargo.toml`: line 2, column 8"));
}

#[test]
fn experiments_that_the_manifest_does_not_list_are_listed() {
    let experiments = "#[cobalt::experiment(dataset = \"d.jsonl\", evaluators = [right])]\nfn e() {}\n\n\
                       fn main() {\n    cobalt::main();\n}\n";
    let place = Place::with(&[("Cargo.toml", MEMBER), ("src/lib.rs", ""), ("tests/quality.rs", experiments)]);
    place.init(".");
    assert!(place.read("Cargo.toml").contains("[[test]]\nname = \"quality\"\nharness = false\n"));
    assert!(!place.0.path().join("datasets").exists(), "no example if experiments exist");
    place.second_call_changes_nothing(".");
}

#[test]
fn the_crate_of_the_registry_is_kept_and_called_by_its_name() {
    let manifest = format!("{MEMBER}\n[dev-dependencies]\ncobalt = \"0.7\"\n");
    let place = Place::with(&[("Cargo.toml", &manifest), ("src/lib.rs", "")]);
    let text = place.init(".");
    assert!(
        text.contains("an unrelated crate")
            && text.contains("`cobalt = { package = \"cobalt-evals\", path = "),
        "{text}"
    );
    assert!(place.read("Cargo.toml").starts_with(&manifest));
}

#[test]
fn settings_in_the_manifest_are_not_hidden_by_a_file() {
    let manifest = format!("{MEMBER}\n[package.metadata.cobalt]\nconcurrency = 2\n");
    let place = Place::with(&[("Cargo.toml", &manifest), ("src/lib.rs", "")]);
    place.init(".");
    assert!(!place.0.path().join("cobalt.toml").exists());
}

#[test]
fn a_dependency_that_is_optional_is_made_one_of_the_tests_too() {
    let dependency = "cobalt = { package = \"cobalt-evals\", path = \"/none/cobalt\", optional = true, default-features = false }";
    let manifest = format!("{MEMBER}\n[dependencies]\n{dependency}\n");
    let place = Place::with(&[("Cargo.toml", &manifest), ("src/lib.rs", "")]);
    place.init(".");
    let added =
        "\ncobalt = { package = \"cobalt-evals\", path = \"/none/cobalt\", default-features = false }\n";
    assert!(place.read("Cargo.toml").contains(added), "{}", place.read("Cargo.toml"));
    place.second_call_changes_nothing(".");
}

#[test]
fn a_library_of_another_name_is_not_added_twice() {
    let manifest =
        format!("{MEMBER}\n[dev-dependencies]\neval = {{ package = \"cobalt-evals\", path = \"/none\" }}\n");
    let place = Place::with(&[("Cargo.toml", &manifest), ("src/lib.rs", "")]);
    assert!(place.refuses(".").contains("depends on the library as `eval`"));
}

#[test]
fn a_test_that_only_speaks_of_experiments_keeps_its_front_end() {
    let test = "// Not yet: fn main() { cobalt::main() }\n/* fn main() { cobalt::main() } */\nmod cases;\n";
    let place = Place::with(&[("Cargo.toml", MEMBER), ("src/lib.rs", ""), ("tests/evals.rs", test)]);
    place.write("tests/cases/mod.rs", "");
    place.init(".");
    let manifest = place.read("Cargo.toml");
    assert!(!manifest.contains("\"evals\"") && manifest.contains("\"experiments\""), "{manifest}");
    assert_eq!(place.read("tests/evals.rs"), test);
}

#[test]
fn agents_on_a_crate_are_recorded() {
    for (name, dependency) in [
        ("rig", "rig = { version = \"0.44\" }"),
        ("async-openai", "async-openai = { version = \"0.43\", features = [\"chat-completion\"] }"),
    ] {
        let place = Place::with(&[
            ("old/Cargo.toml", "[package]\nname = \"old\"\nedition = \"2024\"\n"),
            ("old/src/main.rs", "fn main() {}\n"),
        ]);
        for (folder, agent, section) in
            [("new", "src/lib.rs", "[dependencies]"), ("old", "tests/evals.rs", "[dev-dependencies]")]
        {
            let text = place.run("", COBALT, &["cobalt", "init", folder, "--agent", name], 0);
            assert!(text.contains("set OPENAI_API_KEY"), "{text}");
            let manifest = place.read(&format!("{folder}/Cargo.toml"));
            let (_, from) = manifest.split_once(section).unwrap();
            assert!(from.contains(dependency), "{manifest}");
            assert!(place.read(&format!("{folder}/{agent}")).contains("LazyLock::new("));
            assert!(place.read(&format!("{folder}/tests/evals.rs")).contains("record = \"cassettes\","));
            place.second_call_changes_nothing(folder);
        }
    }
    Place::new().run("", COBALT, &["cobalt", "init", "--agent", "gpt"], 2);
}
