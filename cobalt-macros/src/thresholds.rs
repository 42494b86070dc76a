//! `thresholds = [score.avg >= 0.8]`: parses comparisons, and rejects those that make no sense.

mod path;
#[cfg(test)]
mod tests;

use cobalt_thresholds as rules;
use cobalt_thresholds::{Category, Comparison, Figure};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{BinOp, Expr, ExprBinary, Path};

use crate::errors::Errors;
use crate::evaluators::{Evaluators, ungroup};
use crate::function::generated_span;
use crate::literal::Number;
use crate::variants::KnownVariants;
use path::MetricPath;

const EXAMPLE: &str = "expected a threshold such as `score.avg >= 0.8`";

/// A threshold that is valid as far as its syntax shows.
pub struct Threshold {
    path: MetricPath,
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
pub fn parse(
    list: &[&Expr],
    evaluators: &Evaluators,
    variants: &KnownVariants,
    errors: &mut Errors,
) -> Vec<Threshold> {
    let mut seen = Vec::new();
    let mut thresholds = Vec::new();
    for expression in list {
        match Threshold::parse(expression, evaluators, variants) {
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
    fn parse(expression: &Expr, evaluators: &Evaluators, variants: &KnownVariants) -> syn::Result<Self> {
        let sides = Sides::of(expression)?;
        let path = MetricPath::parse(&sides, evaluators, variants)?;
        let figure = &path.figure;
        let shown = source_text(sides.right);
        let comparison = Comparison::from_symbol(&sides.symbol()).ok_or_else(|| {
            error_at(sides.operator, figure.invalid_operator_message(&sides.symbol(), &shown))
        })?;
        let bound = ThresholdBound::parse(sides.right, figure)?;
        figure.check_comparison(comparison, &shown).map_err(|message| error_at(sides.operator, message))?;
        Ok(Self { path, comparison, bound, span: expression.span() })
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

impl Threshold {
    /// An expression of type `cobalt::Threshold`.
    pub fn expand(&self, evaluators: &Evaluators) -> TokenStream {
        let span = generated_span(self.span);
        let category = self.path.expand_category(evaluators);
        let metric = self.path.expand_metric(evaluators.library());
        let library = evaluators.library();
        let comparison = Ident::new(&format!("{:?}", self.comparison), span);
        let (bound, label) = match &self.bound {
            ThresholdBound::Literal(value, text) => {
                (quote_spanned!(span=> #value), quote_spanned!(span=> .with_bound_text(#text)))
            }
            ThresholdBound::Computed(expression) => {
                let place = generated_span(expression.span());
                let convert = match self.path.figure.takes_duration() {
                    true => quote_spanned!(place=> LatencyBound::latency_bound),
                    false => quote_spanned!(place=> NumberBound::number_bound),
                };
                let library = library.at(place);
                let bound = quote_spanned!(place=> #library::private::threshold::#convert(#expression));
                (bound, TokenStream::new())
            }
        };
        let qualifiers = self.path.expand_qualifiers();
        let library = library.at(span);
        quote_spanned! {span=>
            #library::private::threshold::Threshold::new(
                #category,
                #metric,
                #library::private::threshold::Comparison::#comparison,
                #bound,
            )#qualifiers #label
        }
    }
}
