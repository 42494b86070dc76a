//! `Contains`: checks that the output contains texts.

use std::borrow::Cow;
use std::fmt;

use cobalt_core::item::Item;
use cobalt_core::wording;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::common::{Requirement, TextEvaluator, TextOptions, reference_texts, text_evaluator};
use super::truncated;
use crate::evaluators::field_path::ItemField;
#[cfg(feature = "schema")]
use crate::evaluators::options::one_of_schema;
use crate::evaluators::{CheckError, EvalError, Score, Setup};
use crate::settings::{deserialize_from_str, named_choices, non_empty_list};
use crate::template::to_text;

/// Scores 1 if the output contains the given texts, else 0.
///
/// All of them are required, unless [`any`](Self::any) or [`none`](Self::none) is set. They are also found within words: `art`
/// is in `party`. Use [`RegexMatch`](crate::RegexMatch) for whole words. An output that is not text is searched as templates
/// render it: JSON over several lines.
///
/// ```
/// use cobalt::Contains;
///
/// // `mentions` of each item is a text, or a list of texts.
/// let mentions = Contains::new("mentions", "mentions").case_sensitive(false);
/// let cites = Contains::texts("cites", ["http://", "https://"]).any();
/// let polite = Contains::texts("polite", ["stupid", "shut up"]).none().case_sensitive(false);
/// ```
#[derive(Clone)]
pub struct Contains {
    common: TextOptions,
    options: ContainsOptions,
}

/// The keys of `type = "contains"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("oneOf" = one_of_schema(&["field", "texts"]))))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ContainsOptions {
    /// The field of the item with the texts to look for (one text or a list), or a path to it.
    field: Option<ItemField>,
    /// The texts to look for in all outputs.
    #[serde(default, deserialize_with = "non_empty_list")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    texts: Option<Vec<Passage>>,
    /// How many of the texts the output must contain. Default: "all".
    require: Option<QuantityName>,
    /// Whether `Paris` and `paris` differ. Default: true.
    case_sensitive: Option<bool>,
}

impl ContainsOptions {
    fn requirement(&self) -> Requirement<'_, &[Passage]> {
        let given = || Requirement::Given(self.texts.as_deref().unwrap_or_default());
        self.field.as_ref().map_or_else(given, Requirement::InItem)
    }

    fn quantity(&self) -> Quantity {
        self.require.map_or(Quantity::All, |QuantityName(quantity)| quantity)
    }

    fn is_case_sensitive(&self) -> bool {
        self.case_sensitive != Some(false)
    }
}

/// A text to look for; surrounding white space counts.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transparent))]
struct Passage(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] String);

deserialize_from_str! {
    Passage: "a text in quotes",
    |text| match text {
        "" => Err("the text is empty, which matches every output; remove it".to_owned()),
        text => Ok(Self(text.to_owned())),
    }
}

/// The text alone, as in stored runs.
impl fmt::Debug for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

named_choices! {
    /// How many of several texts an output must contain.
    QuantityName(Quantity), "quantity", "quantities": "all" => All, "any" => Any, "none" => None;
}

/// How many of several texts an output must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// All of them.
    All,
    /// At least one of them.
    Any,
    /// None of them.
    None,
}

