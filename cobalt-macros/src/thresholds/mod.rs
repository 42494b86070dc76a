//! `thresholds = [score.avg >= 0.8]`: reads comparisons, and refuses those that make no sense.

mod expand;
mod figure;

use cobalt_thresholds::{self as rules, Category, Comparison, Metric};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned as _;
use syn::{BinOp, Expr, ExprBinary, Path};

use self::figure::Figure;
use crate::errors::Errors;
use crate::evaluators::Evaluators;
use crate::list::bare;
use crate::literal::Number;

const EXAMPLE: &str = "a threshold is written like `score.avg >= 0.8`";

/// A threshold that makes sense, as far as can be told from its text.
pub(crate) struct Threshold {
    figure: Figure,
    comparison: Comparison,
    bound: Bound,
    span: Span,
}

enum Bound {
    /// In the category's unit, with the text that was written.
    Literal(f64, String),
    Computed(Expr),
}

/// Reads the list. Errors are those of single thresholds, each at its place.
pub(crate) fn parse(list: &[&Expr], evaluators: &Evaluators, errors: &mut Errors) -> Vec<Threshold> {
    let mut seen = Vec::new();
    let mut thresholds = Vec::new();
    for expression in list {
        match Threshold::parse(expression, evaluators) {
            Ok(threshold) => {
                let text = squeezed(expression);
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
        let figure = Figure::parse(&sides, evaluators)?;
        let category = &figure.category;
        let shown = squeezed(sides.right);
        let comparison = Comparison::from_symbol(&sides.symbol()).ok_or_else(|| {
            let message = rules::not_a_comparison(&sides.symbol(), category, figure.metric, &shown);
            refuse(sides.operator, message)
        })?;
        let bound = Bound::parse(sides.right, category, figure.metric)?;
        category
            .check_comparison(figure.metric, comparison, &shown)
            .map_err(|message| refuse(sides.operator, message))?;
        Ok(Self { figure, comparison, bound, span: expression.span() })
    }
}

/// What the rules say against these tokens.
fn refuse(tokens: impl ToTokens, message: String) -> syn::Error {
    syn::Error::new_spanned(tokens, message)
}

impl Bound {
    fn parse(expression: &Expr, category: &Category, metric: Metric) -> syn::Result<Self> {
        let wrong = |text: &str| syn::Error::new_spanned(expression, category.wrong_bound(metric, text));
        let Some(number) = Number::of(expression) else {
            return match expression {
                Expr::Lit(_) => Err(wrong(&squeezed(expression))),
                _ => Ok(Self::Computed(expression.clone())),
            };
        };
        let value = match (number.has_unit(), category) {
            (false, _) => number.value,
            (true, Category::Latency) if metric != Metric::Ratio => {
                let nanos = number.nanos().map_err(|message| syn::Error::new_spanned(expression, message))?;
                nanos as f64 / 1e6
            }
            (true, _) => return Err(wrong(&number.text)),
        };
        category.check_bound(value).map_err(|message| refuse(expression, message))?;
        Ok(Self::Literal(value, number.text))
    }
}

/// A comparison's parts, which need not make sense.
struct Sides<'a> {
    left: &'a Expr,
    operator: &'a dyn ToTokens,
    right: &'a Expr,
}

impl<'a> Sides<'a> {
    fn of(expression: &'a Expr) -> syn::Result<Self> {
        let sides = match expression {
            Expr::Binary(ExprBinary { op: BinOp::And(op), .. }) => {
                return Err(syn::Error::new_spanned(op, "all thresholds must hold: separate them by commas"));
            }
            Expr::Binary(ExprBinary { op: BinOp::Or(op), .. }) => {
                return Err(syn::Error::new_spanned(op, "all thresholds must hold: there is no `||`"));
            }
            Expr::Binary(ExprBinary { left, op, right, .. }) if is_comparison(op) => {
                Self { left: bare(left), operator: op, right: bare(right) }
            }
            Expr::Assign(assignment) => Self {
                left: bare(&assignment.left),
                operator: &assignment.eq_token,
                right: bare(&assignment.right),
            },
            Expr::Paren(inner) => return Self::of(bare(&inner.expr)),
            Expr::Field(_) | Expr::MethodCall(_) => {
                let message = format!("`{}` needs a bound: {EXAMPLE}", squeezed(expression));
                return Err(syn::Error::new_spanned(expression, message));
            }
            _ => return Err(syn::Error::new_spanned(expression, EXAMPLE)),
        };
        sides.check_order(expression).map(|()| sides)
    }

    fn symbol(&self) -> String {
        self.operator.to_token_stream().to_string()
    }

    /// Refuses `0.8 <= score.avg`.
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
        let (left, right) = (squeezed(self.left), squeezed(self.right));
        let message = format!("the bound stands on the right: write `{right} {turned} {left}`");
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

/// An expression as a person would write it, near enough for a message.
fn squeezed(expression: &impl ToTokens) -> String {
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

#[cfg(test)]
mod tests;
