//! `thresholds = [score.avg >= 0.8]`: parses comparisons, and rejects those that make no sense.

#[cfg(test)]
mod tests;

use cobalt_thresholds as rules;
use cobalt_thresholds::{
    BY, Category, Comparison, EVALUATORS, Figure, METRICS, Metric, Subject, VARIANTS, VARIANTS_EXAMPLE,
    VS_BASELINE, VS_BASELINE_EXAMPLE,
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{BinOp, Expr, ExprBinary, ExprField, ExprIndex, ExprLit, ExprMethodCall, Lit, Member, Path};

use crate::errors::Errors;
use crate::evaluators::{Evaluators, ungroup};
use crate::function::generated_span;
use crate::library::Library;
use crate::literal::{Number, is_literal};

const EXAMPLE: &str = "expected a threshold such as `score.avg >= 0.8`";

/// A threshold that is valid as far as its syntax shows.
pub struct Threshold {
    figure: MetricPath,
    comparison: Comparison,
    bound: ThresholdBound,
    span: Span,
}

enum ThresholdBound {
    /// The value in the category's unit, and its source text.
    Literal(f64, String),
    Computed(Expr),
}

/// Parses the list. Each invalid threshold is an error at its span.
pub fn parse(list: &[&Expr], evaluators: &Evaluators, errors: &mut Errors) -> Vec<Threshold> {
    let mut seen = Vec::new();
    let mut thresholds = Vec::new();
    for expression in list {
        match Threshold::parse(expression, evaluators) {
            Ok(threshold) => {
                let text = source_text(expression);
                if seen.contains(&text) {
                    errors.at(expression, "this threshold is listed twice");
                }
                seen.push(text);
                thresholds.push(threshold);
            }
            Err(error) => errors.push(error),
        }
    }
    thresholds
}

impl Threshold {
    fn parse(expression: &Expr, evaluators: &Evaluators) -> syn::Result<Self> {
        let sides = Sides::of(expression)?;
        let figure = MetricPath::parse(&sides, evaluators)?;
        let shown = source_text(sides.right);
        let comparison = Comparison::from_symbol(&sides.symbol()).ok_or_else(|| {
            error_at(sides.operator, figure.figure.invalid_operator_message(&sides.symbol(), &shown))
        })?;
        let bound = ThresholdBound::parse(sides.right, &figure.figure)?;
        figure
            .figure
            .check_comparison(comparison, &shown)
            .map_err(|message| error_at(sides.operator, message))?;
        Ok(Self { figure, comparison, bound, span: expression.span() })
    }
}

/// An error of the grammar at these tokens.
fn error_at(tokens: impl ToTokens, message: String) -> syn::Error {
    syn::Error::new_spanned(tokens, message)
}

impl ThresholdBound {
    fn parse(expression: &Expr, figure: &Figure) -> syn::Result<Self> {
        let wrong = |text: &str| syn::Error::new_spanned(expression, figure.invalid_bound_message(text));
        let Some(number) = Number::of(expression) else {
            return match expression {
                Expr::Lit(_) => Err(wrong(&source_text(expression))),
                _ => Ok(Self::Computed(expression.clone())),
            };
        };
        let value = match number.has_unit() {
            false => number.value,
            true if figure.takes_duration() => {
                let nanos = number.nanos().map_err(|message| syn::Error::new_spanned(expression, message))?;
                nanos as f64 / 1e6
            }
            true => return Err(wrong(&number.text)),
        };
        figure.check_bound(value).map_err(|message| error_at(expression, message))?;
        Ok(Self::Literal(value, number.text))
    }
}

/// The parts of a comparison, not validated.
struct Sides<'a> {
    left: &'a Expr,
    operator: &'a dyn ToTokens,
    right: &'a Expr,
}

