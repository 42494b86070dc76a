//! `cargo cobalt update`: the instruction files of coding assistants, and what it does not change.

use std::fs;

use serde_json::Value;

use crate::project::Project;

const SKILLS: &str = ".cobalt/SKILLS.md";
/// The dependency that the page's first example needs in addition to the library.
const SERDE: &str = "\n[dev-dependencies.serde]\nversion = \"1\"\nfeatures = [\"derive\"]\n";

#[test]
fn a_project_gets_the_page_the_server_and_references_where_there_are_instructions() {
    let project = Project::empty();
    project.write("CLAUDE.md", "# Ours\n");
    let said = project.cobalt(&["update"], 0);
    for line in ["created  .cobalt/SKILLS.md", "updated  CLAUDE.md", "created  .mcp.json"] {
        assert!(said.stdout.contains(line), "{said:?}");
    }
    assert!(!said.stdout.contains("AGENTS.md"), "{said:?}");
    let page = project.read(SKILLS);
    assert!(page.contains("| `cargo cobalt run` |") && page.contains("`Rouge`"), "{page}");
    assert!(page.len() < 30_000, "{}", page.len());
    let claude = project.read("CLAUDE.md");
    assert!(claude.starts_with("# Ours\n\n<!-- cobalt:begin -->\n") && claude.contains(SKILLS), "{claude}");
    let servers: Value = serde_json::from_str(&project.read(".mcp.json")).unwrap();
    assert_eq!(servers["mcpServers"]["cobalt"]["args"], serde_json::json!(["cobalt", "mcp"]));
    assert!(project.read(".cobalt/.gitignore").contains("results/"), "run output is ignored by git");
}

#[test]
fn a_second_call_changes_nothing_and_says_so() {
    let project = Project::empty();
    project.write("AGENTS.md", "# Ours\r\n\r\nBe kind.\r\n");
    project.write(".cursorrules", "Be kind.\n");
    project.cobalt(&["update"], 0);
    let files = ["AGENTS.md", SKILLS, ".mcp.json", ".cursorrules"];
    assert!(project.read(".cursorrules").contains("SKILLS.md"), "{}", project.read(".cursorrules"));
    let before = files.map(|file| project.read(file));
    assert!(!before[0].replace("\r\n", "").contains('\n'), "{:?}", before[0]);
    project.cobalt(&["update"], 0).stdout_has("kept     AGENTS.md").stdout_has("up to date");
    assert_eq!(files.map(|file| project.read(file)), before);
}

#[test]
fn only_what_stands_between_the_marks_is_replaced() {
    let project = Project::empty();
    project.write(
        ".github/copilot-instructions.md",
        "before\n<!-- cobalt:begin -->\nold\n<!-- cobalt:end -->\nafter",
    );
    project.write(SKILLS, "Our own words.\n");
    project.cobalt(&["update"], 0).stdout_has("updated  .github/copilot-instructions.md");
    let instructions = project.read(".github/copilot-instructions.md");
    assert!(instructions.starts_with("before\n<!-- cobalt:begin -->\n## Experiments"), "{instructions}");
    assert!(instructions.ends_with("\n<!-- cobalt:end -->\nafter"), "{instructions}");
    assert!(project.read(SKILLS).starts_with("Our own words.\n\n<!-- cobalt:begin -->\n# Cobalt"));
}

#[test]
fn a_check_writes_nothing_and_fails_where_something_is_out_of_date() {
    let project = Project::empty();
    project
        .cobalt(&["update", "--check"], 1)
        .stdout_has("missing  .cobalt/SKILLS.md")
        .stdout_has("`cargo cobalt update`");
    assert!(!project.path(".cobalt").exists() && !project.path(".mcp.json").exists());
    project.cobalt(&["update"], 0);
    project.cobalt(&["update", "--check"], 0);
    let older = project.read(SKILLS).replace("Cobalt is", "Cobalt was");
    project.write(SKILLS, &older);
    project.cobalt(&["update", "--check"], 1).stdout_has("out of date .cobalt/SKILLS.md");
    assert_eq!(project.read(SKILLS), older);
}

#[test]
fn marks_that_are_no_pair_are_refused_with_their_line_and_nothing_is_written() {
    let project = Project::empty();
    let broken = "# Ours\n<!-- cobalt:begin -->\nold\n";
    project.write("AGENTS.md", broken);
    let said = project.cobalt(&["update"], 3);
    said.stderr_has("AGENTS.md`, line 2: ")
        .stderr_has("add it after Cobalt's part")
        .stderr_has("nothing was written");
    assert_eq!(project.read("AGENTS.md"), broken);
    assert!(!project.path(SKILLS).exists() && !project.path(".mcp.json").exists());
}

