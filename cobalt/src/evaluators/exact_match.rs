//! `ExactMatch`: compares the output with a field of the item.

use std::sync::Arc;

use cobalt_core::wording::truncate;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::field_path::AgentField;
use super::options::{Options, fingerprint, pass_mark_or_default};
use super::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use crate::metrics::values_equal;
use crate::settings::{self, NoSharedKeys};

/// Scores 1 if the output equals a field of the item, else 0.
///
/// Text is compared as text. If the field or the output is an object or a list, both are compared as JSON, ignoring the order
/// of keys: text on the other side is parsed first. A number or a boolean is compared by value, or with text by how it is
/// written.
///
/// ```
/// use cobalt::ExactMatch;
/// let exact = ExactMatch::new("exact", "expectedOutput");
/// let loose = ExactMatch::new("loose", "expectedOutput").case_sensitive(false).trim(true);
/// ```
#[derive(Clone)]
pub struct ExactMatch(ExactMatchOptions);

fingerprint! {
    ExactMatch as "ExactMatch", it: name = it.0.name, field = it.0.field, output = it.0.output,
    case_sensitive = it.0.case_sensitive, trim = it.0.trim, pass_mark = pass_mark_or_default(it.0.pass_mark)
}

/// The keys of `type = "exact-match"`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ExactMatchOptions {
    /// Name in reports.
    #[serde(default = "type_name")]
    name: String,
    /// The field of the item with the reference.
    field: String,
    /// The part of the agent's result to compare, a path such as "output.answer" or "metadata.answer". Default: "output".
    output: Option<AgentField>,
    /// Whether `Paris` and `paris` differ. Default: true.
    #[serde(default = "yes")]
    case_sensitive: bool,
    /// Whether surrounding white space is ignored. Default: false.
    #[serde(default)]
    trim: bool,
    /// Minimum score for an output to pass. Default: 0.5.
    pass_mark: Option<settings::ScoreValue>,
}

fn type_name() -> String {
    "exact-match".to_owned()
}

fn yes() -> bool {
    true
}

impl Options for ExactMatchOptions {
    type Shared = NoSharedKeys;

    fn make(self, _: NoSharedKeys) -> Result<Arc<dyn Evaluator>, String> {
        Ok(Arc::new(ExactMatch(self)))
    }
}

impl ExactMatch {
    /// Compares the output with the item's `field`, including case and surrounding white space.
    pub fn new(name: impl Into<String>, field: impl Into<String>) -> Self {
        Self(ExactMatchOptions {
            name: name.into(),
            field: field.into(),
            output: None,
            case_sensitive: true,
            trim: false,
            pass_mark: None,
        })
    }

    /// Compares a part of the agent's result, a path such as `output.answer` or `metadata.answer`. Default: the whole
    /// `output`. A part that is missing or `null` is an error, not a score.
    #[must_use]
    pub fn output(mut self, path: impl AsRef<str>) -> Self {
        self.0.output = Some(AgentField::new(path.as_ref()));
        self
    }

    /// Whether `Paris` and `paris` differ. Default: `true`.
    #[must_use]
    pub fn case_sensitive(mut self, case_sensitive: bool) -> Self {
        self.0.case_sensitive = case_sensitive;
        self
    }

    /// Whether surrounding white space is ignored. Default: `false`.
    #[must_use]
    pub fn trim(mut self, trim: bool) -> Self {
        self.0.trim = trim;
        self
    }

    /// Sets the minimum score for an output to pass. Default: 0.5.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.0.pass_mark = Some(settings::ScoreValue(mark));
        self
    }

    fn compare(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        let Some(expected) = cx.item().get(&self.0.field) else {
            let fields: Vec<_> = cx.item().keys().map(String::as_str).collect();
            return Err(EvalError::new(format!(
                "the item has no field `{}` to compare with; available: {}",
                self.0.field,
                fields.join(", ")
            )));
        };
        let output = match &self.0.output {
            Some(part) => part.resolve(cx)?,
            None => cx.output(),
        };
        Ok(if self.is_equal(expected, output) {
            Score::from(true)
        } else {
            Score::from(false).reason(format!(
                "expected {}, got {}",
                truncated_json(expected),
                truncated_json(output)
            ))
        })
    }

    fn is_equal(&self, expected: &Value, output: &Value) -> bool {
        let same_text = |a: &str, b: &str| self.same_text(a, b);
        match (expected, output) {
            // Text such as `5.0` equals the number 5.0.
            (Value::String(text), Value::Number(number)) | (Value::Number(number), Value::String(text))
                if same_text(text, &number.to_string()) =>
            {
                true
            }
            (expected, output) => values_equal(expected, output, &same_text),
        }
    }

    fn same_text(&self, a: &str, b: &str) -> bool {
        let (a, b) = if self.0.trim { (a.trim(), b.trim()) } else { (a, b) };
        a == b || (!self.0.case_sensitive && a.to_lowercase() == b.to_lowercase())
    }
}

