//! A threshold's left-hand side: `variants.mini.concise.pass_rate(0.6)`.

use cobalt_thresholds as rules;
use cobalt_thresholds::{
    BY, Category, EVALUATORS, Figure, METRICS, Metric, VARIANTS, VARIANTS_EXAMPLE, VS_BASELINE,
    VS_BASELINE_EXAMPLE,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, ExprMethodCall, Lit, Member, Path};

use super::{EXAMPLE, Sides, error_at, path_of, source_text};
use crate::evaluators::{Evaluators, ungroup};
use crate::function::generated_span;
use crate::library::Library;
use crate::literal::{Number, is_literal};
use crate::variants::KnownVariants;

/// A threshold's left-hand side.
pub struct MetricPath {
    pub figure: Figure,
    /// The name in brackets, if it is computed.
    computed_name: Option<Expr>,
    /// Whether the evaluator's name has no quotes.
    bare: bool,
    category_span: Span,
    computed_mark: Option<Expr>,
    metric_span: Span,
}

impl MetricPath {
    pub fn parse(sides: &Sides<'_>, evaluators: &Evaluators, variants: &KnownVariants) -> syn::Result<Self> {
        let (base, metric, call) = match sides.left {
            Expr::Field(field) => match &field.member {
                Member::Named(name) => (&field.base, name, None),
                Member::Unnamed(index) => {
                    return Err(syn::Error::new_spanned(index, format!("missing metric name: {EXAMPLE}")));
                }
            },
            Expr::MethodCall(call) if call.method == BY => {
                let message = Subject::parse(sides.left, variants)?.rules().missing_group_metric_message();
                return Err(error_at(call, message));
            }
            Expr::MethodCall(call) => (&call.receiver, &call.method, Some(call)),
            Expr::Path(path) => return Err(missing_metric(&path.path, sides)),
            Expr::Index(_) => return Err(missing_metric_of(sides, variants)),
            other => return Err(syn::Error::new_spanned(other, EXAMPLE)),
        };
        if path_of(ungroup(base)).is_some_and(|path| path.is_ident(VARIANTS)) {
            return Err(error_at(sides.left, missing_category(&metric.unraw().to_string(), sides)));
        }
        let subject = Subject::parse(base, variants)?;
        evaluators.check_name(&subject.category, subject.bare, &subject.tokens)?;
        let name = metric.to_string();
        let rules = subject.rules();
        let is_against_variant = Metric::from_variant_name(&name).is_some();
        let figure = if is_against_variant {
            let other = call.map(variant_argument).transpose()?;
            let Some((other, place)) = other else {
                return Err(error_at(metric, rules.missing_variant_message(&name)));
            };
            let figure = rules.figure_against(&name, &other).map_err(|message| error_at(metric, message))?;
            variants.check(&other, &place)?;
            figure
        } else {
            rules.figure(&name).map_err(|message| error_at(metric, message))?
        };
        let mut path = Self {
            figure,
            computed_name: subject.computed,
            bare: subject.bare,
            category_span: subject.tokens.span(),
            computed_mark: None,
            metric_span: metric.span(),
        };
        if let Some(call) = call.filter(|_| !is_against_variant) {
            path.parse_pass_mark(call)?;
        }
        Ok(path)
    }

    fn parse_pass_mark(&mut self, call: &ExprMethodCall) -> syn::Result<()> {
        let figure = &self.figure;
        if !matches!(figure.metric, Metric::PassRate(_) | Metric::MinPassRate(_)) {
            let message = format!("only `pass_rate` takes a pass mark: write `{figure}` without parentheses");
            return Err(syn::Error::new_spanned(call, message));
        }
        let [mark] = Vec::from_iter(&call.args)[..] else {
            let message = format!(
                "`{}` takes at most one pass mark: write `{figure}(0.6)` or `{figure}`",
                figure.metric
            );
            return Err(syn::Error::new_spanned(call, message));
        };
        match Number::of(mark) {
            Some(number) if !number.has_unit() => {
                let metric = figure.metric.with_pass_mark(number.value);
                self.figure.metric = metric.map_err(|message| error_at(mark, message))?;
            }
            None if !is_literal(mark) => self.computed_mark = Some(mark.clone()),
            _ => return Err(syn::Error::new_spanned(mark, "a pass mark is a number from 0 to 1")),
        }
        Ok(())
    }
}

/// The only argument of a call, as a name: `large` or `"gpt-4o"`.
fn name_argument(call: &ExprMethodCall) -> Option<(String, &Expr)> {
    let [argument] = Vec::from_iter(&call.args)[..] else { return None };
    let name = match ungroup(argument) {
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => name.value(),
        Expr::Path(path) => path.path.get_ident()?.unraw().to_string(),
        _ => return None,
    };
    Some((name, argument))
}