impl Contains {
    /// Looks for the texts in the item's `field`: a text, a list of texts, or a path such as `answer.keywords`. An empty list
    /// requires nothing; if all items have one, that is an error before the run.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        Self::with_source(name, Some(ItemField::new(field.as_ref())), None)
    }

    /// Looks for the same text in all outputs.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::texts(name, [text])
    }

    /// Looks for the same texts in all outputs.
    pub fn texts(name: impl Into<String>, texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::with_source(name, None, Some(texts.into_iter().map(|text| Passage(text.into())).collect()))
    }

    fn with_source(name: impl Into<String>, field: Option<ItemField>, texts: Option<Vec<Passage>>) -> Self {
        let options = ContainsOptions { field, texts, require: None, case_sensitive: None };
        Self { common: TextOptions::new(name), options }
    }

    /// Requires any one of the texts.
    #[must_use]
    pub fn any(self) -> Self {
        self.quantity(Quantity::Any)
    }

    /// Requires that none of the texts occurs.
    #[must_use]
    pub fn none(self) -> Self {
        self.quantity(Quantity::None)
    }

    fn quantity(mut self, quantity: Quantity) -> Self {
        self.options.require = Some(QuantityName(quantity));
        self
    }

    /// Whether `Paris` and `paris` differ. Default: `true`.
    #[must_use]
    pub fn case_sensitive(mut self, case_sensitive: bool) -> Self {
        self.options.case_sensitive = Some(case_sensitive);
        self
    }

    fn required_texts<'v>(&'v self, item: &'v Item) -> Result<Vec<Cow<'v, str>>, EvalError> {
        match self.options.requirement() {
            Requirement::InItem(field) => self.item_texts(field, item),
            Requirement::Given(texts) => {
                Ok(texts.iter().map(|Passage(text)| Cow::Borrowed(&**text)).collect())
            }
        }
    }

    fn item_texts<'v>(&self, field: &ItemField, item: &'v Item) -> Result<Vec<Cow<'v, str>>, EvalError> {
        let texts = reference_texts(field, item)?;
        let problem = match self.options.quantity() {
            _ if texts.iter().any(|text| text.is_empty()) => {
                "contains an empty text, which matches every output"
            }
            Quantity::Any if texts.is_empty() => "is an empty list, so no output can match any of it",
            _ => return Ok(texts),
        };
        Err(EvalError::new(format!("the item's `{}` {problem}", field.name())))
    }

    fn contains_text(&self, output: &str, text: &str) -> bool {
        if self.options.is_case_sensitive() {
            output.contains(text)
        } else {
            output.contains(&fold_case(text))
        }
    }

    fn reason(&self, found: &[Cow<'_, str>], missing: &[Cow<'_, str>]) -> String {
        let (says, texts) = match self.options.quantity() {
            Quantity::All => ("does not contain", missing),
            Quantity::Any => ("contains none of", missing),
            Quantity::None => ("contains", found),
        };
        let texts: Vec<_> = texts.iter().map(|text| truncated(text)).collect();
        let output = self.common.output();
        format!("`{}` {says} {}", output.name(), wording::join_quoted(texts.iter().map(|text| &**text)))
    }
}

impl TextEvaluator for Contains {
    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let wanted = self.required_texts(item)?;
        let output = to_text(output);
        let output = if self.options.is_case_sensitive() { output } else { Cow::Owned(fold_case(&output)) };
        let (found, missing): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|text| self.contains_text(&output, text));
        let holds = match self.options.quantity() {
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
        match self.options.requirement() {
            Requirement::Given([]) => {
                Err(CheckError::new("there are no texts to look for; add at least one"))
            }
            Requirement::Given(texts) if texts.iter().any(|Passage(text)| text.is_empty()) => {
                Err(CheckError::new("one of the texts is empty, which matches every output; remove it"))
            }
            Requirement::Given(_) | Requirement::InItem(_) => Ok(()),
        }
    }

    fn check_items(&self, setup: &Setup) -> Result<(), CheckError> {
        let requirement = self.options.requirement();
        requirement.check_items(setup, |field, item| self.item_texts(field, item).map(drop))?;
        let Requirement::InItem(field) = requirement else { return Ok(()) };
        let is_empty = |item: &Item| self.item_texts(field, item).is_ok_and(|texts| texts.is_empty());
        if setup.is_partial || setup.dataset.is_empty() || !setup.items().all(|item| is_empty(&item)) {
            return Ok(());
        }
        Err(CheckError::new(format!(
            "every item's `{}` is an empty list, so there is nothing to look for; write the texts",
            field.name()
        )))
    }
}

/// Lower case, character by character, so that substrings stay equal: a Greek sigma is the same everywhere, also at the end
/// of a word.
fn fold_case(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).map(|letter| if letter == 'ς' { 'σ' } else { letter }).collect()
}

text_evaluator! {
    Contains(ContainsOptions), it: "contains", it.field.as_ref();
    wanted = it.requirement(), quantity = it.quantity(), case_sensitive = it.is_case_sensitive();
    "texts to look for" by one of field, texts
}

#[cfg(all(test, feature = "judge"))]
mod tests {
    use serde_json::json;

    use crate::Contains;
    use crate::evaluators::text::tests::{checked, scored, value};

    #[test]
    fn all_texts_are_asked_for_unless_it_is_said_otherwise() {
        let cities = || Contains::texts("cities", ["Paris", "Rome"]);
        assert_eq!(value(&cities(), json!({}), json!("Rome, Paris")), (1.0, None));
        let (one, why) = value(&cities(), json!({}), json!("Paris"));
        assert_eq!((one, &*why.unwrap()), (0.0, "`output` does not contain `Rome`"));
        assert_eq!(value(&cities().any(), json!({}), json!("Paris")), (1.0, None));
        let (neither, why) = value(&cities().any(), json!({}), json!("Bern"));
        assert_eq!((neither, &*why.unwrap()), (0.0, "`output` contains none of `Paris`, `Rome`"));
        assert_eq!(value(&cities().none(), json!({}), json!("Bern")), (1.0, None));
        let (there, why) = value(&cities().none(), json!({}), json!("Paris"));
        assert_eq!((there, &*why.unwrap()), (0.0, "`output` contains `Paris`"));
    }

