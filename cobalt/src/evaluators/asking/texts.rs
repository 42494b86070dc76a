//! The texts that a judge is shown, each by its name.

use super::source::{Sources, input_text};
use crate::evaluators::{CheckError, EvalContext, EvalError, Setup};

/// Whether there is anything to judge without a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evaluators) enum Need {
    /// An output without the text is not judged.
    Always,
    /// The text is shown where there is one.
    IfThere,
}

/// What a judge is shown, in this order, and where it comes from.
#[derive(Clone, Debug)]
pub(in crate::evaluators) struct Texts {
    shown: Vec<(String, Need)>,
    sources: Sources,
}

impl Texts {
    pub(in crate::evaluators) fn new(shown: &[(&str, Need)]) -> Self {
        let shown = shown.iter().map(|(name, need)| ((*name).to_owned(), *need)).collect();
        Self { shown, sources: Sources::default() }
    }

    /// Takes a text from where `path` leads. What was said to be somewhere has to be there; a text of another name is
    /// shown as well.
    pub(in crate::evaluators) fn set_field(&mut self, name: String, path: &str) {
        match self.shown.iter_mut().find(|(shown, _)| *shown == name) {
            Some((_, need)) => *need = Need::Always,
            None => self.shown.push((name.clone(), Need::Always)),
        }
        self.sources.map(name, path);
    }

    /// Shows these texts and no others.
    pub(in crate::evaluators) fn show_only(&mut self, names: impl IntoIterator<Item = String>) {
        self.shown = names.into_iter().map(|name| (name, Need::Always)).collect();
    }

    /// The names of the texts, in order.
    pub(in crate::evaluators) fn names(&self) -> impl Iterator<Item = (&str, Need)> {
        self.shown.iter().map(|(name, need)| (name.as_str(), *need))
    }

    /// The texts for one output, by their names.
    pub(in crate::evaluators) fn find(&self, cx: &EvalContext) -> Result<Vec<(&str, String)>, EvalError> {
        let mut texts = Vec::new();
        for (name, need) in self.names() {
            if need == Need::IfThere && self.sources.is_part_of_output(name, cx) {
                continue;
            }
            match self.sources.find(name, cx).filter(|value| !value.is_null()) {
                Some(value) => texts.push((name, input_text(name, &value))),
                None if need == Need::IfThere => {}
                None => return Err(self.sources.missing(name, cx)),
            }
        }
        Ok(texts)
    }

    /// What is wrong with the names by themselves.
    pub(in crate::evaluators) fn problem(&self) -> Option<String> {
        let is_tag = |name: &str| {
            name.starts_with(|first: char| first.is_ascii_alphabetic())
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
        };
        let names: Vec<&str> = self.names().map(|(name, _)| name).collect();
        if let Some(name) = names.iter().find(|name| !is_tag(name)) {
            return Some(format!(
                "`{name}` cannot be the name of a text: it becomes a tag; write it with letters, digits, `_` and `-`, and say \
                 where it comes from with `field`"
            ));
        }
        if let Some((_, name)) = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name))
        {
            return Some(format!("the text `{name}` is shown twice; leave one out"));
        }
        let is_unused = |mapped: &&str| !names.contains(mapped);
        if let Some(mapped) = self.sources.mapped().find(is_unused) {
            return Some(format!(
                "the text `{mapped}` has a place, but is not shown; name it among the inputs"
            ));
        }
        (!names.iter().any(|name| self.sources.is_of_agent(name))).then(|| {
            "nothing of what the agent gave is shown, so every output would be judged the same; show `output`".to_owned()
        })
    }

    /// Whether an item has all that is needed.
    pub(in crate::evaluators) fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        let needed: Vec<_> =
            self.names().filter(|(_, need)| *need == Need::Always).map(|(name, _)| name).collect();
        let advice = "say where the input is with `field` (in `cobalt.toml` `fields`)";
        let lacking = self.sources.lacking(&needed, |_| false, setup.items(), advice);
        lacking.map_or(Ok(()), |problem| Err(CheckError::new(problem)))
    }
}