/// The variant of `drop_from(large)`.
fn variant_argument(call: &ExprMethodCall) -> syn::Result<(String, TokenStream)> {
    let method = &call.method;
    let message = || {
        format!("`{method}` takes the name of a variant: write `{method}(name)` or `{method}(\"any name\")`")
    };
    let (name, argument) = name_argument(call).ok_or_else(|| error_at(call, message()))?;
    Ok((name, argument.to_token_stream()))
}

/// One part of `variants.mini.evaluators["any name"]`.
enum Segment<'a> {
    Name(&'a Ident),
    /// A name in brackets, and the expression before the brackets.
    Brackets(&'a Expr, &'a Expr),
}

/// The parts of a path, or the expression that is none.
fn segments(expression: &Expr) -> Result<Vec<Segment<'_>>, syn::Error> {
    match ungroup(expression) {
        Expr::Path(path) => {
            let Some(name) = path.path.get_ident() else {
                let last = path.path.segments.last().map(|segment| segment.ident.to_string());
                let message =
                    format!("name the evaluator without its path: write `{}`", last.unwrap_or_default());
                return Err(error_at(path, message));
            };
            Ok(vec![Segment::Name(name)])
        }
        Expr::Field(field) => {
            let Member::Named(name) = &field.member else {
                return Err(error_at(field, format!("not a category or an evaluator: {EXAMPLE}")));
            };
            let mut parts = segments(&field.base)?;
            parts.push(Segment::Name(name));
            Ok(parts)
        }
        Expr::Index(index) => {
            let mut parts = segments(&index.expr)?;
            parts.push(Segment::Brackets(&index.index, &index.expr));
            Ok(parts)
        }
        other => Err(error_at(other, format!("not a category or an evaluator: {EXAMPLE}"))),
    }
}

/// The part before the metric: a category or an evaluator, perhaps of a variant, against the baseline or by groups.
struct Subject {
    variant: Option<String>,
    vs_baseline: bool,
    category: Category,
    computed: Option<Expr>,
    bare: bool,
    by: Option<String>,
    tokens: TokenStream,
}

impl Subject {
    fn parse(base: &Expr, variants: &KnownVariants) -> syn::Result<Self> {
        if let Expr::MethodCall(call) = ungroup(base) {
            let subject = Self::parse(&call.receiver, variants)?;
            if call.method != BY {
                let message = format!(
                    "not a category or an evaluator: to measure groups of items, write `{}`",
                    rules::Subject { by: None, ..subject.rules() }.group_example("category")
                );
                return Err(error_at(&call.method, message));
            }
            let (field, _) =
                name_argument(call).ok_or_else(|| error_at(call, subject.rules().missing_field_message()))?;
            return Ok(Self { by: Some(field), ..subject });
        }
        let parts = segments(base)?;
        let mut rest = &parts[..];
        let variant = take_variant(&mut rest, variants)?;
        let vs_baseline = match rest {
            [Segment::Name(name), _, ..] if *name == VS_BASELINE => {
                rest = &rest[1..];
                true
            }
            _ => false,
        };
        let subject = match rest {
            [Segment::Name(name)] => Self::of_name(name)?,
            [Segment::Name(name), Segment::Brackets(index, prefix)] => {
                Self::of_brackets(name, index, prefix)?
            }
            _ => return Err(error_at(base, not_a_category(rest))),
        };
        Ok(Self { variant, vs_baseline, ..subject })
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
        let category = Category::from_name(&text).unwrap_or(Category::Evaluator(text));
        Ok(Self::new(category, None, true, name.to_token_stream()))
    }

    fn of_brackets(name: &Ident, index: &Expr, prefix: &Expr) -> syn::Result<Self> {
        let text = name.to_string();
        let category = |inner| Category::with_name(&text, inner).ok_or_else(|| unnamed(&text, prefix));
        let (inner, computed) = match ungroup(index) {
            Expr::Lit(ExprLit { lit: Lit::Str(inner), .. }) => (inner.value(), None),
            Expr::Lit(literal) => {
                category(String::new())?;
                let message = format!("a name in brackets is a string: write `{text}[\"any name\"]`");
                return Err(syn::Error::new_spanned(literal, message));
            }
            computed => (source_text(computed), Some(computed.clone())),
        };
        Ok(Self::new(category(inner)?, computed, false, index.to_token_stream()))
    }

    fn new(category: Category, computed: Option<Expr>, bare: bool, tokens: TokenStream) -> Self {
        Self { variant: None, vs_baseline: false, category, computed, bare, by: None, tokens }
    }

    fn rules(&self) -> rules::Subject {
        rules::Subject {
            variant: self.variant.clone(),
            vs_baseline: self.vs_baseline,
            category: self.category.clone(),
            by: self.by.clone(),
        }
    }
}

