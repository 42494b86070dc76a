//! The files of the first experiment, and its settings.

use std::fs;
use std::path::Path;

use super::plan::{Plan, exists_or_link};
use crate::cli::AgentCrate;

/// The settings, each commented out.
pub const SETTINGS: &str = include_str!("templates/cobalt.toml");
/// The items of the example.
pub const ITEMS: &str = include_str!("templates/messages.jsonl");

/// Where the example agent is, and what an experiment can call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agent {
    /// In the new library of this name.
    NewLibrary(String),
    /// In the file of the experiment; the package has a library of this name.
    ExistingLibrary(String),
    /// In the file of the experiment; the package has only binaries.
    BinaryOnly,
}

/// The imports of the sample agent, and its code.
fn sample_agent(model: AgentCrate) -> (&'static str, &'static str) {
    let source = match model {
        AgentCrate::Rig => include_str!("templates/rig.rs"),
        AgentCrate::AsyncOpenai => include_str!("templates/async_openai.rs"),
    };
    source.split_once("\n\n/// ").map_or(("", source), |(imports, _)| source.split_at(imports.len() + 2))
}

/// The library of a new package.
pub fn library(built_on: Option<AgentCrate>) -> String {
    let (imports, agent) = built_on.map_or(("", AGENT), sample_agent);
    format!("//! A support desk that routes each message to a team: a sample agent.\n\n{imports}{agent}")
}

/// The source of the test target with an agent that asks a model.
fn model_experiments(built_on: AgentCrate, agent: &Agent, name: &str, target: &str, dataset: &str) -> String {
    let (imports, inline) = match agent {
        Agent::NewLibrary(library) => (format!("use cobalt::Item;\nuse {library}::route;"), String::new()),
        Agent::ExistingLibrary(_) | Agent::BinaryOnly => {
            let (imports, agent) = sample_agent(built_on);
            let imports = match built_on {
                AgentCrate::Rig => imports.trim_end().replacen("\n\n", "\n\nuse cobalt::Item;\n", 1),
                AgentCrate::AsyncOpenai => format!("{}\nuse cobalt::Item;", imports.trim_end()),
            };
            (imports, format!("\n{}", agent.replace("pub async fn", "async fn")))
        }
    };
    include_str!("templates/model_evals.rs")
        .replace("@TARGET@", target)
        .replace("@NAME@", name)
        .replace("@IMPORTS@", &imports)
        .replace("@DATASET@", dataset)
        .replace("@AGENT@\n", &format!("{inline}\n"))
}

const AGENT: &str = include_str!("templates/agent.rs");

/// The source of the test target, with an experiment of this name.
pub fn experiments(agent: &Agent, name: &str, target: &str, dataset: &str) -> String {
    let (mut imports, advice) = match agent {
        Agent::NewLibrary(library) => (
            vec![format!("use {library}::route;")],
            "/// To test another agent, call it here instead of `route`. You can return a `Result`: errors are\n\
             /// reported separately from low scores."
                .to_owned(),
        ),
        Agent::ExistingLibrary(library) => (
            Vec::new(),
            format!(
                "/// To test your own agent, call it here instead of `route`, as `{library}::…`. You can return a\n\
                 /// `Result`: errors are reported separately from low scores."
            ),
        ),
        Agent::BinaryOnly => (
            Vec::new(),
            "/// To test your own agent, call it here instead of `route`. Tests cannot call into a binary: move\n\
             /// the agent to a library, `src/lib.rs`, and use it from the binary as well. You can return a\n\
             /// `Result`: errors are reported separately from low scores."
                .to_owned(),
        ),
    };
    imports.push("use cobalt::Item;".to_owned());
    imports.sort();
    let inline = match agent {
        Agent::NewLibrary(_) => String::new(),
        _ => format!("\n{}", AGENT.replace("pub fn", "fn")),
    };
    include_str!("templates/evals.rs")
        .replace("@TARGET@", target)
        .replace("@NAME@", name)
        .replace("@IMPORTS@", &imports.join("\n"))
        .replace("@ADVICE@", &advice)
        .replace("@DATASET@", dataset)
        .replace("@AGENT@\n", &format!("{inline}\n"))
}

/// The nextest settings for the test target.
pub fn nextest(target: &str) -> String {
    include_str!("templates/nextest.toml").replace("@TARGET@", target)
}

