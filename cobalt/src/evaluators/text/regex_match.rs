//! `RegexMatch`: the output matches a regular expression.

use std::borrow::Cow;

use regex::Regex;
use serde_json::Value;

use super::common::{Common, TextEvaluator, text_evaluator};
use super::pattern::{Matching, compile};
use super::shown;
use super::wanted::{Wanted, text_in};
use crate::dataset::Item;
use crate::evaluators::places::ItemField;
use crate::evaluators::{CheckError, EvalError, Score, Setup};
use crate::template::to_text;

/// Scores 1 where the output matches a regular expression, and 0 elsewhere.
///
/// A match may stand anywhere in the output, unless [`whole`](Self::whole) asks for all of it. Patterns are those of the
/// crate [`regex`](https://docs.rs/regex/1/regex/#syntax), which has Unicode and takes a time that grows with the length of
/// the output alone, and so has neither look-around nor back-references. An output that is no text is looked at as templates
/// show it, JSON over several lines.
///
/// ```
/// use cobalt::RegexMatch;
///
/// let dated = RegexMatch::pattern("dated", r"\b\d{4}-\d{2}-\d{2}\b");
/// let word = RegexMatch::pattern("one-word", r"\w+").whole(true);
/// let no_apology = RegexMatch::pattern("no-apology", r"\b(sorry|apologi[sz]e)\b").case_sensitive(false).not(true);
/// // `pattern` of each item is its own.
/// let own = RegexMatch::new("own", "pattern");
/// ```
#[derive(Clone, Debug)]
pub struct RegexMatch {
    common: Common,
    pattern: Wanted<Given>,
    matching: Matching,
    not: bool,
}

/// A pattern for all items, compiled for the settings so far.
#[derive(Clone, Debug)]
struct Given {
    pattern: String,
    compiled: Result<Regex, String>,
}

impl RegexMatch {
    /// Matches the output with the pattern in the item's `field`, which may be a path such as `answer.pattern`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::of(name, Wanted::InItem(ItemField::new(field.as_ref())))
    }

    /// Matches all outputs with the same pattern. A broken one is told before the first item is run.
    pub fn pattern(name: impl Into<String>, pattern: impl Into<String>) -> Self {
        let pattern = pattern.into();
        let compiled = compile(&pattern, Matching::default());
        Self::of(name, Wanted::Given(Given { pattern, compiled }))
    }

    fn of(name: impl Into<String>, pattern: Wanted<Given>) -> Self {
        Self { common: Common::new(name), pattern, matching: Matching::default(), not: false }
    }

    /// Whether the whole output must match (a part is enough unless this is set to `true`).
    #[must_use]
    pub fn whole(self, whole: bool) -> Self {
        let matching = Matching { whole, ..self.matching };
        self.matching(matching)
    }

    /// Whether `Paris` and `paris` differ (they do unless this is set to `false`).
    #[must_use]
    pub fn case_sensitive(self, case_sensitive: bool) -> Self {
        let matching = Matching { case_sensitive, ..self.matching };
        self.matching(matching)
    }

    /// Scores 1 where the output does not match, and 0 where it does.
    #[must_use]
    pub fn not(mut self, not: bool) -> Self {
        self.not = not;
        self
    }

    fn matching(mut self, matching: Matching) -> Self {
        self.matching = matching;
        if let Wanted::Given(Given { pattern, compiled }) = &mut self.pattern {
            *compiled = compile(pattern, matching);
        }
        self
    }

    /// The pattern as written, and what it was compiled to.
    fn compiled<'v>(&'v self, item: &'v Item) -> Result<(&'v str, Cow<'v, Regex>), EvalError> {
        match &self.pattern {
            Wanted::InItem(field) => {
                self.compiled_in(field, item).map(|(pattern, regex)| (pattern, Cow::Owned(regex)))
            }
            Wanted::Given(Given { pattern, compiled }) => {
                let regex = compiled.as_ref().map_err(|problem| EvalError::new(problem.clone()))?;
                Ok((pattern, Cow::Borrowed(regex)))
            }
        }
    }

    fn compiled_in<'v>(&self, field: &ItemField, item: &'v Item) -> Result<(&'v str, Regex), EvalError> {
        let pattern = text_in(field, item)?;
        let told = |problem| EvalError::new(format!("the item's `{}`: {problem}", field.name()));
        Ok((pattern, compile(pattern, self.matching).map_err(told)?))
    }
}

impl TextEvaluator for RegexMatch {
    fn common(&self) -> &Common {
        &self.common
    }

    fn field(&self) -> Option<&ItemField> {
        self.pattern.field()
    }

    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let (pattern, regex) = self.compiled(item)?;
        let output = to_text(output);
        let found = regex.find(&output).map(|found| found.as_str());
        let holds = found.is_some() != self.not;
        let score = Score::from(holds).metadata("match", found.map(shown));
        if holds {
            return Ok(score);
        }
        let (name, pattern) = (self.common.output.name(), shown(pattern));
        Ok(score.reason(match found {
            Some(found) => format!("`{name}` matches `{pattern}`: `{}`", shown(found)),
            None if self.matching.whole => format!("`{name}` as a whole does not match `{pattern}`"),
            None => format!("nothing in `{name}` matches `{pattern}`"),
        }))
    }

    fn check_settings(&self) -> Result<(), CheckError> {
        match &self.pattern {
            Wanted::Given(Given { compiled: Err(problem), .. }) => Err(CheckError::new(problem.clone())),
            Wanted::Given(_) | Wanted::InItem(_) => Ok(()),
        }
    }

    fn check_items(&self, setup: &Setup) -> Result<(), CheckError> {
        self.pattern.check_items(setup, |field, item| self.compiled_in(field, item).map(drop))
    }
}

text_evaluator!(RegexMatch);
