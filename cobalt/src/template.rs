//! `{{name}}` templates for judge prompts, filled from an item and its output.
//!
//! A placeholder is a name in double braces, with optional spaces: `{{input}}`, `{{ input }}`. The name is a field of the context or a
//! path: `{{metadata.model}}`, `{{context[0].text}}`, `{{context.0.text}}`. A field whose name looks like a path (`a.b`) takes
//! precedence over the path.
//!
//! Strings are inserted unchanged, numbers and booleans as in JSON, objects and lists as pretty-printed JSON with an indentation of two
//! spaces. Numbers are formatted as in JavaScript (`1`, not `1.0`; `1e+21`), so prompts are the same in both implementations; only
//! integers beyond 2^53 keep all their digits.
//!
//! A placeholder whose value is missing or `null` is left unchanged; see [`Template::unresolved`]. Inserted values are never searched
//! for placeholders. Names may contain any characters except braces, double quotes and control characters, and must not begin with `@`:
//! `{{}}`, `{{"a": 1}}`, `{{@index}}` and an unclosed `{{` are plain text. Of three braces, the inner two count: `{{{name}}}` is the
//! value in braces.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::ops::Range;

pub use cobalt_core::item::FieldPath as Variable;
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter};
use serde_json::{Map, Number, Value};

/// Fills `template` from `context`; see the [module](self) for the rules.
///
/// ```
/// let item = serde_json::json!({"question": "2 + 2?", "context": [{"text": "Sums"}]});
/// let text = cobalt::template::render("{{context[0].text}}: {{ question }}", item.as_object().unwrap());
/// assert_eq!(text, "Sums: 2 + 2?");
/// ```
pub fn render(template: &str, context: &Map<String, Value>) -> String {
    Template::parse(template).render(context)
}

/// A template, parsed once into plain text and placeholders, to be filled many times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
    /// In text order, without overlaps.
    placeholders: Vec<Placeholder>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Placeholder {
    /// Its position in the text, including braces.
    place: Range<usize>,
    variable: Variable,
}

impl Template {
    /// Parses a template in linear time. Every text is a valid template.
    pub fn parse(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut placeholders = Vec::new();
        let mut from = 0;
        while let Some(found) = text[from..].find("{{") {
            let open = from + found;
            match parse_name(&text, open + 2) {
                Ok(name) => {
                    let place = open..name.end + 2;
                    from = place.end;
                    let name = text[name].trim();
                    placeholders.push(Placeholder { place, variable: Variable::new(name) });
                }
                // Of three braces, the last two open one.
                Err(stop) if stop == open + 2 => from = open + 1,
                // Nothing before `stop` can open a placeholder.
                Err(stop) => from = stop,
            }
        }
        Self { text, placeholders }
    }

    /// The template as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The variables, each once, in order of first appearance.
    pub fn variables(&self) -> Vec<&Variable> {
        let mut seen = HashSet::new();
        let variables = self.placeholders.iter().map(|placeholder| &placeholder.variable);
        variables.filter(|variable| seen.insert(variable.name())).collect()
    }

    /// The names without a value in `context`, each once, in order of first appearance. Their placeholders would be left unchanged.
    pub fn unresolved(&self, context: &Map<String, Value>) -> Vec<&str> {
        let variables = self.variables().into_iter();
        variables.filter(|variable| variable.resolve(context).is_none()).map(Variable::name).collect()
    }

    /// Fills the template from `context`.
    pub fn render(&self, context: &Map<String, Value>) -> String {
        self.render_with(|variable| variable.resolve(context).map(to_text))
    }

    /// Fills the template with the texts that `lookup` returns; it is called once per placeholder, in order. If it returns `None`, the
    /// placeholder is left unchanged.
    pub fn render_with<'v>(&self, mut lookup: impl FnMut(&Variable) -> Option<Cow<'v, str>>) -> String {
        let mut filled = String::with_capacity(self.text.len());
        let mut done = 0;
        for Placeholder { place, variable } in &self.placeholders {
            if let Some(value) = lookup(variable) {
                filled.push_str(&self.text[done..place.start]);
                filled.push_str(&value);
                done = place.end;
            }
        }
        filled.push_str(&self.text[done..]);
        filled
    }
}

/// The byte range of the name that starts at `start` and ends before `}}`; otherwise where the search stopped.
fn parse_name(text: &str, start: usize) -> Result<Range<usize>, usize> {
    let rest = &text[start..];
    let forbidden = |c: char| matches!(c, '{' | '}' | '"') || c.is_control();
    let length = rest.find(forbidden).unwrap_or(rest.len());
    let end = start + length;
    let name = rest[..length].trim();
    if rest[length..].starts_with("}}") && !name.is_empty() && !name.starts_with('@') {
        Ok(start..end)
    } else {
        Err(end)
    }
}