#[test]
fn servers_that_are_there_stay_as_they_are() {
    let project = Project::empty();
    let ours = "{\n    \"mcpServers\": {\n        \"web\": {\"url\": \"https://example.org\"}\n    }\n}\n";
    project.write(".mcp.json", ours);
    project.cobalt(&["update"], 0).stdout_has("updated  .mcp.json");
    let both = project.read(".mcp.json");
    assert!(
        both.contains("{\"url\": \"https://example.org\"},\n        \"cobalt\": {\n            \"command\""),
        "{both}"
    );
    let changed = both.replace("\"cargo\"", "\"/opt/cargo\"");
    project.write(".mcp.json", &changed);
    project.cobalt(&["update"], 0).stdout_has("kept     .mcp.json");
    assert_eq!(project.read(".mcp.json"), changed);
    project.write(".mcp.json", "{\n  \"mcpServers\": [\n");
    project.cobalt(&["update"], 3).stderr_has(".mcp.json`: line ");
}

#[test]
fn what_the_page_shows_runs_as_it_stands() {
    let project = Project::empty();
    project.target("from_page");
    project.write("Cargo.toml", &(project.read("Cargo.toml") + SERDE));
    project.cobalt(&["update"], 0);
    let page = project.read(SKILLS);
    let between = |begin: &str, end: &str| page.split_once(begin).unwrap().1.split_once(end).unwrap().0;
    project.write("tests/from_page.rs", between("```rust,no_run\n", "```"));
    project.write("cobalt.toml", between("```toml\n", "```"));
    project.write("datasets/questions.jsonl", between("for example\n`", "`;"));
    let arguments = ["run", "--reporter", "cli", "--reporter", "junit=junit.xml"];
    project
        .cobalt(&arguments, 0)
        .stdout_has("geography: FAILED, 1 of 3 thresholds missed")
        .stderr_has("TEAM_CHAT_WEBHOOK");
    assert!(project.read("junit.xml").contains("geography"));
    project.cobalt(&["export", "latest", "--format", "markdown"], 0).stdout_has("`capital`");
    project.cobalt(&["compare", "latest", "latest", "--json"], 0).stdout_has("\"verdict\"");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_read_only_is_refused_and_nothing_is_written() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::empty();
    project.write("CLAUDE.md", "# Ours\n");
    fs::set_permissions(project.path("CLAUDE.md"), fs::Permissions::from_mode(0o444)).unwrap();
    project.cobalt(&["update"], 3).stderr_has("CLAUDE.md`: it is read-only");
    assert_eq!(project.read("CLAUDE.md"), "# Ours\n");
    assert!(!project.path(SKILLS).exists());
}

#[cfg(unix)]
#[test]
fn no_link_is_followed_out_of_the_project_and_a_link_within_it_is_written_once() {
    use std::os::unix::fs::symlink;
    let project = Project::empty();
    let other = tempfile::tempdir().unwrap();
    let theirs = other.path().join("AGENTS.md");
    fs::write(&theirs, "theirs\n").unwrap();
    fs::create_dir(project.path(".github")).unwrap();
    symlink(&theirs, project.path(".github/copilot-instructions.md")).unwrap();
    project.write("AGENTS.md", "# Ours\n");
    symlink("AGENTS.md", project.path("CLAUDE.md")).unwrap();
    let said = project.cobalt(&["update"], 0);
    let said = said.stdout_has("skipped  .github/copilot-instructions.md  symlink out of the project");
    said.stdout_has("skipped  AGENTS.md").stdout_has("same file as CLAUDE.md");
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs\n");
    assert_eq!(project.read("AGENTS.md").matches("cobalt:begin").count(), 1);
    assert!(project.path("CLAUDE.md").symlink_metadata().unwrap().is_symlink());
}

#[test]
fn a_page_that_git_leaves_out_is_pointed_out() {
    let project = Project::empty();
    crate::git::git(&project, &["init", "--quiet"]);
    project.write(".gitignore", "target/\n.cobalt/\n");
    project.cobalt(&["update"], 0).stderr_has(".gitignore:2:.cobalt/").stderr_has("`!**/.cobalt/SKILLS.md`");
    project.write(".gitignore", "**/.cobalt/*\n!**/.cobalt/SKILLS.md\n");
    let said = project.cobalt(&["update"], 0);
    assert!(!said.stderr.contains("warning"), "{said:?}");
}

#[test]
fn outside_of_a_project_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = crate::command::program(crate::command::COBALT, folder.path());
    let said = crate::project::ProgramOutput::by(command.args(["cobalt", "update"]), 3);
    said.stderr_has("is not in a Cargo project");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
