//! `RegexMatch`: matches the output with a regular expression.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use cobalt_core::item::Item;
use regex::{Error, Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::common::{Requirement, TextEvaluator, TextOptions, required_text, text_evaluator};
use super::truncated;
use crate::evaluators::field_path::ItemField;
#[cfg(feature = "schema")]
use crate::evaluators::options::one_of_schema;
use crate::evaluators::{CheckError, EvalError, Score, Setup};
use crate::settings::deserialize_from_str;
use crate::template::to_text;

/// Scores 1 if the output matches a regular expression, else 0.
///
/// The match may be anywhere in the output, unless [`whole`](Self::whole) is set. Patterns have the syntax of the crate
/// [`regex`](https://docs.rs/regex/1/regex/#syntax): Unicode, linear time, but neither look-around nor backreferences. An
/// output that is not text is matched as templates render it: JSON over several lines.
///
/// ```
/// use cobalt::RegexMatch;
///
/// let dated = RegexMatch::pattern("dated", r"\b\d{4}-\d{2}-\d{2}\b");
/// let word = RegexMatch::pattern("one-word", r"\w+").whole(true);
/// let no_apology = RegexMatch::pattern("no-apology", r"\b(sorry|apologi[sz]e)\b").case_sensitive(false).not(true);
/// // Each item has its own `pattern`.
/// let own = RegexMatch::new("own", "pattern");
/// ```
#[derive(Clone)]
pub struct RegexMatch {
    common: TextOptions,
    options: RegexOptions,
}

/// The keys of `type = "regex"`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("oneOf" = one_of_schema(&["field", "pattern"]))))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RegexOptions {
    /// The field of the item with the regular expression, or a path to it.
    field: Option<ItemField>,
    /// The regular expression for all outputs.
    pattern: Option<Expression>,
    /// Whether the whole output must match, instead of a part. Default: false.
    whole: Option<bool>,
    /// Whether `Paris` and `paris` differ. Default: true.
    case_sensitive: Option<bool>,
    /// Inverts the score: 1 if the output does not match. Default: false.
    not: Option<bool>,
    /// The compiled pattern, shared by all clones.
    #[serde(skip)]
    compiled: Arc<OnceLock<Result<Regex, String>>>,
}

impl RegexOptions {
    fn pattern(&self) -> Requirement<'_, Given<'_>> {
        let given = || {
            let pattern =
                self.pattern.as_ref().map_or_else(Default::default, |Expression(pattern)| &**pattern);
            Given { pattern, compiled: self.compiled.get_or_init(|| compile(pattern, self.matching())) }
        };
        self.field.as_ref().map_or_else(|| Requirement::Given(given()), Requirement::InItem)
    }

    fn matching(&self) -> Matching {
        Matching { whole: self.whole == Some(true), case_sensitive: self.case_sensitive != Some(false) }
    }

    fn is_inverted(&self) -> bool {
        self.not == Some(true)
    }
}

/// A regular expression.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transparent))]
struct Expression(String);

deserialize_from_str! {
    Expression: "a regular expression in quotes", |text| compile_default(text).map(|_| Self(text.to_owned()))
}

/// A pattern for all items.
#[derive(Debug)]
struct Given<'o> {
    pattern: &'o str,
    compiled: &'o Result<Regex, String>,
}

impl RegexMatch {
    /// Matches the output with the pattern in the item's `field`, or at a path such as `answer.pattern`.
    pub fn new(name: impl Into<String>, field: impl AsRef<str>) -> Self {
        let field = Some(ItemField::new(field.as_ref()));
        Self { common: TextOptions::new(name), options: RegexOptions { field, ..RegexOptions::default() } }
    }

    /// Matches all outputs with the same pattern. An invalid pattern is an error before the run.
    pub fn pattern(name: impl Into<String>, pattern: impl Into<String>) -> Self {
        let pattern = Some(Expression(pattern.into()));
        Self { common: TextOptions::new(name), options: RegexOptions { pattern, ..RegexOptions::default() } }
    }

    /// Whether the whole output must match, instead of a part. Default: `false`.
    #[must_use]
    pub fn whole(self, whole: bool) -> Self {
        self.recompile_with(|options| options.whole = Some(whole))
    }

    /// Whether `Paris` and `paris` differ. Default: `true`.
    #[must_use]
    pub fn case_sensitive(self, case_sensitive: bool) -> Self {
        self.recompile_with(|options| options.case_sensitive = Some(case_sensitive))
    }

    /// Changes a setting and discards the compiled pattern, without affecting clones.
    fn recompile_with(mut self, set: impl FnOnce(&mut RegexOptions)) -> Self {
        set(&mut self.options);
        self.options.compiled = Arc::default();
        self
    }

    /// Inverts the score: 1 if the output does not match. Default: `false`.
    #[must_use]
    pub fn not(mut self, not: bool) -> Self {
        self.options.not = Some(not);
        self
    }

