//! The evaluators' checks before anything runs, and the missing keys of several experiments.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cobalt_core::item::Item;
use cobalt_core::reporters::MissingKey;

use super::Plan;
use super::plan::resolve_definition;
use crate::config::Config;
use crate::dataset::Dataset;
use crate::error::Error;
use crate::evaluators::{Evaluator, Setup};
use crate::experiment::{Declaration, ResolvedDefinition};
use crate::llm::{CheckError, CheckErrorKind};
use crate::recording::RecordMode;
use crate::rescore::needed_evaluators;
use crate::thread_pool;

/// The missing keys, each once.
#[derive(Debug, Default)]
pub(crate) struct MissingKeys(Vec<MissingKey>);

impl MissingKeys {
    /// Those of an experiment without its data. Other problems of its evaluators are ignored, because they may be due to the missing
    /// items.
    pub(crate) fn of_declaration(declaration: &Declaration, config: &Config) -> Self {
        let mut missing = Self::default();
        if let Ok(definition) = resolve_definition(declaration.clone(), config)
            && definition.recording.mode != RecordMode::Replay
        {
            let dataset = Dataset::from_items([] as [Item; 0]);
            let setup =
                Setup { dataset, models: config.shared_models(), has_workspace: true, is_partial: false };
            collect_problems(&definition, definition.evaluators.iter(), &setup, &mut missing).for_each(drop);
        }
        missing
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn extend(&mut self, more: Self) {
        more.0.into_iter().for_each(|key| key.add_to(&mut self.0));
    }

    /// An error if any key is missing.
    pub(crate) fn into_result(self) -> Result<(), Error> {
        if self.is_empty() { Ok(()) } else { Err(Error::MissingKeys { keys: self.0 }) }
    }
}

impl From<MissingKeys> for Vec<MissingKey> {
    fn from(MissingKeys(keys): MissingKeys) -> Self {
        keys
    }
}

impl Plan {
    /// Lets each evaluator check whether it can score the selected items, or all. Missing keys are collected.
    pub fn check(&self, items: Option<&[usize]>, missing: &mut MissingKeys) -> Result<(), Error> {
        let setup = Setup {
            dataset: select_items(&self.dataset, items),
            models: Arc::clone(&self.models),
            has_workspace: self.definition.workspace.is_some(),
            is_partial: items.is_some_and(|items| items.len() < self.dataset.len()),
        };
        // Recorded answers need no key.
        let mut unneeded = MissingKeys::default();
        let replays = self.definition.recording.mode == RecordMode::Replay;
        let missing = if replays { &mut unneeded } else { missing };
        if let (Some(conversation), None) = (&self.definition.conversation, &self.rescoring) {
            match conversation.check(&setup.dataset, &setup.models) {
                Ok(()) => {}
                Err(CheckError(CheckErrorKind::Problem(problem))) => {
                    return Err(Error::Definition { experiment: self.name().to_owned(), problem });
                }
                Err(CheckError(CheckErrorKind::MissingKey { variable, asked_for })) => {
                    MissingKey::new(variable, asked_for, self.name().to_owned()).add_to(&mut missing.0);
                }
            }
        }
        if let Some(workspaces) = &self.workspaces {
            workspaces
                .check(&self.dataset, &self.keys, items)
                .map_err(|problem| Error::Definition { experiment: self.name().to_owned(), problem })?;
        }
        let needed = needed_evaluators(&self.definition, self.rescoring.as_deref());
        match collect_problems(&self.definition, needed, &setup, missing).next() {
            Some(problem) => Err(Error::Definition { experiment: self.name().to_owned(), problem }),
            None => Ok(()),
        }
    }
}

/// The problems that evaluators report. Missing keys are collected instead.
fn collect_problems<'a>(
    definition: &'a ResolvedDefinition,
    evaluators: impl Iterator<Item = &'a Arc<dyn Evaluator>> + 'a,
    setup: &'a Setup,
    missing: &'a mut MissingKeys,
) -> impl Iterator<Item = String> + 'a {
    evaluators.filter_map(move |evaluator| match check_evaluator(&**evaluator, setup) {
        Ok(()) => None,
        Err(CheckError(CheckErrorKind::MissingKey { variable, asked_for })) => {
            MissingKey::new(variable, asked_for, definition.name.clone()).add_to(&mut missing.0);
            None
        }
        Err(CheckError(CheckErrorKind::Problem(problem))) => {
            Some(format!("evaluator `{}`: {problem}", evaluator.name()))
        }
    })
}

fn select_items(dataset: &Dataset, items: Option<&[usize]>) -> Dataset {
    let Some(items) = items else { return dataset.clone() };
    let items: HashSet<_> = items.iter().copied().collect();
    dataset.clone().filter_indexes(|index| items.contains(&index))
}

