//! Parses a threshold from its text form, such as `score.avg >= 0.8`, and converts computed bounds of the attribute.

use std::str::FromStr;
use std::time::Duration;

use cobalt_thresholds::{
    BY, Category, Comparison, Figure, METRICS, Metric, Subject, VARIANTS, VARIANTS_EXAMPLE, VS_BASELINE,
    VS_BASELINE_EXAMPLE, closest, duration_nanos,
};

use super::Threshold;

/// An invalid threshold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("threshold `{threshold}`: {reason}")]
pub struct ThresholdError {
    threshold: String,
    reason: String,
}

impl ThresholdError {
    pub(super) fn new(threshold: &str, reason: impl ToString) -> Self {
        Self { threshold: threshold.to_owned(), reason: reason.to_string() }
    }
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let text = text.trim();
        parse(text).map_err(|reason| ThresholdError::new(text, reason))
    }
}

const OPERATORS: [char; 4] = ['<', '>', '=', '!'];

fn parse(text: &str) -> Result<Threshold, String> {
    const SHAPE: &str = "expected a threshold such as `score.avg >= 0.8`";
    let (variant, text) = parse_variant(text)?;
    let compared = text.strip_prefix(VS_BASELINE).and_then(|rest| rest.trim_start().strip_prefix('.'));
    let (category, rest) = match compared {
        Some(rest) => parse_category(rest.trim_start(), ThresholdKind::VsBaseline)?,
        None => parse_category(text, ThresholdKind::Absolute)?,
    };
    let mut subject = Subject { variant, vs_baseline: compared.is_some(), category, by: None };
    let mut metric = Call::parse(rest)?;
    if metric.name == BY {
        let field = metric.argument.map(Argument::into_text).filter(|field| !field.is_empty());
        subject.by = Some(field.ok_or_else(|| subject.missing_field_message())?);
        let rest = metric.rest.strip_prefix('.').ok_or_else(|| subject.missing_group_metric_message())?;
        metric = Call::parse(rest)?;
    }
    let bound_at = metric.rest.find(|letter| !OPERATORS.contains(&letter)).ok_or(SHAPE)?;
    let (operator, bound) = metric.rest.split_at(bound_at);
    if operator.is_empty() {
        return Err(SHAPE.to_owned());
    }
    let bound = bound.trim();

    let figure = parse_metric(subject, metric.name, metric.argument)?;
    let comparison =
        Comparison::from_symbol(operator).ok_or_else(|| figure.invalid_operator_message(operator, bound))?;
    let value = self::parse_bound(&figure, bound)?;
    figure.check_comparison(comparison, bound)?;
    figure.check_bound(value)?;
    let threshold = Threshold { figure, comparison, bound: value, label: None, place: None };
    Ok(threshold.with_bound_text(bound))
}

/// Splits `variants.mini.score.avg …` or `variants["gpt-4o"].score.avg …` after the variant.
fn parse_variant(text: &str) -> Result<(Option<String>, &str), String> {
    let Some(rest) = text.strip_prefix(VARIANTS).map(str::trim_start) else { return Ok((None, text)) };
    if let Some(quoted) = rest.strip_prefix("[\"") {
        return unquote(quoted)
            .and_then(|(name, rest)| Some((Some(name), rest.strip_prefix("].")?)))
            .ok_or_else(|| {
                format!("unclosed name in brackets: write `{VARIANTS}[\"name\"].score.avg >= 0.8`")
            });
    }
    if rest.starts_with(OPERATORS) || rest.is_empty() {
        return Err(format!("missing variant: write, for example, `{VARIANTS_EXAMPLE}`"));
    }
    let Some(rest) = rest.strip_prefix('.') else { return Ok((None, text)) };
    let end = rest.find(|letter| matches!(letter, '.' | '(') || OPERATORS.contains(&letter));
    let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
    let name = name.trim();
    match after.strip_prefix('.') {
        Some(rest) => Ok((Some(name.to_owned()), rest.trim_start())),
        // Earlier versions wrote an evaluator with the name `variants` without quotes.
        None if Category::Score.metrics().contains(&name) => Ok((None, text)),
        None => Err(format!("missing category: write, for example, `{VARIANTS}.{name}.score.avg >= 0.8`")),
    }
}

