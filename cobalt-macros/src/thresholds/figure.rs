//! The left side of a threshold: `score.avg`, `x.pass_rate(0.6)`, `evaluators["any name"].min`,
//! `vs_baseline.score.drop`.

use cobalt_thresholds::{self as rules, Category, EVALUATORS, Metric, VS_BASELINE, VS_BASELINE_EXAMPLE};
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprField, ExprIndex, ExprLit, ExprMethodCall, Lit, Member, Path};

use super::{EXAMPLE, Sides, path_of, refuse, squeezed};
use crate::evaluators::Evaluators;
use crate::list::bare;
use crate::literal::{Number, is_literal};

/// The figure that a threshold looks at.
pub(super) struct Figure {
    pub(super) category: Category,
    /// The evaluator's name, where it is computed.
    pub(super) computed_name: Option<Expr>,
    /// Whether the evaluator's name stands without quotes.
    pub(super) bare: bool,
    pub(super) category_span: Span,
    pub(super) metric: Metric,
    pub(super) computed_mark: Option<Expr>,
    pub(super) metric_span: Span,
}

impl Figure {
    pub(super) fn parse(sides: &Sides<'_>, evaluators: &Evaluators) -> syn::Result<Self> {
        let (base, metric, call) = match sides.left {
            Expr::Field(field) => match &field.member {
                Member::Named(name) => (&field.base, name, None),
                Member::Unnamed(index) => {
                    return Err(syn::Error::new_spanned(index, format!("a metric has a name: {EXAMPLE}")));
                }
            },
            Expr::MethodCall(call) => (&call.receiver, &call.method, Some(call)),
            Expr::Path(path) => return Err(without_metric(&path.path, sides)),
            other => return Err(syn::Error::new_spanned(other, EXAMPLE)),
        };
        let subject = Subject::parse(base)?;
        evaluators.check_name(&subject.category, subject.bare, &subject.tokens)?;
        let category = subject.category;
        let name = metric.to_string();
        let known = match subject.against_baseline {
            true => category.baseline_metric(&name),
            false => category.metric(&name),
        };
        let mut figure = Self {
            metric: known.map_err(|message| refuse(metric, message))?,
            category,
            computed_name: subject.computed,
            bare: subject.bare,
            category_span: subject.tokens.span(),
            computed_mark: None,
            metric_span: metric.span(),
        };
        if let Some(call) = call {
            figure.read_mark(call)?;
        }
        Ok(figure)
    }

    fn read_mark(&mut self, call: &ExprMethodCall) -> syn::Result<()> {
        if !matches!(self.metric, Metric::PassRate(_)) {
            let text = self.category.figure(self.metric);
            let message = format!("only `pass_rate` takes a mark: write `{text}` without parentheses");
            return Err(syn::Error::new_spanned(call, message));
        }
        let [mark] = Vec::from_iter(&call.args)[..] else {
            let text = self.category.figure(self.metric);
            let message = format!("`pass_rate` takes one mark, or none: write `{text}(0.6)` or `{text}`");
            return Err(syn::Error::new_spanned(call, message));
        };
        match Number::of(mark) {
            Some(number) if !number.has_unit() => {
                self.metric = self.metric.with_mark(number.value).map_err(|message| refuse(mark, message))?;
            }
            None if !is_literal(mark) => self.computed_mark = Some(mark.clone()),
            _ => return Err(syn::Error::new_spanned(mark, "a mark is a number from 0 to 1")),
        }
        Ok(())
    }
}

/// What stands before the dot of the metric.
struct Subject {
    category: Category,
    computed: Option<Expr>,
    bare: bool,
    against_baseline: bool,
    tokens: TokenStream,
}

impl Subject {
    fn parse(base: &Expr) -> syn::Result<Self> {
        match bare(base) {
            Expr::Path(path) => Self::of_path(&path.path),
            Expr::Index(index) => Self::of_index(index),
            Expr::Field(ExprField { base, member: Member::Named(name), .. }) if is_vs_baseline(base) => {
                Ok(Self { against_baseline: true, ..Self::of_name(name)? })
            }
            Expr::Field(field) => Err(refuse(field, not_a_category(&field.base))),
            _ => Err(syn::Error::new_spanned(base, format!("not a category or an evaluator: {EXAMPLE}"))),
        }
    }

    fn of_path(path: &Path) -> syn::Result<Self> {
        let Some(name) = path.get_ident() else {
            let last = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
            let message = format!("an evaluator is named without its path: write `{last}`");
            return Err(syn::Error::new_spanned(path, message));
        };
        Self::of_name(name)
    }

    fn of_name(name: &Ident) -> syn::Result<Self> {
        let text = name.unraw().to_string();
        if text == EVALUATORS {
            return Err(refuse(name, format!("which evaluator? write `{EVALUATORS}[\"any name\"]`")));
        }
        if text == VS_BASELINE {
            return Err(refuse(name, which_figure_of_two()));
        }
        let category = Category::from_name(&text).unwrap_or(Category::Evaluator(text));
        let tokens = name.to_token_stream();
        Ok(Self { category, computed: None, bare: true, against_baseline: false, tokens })
    }

    fn of_index(index: &ExprIndex) -> syn::Result<Self> {
        let against_baseline = match bare(&index.expr) {
            Expr::Field(field) => is_vs_baseline(&field.base) && squeezed(&field.member) == EVALUATORS,
            _ => false,
        };
        if !against_baseline && squeezed(&index.expr) != EVALUATORS {
            let message = format!("an evaluator of any name is written `{EVALUATORS}[\"any name\"]`");
            return Err(syn::Error::new_spanned(&index.expr, message));
        }
        let (name, computed) = match bare(&index.index) {
            Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => (name.value(), None),
            Expr::Lit(literal) => {
                let message = format!("an evaluator's name is text: `{EVALUATORS}[\"any name\"]`");
                return Err(syn::Error::new_spanned(literal, message));
            }
            computed => (squeezed(computed), Some(computed.clone())),
        };
        let tokens = index.index.to_token_stream();
        Ok(Self { category: Category::Evaluator(name), computed, bare: false, against_baseline, tokens })
    }
}

/// Whether this is the `vs_baseline` of `vs_baseline.score.drop`.
fn is_vs_baseline(expression: &Expr) -> bool {
    path_of(bare(expression)).is_some_and(|path| path.is_ident(VS_BASELINE))
}

fn which_figure_of_two() -> String {
    format!("which figure against the baseline? write, for example, `{VS_BASELINE_EXAMPLE}`")
}

/// `base.score.drop`
fn not_a_category(base: &Expr) -> String {
    match rules::closest(&squeezed(base), &[VS_BASELINE, "baseline"]) {
        Some(_) => format!("a figure against the baseline is written like `{VS_BASELINE_EXAMPLE}`"),
        None => format!("not a category or an evaluator: {EXAMPLE}"),
    }
}

/// `score >= 0.8`
fn without_metric(path: &Path, sides: &Sides<'_>) -> syn::Error {
    let text = path
        .segments
        .last()
        .map(|segment: &syn::PathSegment| Ident::to_string(&segment.ident))
        .unwrap_or_default();
    if text == VS_BASELINE {
        return refuse(path, which_figure_of_two());
    }
    let name = rules::closest(&text, &Category::NAMES).unwrap_or(&text);
    let metric = Category::from_name(name).map_or("avg", |category| category.metrics()[0]);
    let (symbol, bound) = (sides.symbol(), squeezed(sides.right));
    let message = format!("which figure of `{name}`? write, for example, `{name}.{metric} {symbol} {bound}`");
    syn::Error::new_spanned(path, message)
}