impl<'a> Sides<'a> {
    fn of(expression: &'a Expr) -> syn::Result<Self> {
        let sides = match expression {
            Expr::Binary(ExprBinary { op: BinOp::And(op), .. }) => {
                return Err(syn::Error::new_spanned(
                    op,
                    "all thresholds must hold: separate them with commas",
                ));
            }
            Expr::Binary(ExprBinary { op: BinOp::Or(op), .. }) => {
                return Err(syn::Error::new_spanned(op, "all thresholds must hold: `||` is not supported"));
            }
            Expr::Binary(ExprBinary { left, op, right, .. }) if is_comparison(op) => {
                Self { left: ungroup(left), operator: op, right: ungroup(right) }
            }
            Expr::Assign(assignment) => Self {
                left: ungroup(&assignment.left),
                operator: &assignment.eq_token,
                right: ungroup(&assignment.right),
            },
            Expr::Paren(inner) => return Self::of(ungroup(&inner.expr)),
            Expr::Field(_) | Expr::MethodCall(_) => {
                let message = format!("`{}` needs a bound: {EXAMPLE}", source_text(expression));
                return Err(syn::Error::new_spanned(expression, message));
            }
            _ => return Err(syn::Error::new_spanned(expression, EXAMPLE)),
        };
        sides.check_order(expression).map(|()| sides)
    }

    fn symbol(&self) -> String {
        self.operator.to_token_stream().to_string()
    }

    /// Rejects `0.8 <= score.avg`.
    fn check_order(&self, expression: &Expr) -> syn::Result<()> {
        let is_figure = |side: &Expr| matches!(side, Expr::Field(_) | Expr::MethodCall(_));
        let is_category = path_of(self.left).and_then(Path::get_ident).is_some_and(|name| {
            let name = name.to_string();
            Category::from_name(&name).is_some() || rules::closest(&name, &Category::NAMES).is_some()
        });
        if is_figure(self.left) || is_category || !is_figure(self.right) {
            return Ok(());
        }
        let symbol = self.symbol();
        let turned = Comparison::from_symbol(&symbol).map_or(&*symbol, |symbol| symbol.mirrored().symbol());
        let (left, right) = (source_text(self.left), source_text(self.right));
        let message = format!("the bound goes on the right: write `{right} {turned} {left}`");
        Err(syn::Error::new_spanned(expression, message))
    }
}

fn path_of(expression: &Expr) -> Option<&Path> {
    match expression {
        Expr::Path(expression) => Some(&expression.path),
        _ => None,
    }
}

fn is_comparison(op: &BinOp) -> bool {
    matches!(op, BinOp::Ge(_) | BinOp::Gt(_) | BinOp::Le(_) | BinOp::Lt(_) | BinOp::Eq(_) | BinOp::Ne(_))
}

/// An expression's source text with approximately the usual spacing, for messages.
fn source_text(expression: &impl ToTokens) -> String {
    fn write(tokens: TokenStream, text: &mut String) {
        for token in tokens {
            let after_word = text.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                        proc_macro2::Delimiter::Bracket => ("[", "]"),
                        proc_macro2::Delimiter::Brace => ("{", "}"),
                        proc_macro2::Delimiter::None => ("", ""),
                    };
                    text.push_str(open);
                    write(group.stream(), text);
                    text.push_str(close);
                }
                TokenTree::Ident(_) | TokenTree::Literal(_) if after_word => {
                    text.push(' ');
                    text.push_str(&token.to_string());
                }
                _ => text.push_str(&token.to_string()),
            }
        }
    }
    let mut text = String::new();
    write(expression.to_token_stream(), &mut text);
    text
}

/// A threshold's left-hand side.
pub struct MetricPath {
    pub figure: Figure,
    /// The names of variants, to be checked if those of the experiment are known.
    pub variants: Vec<(String, TokenStream)>,
    /// The name in brackets, if it is computed.
    pub computed_name: Option<Expr>,
    /// Whether the evaluator's name has no quotes.
    pub bare: bool,
    pub category_span: Span,
    pub computed_mark: Option<Expr>,
    pub metric_span: Span,
}

