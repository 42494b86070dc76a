//! `summaries = [macro_f1, FnSummary::new(…)]`: functions by name, and values.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit};

use crate::errors::Errors;
use crate::evaluators::{FunctionKind, plain_function_error};
use crate::function::{function_name_of, generated_span};
use crate::library::Library;

const SUMMARY: FunctionKind = ("a summary function", "summary");

/// The list of an experiment's summary functions.
#[derive(Default)]
pub struct Summaries(Vec<Expr>);

impl Summaries {
    /// Reads the list.
    pub fn parse(list: &[&Expr], errors: &mut Errors) -> Self {
        let mut seen = Vec::new();
        for expression in list {
            let text = expression.to_token_stream().to_string();
            if let Expr::Lit(ExprLit { lit, .. }) = expression {
                errors.at(
                    lit,
                    "list a function with `#[cobalt::summary]`, or a value such as `FnSummary::new(…)`",
                );
            } else if seen.contains(&text) {
                errors.at(expression, format!("`{text}` is listed twice"));
            }
            if let Some(name) = listed_function(expression)
                && let Some(problem) =
                    plain_function_error(&name.unraw().to_string(), SUMMARY, expression.span())
            {
                errors.at(expression, problem);
            }
            seen.push(text);
        }
        Self(list.iter().copied().cloned().collect())
    }

    /// Statements that add the functions to the experiment of this name.
    pub fn expand(&self, experiment: &Ident, library: &Library) -> TokenStream {
        let add = |(index, expression): (usize, &Expr)| {
            let span = generated_span(expression.span());
            if !is_function(expression) {
                return quote_spanned!(span=> let #experiment = #experiment.summary(#expression););
            }
            let alias = format_ident!("__CobaltSummary{index}", span = span);
            let library = library.at(span);
            quote_spanned! {span=>
                type #alias = #expression;
                let #experiment = #experiment.summary(#library::private::listed_summary::<#alias>());
            }
        };
        self.0.iter().enumerate().map(add).collect()
    }
}

/// Whether it is a path that looks like a function.
fn is_function(expression: &Expr) -> bool {
    matches!(expression, Expr::Path(path) if path.qself.is_none() && path.attrs.is_empty() && function_name_of(&path.path).is_some())
}

/// The name of a function without a path.
fn listed_function(expression: &Expr) -> Option<&Ident> {
    match expression {
        Expr::Path(path) if is_function(expression) => path.path.get_ident(),
        _ => None,
    }
}