/// A metric with its argument, as in `pass_rate(0.6)`, and what follows.
struct Call<'a> {
    name: &'a str,
    argument: Option<Argument<'a>>,
    rest: &'a str,
}

enum Argument<'a> {
    Quoted(String),
    Plain(&'a str),
}

impl Argument<'_> {
    fn into_text(self) -> String {
        match self {
            Self::Quoted(text) => text,
            Self::Plain(text) => text.to_owned(),
        }
    }
}

impl<'a> Call<'a> {
    fn parse(text: &'a str) -> Result<Self, String> {
        let end = text.find(|letter| letter == '(' || OPERATORS.contains(&letter)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let name = name.trim();
        let Some(argument) = rest.strip_prefix('(') else { return Ok(Self { name, argument: None, rest }) };
        let argument = argument.trim_start();
        let parsed = match argument.strip_prefix('"') {
            Some(quoted) => unquote(quoted).and_then(|(text, rest)| {
                Some((Argument::Quoted(text), rest.trim_start().strip_prefix(')')?))
            }),
            None => argument.split_once(')').map(|(text, rest)| (Argument::Plain(text.trim()), rest)),
        };
        let (argument, rest) = parsed.ok_or_else(|| format!("unclosed parenthesis after `{name}`"))?;
        Ok(Self { name, argument: Some(argument), rest: rest.trim_start() })
    }
}

/// The kind of a threshold, for examples in messages.
#[derive(Clone, Copy)]
enum ThresholdKind {
    Absolute,
    VsBaseline,
}

impl ThresholdKind {
    /// An example of this kind.
    fn example(self) -> &'static str {
        match self {
            Self::Absolute => "score.avg >= 0.8",
            Self::VsBaseline => VS_BASELINE_EXAMPLE,
        }
    }

    /// The first metric of the category closest to `word`.
    fn suggested_metric(self, word: &str) -> Option<String> {
        let category = Category::from_name(closest(word, &Category::NAMES)?)?;
        let metrics = match self {
            Self::Absolute => category.metrics(),
            Self::VsBaseline => category.baseline_metrics(),
        };
        Some(Figure::new(category.clone(), Metric::from_name(metrics.first()?)?).to_string())
    }
}

/// Splits `score.avg …`, `evaluators["any name"].avg …` or `tokens["gpt-4o"].avg …` after the dot before the metric.
fn parse_category(text: &str, kind: ThresholdKind) -> Result<(Category, &str), String> {
    let example = kind.example();
    for prefix in Category::WITH_NAME {
        let Some(quoted) = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix("[\"")) else {
            continue;
        };
        return unquote(quoted)
            .and_then(|(name, rest)| Some((Category::with_name(prefix, name)?, rest.strip_prefix("].")?)))
            .ok_or_else(|| {
                let example = example.replace("score", &format!("{prefix}[\"name\"]"));
                format!("unclosed name in brackets: write `{example}`")
            });
    }
    let subject = text.split(['<', '>', '=', '!']).next().unwrap_or_default();
    // The pass mark of `pass_rate(0.6)` also has a dot.
    let subject = subject.split('(').next().unwrap_or_default();
    let (name, _) = subject.rsplit_once('.').ok_or_else(|| {
        let figure = kind.suggested_metric(subject.trim());
        format!("missing metric: write, for example, `{}`", figure.as_deref().unwrap_or(example))
    })?;
    let rest = &text[name.len() + 1..];
    let name = name.trim();
    if name.is_empty() {
        return Err(format!("missing category: write, for example, `{example}`"));
    }
    if name == METRICS {
        return Err(format!("missing metric name: write `{METRICS}[\"any name\"]`"));
    }
    let category = Category::from_name(name).unwrap_or_else(|| Category::Evaluator(name.to_owned()));
    Ok((category, rest))
}