impl MetricPath {
    fn parse(sides: &Sides<'_>, evaluators: &Evaluators) -> syn::Result<Self> {
        let (base, metric, call) = match sides.left {
            Expr::Field(field) => match &field.member {
                Member::Named(name) => (&field.base, name, None),
                Member::Unnamed(index) => {
                    return Err(syn::Error::new_spanned(index, format!("missing metric name: {EXAMPLE}")));
                }
            },
            Expr::MethodCall(call) => (&call.receiver, &call.method, Some(call)),
            Expr::Path(path) => return Err(missing_metric(&path.path, sides)),
            Expr::Index(index) => return Err(missing_metric_of(&SubjectPath::of_index(index)?, sides)),
            other => return Err(syn::Error::new_spanned(other, EXAMPLE)),
        };
        let SubjectPath { subject, variant, computed, bare, tokens } = SubjectPath::parse(base)?;
        evaluators.check_name(&subject.category, bare, &tokens)?;
        let name = metric.to_string();
        let mut variants = Vec::from_iter(variant);
        let is_against_variant = Metric::from_variant_name(&name).is_some();
        let figure = match call {
            Some(call) if is_against_variant => {
                let (other, tokens) = variant_argument(call, &subject)?;
                variants.push((other.clone(), tokens));
                subject.figure_against(&name, &other)
            }
            None if is_against_variant => Err(subject.missing_variant_message(&name)),
            _ => subject.figure(&name),
        };
        let mut path = Self {
            figure: figure.map_err(|message| error_at(metric, message))?,
            variants,
            computed_name: computed,
            bare,
            category_span: tokens.span(),
            computed_mark: None,
            metric_span: metric.span(),
        };
        if let Some(call) = call.filter(|_| !is_against_variant) {
            path.parse_pass_mark(call)?;
        }
        Ok(path)
    }

    fn parse_pass_mark(&mut self, call: &ExprMethodCall) -> syn::Result<()> {
        let text = &self.figure;
        if !matches!(text.metric, Metric::PassRate(_) | Metric::MinPassRate(_)) {
            let message = format!("only `pass_rate` takes a pass mark: write `{text}` without parentheses");
            return Err(syn::Error::new_spanned(call, message));
        }
        let [mark] = Vec::from_iter(&call.args)[..] else {
            let name = text.metric.name();
            let message = format!("`{name}` takes at most one pass mark: write `{text}(0.6)` or `{text}`");
            return Err(syn::Error::new_spanned(call, message));
        };
        match Number::of(mark) {
            Some(number) if !number.has_unit() => {
                let metric = self.figure.metric.with_pass_mark(number.value);
                self.figure.metric = metric.map_err(|message| error_at(mark, message))?;
            }
            None if !is_literal(mark) => self.computed_mark = Some(mark.clone()),
            _ => return Err(syn::Error::new_spanned(mark, "a pass mark is a number from 0 to 1")),
        }
        Ok(())
    }
}

/// The variant in `drop_from(large)` or `drop_from("gpt-4o")`.
fn variant_argument(call: &ExprMethodCall, subject: &Subject) -> syn::Result<(String, TokenStream)> {
    let missing = || error_at(call, subject.missing_variant_message(&call.method.to_string()));
    let [argument] = Vec::from_iter(&call.args)[..] else { return Err(missing()) };
    let name = match ungroup(argument) {
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => name.value(),
        other => path_of(other).and_then(Path::get_ident).ok_or_else(missing)?.unraw().to_string(),
    };
    Ok((name, argument.to_token_stream()))
}

/// The part before the metric: a category or an evaluator, of a variant, by groups, or against the baseline.
struct SubjectPath {
    subject: Subject,
    /// The variant's name.
    variant: Option<(String, TokenStream)>,
    computed: Option<Expr>,
    bare: bool,
    tokens: TokenStream,
}

impl SubjectPath {
    fn parse(base: &Expr) -> syn::Result<Self> {
        if let Some((variant, rest)) = split_variant(base) {
            let (name, tokens) = variant?;
            let mut path = Self::parse(&rest)?;
            path.subject.variant = Some(name.clone());
            return Ok(Self { variant: Some((name, tokens)), ..path });
        }
        match ungroup(base) {
            Expr::Path(path) => Self::of_path(&path.path),
            Expr::Index(index) => Self::of_index(index),
            Expr::MethodCall(call) if call.method == BY => {
                let mut path = Self::parse(&call.receiver)?;
                let [Expr::Lit(ExprLit { lit: Lit::Str(field), .. })] = Vec::from_iter(&call.args)[..] else {
                    return Err(error_at(call, path.subject.missing_field_message()));
                };
                path.subject.by = Some(field.value());
                Ok(path)
            }
            Expr::Field(ExprField { base, member: Member::Named(name), .. }) if is_vs_baseline(base) => {
                let mut path = Self::of_name(name)?;
                path.subject.vs_baseline = true;
                Ok(path)
            }
            Expr::Field(field) => Err(error_at(field, not_a_category(&field.base))),
            _ => Err(syn::Error::new_spanned(base, format!("not a category or an evaluator: {EXAMPLE}"))),
        }
    }