/// Formats a value for a template; `null` becomes `null`.
pub fn to_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Number(number) => Cow::Owned(number_text(number)),
        Value::Bool(true) => Cow::Borrowed("true"),
        Value::Bool(false) => Cow::Borrowed("false"),
        Value::Null => Cow::Borrowed("null"),
        Value::Array(_) | Value::Object(_) => Cow::Owned(json_text(value)),
    }
}

fn json_text(value: &Value) -> String {
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, TextFormatter::default());
    value.serialize(&mut serializer).expect("a JSON value is written to memory without fail");
    String::from_utf8(text).expect("JSON is written as UTF-8")
}

/// Formats a number for a template.
pub(crate) fn number_text(number: &Number) -> String {
    if number.is_f64() {
        number.as_f64().map_or_else(|| number.to_string(), float_text)
    } else {
        number.to_string()
    }
}

/// Formats a number like JavaScript's `String(number)` (ECMA-262, Number::toString): the shortest digits that parse as the same number,
/// as a decimal between 1e-7 and 1e21 and with an exponent outside.
fn float_text(number: f64) -> String {
    // Rust finds the same shortest digits, with an exponent: `-1.25e-7`.
    let scientific = format!("{:e}", number.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    // The number of digits before the point.
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let sign = if number < 0.0 { "-" } else { "" };
    match point {
        1..=21 if digits.len() <= point as usize => {
            let zeros = "0".repeat(point as usize - digits.len());
            format!("{sign}{digits}{zeros}")
        }
        1..=21 => {
            let (whole, fraction) = digits.split_at(point as usize);
            format!("{sign}{whole}.{fraction}")
        }
        -5..=0 => format!("{sign}0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
        _ => format!("{sign}{mantissa}e{:+}", point - 1),
    }
}

/// Pretty JSON with numbers formatted by [`float_text`].
#[derive(Default)]
struct TextFormatter(PrettyFormatter<'static>);

impl Formatter for TextFormatter {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(float_text(value).as_bytes())
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn filled(template: &str, context: Value) -> String {
        render(template, context.as_object().unwrap())
    }

    #[test]
    fn a_path_reaches_into_lists_and_objects() {
        let context = json!({"context": [{"text": "first"}, {"text": "second", "at": [[1, 2]]}], "metadata": {"model": "m"}});
        let text = filled(
            "{{context[1].text}} {{context.0.text}} {{context[1].at[0][1]}} {{metadata.model}}",
            context,
        );
        assert_eq!(text, "second first 2 m");
    }

    #[test]
    fn blanks_around_a_name_are_ignored_and_kept_when_it_is_unknown() {
        assert_eq!(filled("{{ a }}{{a }}{{\u{a0}a}}", json!({"a": 1})), "111");
        assert_eq!(filled("{{ b }}", json!({"a": 1})), "{{ b }}");
    }

    #[test]
    fn names_may_be_in_any_script_and_hold_blanks_and_dashes() {
        let context = json!({"名": "n", "expected answer": "e", "user-id": 7});
        assert_eq!(filled("{{名}} {{expected answer}} {{user-id}}", context), "n e 7");
    }

    #[test]
    fn a_field_that_looks_like_a_path_goes_before_the_path() {
        assert_eq!(
            filled("{{a.b}} {{t[k]}}", json!({"a.b": "field", "a": {"b": "path"}, "t[k]": "field"})),
            "field field"
        );
    }

    #[test]
    fn what_is_no_placeholder_is_plain_text() {
        for text in [
            "{{}}",
            "{{ }}",
            "{{",
            "}}",
            "{a}",
            "{{\"a\": 1}}",
            "{{a\n}}",
            "{{a}",
            "{{a} }",
            "{{a{{",
            "{ {a}}",
        ] {
            assert_eq!(filled(text, json!({"a": "v", "": "x", "\"a\": 1": "y"})), text);
        }
    }

    #[test]
    fn of_three_braces_the_inner_two_count_and_names_with_a_sign_are_none() {
        let context = || json!({ "a": "v", "@a": "no", "index": 1 });
        assert_eq!(
            filled("{{{a}}} {{{{a}}}} {{@a}} {{ @a }} {{{@a}}}", context()),
            "{v} {{v}} {{@a}} {{ @a }} {{{@a}}}"
        );
        assert!(
            Template::parse("{{@index}} {{#each}}")
                .unresolved(context().as_object().unwrap())
                .iter()
                .all(|name| *name != "@index")
        );
    }

    #[test]
    fn objects_keep_the_order_of_their_keys_as_written() {
        let context: Value = serde_json::from_str(r#"{ "o": { "z": 1, "a": { "y": 2, "b": 3 } } }"#).unwrap();
        let expected = "{\n  \"z\": 1,\n  \"a\": {\n    \"y\": 2,\n    \"b\": 3\n  }\n}";
        assert_eq!(filled("{{o}}", context), expected);
    }

    #[test]
    fn a_path_that_is_none_resolves_to_nothing() {
        for path in [
            "a..b", ".a", "a.", "a[", "a]", "a[]", "a[x]", "a[0", "a[0]x", "[0]", "a[-1]", "a[01]", "a[+1]",
            "a.00",
        ] {
            let text = format!("{{{{{path}}}}}");
            assert_eq!(filled(&text, json!({"a": ["v", "w"], "": {"a": "x"}})), text);
        }
        let huge = format!("{{{{a[{}]}}}}", "9".repeat(40));
        assert_eq!(filled(&huge, json!({"a": ["v"]})), huge);
    }

    #[test]
    fn a_value_is_never_expanded_again() {
        assert_eq!(filled("{{a}}{{b}}", json!({"a": "{{", "b": "b}}{{a}}"})), "{{b}}{{a}}");
    }

    #[test]
    fn numbers_are_written_as_javascript_does() {
        let cases = [
            (json!(1.0), "1"),
            (json!(-0.0), "0"),
            (json!(-1.5), "-1.5"),
            (json!(0.1), "0.1"),
            (json!(1e21), "1e+21"),
            (json!(1.25e22), "1.25e+22"),
            (json!(123456789012345680000.0), "123456789012345680000"),
            (json!(1e-6), "0.000001"),
            (json!(1.5e-7), "1.5e-7"),
            (json!(5e-324), "5e-324"),
            (json!(1.7976931348623157e308), "1.7976931348623157e+308"),
            (json!(u64::MAX), "18446744073709551615"),
            (json!(i64::MIN), "-9223372036854775808"),
        ];
        for (number, text) in cases {
            assert_eq!(filled("{{a}}", json!({"a": number})), text);
        }
        assert_eq!(filled("{{a}}", json!({"a": [1.0, 1e21]})), "[\n  1,\n  1e+21\n]");
    }

    #[test]
    fn the_variables_are_named_once_with_their_root() {
        let template = Template::parse("{{input}} {{ context[0].text }} {{input}} {{a b.c}} {{x[y]}}");
        let names: Vec<(&str, &str)> =
            template.variables().into_iter().map(|variable| (variable.name(), variable.root())).collect();
        let expected =
            [("input", "input"), ("context[0].text", "context"), ("a b.c", "a b"), ("x[y]", "x[y]")];
        assert_eq!(names, expected);
    }

    #[test]
    fn the_names_without_a_value_are_reported() {
        let template = Template::parse("{{a}} {{b}} {{c.d}} {{b}}");
        let context = json!({"a": 1, "b": null, "c": {}});
        assert_eq!(template.unresolved(context.as_object().unwrap()), ["b", "c.d"]);
    }

    #[test]
    fn a_lookup_of_ones_own_fills_a_template() {
        let text = Template::parse("{{a}}-{{b}}-{{a}}").render_with(|variable| {
            (variable.name() == "a").then(|| Cow::Owned(variable.name().to_uppercase()))
        });
        assert_eq!(text, "A-{{b}}-A");
    }

    #[test]
    fn a_million_open_braces_take_no_time() {
        let started = Instant::now();
        for unit in ["{", "{{", "{{a", "{{a}", "{{a}}", "{{a ", "{{a[0", "{{\"", "}}"] {
            let text = unit.repeat(1_000_000 / unit.len());
            assert_eq!(render(&text, &Map::new()), text);
        }
        // Quadratic time would take minutes.
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    proptest! {
        #[test]
        fn any_text_is_rendered_without_panic(text in "([{}\\[\\]. \"a0\u{e9}\n]|\\PC){0,60}") {
            let context = json!({"a": {"a": ["x", {"0": 1}]}, "0": [[0]]});
            render(&text, context.as_object().unwrap());
            prop_assert_eq!(render(&text, &Map::new()), text);
        }

        #[test]
        fn text_without_double_braces_is_itself(text in "[^{]{0,40}", value in "\\PC{0,20}") {
            prop_assert_eq!(filled(&text, json!({"a": value.clone()})), text.clone());
            let around = format!("{text}{{{{a}}}}{text}");
            prop_assert_eq!(filled(&around, json!({"a": value.clone()})), format!("{text}{value}{text}"));
        }

        #[test]
        fn a_number_reads_back_as_itself(number in any::<f64>().prop_filter("finite", |number| number.is_finite())) {
            let text = filled("{{a}}", json!({"a": number}));
            prop_assert_eq!(text.parse::<f64>().unwrap(), number);
        }
    }
}
