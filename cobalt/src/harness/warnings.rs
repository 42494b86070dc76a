//! Warnings about probable mistakes that would otherwise go unnoticed: variables that nothing reads, keys in the configuration file,
//! and misspelt variables of `ignore_without`.

use std::sync::Arc;

use cobalt_core::item::CaseNames;
use cobalt_core::redact::REDACTED;
use cobalt_core::report::{ItemResult, RunConfig};
use cobalt_core::reporters::{SeenErrors, Warning, explain};

use super::cases::DeclaredExperiment;
use crate::config::{Config, Origin, Setting, unknown_variable_warning};
use crate::private::ExperimentDefinition;
use crate::session::Run;

/// Key variables that judges and agents often need.
const COMMON_KEY_VARIABLES: [&str; 17] = [
    "ANTHROPIC_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "COHERE_API_KEY",
    "CO_API_KEY",
    "DEEPSEEK_API_KEY",
    "FIREWORKS_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "HF_TOKEN",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "PERPLEXITY_API_KEY",
    "TOGETHER_API_KEY",
    "VOYAGE_API_KEY",
    "XAI_API_KEY",
];
/// One wrong letter is tolerated per this many letters of a name.
const LETTERS_PER_MISTAKE: usize = 8;

/// Warns about variables of this process that begin with `COBALT_` and that nothing reads: neither this library, nor the settings, nor
/// an experiment.
pub fn unknown_variables(definitions: &[&'static ExperimentDefinition], config: &Config) -> Vec<Warning> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let unknown: Vec<_> = names
        .filter_map(|name| Some((unknown_variable_warning(&name)?, name)))
        .filter(|(_, name)| !config.mentions_variable(name))
        .collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    let declared: Vec<_> =
        definitions.iter().map(|definition| DeclaredExperiment::read(definition)).collect();
    let is_asked_for = |name: &String| {
        let declarations = declared.iter().filter_map(DeclaredExperiment::declaration);
        declarations.flat_map(|declaration| &declaration.ignore_without).any(|asked| asked == name)
    };
    let unknown = unknown.into_iter().filter(|(_, name)| !is_asked_for(name));
    let mut warnings: Vec<_> = unknown.map(|(warning, _)| Warning::global(warning)).collect();
    // The system lists them in any order.
    warnings.sort_by(|a, b| a.message.cmp(&b.message));
    warnings
}

/// Warns about keys written in the configuration file, whose git history would keep them.
pub fn keys_in_config(config: &Config) -> Vec<Warning> {
    let is_variable = |key: &str| key.starts_with("env.");
    let is_key = |setting: &&Setting| {
        (setting.key.ends_with("-key") || is_variable(&setting.key)) && setting.value == REDACTED
    };
    let warning = |Setting { key, origin, .. }: &Setting| match origin {
        Origin::File { .. } => {
            let name = if is_variable(key) {
                String::new()
            } else {
                format!(", and set `{key}-env` to the variable's name")
            };
            Some(Warning::global(format!(
                "{origin}: `{key}` is a key in a file that is usually committed; move it to a variable or to `.env`{name}"
            )))
        }
        _ => None,
    };
    config.settings().iter().filter(is_key).filter_map(warning).collect()
}

/// Warns about an experiment that is ignored because of a missing variable whose name looks misspelt.
pub fn misspelt_requirement(declared: &DeclaredExperiment, variable: &str) -> Option<Warning> {
    let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    let set: Vec<_> = set.filter_map(|(name, _)| name.into_string().ok()).collect();
    let message = misspelling_message(variable, &set)?;
    Some(Warning { experiment: Some(declared.name()), message, declared_at: Some(declared.place()) })
}

/// The message if the name of a missing variable resembles that of one that is set, or of a common key variable.
fn misspelling_message(variable: &str, set: &[String]) -> Option<String> {
    let ignored = format!("ignored because {variable} is not set");
    if let Some(meant) = set.iter().find(|name| is_similar(variable, name)) {
        return Some(format!("{ignored}, but `{meant}` is; should `ignore_without` name that one?"));
    }
    if COMMON_KEY_VARIABLES.contains(&variable) {
        return None;
    }
    if let Some(meant) = COMMON_KEY_VARIABLES
        .iter()
        .find(|known| is_similar(variable, known) || is_variant_of(variable, known))
    {
        return Some(format!("{ignored}; did you mean `ignore_without = \"{meant}\"`?"));
    }
    let is_lower = variable.chars().any(|letter| letter.is_ascii_lowercase());
    is_lower
        .then(|| format!("{ignored}; did you mean `ignore_without = \"{}\"`?", variable.to_ascii_uppercase()))
}

/// Whether two different names differ only in style or in a few letters.
fn is_similar(one: &str, other: &str) -> bool {
    let letters = |name: &str| name.replace(['_', '-'], "").to_ascii_uppercase();
    let (first, second) = (letters(one), letters(other));
    let mistakes = strsim::damerau_levenshtein(&first, &second);
    // Names that end in numbers are often a numbered series.
    let are_numbered = one.ends_with(|last: char| last.is_ascii_digit())
        || other.ends_with(|last: char| last.is_ascii_digit());
    one != other && (mistakes == 0 || !are_numbered && mistakes <= first.len() / LETTERS_PER_MISTAKE)
}

/// Whether a name is another form of a provider's key variable: `OPENAI_KEY`.
fn is_variant_of(variable: &str, known: &str) -> bool {
    let vendor = known.strip_suffix("_API_KEY");
    let forms = ["_KEY", "_TOKEN", "_API_TOKEN", "_SECRET"];
    vendor.is_some_and(|vendor| {
        forms.iter().any(|form| variable.strip_suffix(form).is_some_and(|rest| rest == vendor))
    })
}

/// What is needed to describe the items of a run.
pub struct ItemExplainer {
    name: String,
    pub(super) config: RunConfig,
    /// The items' names in test cases, by index.
    pub(super) names: Arc<CaseNames>,
    repeated: SeenErrors,
}

/// Why an item failed.
pub enum Explanation {
    Full(String),
    /// The same scoring errors as those of an earlier item, which this text names.
    Repeated(String),
}

impl ItemExplainer {
    pub fn for_run(run: &Run) -> Self {
        let (name, config) = (run.plan().name().to_owned(), run.config().clone());
        let names = Arc::clone(&run.plan().names);
        Self { name, config, names, repeated: SeenErrors::default() }
    }

    /// Why an item failed. Scoring errors of an earlier item are not repeated.
    pub fn explain(&mut self, item: &ItemResult) -> Explanation {
        let explained = explain(item, &self.name, &self.config);
        match self.repeated.earlier(item, &self.names.get(item.index), &self.config) {
            Some(earlier) => {
                let head = explained.lines().next().unwrap_or_default();
                Explanation::Repeated(format!("{head}\n  same scoring error as item {earlier}"))
            }
            None => Explanation::Full(explained),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_the_settings_is_warned_of_and_not_printed() {
        let folder = tempfile::tempdir().unwrap();
        let text = "[judge]\nmodel = \"gpt-4o\"\napi-key = \"sk-live-9f8e7d6c5b4a\"\n";
        std::fs::write(folder.path().join("cobalt.toml"), text).unwrap();
        let warnings = keys_in_config(&Config::load(folder.path(), |_| None).unwrap());
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.message.starts_with("cobalt.toml:3: `judge.api-key` is a key"), "{warning:?}");
        assert!(
            warning.message.contains("`judge.api-key-env`") && !warning.message.contains("9f8e"),
            "{warning:?}"
        );
        let variables = "judge.api-key-env = \"MY_KEY\"\n[env]\nREGION = \"north\"\nMY_API_KEY = \"sk-live-9f8e7d6c5b4b\"";
        std::fs::write(folder.path().join("cobalt.toml"), variables).unwrap();
        let warnings = keys_in_config(&Config::load(folder.path(), |_| None).unwrap());
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.message.starts_with("cobalt.toml:4: `env.MY_API_KEY` is a key"), "{warning:?}");
        assert!(warning.message.ends_with("or to `.env`"), "{warning:?}");
    }

    fn meant(variable: &str, set: &[&str]) -> Option<String> {
        let set: Vec<_> = set.iter().map(|&name| name.to_owned()).collect();
        misspelling_message(variable, &set)
    }

    #[test]
    fn a_name_that_is_nearly_that_of_a_key_is_said_to_be_misspelt() {
        for name in [
            "OPENAI_APIKEY",
            "OPENIA_API_KEY",
            "openai_api_key",
            "OPENAI_KEY",
            "OPENAI_API_KEYS",
            "OPENAI_TOKEN",
        ] {
            let said = meant(name, &["PATH"]).unwrap_or_default();
            let expected = format!("{name} is not set; did you mean `ignore_without = \"OPENAI_API_KEY\"`?");
            assert!(said.ends_with(&expected), "{name}: {said}");
        }
        let said = meant("MY_SERIVCE_URL", &["PATH", "MY_SERVICE_URL"]).unwrap();
        assert!(said.contains("but `MY_SERVICE_URL` is;"), "{said}");
        assert!(meant("my_key", &[]).unwrap().ends_with("`ignore_without = \"MY_KEY\"`?"));
    }

    #[test]
    fn names_of_other_variables_are_taken_as_they_are() {
        let set = ["PATH", "HOME", "SHARD_2", "AWS_REGION"];
        for name in [
            "OPENAI_API_KEY",
            "GROQ_API_KEY",
            "MY_API_KEY",
            "TRIAL_KEY",
            "SHARD_1",
            "LIVE",
            "OPENAI_ADMIN_KEY",
        ] {
            assert_eq!(meant(name, &set), None, "{name}");
        }
    }
}
