//! `variants = [mini: Config { … }, large: Config { … }]`, axes that are multiplied, or an expression that makes them.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Expr, LitStr, Token};

use crate::errors::Errors;
use crate::evaluators::ungroup;
use crate::function::generated_span;
use crate::library::Library;
use crate::settings::Settings;

/// The variants of an experiment.
pub enum Variants {
    /// There are none.
    None,
    /// `[mini: Config { … }]`
    Listed(Vec<Named>),
    /// `{ model: ["a", "b"] }`
    Axes(Vec<Named>),
    /// A value of type `cobalt::Variants`, or a list of names and settings.
    Value(Expr),
}

/// `name: value`
pub struct Named {
    name: LitStr,
    value: Expr,
}

impl Parse for Named {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = if input.peek(LitStr) {
            input.parse()?
        } else {
            let name = Ident::parse_any(input).map_err(|error| {
                syn::Error::new(error.span(), "expected `name: value`, such as `mini: Config { … }`")
            })?;
            LitStr::new(&name.unraw().to_string(), name.span())
        };
        input.parse::<Token![:]>()?;
        Ok(Self { name, value: input.parse()? })
    }
}

/// The tokens of a group that is no expression, such as `[mini: 1]`.
pub fn is_list_of_names(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let Ok(TokenTree::Group(group)) = ahead.parse() else { return false };
    let mut tokens = group.stream().into_iter();
    let is_name = matches!(tokens.next(), Some(TokenTree::Ident(_) | TokenTree::Literal(_)));
    let is_colon = |token: Option<TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':' && punct.spacing() == proc_macro2::Spacing::Alone);
    is_name && is_colon(tokens.next())
}

impl Variants {
    /// Reads `variants` and `default_variant`.
    pub fn parse(settings: &Settings, errors: &mut Errors) -> Self {
        let Some((_, value)) = settings.get("variants") else { return Self::None };
        let variants = match value {
            Expr::Verbatim(tokens) => Self::parse_named(tokens.clone(), errors),
            Expr::Array(array) if array.elems.is_empty() => Self::Listed(Vec::new()),
            value => Self::Value(value.clone()),
        };
        match &variants {
            Self::Listed(listed) if listed.is_empty() => {
                errors.at(value, "an experiment with `variants` needs at least one: write `variants = [mini: Config { … }]`");
            }
            Self::Listed(listed) | Self::Axes(listed) => check_names(listed, errors),
            _ => {}
        }
        variants
    }

    fn parse_named(tokens: TokenStream, errors: &mut Errors) -> Self {
        let Some(TokenTree::Group(group)) = tokens.into_iter().next() else { return Self::None };
        let named = Punctuated::<Named, Token![,]>::parse_terminated.parse2(group.stream());
        let named = named.map(|named| named.into_iter().collect()).unwrap_or_else(|error| {
            errors.push(error);
            Vec::new()
        });
        match group.delimiter() {
            // Without names after an error, which is reported already.
            _ if named.is_empty() => Self::None,
            proc_macro2::Delimiter::Brace => Self::Axes(named),
            _ => Self::Listed(named),
        }
    }

    /// Whether there are any.
    pub fn exist(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// Rejects a name that no variant has, if the names are known.
    pub fn check(&self, name: &str, tokens: &TokenStream, errors: &mut Errors) {
        match self {
            Self::None => errors.at(
                tokens,
                format!(
                    "`{name}` names a variant, but the experiment has none: add `variants = [{name}: …]`"
                ),
            ),
            Self::Listed(listed) if !listed.iter().any(|variant| variant.name.value() == name) => {
                let names: Vec<_> = listed.iter().map(|variant| variant.name.value()).collect();
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                let instead = match cobalt_thresholds::closest(name, &names) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("they are {}", cobalt_thresholds::join_quoted(&names)),
                };
                errors.at(tokens, format!("no variant is named `{name}`: {instead}"));
            }
            _ => {}
        }
    }

    /// Calls of the builder.
    pub fn calls(&self, library: &Library) -> Vec<TokenStream> {
        match self {
            Self::None => Vec::new(),
            Self::Listed(listed) => listed
                .iter()
                .map(|Named { name, value }| {
                    let span = generated_span(value.span());
                    quote_spanned!(span=> .variant(#name, #value))
                })
                .collect(),
            Self::Axes(axes) => {
                let span = generated_span(
                    axes.first().map_or_else(proc_macro2::Span::call_site, |axis| axis.name.span()),
                );
                let library = library.at(span);
                let axes = axes.iter().map(|Named { name, value }| {
                    let span = generated_span(value.span());
                    quote_spanned!(span=> .axis(#name, #value))
                });
                vec![quote_spanned!(span=> .variants(#library::Variants::axes() #(#axes)*))]
            }
            Self::Value(value) => {
                let span = generated_span(value.span());
                vec![quote_spanned!(span=> .variants(#value))]
            }
        }
    }
}

fn check_names(listed: &[Named], errors: &mut Errors) {
    for (index, Named { name, .. }) in listed.iter().enumerate() {
        if name.value().trim().is_empty() {
            errors.at(name, "the name of a variant cannot be empty");
        }
        if listed[..index].iter().any(|earlier| earlier.name.value() == name.value()) {
            errors.at(name, format!("`{}` is listed twice", name.value()));
        }
    }
}

/// The name in `default_variant = mini` or `default_variant = "gpt-4o"`, as an expression, and as text if it is known.
pub fn default_variant(settings: &Settings, variants: &Variants, errors: &mut Errors) -> Option<TokenStream> {
    let (_, value) = settings.get("default_variant")?;
    let name = match ungroup(value) {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(name), .. }) => name.clone(),
        Expr::Path(path) if path.path.get_ident().is_some() => {
            let name = path.path.get_ident()?;
            LitStr::new(&name.unraw().to_string(), name.span())
        }
        other => {
            errors.at(other, "`default_variant` is the name of a variant: write `default_variant = mini`");
            return None;
        }
    };
    variants.check(&name.value(), &name.to_token_stream(), errors);
    let span = generated_span(name.span());
    Some(quote_spanned!(span=> .default_variant(#name)))
}