/// Takes `variants.mini` or `variants["gpt-4o"]` from the front.
fn take_variant(rest: &mut &[Segment<'_>], variants: &KnownVariants) -> syn::Result<Option<String>> {
    let [Segment::Name(keyword), following @ ..] = *rest else { return Ok(None) };
    if **keyword != VARIANTS {
        return Ok(None);
    }
    let (name, place, following) = match following {
        [] => {
            let message = format!("missing variant: write, for example, `{VARIANTS_EXAMPLE}`");
            return Err(error_at(keyword, message));
        }
        [Segment::Name(name), following @ ..] => {
            (name.unraw().to_string(), name.to_token_stream(), following)
        }
        [Segment::Brackets(index, _), following @ ..] => match ungroup(index) {
            Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => {
                (name.value(), index.to_token_stream(), following)
            }
            other => {
                let message = format!("a variant in brackets is a string: write `{VARIANTS}[\"any name\"]`");
                return Err(error_at(other, message));
            }
        },
    };
    variants.check(&name, &place)?;
    if following.is_empty() {
        let message = format!(
            "missing metric: write, for example, `{}`",
            VARIANTS_EXAMPLE.replace(".mini", &variant_text(&name))
        );
        return Err(error_at(place, message));
    }
    *rest = following;
    Ok(Some(name))
}

/// `.mini`, `["gpt-4o"]`
fn variant_text(name: &str) -> String {
    match syn::parse_str::<Ident>(name) {
        Ok(_) => format!(".{name}"),
        Err(_) => format!("[{name:?}]"),
    }
}

/// `concise["x"].avg`
fn unnamed(name: &str, prefix: &Expr) -> syn::Error {
    let message = match rules::closest(name, &[METRICS, "metric"]) {
        Some(_) => format!("to name a metric, write `{METRICS}[\"any name\"]`"),
        None => match rules::closest(name, &[VARIANTS, "variant"]) {
            Some(_) => format!("to name a variant, write `{VARIANTS}[\"any name\"]`"),
            None => format!("to name an evaluator, write `{EVALUATORS}[\"any name\"]`"),
        },
    };
    syn::Error::new_spanned(prefix, message)
}

fn missing_baseline_metric() -> String {
    format!("missing metric: write, for example, `{VS_BASELINE_EXAMPLE}`")
}

/// `base.score.drop`
fn not_a_category(rest: &[Segment<'_>]) -> String {
    let first = match rest {
        [Segment::Name(name), ..] => name.to_string(),
        _ => String::new(),
    };
    if rules::closest(&first, &[VS_BASELINE, "baseline"]).is_some() {
        return format!("to compare with the baseline write, for example, `{VS_BASELINE_EXAMPLE}`");
    }
    match rules::closest(&first, &[VARIANTS, "variant"]) {
        Some(_) => format!("for one variant only, write, for example, `{VARIANTS_EXAMPLE}`"),
        None => format!("not a category or an evaluator: {EXAMPLE}"),
    }
}

/// `metrics["retrieved"] >= 5`
fn missing_metric_of(sides: &Sides<'_>, variants: &KnownVariants) -> syn::Error {
    let subject = match Subject::parse(sides.left, variants) {
        Ok(subject) => subject,
        Err(error) => return error,
    };
    let (category, symbol, bound) = (&subject.category, sides.symbol(), source_text(sides.right));
    let metric = category.metrics()[0];
    let message = format!("missing metric: write, for example, `{category}.{metric} {symbol} {bound}`");
    syn::Error::new_spanned(sides.left, message)
}

/// `variants.mini >= 0.8`
fn missing_category(variant: &str, sides: &Sides<'_>) -> String {
    let (symbol, bound) = (sides.symbol(), source_text(sides.right));
    format!("missing category: write, for example, `{VARIANTS}.{variant}.score.avg {symbol} {bound}`")
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
    if text == VARIANTS {
        return error_at(path, format!("missing variant: write, for example, `{VARIANTS_EXAMPLE}`"));
    }
    let name = rules::closest(&text, &Category::NAMES).unwrap_or(&text);
    let metric = Category::from_name(name).map_or("avg", |category| category.metrics()[0]);
    let (symbol, bound) = (sides.symbol(), source_text(sides.right));
    let message = format!("missing metric: write, for example, `{name}.{metric} {symbol} {bound}`");
    syn::Error::new_spanned(path, message)
}

impl MetricPath {
    pub fn expand_category(&self, evaluators: &Evaluators) -> TokenStream {
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
            Category::UserCost => ("UserCost", None),
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

    pub fn expand_metric(&self, library: &Library) -> TokenStream {
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

    /// The calls that restrict it to a variant, compare it with another and group it.
    pub fn expand_qualifiers(&self) -> TokenStream {
        let span = generated_span(self.metric_span);
        let Figure { variant, against, by, .. } = &self.figure;
        let variant = variant.as_ref().map(|name| quote_spanned!(span=> .with_variant(#name)));
        let against = against.as_ref().map(|name| quote_spanned!(span=> .compared_with(#name)));
        let by = by.as_ref().map(|field| quote_spanned!(span=> .grouped_by(#field)));
        quote!(#variant #against #by)
    }
}
