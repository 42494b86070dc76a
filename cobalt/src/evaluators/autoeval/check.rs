//! What would keep an `Autoeval` from scoring, said before the first item is run.

use serde_json::Value;

use super::{Autoeval, AutoevalKind, Task, classify};
use crate::evaluators::autoeval::classify::Rubric;
use crate::evaluators::autoeval::options::{SCHEMA, Setting};
use crate::evaluators::schema::validator;
use crate::evaluators::{CheckError, Setup};
use crate::llm::ModelChoice;
use crate::suggest;

impl Autoeval {
    pub(super) fn check_all(&self, setup: &Setup) -> Result<(), CheckError> {
        let told = |problem: String| CheckError::new(format!("{}: {problem}", self.task.name()));
        self.problem().map_or(Ok(()), |problem| Err(told(problem)))?;
        if let Task::Classifier { choices, .. } = &self.task
            && choices.len() == 1
        {
            return Err(told("a classifier needs at least two labels to choose from".to_owned()));
        }
        self.check_fields(setup).map_err(told)?;
        let schema = self.sources.fixed(SCHEMA).filter(|schema| !schema.is_null());
        schema.map_or(Ok(()), |schema| validator(schema).map(drop)).map_err(told)?;
        if matches!(self.task, Task::Kind(AutoevalKind::Moderation)) {
            return setup.models.check_moderation(&self.options.model);
        }
        if self.asks_judge() {
            setup.models.check_judge(&self.options.model)?;
        }
        if self.asks_embeddings() {
            setup.models.check_embedding(&self.embedding())?;
        }
        Ok(())
    }

    /// What is wrong with the settings by themselves.
    pub(super) fn problem(&self) -> Option<String> {
        if let Some(setting) = self.options.foreign(self.takes()) {
            return Some(format!("there is no setting `{setting}`; there are {}", self.settings_in_words()));
        }
        let inputs = self.inputs();
        if let Some(input) = self.sources.mapped().find(|input| !inputs.contains(input)) {
            return Some(format!("there is no input `{input}`; {}", instead(input, inputs)));
        }
        let is_null = |input: &&str| {
            let kind = if let Task::Kind(kind) = &self.task { Some(kind) } else { None };
            let takes_null = kind.is_none_or(|kind| kind.takes_null(input) || *input == SCHEMA);
            !takes_null && self.sources.fixed(input).is_some_and(Value::is_null)
        };
        if let Some(input) = inputs.iter().copied().find(is_null) {
            return Some(format!("the value of the input `{input}` is null; leave it out, or give it one"));
        }
        match &self.task {
            Task::Classifier { prompt, choices } => classify::problem_with(choices)
                .or_else(|| prompt.check().err().map(|error| error.to_string())),
            Task::Kind(AutoevalKind::ListContains) if !self.options.semantic => {
                let mut set =
                    self.options.set.iter().filter(|set| !["semantic", "allow_extra"].contains(set));
                set.next()
                    .map(|set| format!("`{set}` is for embeddings, which are compared only with `semantic`"))
            }
            Task::Kind(_) => None,
        }
        .or_else(|| self.options.problem())
    }

    /// The settings that the task has.
    fn takes(&self) -> &'static [Setting] {
        match &self.task {
            Task::Kind(kind) => kind.traits().takes,
            Task::Classifier { .. } => &[Setting::ChainOfThought, Setting::Model],
        }
    }

    fn settings_in_words(&self) -> String {
        let names: Vec<_> = self.takes().iter().map(|setting| setting.name()).collect();
        if names.is_empty() { "none but `pass_mark`".to_owned() } else { suggest::list(names) }
    }

    /// The inputs that the task looks at.
    fn inputs(&self) -> &'static [&'static str] {
        match &self.task {
            Task::Kind(AutoevalKind::ValidJson) => &["output", SCHEMA],
            Task::Kind(kind) => kind.traits().needs,
            // Its prompt has names of its own.
            Task::Classifier { .. } => &[],
        }
    }

    /// The inputs that a kind cannot do without. A schema may be missing, unless it is said where it is.
    pub(super) fn needed(&self, kind: AutoevalKind) -> Vec<&'static str> {
        let schema = self.sources.is_path(SCHEMA).then_some(SCHEMA);
        kind.traits().needs.iter().copied().chain(schema).collect()
    }

    /// An input that no item has.
    fn check_fields(&self, setup: &Setup) -> Result<(), String> {
        if self.remap.is_some() {
            return Ok(());
        }
        let kind = match self.task {
            Task::Kind(kind) => kind,
            Task::Classifier { ref prompt, .. } => {
                return prompt.check_items(setup.items()).map_err(|error| error.to_string());
            }
        };
        let advice = "map the input with `field`, or set it for all items with `value` (in `cobalt.toml` `fields` and `values`)";
        let takes_null = |input: &str| kind.takes_null(input);
        self.sources.lacking(&self.needed(kind), takes_null, setup.items(), advice).map_or(Ok(()), Err)
    }

    pub(super) fn asks_models(&self) -> bool {
        self.asks_judge()
            || self.asks_embeddings()
            || matches!(self.task, Task::Kind(AutoevalKind::Moderation))
    }

    /// Whom texts are embedded by.
    pub(super) fn embedding(&self) -> ModelChoice {
        self.options.embedding(self.asks_judge())
    }

    fn asks_judge(&self) -> bool {
        match self.task {
            Task::Classifier { .. } => true,
            Task::Kind(AutoevalKind::Moderation) => false,
            Task::Kind(kind) => Rubric::of(kind).is_some() || kind.traits().takes.contains(&Setting::Model),
        }
    }

    fn asks_embeddings(&self) -> bool {
        match self.task {
            Task::Classifier { .. } => false,
            Task::Kind(AutoevalKind::ListContains) => self.options.semantic,
            Task::Kind(AutoevalKind::AnswerCorrectness) => self.options.weights.similarity > 0.0,
            Task::Kind(kind) => kind.traits().takes.contains(&Setting::Embedding),
        }
    }
}

fn instead(input: &str, inputs: &[&str]) -> String {
    if inputs.is_empty() {
        "the prompt of a classifier holds all that it needs".to_owned()
    } else {
        suggest::instead(input, inputs.iter().copied())
    }
}