    #[test]
    fn what_was_found_and_what_is_missing_is_kept() {
        let score =
            scored(&Contains::new("c", "words"), json!({"words": ["a", "b", 3]}), json!("a 3")).unwrap();
        assert_eq!(
            serde_json::to_value(score.all_metadata()).unwrap(),
            json!({"found": ["a", "3"], "missing": ["b"]})
        );
    }

    #[test]
    fn a_field_holds_a_text_or_a_list_of_texts() {
        let contains = Contains::new("c", "answer.words");
        assert_eq!(value(&contains, json!({"answer": {"words": "b c"}}), json!("a b c")).0, 1.0);
        assert_eq!(value(&contains, json!({"answer": {"words": ["b", "d"]}}), json!("a b c")).0, 0.0);
        let error = scored(&contains, json!({"answer": {"words": ["b", null]}}), json!("b")).unwrap_err();
        assert_eq!(error, "the item's `answer.words[1]` is null; write a text");
    }

    #[test]
    fn case_counts_unless_it_is_said_otherwise() {
        let school = Contains::text("c", "École");
        assert_eq!(value(&school, json!({}), json!("l'école")).0, 0.0);
        assert_eq!(value(&school.case_sensitive(false), json!({}), json!("l'ÉCOLE")).0, 1.0);
    }

    #[test]
    fn what_is_there_with_case_is_there_without() {
        for (text, output) in [("ΑΣ", "ΒΑΣΗ"), ("οδος", "ΟΔΟΣ"), ("ΟΔΟΣ", "οδοσήμανση"), ("İ", "İzmir")]
        {
            let contains = Contains::text("c", text).case_sensitive(false);
            assert_eq!(value(&contains, json!({}), json!(output)), (1.0, None), "{text} {output}");
        }
    }

    #[test]
    fn an_empty_list_asks_for_nothing_and_an_empty_text_is_a_mistake() {
        let (item, empty) = (json!({"w": []}), json!({"w": ["a", ""]}));
        let field = Contains::new("c", "w");
        assert_eq!(value(&field, item.clone(), json!("x")), (1.0, None));
        assert_eq!(value(&field.clone().none(), item.clone(), json!("x")), (1.0, None));
        let error = scored(&field.clone().any(), item, json!("x")).unwrap_err();
        assert_eq!(error, "the item's `w` is an empty list, so no output can match any of it");
        let error = scored(&field, empty.clone(), json!("a")).unwrap_err();
        assert_eq!(error, "the item's `w` contains an empty text, which matches every output");
        let error =
            checked(&field, json!([{"id": "good", "w": "a"}, {"id": "bad", "w": ["a", ""]}])).unwrap_err();
        assert_eq!(error, "item `bad`: the item's `w` contains an empty text, which matches every output");
        let error = checked(&field, json!([{"w": []}, {"w": []}])).unwrap_err();
        assert_eq!(
            error,
            "every item's `w` is an empty list, so there is nothing to look for; write the texts"
        );
        assert!(checked(&field, json!([{"w": []}, {"w": "a"}])).is_ok());
        assert!(checked(&Contains::texts("c", [""; 1]), json!([])).unwrap_err().contains("is empty"));
        assert!(checked(&Contains::texts("c", [""; 0]), json!([])).unwrap_err().contains("add at least one"));
    }

    #[test]
    fn a_blank_output_contains_nothing() {
        assert_eq!(value(&Contains::text("c", "a"), json!({}), json!("")).0, 0.0);
        assert_eq!(value(&Contains::text("c", "a").none(), json!({}), json!("")).0, 1.0);
    }

    #[test]
    fn an_output_that_is_no_text_is_looked_at_as_templates_show_it() {
        assert_eq!(
            value(&Contains::text("c", "\"city\": \"Paris\""), json!({}), json!({"city": "Paris"})).0,
            1.0
        );
        assert_eq!(value(&Contains::text("c", "1"), json!({}), json!(1.0)).0, 1.0);
        assert_eq!(value(&Contains::text("c", "1.0"), json!({}), json!(1.0)).0, 0.0);
    }
}