/// The text up to the closing quote, unescaped, and the rest after the quote.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((name, &text[at + 1..])),
            '\\' => name.push(letters.next()?.1),
            _ => name.push(letter),
        }
    }
    None
}

fn parse_metric(subject: Subject, name: &str, argument: Option<Argument<'_>>) -> Result<Figure, String> {
    if Metric::from_variant_name(name).is_some() {
        let other = argument.map(Argument::into_text).filter(|other| !other.is_empty());
        let other = other.ok_or_else(|| subject.missing_variant_message(name))?;
        return subject.figure_against(name, &other);
    }
    let mut figure = subject.figure(name)?;
    let mark = match argument {
        None => return Ok(figure),
        Some(Argument::Plain(mark)) => parse_number(mark),
        Some(Argument::Quoted(_)) => None,
    };
    let mark = mark.ok_or_else(|| format!("a pass mark is a number from 0 to 1, as in `{figure}(0.6)`"));
    figure.metric = figure.metric.with_pass_mark(mark?)?;
    Ok(figure)
}

fn parse_bound(figure: &Figure, text: &str) -> Result<f64, String> {
    let refused = || figure.invalid_bound_message(text);
    match split_unit(text).filter(|_| figure.takes_duration()) {
        Some((value, unit)) => {
            let value = parse_number(value).ok_or_else(refused)?;
            Ok(duration_nanos(value, unit)? as f64 / 1e6)
        }
        None => parse_number(text).ok_or_else(refused),
    }
}

/// Parses a duration greater than zero, such as `30s` or `1.5s`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let refused = || format!("expected a duration such as `30s` or `500ms`, not `{text}`");
    let Some((value, unit)) = split_unit(text) else {
        let bare = parse_number(text).ok_or_else(refused)?;
        return Err(format!("a duration needs a unit: write `{bare}s` or `{bare}ms`"));
    };
    match duration_nanos(parse_number(value).ok_or_else(refused)?, unit)? {
        0 => Err("a duration must be greater than zero: write, for example, `30s`".to_owned()),
        nanos => Ok(Duration::from_nanos(nanos)),
    }
}

/// Splits `1.5s` into `1.5` and `s`; `None` without a unit.
fn split_unit(text: &str) -> Option<(&str, &str)> {
    let unit_at = text.find(|letter: char| letter.is_ascii_alphabetic() && !matches!(letter, 'e' | 'E'))?;
    let (value, unit) = text.split_at(unit_at);
    Some((value.trim_end(), unit))
}

/// Parses a finite number, with underscores between digits as in Rust.
fn parse_number(text: &str) -> Option<f64> {
    let digits = text.starts_with(|letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '.'));
    text.replace('_', "").parse().ok().filter(|number: &f64| digits && number.is_finite())
}

/// A number: the bound of a score, of tokens, of a cost, of a metric.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the bound of this threshold must be a number, not `{Self}`",
    label = "not a number"
)]
pub trait NumberBound {
    /// The bound as a floating-point number.
    fn number_bound(self) -> f64;
}

/// A duration, or a number of milliseconds: the bound of a latency or of a time to the first token.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the bound of a latency or of a time to the first token must be a `Duration` or a number of milliseconds, not `{Self}`",
    label = "neither a duration nor a number"
)]
pub trait LatencyBound {
    /// The bound in milliseconds.
    fn latency_bound(self) -> f64;
}

impl LatencyBound for Duration {
    fn latency_bound(self) -> f64 {
        self.as_secs_f64() * 1000.0
    }
}

macro_rules! numbers_are_bounds {
    ($($number:ty)*) => {$(
        impl NumberBound for $number {
            fn number_bound(self) -> f64 {
                self as f64
            }
        }

        impl LatencyBound for $number {
            fn latency_bound(self) -> f64 {
                self as f64
            }
        }
    )*};
}

numbers_are_bounds! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 }