    /// The pattern's source, and the compiled pattern.
    fn resolve_pattern<'v>(&'v self, item: &'v Item) -> Result<(&'v str, Cow<'v, Regex>), EvalError> {
        match self.options.pattern() {
            Requirement::InItem(field) => {
                self.compile_item_pattern(field, item).map(|(pattern, regex)| (pattern, Cow::Owned(regex)))
            }
            Requirement::Given(Given { pattern, compiled }) => {
                let regex = compiled.as_ref().map_err(|problem| EvalError::new(problem.clone()))?;
                Ok((pattern, Cow::Borrowed(regex)))
            }
        }
    }

    fn compile_item_pattern<'v>(
        &self,
        field: &ItemField,
        item: &'v Item,
    ) -> Result<(&'v str, Regex), EvalError> {
        let pattern = required_text(field, item)?;
        let told = |problem| EvalError::new(format!("the item's `{}`: {problem}", field.name()));
        Ok((pattern, compile(pattern, self.options.matching()).map_err(told)?))
    }
}

impl TextEvaluator for RegexMatch {
    fn score(&self, item: &Item, output: &Value) -> Result<Score, EvalError> {
        let (pattern, regex) = self.resolve_pattern(item)?;
        let output = to_text(output);
        let found = regex.find(&output).map(|found| found.as_str());
        let holds = found.is_some() != self.options.is_inverted();
        let score = Score::from(holds).metadata("match", found.map(truncated));
        if holds {
            return Ok(score);
        }
        let (output, pattern) = (self.common.output(), truncated(pattern));
        let name = output.name();
        Ok(score.reason(match found {
            Some(found) => format!("`{name}` matches `{pattern}`: `{}`", truncated(found)),
            None if self.options.whole == Some(true) => {
                format!("the whole `{name}` does not match `{pattern}`")
            }
            None => format!("nothing in `{name}` matches `{pattern}`"),
        }))
    }

    fn check_settings(&self) -> Result<(), CheckError> {
        match self.options.pattern() {
            Requirement::Given(Given { compiled: Err(problem), .. }) => Err(CheckError::new(problem.clone())),
            Requirement::Given(_) | Requirement::InItem(_) => Ok(()),
        }
    }

    fn check_items(&self, setup: &Setup) -> Result<(), CheckError> {
        self.options
            .pattern()
            .check_items(setup, |field, item| self.compile_item_pattern(field, item).map(drop))
    }
}

text_evaluator! {
    RegexMatch(RegexOptions), it: "regex", it.field.as_ref();
    pattern = it.pattern(), matching = it.matching(), not = it.is_inverted();
    "pattern" by one of field, pattern
}

/// How a pattern matches.
#[derive(Clone, Copy, Debug)]
pub struct Matching {
    /// Whether the whole text must match.
    pub(super) whole: bool,
    pub(super) case_sensitive: bool,
}

impl Default for Matching {
    fn default() -> Self {
        Self { whole: false, case_sensitive: true }
    }
}

/// Compiles a regular expression with default settings.
pub fn compile_default(pattern: &str) -> Result<Regex, String> {
    compile(pattern, Matching::default())
}

/// Compiles a regular expression.
pub fn compile(pattern: &str, matching: Matching) -> Result<Regex, String> {
    let built = |pattern: &str| RegexBuilder::new(pattern).case_insensitive(!matching.case_sensitive).build();
    let broken = |error: Error| {
        format!("invalid regular expression `{}`: {}", super::truncated(pattern), short_message(&error))
    };
    // On its own first: a pattern with unbalanced brackets may be valid within those below.
    let anywhere = built(pattern).map_err(broken)?;
    if !matching.whole {
        return Ok(anywhere);
    }
    // With the flag `x`, a comment at the end of the pattern would hide the bracket unless it is on a new line.
    built(&format!(r"\A(?:{pattern})\z"))
        .or_else(|_| built(&format!("\\A(?:{pattern}\n)\\z")))
        .map_err(broken)
}

/// The cause, without the multi-line excerpt of the pattern.
fn short_message(error: &Error) -> String {
    match error {
        Error::CompiledTooBig(limit) => {
            format!(
                "its compiled size exceeds {limit} bytes; use fewer repetitions, or `[a-z]` instead of `\\w`"
            )
        }
        error => {
            let text = error.to_string();
            text.rsplit_once("error: ").map_or(&*text, |(_, cause)| cause).trim().to_owned()
        }
    }
}

#[cfg(all(test, feature = "judge"))]
mod tests {
    use serde_json::json;

    use crate::evaluators::text::tests::{checked, scored, value};
    use crate::{Evaluator, RegexMatch};

    use super::*;

    #[test]
    fn a_part_of_the_output_matches_unless_the_whole_is_asked_for() {
        let year = RegexMatch::pattern("year", r"\d{4}");
        assert_eq!(value(&year, json!({}), json!("in 1999.")), (1.0, None));
        let (score, why) = value(&year.clone().whole(true), json!({}), json!("in 1999."));
        assert_eq!((score, &*why.unwrap()), (0.0, r"the whole `output` does not match `\d{4}`"));
        assert_eq!(value(&year.clone().whole(true), json!({}), json!("1999")).0, 1.0);
        let (score, why) = value(&year.whole(true).whole(false), json!({}), json!("never"));
        assert_eq!((score, &*why.unwrap()), (0.0, r"nothing in `output` matches `\d{4}`"));
    }