    fn new(category: Category, computed: Option<Expr>, bare: bool, tokens: TokenStream) -> Self {
        let subject = Subject { variant: None, vs_baseline: false, category, by: None };
        Self { subject, variant: None, computed, bare, tokens }
    }

    fn of_path(path: &Path) -> syn::Result<Self> {
        let Some(name) = path.get_ident() else {
            let last = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
            let message = format!("name the evaluator without its path: write `{last}`");
            return Err(syn::Error::new_spanned(path, message));
        };
        Self::of_name(name)
    }

    fn of_name(name: &Ident) -> syn::Result<Self> {
        let text = name.unraw().to_string();
        let whose = match &*text {
            EVALUATORS => Some("evaluator"),
            METRICS => Some("metric"),
            _ => None,
        };
        if let Some(whose) = whose {
            return Err(error_at(name, format!("missing {whose} name: write `{text}[\"any name\"]`")));
        }
        if text == VS_BASELINE {
            return Err(error_at(name, missing_baseline_metric()));
        }
        if text == VARIANTS {
            return Err(error_at(name, missing_variant_metric()));
        }
        let category = Category::from_name(&text).unwrap_or(Category::Evaluator(text));
        Ok(Self::new(category, None, true, name.to_token_stream()))
    }

    fn of_index(index: &ExprIndex) -> syn::Result<Self> {
        let (against_baseline, prefix) = match ungroup(&index.expr) {
            Expr::Field(field) if is_vs_baseline(&field.base) => (true, source_text(&field.member)),
            other => (false, source_text(other)),
        };
        let category = |name| Category::with_name(&prefix, name).ok_or_else(|| unnamed(&index.expr));
        let (name, computed) = match ungroup(&index.index) {
            Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => (name.value(), None),
            Expr::Lit(literal) => {
                category(String::new())?;
                let message = format!("a name in brackets is a string: write `{prefix}[\"any name\"]`");
                return Err(syn::Error::new_spanned(literal, message));
            }
            computed => (source_text(computed), Some(computed.clone())),
        };
        let mut path = Self::new(category(name)?, computed, false, index.index.to_token_stream());
        path.subject.vs_baseline = against_baseline;
        Ok(path)
    }
}

/// The variant of `variants.mini.…` or `variants["gpt-4o"].…`, and the expression without it.
fn split_variant(expression: &Expr) -> Option<(syn::Result<(String, TokenStream)>, Expr)> {
    match ungroup(expression) {
        Expr::Field(field) => {
            if let (Some(name), Member::Named(member)) = (variant_of(&field.base), &field.member) {
                let path = syn::ExprPath { attrs: Vec::new(), qself: None, path: member.clone().into() };
                return Some((name, Expr::Path(path)));
            }
            let (name, rest) = split_variant(&field.base)?;
            Some((name, Expr::Field(ExprField { base: Box::new(rest), ..field.clone() })))
        }
        Expr::Index(index) => {
            let (name, rest) = split_variant(&index.expr)?;
            Some((name, Expr::Index(ExprIndex { expr: Box::new(rest), ..index.clone() })))
        }
        Expr::MethodCall(call) => {
            let (name, rest) = split_variant(&call.receiver)?;
            Some((name, Expr::MethodCall(ExprMethodCall { receiver: Box::new(rest), ..call.clone() })))
        }
        _ => None,
    }
}

