//! What a judge is asked: by a prompt of the user's, or by a preset.

use super::super::choices::Preset;
use super::super::{CheckError, EvalContext, EvalError, Setup};
use super::form::Form;
use super::judge::Scoring;
use crate::evaluators::asking::prompt::Prompt;
use crate::evaluators::asking::source::Texts;
use crate::evaluators::asking::tagged;
use crate::suggest;

/// What is asked, and of what.
#[derive(Clone, Debug)]
pub(super) enum Task {
    /// A prompt with variables.
    Prompt(Prompt),
    /// A question that comes with the library, and the texts that it is about.
    Preset(Preset, Texts),
}

impl Task {
    /// Says where a variable of the prompt, or a text of the preset, comes from.
    pub(super) fn set_field(&mut self, name: String, path: &str) {
        match self {
            Self::Prompt(prompt) => prompt.set_field(name, path),
            Self::Preset(_, texts) => texts.set_field(name, path),
        }
    }

    /// The form of the answer, with the scoring that was set.
    pub(super) fn form(&self, scoring: Option<Scoring>) -> Form {
        match self {
            Self::Prompt(_) => match scoring {
                Some(Scoring::Scale) => Form::Scale,
                Some(Scoring::Boolean) | None => Form::Verdict,
            },
            Self::Preset(preset, _) => preset.form(),
        }
    }

    pub(super) fn is_preset(&self) -> bool {
        matches!(self, Self::Preset(..))
    }

    /// The question for one output.
    pub(super) fn fill(&self, cx: &EvalContext) -> Result<String, EvalError> {
        match self {
            Self::Prompt(prompt) => prompt.fill(cx),
            Self::Preset(preset, texts) => {
                let texts = texts.find(cx)?;
                let texts: Vec<_> = texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
                Ok(tagged::prompt(preset.task(), &texts))
            }
        }
    }

    /// What is wrong with the settings by themselves.
    pub(super) fn problem(&self, scoring: Option<Scoring>) -> Option<String> {
        let Self::Preset(preset, texts) = self else { return None };
        let name = preset.name();
        if scoring.is_some() {
            return Some(format!(
                "`boolean` and `scale` are for prompts of your own; the preset `{name}` has a form of answer already"
            ));
        }
        let known = || preset.inputs().iter().map(|(input, _)| *input);
        match texts.names().find(|(text, _)| known().all(|input| input != *text)) {
            Some((unknown, _)) => {
                let instead = suggest::instead(unknown, known().collect::<Vec<_>>());
                Some(format!("the preset `{name}` has no input `{unknown}`; {instead}"))
            }
            None => texts.problem(),
        }
    }

    /// What would keep every item from being judged.
    pub(super) fn check(&self, setup: &Setup, remapped: bool) -> Result<(), CheckError> {
        match self {
            Self::Prompt(prompt) => {
                prompt.check()?;
                if remapped { Ok(()) } else { prompt.check_items(setup.items()) }
            }
            Self::Preset(..) if remapped => Ok(()),
            Self::Preset(_, texts) => texts.check(setup),
        }
    }
}