    #[test]
    fn a_clone_that_is_set_otherwise_changes_nothing_in_the_one_it_comes_from() {
        let year = RegexMatch::pattern("year", "[a-z]{4}");
        assert_eq!(value(&year, json!({}), json!("in June")).0, 0.0);
        let (whole, any_case) = (year.clone().whole(true), year.clone().case_sensitive(false));
        for (output, part, all, in_any_case) in
            [("a word", 1.0, 0.0, 1.0), ("word", 1.0, 1.0, 1.0), ("June", 0.0, 0.0, 1.0)]
        {
            let values = [&year, &whole, &any_case].map(|regex| value(regex, json!({}), json!(output)).0);
            assert_eq!(values, [part, all, in_any_case], "{output}");
        }
    }

    #[test]
    fn what_may_not_match_is_quoted_where_it_does() {
        let polite = RegexMatch::pattern("polite", r"\bstupid\b").case_sensitive(false).not(true);
        assert_eq!(value(&polite, json!({}), json!("Clever.")), (1.0, None));
        let (score, why) = value(&polite, json!({}), json!("Stupid!"));
        assert_eq!((score, &*why.unwrap()), (0.0, r"`output` matches `\bstupid\b`: `Stupid`"));
        let score = scored(&polite, json!({}), json!("Stupid!")).unwrap();
        assert_eq!(score.all_metadata()["match"], "Stupid");
    }

    #[test]
    fn an_item_may_have_its_own_pattern() {
        let own = RegexMatch::new("own", "form.pattern");
        assert_eq!(value(&own, json!({"form": {"pattern": "^a+$"}}), json!("aaa")).0, 1.0);
        assert_eq!(value(&own, json!({"form": {"pattern": "^b+$"}}), json!("aaa")).0, 0.0);
        let error = scored(&own, json!({"form": {"pattern": 3}}), json!("3")).unwrap_err();
        assert_eq!(error, "the item's `form.pattern` is 3; expected text");
        let error = scored(&own, json!({"form": {"pattern": "("}}), json!("3")).unwrap_err();
        assert_eq!(error, "the item's `form.pattern`: invalid regular expression `(`: unclosed group");
    }

    #[test]
    fn a_broken_pattern_is_told_before_anything_runs() {
        let broken = RegexMatch::pattern("b", "[a").context(Clone::clone);
        assert_eq!(
            checked(&broken, json!([])).unwrap_err(),
            "invalid regular expression `[a`: unclosed character class"
        );
        let items = json!([{"p": "a"}, {}, {"p": "[a"}]);
        let error = checked(&RegexMatch::new("b", "p"), items.clone()).unwrap_err();
        assert_eq!(
            error,
            "item `0002`: the item's `p`: invalid regular expression `[a`: unclosed character class"
        );
        assert_eq!(checked(&RegexMatch::new("b", "p").context(Clone::clone), items), Ok(()));
    }

    #[test]
    fn an_empty_output_can_match() {
        assert_eq!(value(&RegexMatch::pattern("e", "").whole(true), json!({}), json!("")).0, 1.0);
        assert_eq!(value(&RegexMatch::pattern("e", ".+"), json!({}), json!("")).0, 0.0);
    }

    #[test]
    fn the_fingerprint_says_how_it_matches() {
        let plain = RegexMatch::pattern("e", "a");
        assert_eq!(plain.fingerprint(), RegexMatch::pattern("e", "a").fingerprint());
        for other in [
            RegexMatch::pattern("e", "b"),
            plain.clone().whole(true),
            plain.clone().not(true),
            plain.clone().case_sensitive(false),
            plain.clone().output("output.a"),
        ] {
            assert_ne!(other.fingerprint(), plain.fingerprint());
        }
    }

    fn matches_whole(pattern: &str, text: &str) -> bool {
        compile(pattern, Matching { whole: true, case_sensitive: true }).unwrap().is_match(text)
    }

    #[test]
    fn a_whole_text_matches_by_any_alternative() {
        assert!(matches_whole("a|ab", "ab"));
        assert!(!matches_whole("a|b", "ab"));
        assert!(!matches_whole("a", "a\n"));
        assert!(!matches_whole("(?m)^a$", "a\na"));
    }

    #[test]
    fn a_comment_at_the_end_hides_nothing() {
        assert!(matches_whole("(?x) a b # the two letters", "ab"));
        assert!(!matches_whole("(?x) a b # the two letters", "ab\n"));
    }

    #[test]
    fn a_broken_pattern_is_told_in_a_line() {
        assert_eq!(compile_default("(a").unwrap_err(), "invalid regular expression `(a`: unclosed group");
        for pattern in ["a)|(?:b", "a)(b"] {
            let whole = compile(pattern, Matching { whole: true, case_sensitive: true });
            assert!(whole.unwrap_err().contains("unopened group"), "{pattern}");
        }
        let error = compile_default("((a{1000}){1000}){1000}").unwrap_err();
        assert!(error.contains("its compiled size exceeds"), "{error}");
    }
}