/// A value as JSON, truncated for a reason.
fn truncated_json(value: &Value) -> String {
    const LONGEST: usize = 200;
    truncate(&value.to_string(), LONGEST).into_owned()
}

impl Evaluator for ExactMatch {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(async move { self.compare(cx) })
    }

    fn pass_mark(&self) -> f64 {
        pass_mark_or_default(self.0.pass_mark)
    }

    fn check(&self, _: &Setup) -> Result<(), CheckError> {
        self.0.output.as_ref().map_or(Ok(()), AgentField::check)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use cobalt_core::item::Output;

    use super::*;

    fn score(evaluator: &ExactMatch, expected: Value, output: Value) -> f64 {
        let item = crate::item! { "expectedOutput": expected };
        evaluator.compare(&EvalContext::new(item, Output::new(output))).unwrap().value()
    }

    fn exact() -> ExactMatch {
        ExactMatch::new("exact", "expectedOutput")
    }

    #[test]
    fn text_equals_itself_only() {
        assert_eq!(score(&exact(), json!("Paris"), json!("Paris")), 1.0);
        assert_eq!(score(&exact(), json!("Paris"), json!("paris")), 0.0);
        assert_eq!(score(&exact(), json!("Paris"), json!("Paris ")), 0.0);
    }

    #[test]
    fn case_and_space_are_left_out_where_asked() {
        assert_eq!(score(&exact().case_sensitive(false), json!("ÉCOLE"), json!("école")), 1.0);
        assert_eq!(score(&exact().trim(true), json!("a"), json!(" a\n")), 1.0);
    }

    #[test]
    fn json_is_compared_whatever_the_order_of_keys() {
        let expected = json!({"a": 1, "b": [1, 2]});
        assert_eq!(score(&exact(), expected.clone(), json!(r#"{"b": [1, 2], "a": 1.0}"#)), 1.0);
        assert_eq!(score(&exact(), json!(r#"{"b": [1, 2], "a": 1}"#), expected.clone()), 1.0);
        assert_eq!(score(&exact(), expected, json!({"a": 1, "b": [2, 1]})), 0.0);
    }

    #[test]
    fn a_number_equals_its_text() {
        assert_eq!(score(&exact(), json!(4), json!("4")), 1.0);
        assert_eq!(score(&exact(), json!("4"), json!(5)), 0.0);
    }

    #[test]
    fn large_whole_numbers_that_differ_by_one_differ() {
        let large = 9_007_199_254_740_993_u64;
        assert_eq!(score(&exact(), json!(large), json!(large)), 1.0);
        assert_eq!(score(&exact(), json!(large), json!(large - 1)), 0.0);
        assert_eq!(score(&exact(), json!([large]), json!([large - 1])), 0.0);
        assert_eq!(score(&exact(), json!(4), json!(4.0)), 1.0);
    }

    #[test]
    fn a_part_of_the_output_is_compared_where_asked() {
        let output = json!({"answer": "Paris", "sources": [1]});
        assert_eq!(score(&exact().output("output.answer"), json!("Paris"), output.clone()), 1.0);
        let cx = EvalContext::new(crate::item! { "expectedOutput": "Paris" }, Output::new(output));
        let error = exact().output("output.reply").compare(&cx).unwrap_err().to_string();
        assert_eq!(error, "the agent's `output.reply` is missing or null");
    }

    #[test]
    fn a_missing_field_is_an_error_not_a_score() {
        let cx = EvalContext::new(crate::item! { "answer": 1 }, Output::new("1"));
        let error = exact().compare(&cx).unwrap_err().to_string();
        assert!(error.contains("no field `expectedOutput`") && error.contains("answer"), "{error}");
    }
}
