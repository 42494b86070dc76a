//! `Contains`: the output contains texts.

use std::borrow::Cow;

use serde_json::Value;

use super::common::{Common, TextEvaluator, text_evaluator};
use super::shown;
use super::texts::texts_in;
use super::wanted::Wanted;
use crate::dataset::Item;
use crate::evaluators::places::ItemField;
use crate::evaluators::{CheckError, EvalError, Score, Setup};
use crate::suggest;
use crate::template::to_text;

/// Scores 1 where the output contains texts, and 0 elsewhere.
///
/// All of them are asked for, unless [`any`](Self::any) or [`none`](Self::none) says otherwise. They are looked for as they
/// are, within words too: `art` is in `party`. [`RegexMatch`](crate::RegexMatch) finds whole words. An output that is no
/// text is looked at as templates show it, JSON over several lines.
///
/// ```
/// use cobalt::Contains;
///
/// // `mentions` of each item is a text, or a list of texts.
/// let mentions = Contains::new("mentions", "mentions").case_sensitive(false);
/// let cites = Contains::texts("cites", ["http://", "https://"]).any();
/// let polite = Contains::texts("polite", ["stupid", "shut up"]).none().case_sensitive(false);
/// ```
#[derive(Clone, Debug)]
pub struct Contains {
    common: Common,
    wanted: Wanted<Vec<String>>,
    quantity: Quantity,
    case_sensitive: bool,
}

/// How many of several texts an output contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Quantity {
    /// Each of them.
    All,
    /// At least one of them.
    Any,
    /// Not a single one.
    None,
}

impl Contains {
    /// Looks for what the item's `field` holds, a text or a list of texts; it may be a path such as `answer.keywords`. An
    /// empty list asks for nothing.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::wanting(name, Wanted::InItem(ItemField::new(field.as_ref())))
    }

    /// Looks for the same text in all outputs.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::texts(name, [text])
    }

    /// Looks for the same texts in all outputs.
    pub fn texts(name: impl Into<String>, texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::wanting(name, Wanted::Given(texts.into_iter().map(Into::into).collect()))
    }

    fn wanting(name: impl Into<String>, wanted: Wanted<Vec<String>>) -> Self {
        Self { common: Common::new(name), wanted, quantity: Quantity::All, case_sensitive: true }
    }

    /// One of the texts is enough.
    #[must_use]
    pub fn any(self) -> Self {
        self.quantity(Quantity::Any)
    }

    /// None of the texts may be there.
    #[must_use]
    pub fn none(self) -> Self {
        self.quantity(Quantity::None)
    }

    pub(crate) fn quantity(mut self, quantity: Quantity) -> Self {
        self.quantity = quantity;
        self
    }

    /// Whether `Paris` and `paris` differ (they do unless this is set to `false`).
    #[must_use]
    pub fn case_sensitive(mut self, case_sensitive: bool) -> Self {
        self.case_sensitive = case_sensitive;
        self
    }

    fn wanted<'v>(&'v self, item: &'v Item) -> Result<Vec<Cow<'v, str>>, EvalError> {
        match &self.wanted {
            Wanted::InItem(field) => self.wanted_in(field, item),
            Wanted::Given(texts) => Ok(texts.iter().map(|text| Cow::Borrowed(&**text)).collect()),
        }
    }

    fn wanted_in<'v>(&self, field: &ItemField, item: &'v Item) -> Result<Vec<Cow<'v, str>>, EvalError> {
        let texts = texts_in(field, item)?;
        let problem = match self.quantity {
            _ if texts.iter().any(|text| text.is_empty()) => {
                "holds an empty text, which every output contains"
            }
            Quantity::Any if texts.is_empty() => "is an empty list, of which no output can contain any",
            _ => return Ok(texts),
        };
        Err(EvalError::new(format!("the item's `{}` {problem}", field.name())))
    }

    fn found(&self, output: &str, text: &str) -> bool {
        if self.case_sensitive { output.contains(text) } else { output.contains(&without_case(text)) }
    }

    fn reason(&self, found: &[Cow<'_, str>], missing: &[Cow<'_, str>]) -> String {
        let (says, texts) = match self.quantity {
            Quantity::All => ("does not contain", missing),
            Quantity::Any => ("contains none of", missing),
            Quantity::None => ("contains", found),
        };
        let texts: Vec<_> = texts.iter().map(|text| shown(text)).collect();
        let output = self.common.output.name();
        format!("`{output}` {says} {}", suggest::list(texts.iter().map(|text| &**text)))
    }
}

impl TextEvaluator for Contains {
    fn common(&self) -> &Common {
        &self.common
    }

    fn field(&self) -> Option<&ItemField> {
        self.wanted.field()
    }

    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let wanted = self.wanted(item)?;
        let output = to_text(output);
        let output = if self.case_sensitive { output } else { Cow::Owned(without_case(&output)) };
        let (found, missing): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|text| self.found(&output, text));
        let holds = match self.quantity {
            Quantity::All => missing.is_empty(),
            Quantity::Any => !found.is_empty(),
            Quantity::None => found.is_empty(),
        };
        let score = Score::from(holds);
        let score = if holds { score } else { score.reason(self.reason(&found, &missing)) };
        let kept =
            |texts: Vec<Cow<'_, str>>| -> Vec<String> { texts.into_iter().map(Cow::into_owned).collect() };
        Ok(score.metadata("found", kept(found)).metadata("missing", kept(missing)))
    }

    fn check_settings(&self) -> Result<(), CheckError> {
        match &self.wanted {
            Wanted::Given(texts) if texts.is_empty() => {
                Err(CheckError::new("there is no text to look for; name at least one"))
            }
            Wanted::Given(texts) if texts.iter().any(String::is_empty) => {
                Err(CheckError::new("one of the texts is empty, which every output contains; leave it out"))
            }
            Wanted::Given(_) | Wanted::InItem(_) => Ok(()),
        }
    }

    fn check_items(&self, setup: &Setup) -> Result<(), CheckError> {
        self.wanted.check_items(setup, |field, item| self.wanted_in(field, item).map(drop))
    }
}

/// A text in lower case, letter by letter, so that a part of it is the same by itself: a Greek sigma is the same everywhere,
/// also at the end of a word.
fn without_case(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).map(|letter| if letter == 'ς' { 'σ' } else { letter }).collect()
}

text_evaluator!(Contains);