/// The example: an experiment and its dataset.
///
/// The experiment is named after its package, as the packages of a workspace share one history.
pub fn add_example(plan: &mut Plan, package: &str, agent: &Agent, built_on: Option<AgentCrate>) {
    let dataset = free_dataset(&plan.package);
    let text = match built_on {
        None => experiments(agent, package, &plan.target, &dataset),
        Some(built_on) => model_experiments(built_on, agent, package, &plan.target, &dataset),
    };
    if built_on.is_some() {
        let note = "the first run asks the model, so set OPENAI_API_KEY; later runs replay its recordings in `cassettes`";
        plan.notes.push(note.to_owned());
    }
    plan.file(plan.package.join(format!("tests/{}.rs", plan.target)), "a sample experiment", &text);
    plan.file(plan.package.join(dataset), "its dataset", ITEMS);
    if plan.target != "evals" {
        plan.notes
            .push(format!("a test target `evals` already exists, so the experiment is in `{}`", plan.target));
    }
}

fn free_dataset(package: &Path) -> String {
    let numbered = (2..).map(|number| format!("datasets/messages-{number}.jsonl"));
    let mut names = std::iter::once("datasets/messages.jsonl".to_owned()).chain(numbered);
    names.find(|name| !exists_or_link(&package.join(name))).unwrap_or_default()
}

/// The settings of the whole workspace.
///
/// No file is created if it would hide existing settings: the package's file takes precedence over the workspace's, and both over
/// the manifest.
pub fn add_settings(plan: &mut Plan, manifest_has_settings: bool) {
    let own = plan.package.join("cobalt.toml");
    if exists_or_link(&own) {
        plan.keep(own);
    } else if !manifest_has_settings {
        plan.file(plan.root.join("cobalt.toml"), "settings, all commented out", SETTINGS);
    }
}

/// A nextest profile: to nextest, an experiment is one test.
pub fn add_nextest(plan: &mut Plan) {
    let path = plan.root.join(".config/nextest.toml");
    let profile = nextest(&plan.target);
    let filter = format!("binary({})", plan.target);
    if fs::read_to_string(&path).is_ok_and(|existing| !existing.contains(&filter)) {
        let settings = profile.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let settings: String = settings.map(|line| format!("\n    {line}")).collect();
        plan.notes
            .push(format!("add recommended settings for experiments to .config/nextest.toml:{settings}"));
    }
    plan.file(path, "nextest settings for experiments", &profile);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_has_an_id_of_its_own_and_a_team() {
        let items: Vec<serde_json::Value> =
            ITEMS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let ids: std::collections::HashSet<_> =
            items.iter().map(|item| item["id"].as_str().unwrap()).collect();
        assert!(ids.len() == items.len() && items.len() == 10);
        for item in &items {
            assert!(item["input"].is_string() && item["expectedOutput"].is_string(), "{item}");
        }
    }

    #[test]
    fn no_placeholder_is_left() {
        let agents =
            [Agent::NewLibrary("desk".into()), Agent::ExistingLibrary("desk".into()), Agent::BinaryOnly];
        for agent in agents {
            let text = experiments(&agent, "desk", "evals", "datasets/messages.jsonl");
            assert!(
                !text.contains('@') && text.ends_with("\nfn main() {\n    cobalt::main();\n}\n"),
                "{text}"
            );
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        }
        let library = Agent::NewLibrary("desk".into());
        for built_on in [AgentCrate::Rig, AgentCrate::AsyncOpenai] {
            let agents = [&library, &Agent::BinaryOnly];
            let mut texts = agents
                .map(|agent| model_experiments(built_on, agent, "desk", "evals", "datasets/messages.jsonl"))
                .to_vec();
            assert!(texts[0].contains("use desk::route;") && !texts[0].contains("LazyLock"), "{}", texts[0]);
            assert!(
                texts[1].contains("\nuse cobalt::Item;\n") && texts[1].contains("= LazyLock::new("),
                "{}",
                texts[1]
            );
            texts.push(super::library(Some(built_on)));
            for text in texts {
                let panics = ["unwrap()", "expect(", "panic!"].iter().any(|call| text.contains(call));
                assert!(!panics && !text.contains('@') && !text.contains("\n\n\n"), "{text}");
                assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
            }
        }
        assert!(nextest("evals").contains("filter = 'binary(evals)'"));
    }
}
