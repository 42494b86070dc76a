//! What would keep an `Autoeval` from scoring, said before the first item is run.

use super::kind::Setting;
use super::rubrics::Rubric;
use super::source::INPUTS;
use super::{Autoeval, AutoevalKind, Task, classify, plain};
use crate::evaluators::{CheckError, Setup};
use crate::suggest;

impl Autoeval {
    pub(super) fn check_all(&self, setup: &Setup) -> Result<(), CheckError> {
        let told =
            |problem: String| CheckError::new(format!("`{}` ({}): {problem}", self.name, self.task.name()));
        self.problem().map_or(Ok(()), |problem| Err(told(problem)))?;
        self.check_fields(setup).map_err(told)?;
        if matches!(self.task, Task::Kind(AutoevalKind::Moderation)) {
            return setup.models.check_moderation(&self.options.model);
        }
        if self.asks_judge() {
            setup.models.check_judge(&self.options.model)?;
        }
        if self.asks_embeddings() {
            setup.models.check_embedding(&self.options.embedding())?;
        }
        Ok(())
    }

    /// What is wrong with the settings by themselves.
    pub(super) fn problem(&self) -> Option<String> {
        if let Some(setting) = self.options.foreign(self.takes()) {
            return Some(format!("there is no setting `{setting}`; there are {}", self.settings_in_words()));
        }
        if let Some(input) = self.sources.mapped().find(|input| !self.has_input(input)) {
            let inputs = self.inputs();
            return Some(format!(
                "there is no input `{input}`; {}",
                suggest::instead(input, inputs.iter().copied())
            ));
        }
        let schema = self.sources.fixed("schema").filter(|schema| !schema.is_null());
        let schema = schema.and_then(|schema| plain::validator(schema).err());
        if let Some(error) = schema {
            return Some(error.to_string());
        }
        match &self.task {
            Task::Classifier { choices, .. } => classify::problem_with(choices),
            Task::Kind(AutoevalKind::ListContains)
                if !self.options.semantic && self.options.set.iter().any(|set| set.contains("embedding")) =>
            {
                Some("elements are compared by embeddings only with `semantic`".to_owned())
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
    pub(super) fn inputs(&self) -> Vec<&str> {
        match &self.task {
            Task::Kind(AutoevalKind::ValidJson) => vec!["output", "schema"],
            Task::Kind(kind) => kind.traits().needs.to_vec(),
            Task::Classifier { prompt, .. } => {
                let mut roots: Vec<_> =
                    prompt.variables().into_iter().map(|variable| variable.root()).collect();
                roots.sort_unstable();
                roots.dedup();
                roots
            }
        }
    }

    /// Whether an input may be mapped: one that the task looks at. Ours that it does not are refused, too.
    fn has_input(&self, input: &str) -> bool {
        debug_assert!(
            self.inputs()
                .iter()
                .all(|known| matches!(self.task, Task::Classifier { .. }) || INPUTS.contains(known))
        );
        self.inputs().contains(&input)
    }

    /// An input that no item has.
    fn check_fields(&self, setup: &Setup) -> Result<(), String> {
        if self.remap.is_some() || setup.items().next().is_none() {
            return Ok(());
        }
        let (needs, takes_null) = match &self.task {
            Task::Kind(kind) => (kind.traits().needs.to_vec(), kind.takes_null()),
            Task::Classifier { .. } => (self.inputs(), false),
        };
        for input in needs {
            if !setup.items().any(|item| self.sources.may_be_in(input, item, takes_null)) {
                let mut fields: Vec<_> =
                    setup.items().flat_map(|item| item.keys().map(String::as_str)).collect();
                fields.sort_unstable();
                fields.dedup();
                return Err(format!(
                    "no item has {} for the input `{input}`; the items have {}; name another one with `.field(\"{input}\", …)`",
                    self.sources.place(input),
                    suggest::list(fields)
                ));
            }
        }
        Ok(())
    }

    pub(super) fn asks_models(&self) -> bool {
        self.asks_judge()
            || self.asks_embeddings()
            || matches!(self.task, Task::Kind(AutoevalKind::Moderation))
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