/// The name in `variants.mini` or `variants["gpt-4o"]`.
fn variant_of(expression: &Expr) -> Option<syn::Result<(String, TokenStream)>> {
    let is_prefix =
        |expression: &Expr| path_of(ungroup(expression)).is_some_and(|path| path.is_ident(VARIANTS));
    match ungroup(expression) {
        Expr::Field(ExprField { base, member: Member::Named(name), .. }) if is_prefix(base) => {
            Some(Ok((name.unraw().to_string(), name.to_token_stream())))
        }
        Expr::Index(index) if is_prefix(&index.expr) => Some(match ungroup(&index.index) {
            Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => {
                Ok((name.value(), index.index.to_token_stream()))
            }
            other => {
                let message =
                    format!("a variant's name in brackets is a string: write `{VARIANTS}[\"any name\"]`");
                Err(error_at(other, message))
            }
        }),
        _ => None,
    }
}

fn missing_variant_metric() -> String {
    format!("missing metric: write, for example, `{VARIANTS_EXAMPLE}`")
}

/// `concise["x"].avg`
fn unnamed(prefix: &Expr) -> syn::Error {
    let message = match rules::closest(&source_text(prefix), &[METRICS, "metric"]) {
        Some(_) => format!("to name a metric, write `{METRICS}[\"any name\"]`"),
        None => format!("to name an evaluator, write `{EVALUATORS}[\"any name\"]`"),
    };
    syn::Error::new_spanned(prefix, message)
}

/// Whether this is the `vs_baseline` of `vs_baseline.score.drop`.
fn is_vs_baseline(expression: &Expr) -> bool {
    path_of(ungroup(expression)).is_some_and(|path| path.is_ident(VS_BASELINE))
}

fn missing_baseline_metric() -> String {
    format!("missing metric: write, for example, `{VS_BASELINE_EXAMPLE}`")
}

/// `base.score.drop`
fn not_a_category(base: &Expr) -> String {
    match rules::closest(&source_text(base), &[VS_BASELINE, "baseline"]) {
        Some(_) => format!("to compare with the baseline write, for example, `{VS_BASELINE_EXAMPLE}`"),
        None => format!("not a category or an evaluator: {EXAMPLE}"),
    }
}

/// `metrics["retrieved"] >= 5`
fn missing_metric_of(path: &SubjectPath, sides: &Sides<'_>) -> syn::Error {
    let (category, symbol, bound) = (&path.subject.category, sides.symbol(), source_text(sides.right));
    let metric = category.metrics()[0];
    let message = format!("missing metric: write, for example, `{category}.{metric} {symbol} {bound}`");
    syn::Error::new_spanned(sides.left, message)
}

/// `score >= 0.8`
fn missing_metric(path: &Path, sides: &Sides<'_>) -> syn::Error {
    let text = path
        .segments
        .last()
        .map(|segment: &syn::PathSegment| Ident::to_string(&segment.ident))
        .unwrap_or_default();
    if text == VS_BASELINE {
        return error_at(path, missing_baseline_metric());
    }
    let name = rules::closest(&text, &Category::NAMES).unwrap_or(&text);
    let metric = Category::from_name(name).map_or("avg", |category| category.metrics()[0]);
    let (symbol, bound) = (sides.symbol(), source_text(sides.right));
    let message = format!("missing metric: write, for example, `{name}.{metric} {symbol} {bound}`");
    syn::Error::new_spanned(path, message)
}

impl Threshold {
    /// The variants that it names.
    pub fn variants(&self) -> impl Iterator<Item = (&str, &TokenStream)> {
        self.figure.variants.iter().map(|(name, tokens)| (&**name, tokens))
    }

