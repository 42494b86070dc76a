//! Parses a threshold from its text form, such as `score.avg >= 0.8`, and converts computed bounds of the attribute.

use std::str::FromStr;
use std::time::Duration;

use cobalt_thresholds::{
    Category, Comparison, Figure, METRICS, Metric, Subject, VARIANTS, VARIANTS_EXAMPLE, VS_BASELINE,
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

fn parse(text: &str) -> Result<Threshold, String> {
    const SHAPE: &str = "expected a threshold such as `score.avg >= 0.8`";
    let (variant, text) = parse_variant(text)?;
    let compared = text.strip_prefix(VS_BASELINE).and_then(|rest| rest.trim_start().strip_prefix('.'));
    let (kind, text) = match compared {
        Some(rest) => (ThresholdKind::VsBaseline, rest.trim_start()),
        None => (ThresholdKind::Absolute, text),
    };
    let operator_at = find_outside_quotes(text, &['<', '>', '=', '!']);
    let (category, rest) = parse_category(&text[..operator_at.unwrap_or(text.len())], kind)?;
    let (by, metric) = parse_field(rest, &category)?;
    let subject = Subject { variant, vs_baseline: compared.is_some(), category, by };
    let operator_at = operator_at.ok_or(SHAPE)?;
    let rest = &text[operator_at..];
    let bound_at = rest.find(|letter| !matches!(letter, '<' | '>' | '=' | '!')).ok_or(SHAPE)?;
    let (operator, bound) = rest.split_at(bound_at);
    let bound = bound.trim();

    let figure = parse_figure(subject, metric)?;
    let comparison =
        Comparison::from_symbol(operator).ok_or_else(|| figure.invalid_operator_message(operator, bound))?;
    let value = self::parse_bound(&figure, bound)?;
    figure.check_comparison(comparison, bound)?;
    figure.check_bound(value)?;
    Ok(Threshold::of_figure(figure, comparison, value).with_bound_text(bound))
}

/// The first of these letters that is not in quotes.
fn find_outside_quotes(text: &str, letters: &[char]) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.char_indices().find_map(|(at, letter)| {
        let found = !is_quoted && letters.contains(&letter);
        is_quoted ^= letter == '"' && !is_escaped;
        is_escaped = is_quoted && letter == '\\' && !is_escaped;
        found.then_some(at)
    })
}

/// Splits off `variants.mini.` or `variants["gpt-4o"].`.
fn parse_variant(text: &str) -> Result<(Option<String>, &str), String> {
    let Some(rest) = text.strip_prefix(VARIANTS) else { return Ok((None, text)) };
    let missing = || format!("missing name of a variant: write, for example, `{VARIANTS_EXAMPLE}`");
    if let Some(quoted) = rest.strip_prefix("[\"") {
        let (name, rest) = unquote(quoted).ok_or_else(missing)?;
        return Ok((Some(name), rest.strip_prefix("].").ok_or_else(missing)?));
    }
    // The name of an evaluator may begin with the same letters.
    let Some(rest) = rest.strip_prefix('.') else { return Ok((None, text)) };
    let (name, rest) = rest.split_once('.').ok_or_else(missing)?;
    if name.is_empty() || name.contains(['<', '>', '=', '!']) {
        return Err(missing());
    }
    Ok((Some(name.trim().to_owned()), rest.trim_start()))
}

/// Splits off `by("category").` before the metric.
fn parse_field<'a>(text: &'a str, category: &Category) -> Result<(Option<String>, &'a str), String> {
    let Some(rest) = text.trim_start().strip_prefix("by(") else { return Ok((None, text)) };
    let field = rest.trim_start().strip_prefix('"').and_then(unquote);
    let parts = field.and_then(|(field, rest)| {
        Some((field, rest.trim_start().strip_prefix(')')?.trim_start().strip_prefix('.')?))
    });
    let missing = || {
        let (variant, category) = (None, category.clone());
        Subject { variant, vs_baseline: false, category, by: None }.missing_field_message()
    };
    parts.map(|(field, metric)| (Some(field), metric)).ok_or_else(missing)
}

/// The metric, with a variant or a pass mark in parentheses.
fn parse_figure(subject: Subject, text: &str) -> Result<Figure, String> {
    let (name, argument) = match text.split_once('(') {
        Some((name, argument)) => (name.trim(), Some(argument.trim_end().strip_suffix(')').map(str::trim))),
        None => (text.trim(), None),
    };
    if Metric::from_variant_name(name).is_some() {
        let other = argument.flatten().filter(|other| !other.is_empty());
        let unquoted = |other: &str| Some(unquote(other.strip_prefix('"')?)?.0);
        return match other {
            Some(other) => subject.figure_against(name, &unquoted(other).unwrap_or_else(|| other.to_owned())),
            None => Err(subject.missing_variant_message(name)),
        };
    }
    let mut figure = subject.figure(name)?;
    match argument.map(|mark| mark.and_then(parse_number)) {
        None => {}
        Some(Some(mark)) => figure.metric = figure.metric.with_pass_mark(mark)?,
        Some(None) => {
            let example = Figure { metric: Metric::PassRate(Some(0.6)), ..figure };
            return Err(format!("a pass mark is a number from 0 to 1, as in `{example}`"));
        }
    }
    Ok(figure)
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
    if let Some((name, _)) = text.split_once(".by(") {
        return Ok((bare_category(name, example)?, &text[name.len() + 1..]));
    }
    // The pass mark of `pass_rate(0.6)` also has a dot.
    let subject = text.split('(').next().unwrap_or_default();
    let (name, _) = subject.rsplit_once('.').ok_or_else(|| {
        let figure = kind.suggested_metric(subject.trim());
        format!("missing metric: write, for example, `{}`", figure.as_deref().unwrap_or(example))
    })?;
    Ok((bare_category(name, example)?, &text[name.len() + 1..]))
}

/// A category or an evaluator without brackets.
fn bare_category(name: &str, example: &str) -> Result<Category, String> {
    let name = name.trim();
    if name.is_empty() {
        return Err(format!("missing category: write, for example, `{example}`"));
    }
    if name == METRICS {
        return Err(format!("missing metric name: write `{METRICS}[\"any name\"]`"));
    }
    Ok(Category::from_name(name).unwrap_or_else(|| Category::Evaluator(name.to_owned())))
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