/// Runs the check of an evaluator; a panic becomes an error of it.
fn check_evaluator(evaluator: &dyn Evaluator, setup: &Setup) -> Result<(), CheckError> {
    let asked = catch_unwind(AssertUnwindSafe(|| evaluator.check(setup)));
    asked.unwrap_or_else(|panic| Err(CheckError::new(thread_pool::describe_panic(&*panic))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Score;
    use crate::evaluators::{EvalContext, Evaluation};
    use crate::experiment::Experiment;

    /// An evaluator whose check is a function of the items.
    #[derive(Debug)]
    struct Checked(&'static str, fn(&Setup) -> Result<(), CheckError>);

    impl Evaluator for Checked {
        fn name(&self) -> &str {
            self.0
        }

        fn evaluate<'a>(&'a self, _: &'a EvalContext) -> Evaluation<'a> {
            Box::pin(async { Ok(Score::new(1.0)) })
        }

        fn check(&self, setup: &Setup) -> Result<(), CheckError> {
            (self.1)(setup)
        }
    }

    fn plan(name: &str, evaluators: Vec<Checked>) -> Plan {
        let items = ["a", "b", "c"].map(|input| crate::item! { "input": input });
        let experiment = Experiment::new(name, Dataset::from_items(items));
        let experiment = evaluators.into_iter().fold(experiment, Experiment::evaluator);
        Plan::new(experiment.bind(|_: Item| "x"), None, &config()).unwrap()
    }

    fn config() -> Config {
        Config::load(tempfile::tempdir().unwrap().path(), |_| None).unwrap()
    }

    fn without_openai(_: &Setup) -> Result<(), CheckError> {
        Err(CheckError::missing_key("OPENAI_API_KEY", "model `m` of openai"))
    }

    fn without_cohere(_: &Setup) -> Result<(), CheckError> {
        Err(CheckError::missing_key("COHERE_API_KEY", "model `e` of cohere"))
    }

    #[test]
    fn a_key_is_told_once_with_all_experiments_that_need_it() {
        let mut missing = MissingKeys::default();
        let twice = vec![Checked("one", without_openai), Checked("two", without_openai)];
        plan("desk", twice).check(None, &mut missing).unwrap();
        let both = vec![Checked("one", without_cohere), Checked("two", without_openai)];
        plan("sums", both).check(None, &mut missing).unwrap();
        let error = missing.into_result().unwrap_err().to_string();
        let lines: Vec<_> = error.lines().collect();
        assert_eq!(lines.len(), 2, "{error}");
        let start = "OPENAI_API_KEY is unset or empty: it is the API key for model `m` of openai, needed by experiments \
                     `desk`, `sums`. Set it";
        assert!(lines[0].starts_with(start), "{error}");
        assert!(lines[0].contains("`ignore_without = \"OPENAI_API_KEY\"`"), "{error}");
        assert!(
            lines[1].starts_with("COHERE_API_KEY") && lines[1].contains("needed by experiment `sums`."),
            "{error}"
        );
    }

    #[test]
    fn before_the_data_is_read_nothing_but_keys_counts() {
        let picky = |setup: &Setup| {
            assert!(setup.items().next().is_none(), "no data is read");
            Err(CheckError::new("no item has `docs`"))
        };
        let evaluators = [
            Checked("picky", picky),
            Checked("shaky", |_| panic!("at once")),
            Checked("judge", without_openai),
        ];
        let unread = Experiment::new("desk", "no-such-file.jsonl");
        let Experiment { declaration, .. } = evaluators.into_iter().fold(unread, Experiment::evaluator);
        let keys: Vec<_> = MissingKeys::of_declaration(&declaration, &config()).into();
        assert_eq!((keys.len(), &*keys[0].variable), (1, "OPENAI_API_KEY"));
        assert_eq!(keys[0].experiments, ["desk"]);
    }

    #[test]
    fn a_problem_and_a_panic_are_errors_of_the_experiment() {
        let problem = Checked("picky", |_| Err(CheckError::new("no item has `docs`")));
        let panicking = Checked("shaky", |_| panic!("at once"));
        for (evaluator, expected) in
            [(problem, "evaluator `picky`: no item has `docs`"), (panicking, "at once")]
        {
            let error = plan("desk", vec![evaluator]).check(None, &mut MissingKeys::default()).unwrap_err();
            assert!(
                matches!(error, Error::Definition { .. }) && error.to_string().contains(expected),
                "{error}"
            );
        }
    }

    #[test]
    fn only_the_selected_items_are_seen() {
        let all = |setup: &Setup| {
            let inputs: Vec<_> = setup.items().map(|item| item["input"].to_string()).collect();
            Err(CheckError::new(inputs.join("")))
        };
        let seen = |items: Option<&[usize]>| {
            let plan = plan("desk", vec![Checked("seen", all)]);
            plan.check(items, &mut MissingKeys::default()).unwrap_err().to_string()
        };
        assert!(seen(None).contains(r#""a""b""c""#));
        assert!(seen(Some(&[0, 2])).ends_with(r#": "a""c""#));
    }
}