    /// An expression of type `cobalt::Threshold`.
    pub fn expand(&self, evaluators: &Evaluators) -> TokenStream {
        let span = generated_span(self.span);
        let category = self.figure.expand_category(evaluators);
        let metric = self.figure.expand_metric(evaluators.library());
        let library = evaluators.library();
        let comparison = Ident::new(&format!("{:?}", self.comparison), span);
        let (bound, label) = match &self.bound {
            ThresholdBound::Literal(value, text) => {
                (quote_spanned!(span=> #value), quote_spanned!(span=> .with_bound_text(#text)))
            }
            ThresholdBound::Computed(expression) => {
                let place = generated_span(expression.span());
                let convert = match self.figure.figure.takes_duration() {
                    true => quote_spanned!(place=> LatencyBound::latency_bound),
                    false => quote_spanned!(place=> NumberBound::number_bound),
                };
                let library = library.at(place);
                let bound = quote_spanned!(place=> #library::private::threshold::#convert(#expression));
                (bound, TokenStream::new())
            }
        };
        let library = library.at(span);
        let Figure { variant, by, against, .. } = &self.figure.figure;
        let named = [("with_variant", variant), ("with_by", by), ("with_against", against)];
        let named = named.into_iter().filter_map(|(method, name)| {
            let (method, name) = (Ident::new(method, span), name.as_ref()?);
            Some(quote_spanned!(span=> .#method(#name)))
        });
        quote_spanned! {span=>
            #library::private::threshold::Threshold::new(
                #category,
                #metric,
                #library::private::threshold::Comparison::#comparison,
                #bound,
            )#label #(#named)*
        }
    }
}

impl MetricPath {
    fn expand_category(&self, evaluators: &Evaluators) -> TokenStream {
        let span = generated_span(self.category_span);
        let library = evaluators.library().at(span);
        let category = quote_spanned!(span=> #library::private::threshold::Category);
        let (variant, name) = match &self.figure.category {
            Category::Score => ("Score", None),
            Category::Latency => ("Latency", None),
            Category::TimeToFirstToken => ("TimeToFirstToken", None),
            Category::Tokens => ("Tokens", None),
            Category::Cost => ("Cost", None),
            Category::JudgeCost => ("JudgeCost", None),
            Category::ModelCalls => ("ModelCalls", None),
            Category::ToolCalls => ("ToolCalls", None),
            Category::Evaluator(name) => ("Evaluator", Some(name)),
            Category::ModelTokens(name) => ("ModelTokens", Some(name)),
            Category::ModelCost(name) => ("ModelCost", Some(name)),
            Category::CustomMetric(name) => ("CustomMetric", Some(name)),
        };
        let variant = Ident::new(variant, span);
        match (name, &self.computed_name) {
            (None, _) => quote_spanned!(span=> #category::#variant),
            (Some(_), Some(name)) => {
                quote_spanned!(span=> #category::#variant(::core::convert::Into::into(#name)))
            }
            (Some(name), None) => {
                let name = match self.figure.category {
                    Category::Evaluator(_) => evaluators.name_expression(name, self.bare, span),
                    _ => quote_spanned!(span=> #name),
                };
                quote_spanned!(span=> #category::#variant(::std::borrow::ToOwned::to_owned(#name)))
            }
        }
    }

    fn expand_metric(&self, library: &Library) -> TokenStream {
        let span = generated_span(self.metric_span);
        let path = library.at(span);
        let metric = quote_spanned!(span=> #path::private::threshold::Metric);
        let mark = match (self.figure.metric, &self.computed_mark) {
            (Metric::PassRate(_) | Metric::MinPassRate(_), Some(mark)) => {
                let place = generated_span(mark.span());
                let library = library.at(place);
                let mark =
                    quote_spanned!(place=> #library::private::threshold::NumberBound::number_bound(#mark));
                quote_spanned!(span=> (::core::option::Option::Some(#mark)))
            }
            (Metric::PassRate(Some(mark)) | Metric::MinPassRate(Some(mark)), None) => {
                quote_spanned!(span=> (::core::option::Option::Some(#mark)))
            }
            (Metric::PassRate(None) | Metric::MinPassRate(None), None) => {
                quote_spanned!(span=> (::core::option::Option::None))
            }
            _ => TokenStream::new(),
        };
        let variant = match self.figure.metric {
            Metric::Avg => "Avg",
            Metric::Min => "Min",
            Metric::Max => "Max",
            Metric::P50 => "P50",
            Metric::P95 => "P95",
            Metric::P99 => "P99",
            Metric::PassRate(_) => "PassRate",
            Metric::Total => "Total",
            Metric::Value => "Value",
            Metric::Drop => "Drop",
            Metric::Rise => "Rise",
            Metric::Ratio => "Ratio",
            Metric::MinAvg => "MinAvg",
            Metric::MinPassRate(_) => "MinPassRate",
            Metric::MaxAvg => "MaxAvg",
        };
        let variant = Ident::new(variant, span);
        quote_spanned!(span=> #metric::#variant #mark)
    }
}
