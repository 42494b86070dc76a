//! `variants = [mini: Config { … }, large: Config { … }]`, `variants = { model: ["a", "b"] }`, and `default_variant`.

#[cfg(test)]
mod tests;

use cobalt_thresholds as rules;
use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Lit, LitStr, Token};

use crate::errors::Errors;
use crate::evaluators::ungroup;
use crate::function::generated_span;
use crate::library::Library;
use crate::settings::Settings;

const EXAMPLE: &str = "write `variants = [mini: Config { … }, large: Config { … }]`";

/// A list with names, which is not a Rust expression: `[mini: …, "gpt-4o": …]` or `{ model: […] }`.
pub struct NamedList {
    entries: Vec<Entry>,
    is_axes: bool,
    tokens: TokenStream,
}

struct Entry {
    name: String,
    /// The name as written.
    place: TokenStream,
    value: Expr,
}

impl NamedList {
    /// Whether the value that follows is such a list.
    pub fn peek(input: ParseStream<'_>) -> bool {
        let mut tokens = input.fork().parse::<TokenStream>().unwrap_or_default().into_iter();
        let Some(TokenTree::Group(group)) = tokens.next() else { return false };
        if !matches!(group.delimiter(), Delimiter::Bracket | Delimiter::Brace) {
            return false;
        }
        let mut inner = group.stream().into_iter();
        match (inner.next(), inner.next()) {
            (Some(TokenTree::Ident(_) | TokenTree::Literal(_)), Some(TokenTree::Punct(colon))) => {
                colon.as_char() == ':' && colon.spacing() == Spacing::Alone
            }
            (None, _) => match tokens.next() {
                Some(TokenTree::Punct(punct)) => punct.as_char() == ',',
                other => other.is_none(),
            },
            _ => false,
        }
    }

    pub fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let TokenTree::Group(group) = input.parse::<TokenTree>()? else { return Err(input.error(EXAMPLE)) };
        let is_axes = group.delimiter() == Delimiter::Brace;
        let parser = |input: ParseStream<'_>| {
            let mut entries = Vec::new();
            while !input.is_empty() {
                entries.push(Entry::parse(input, is_axes)?);
                if !input.is_empty() {
                    let what = if is_axes { "axes" } else { "variants" };
                    let message = format!("expected `,` between two {what}");
                    input.parse::<Token![,]>().map_err(|_| input.error(message))?;
                }
            }
            Ok(entries)
        };
        let entries = parser.parse2(group.stream())?;
        Ok(Self { entries, is_axes, tokens: TokenTree::Group(group).into() })
    }

    fn check(&self, errors: &mut Errors) {
        let mut seen: Vec<&str> = Vec::new();
        let what = if self.is_axes { "axis" } else { "variant" };
        for Entry { name, place, value } in &self.entries {
            if name.trim().is_empty() {
                errors.at(place, format!("the name of {} cannot be empty", with_article(what)));
            } else if seen.contains(&&**name) {
                errors.at(place, format!("{what} `{name}` is listed twice"));
            }
            seen.push(name);
            match ungroup(value) {
                Expr::Array(values) if self.is_axes && values.elems.is_empty() => {
                    errors.at(value, format!("axis `{name}` has no values: add some, or remove it"));
                }
                Expr::Lit(_) if self.is_axes => {
                    let value_text = value.to_token_stream();
                    errors.at(value, format!("an axis is a list of values: write `{name}: [{value_text}]`"));
                }
                _ => {}
            }
        }
    }
}

fn with_article(what: &str) -> String {
    let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {what}")
}

impl Entry {
    fn parse(input: ParseStream<'_>, is_axis: bool) -> syn::Result<Self> {
        let (name, place) = if input.peek(LitStr) {
            let name: LitStr = input.parse()?;
            (name.value(), name.to_token_stream())
        } else if input.peek(Ident::peek_any) {
            let name = input.call(Ident::parse_any)?;
            (name.unraw().to_string(), name.to_token_stream())
        } else {
            let what = if is_axis { "an axis" } else { "a variant" };
            return Err(input.error(format!("the name of {what} is an identifier or a string in quotes")));
        };
        if input.parse::<Token![:]>().is_err() {
            let message = match is_axis {
                true => format!("axis `{name}` needs values: write `{name}: [\"a\", \"b\"]`"),
                false => format!("variant `{name}` needs settings: write `{name}: Config {{ … }}`"),
            };
            return Err(syn::Error::new_spanned(place, message));
        }
        Ok(Self { name, place, value: input.parse()? })
    }
}

/// What the attribute says about the names of variants, to check them where they are used.
pub enum KnownVariants {
    /// The experiment has no variants.
    None,
    /// Their names are known only at run time.
    Computed,
    Listed(Vec<String>),
}

impl KnownVariants {
    /// An error at `place` if no variant has this name.
    pub fn check(&self, name: &str, place: &TokenStream) -> syn::Result<()> {
        let message = match self {
            Self::Computed => return Ok(()),
            Self::Listed(names) if names.iter().any(|known| known == name) => return Ok(()),
            Self::None => format!("the experiment has no variant `{name}`: {EXAMPLE}"),
            Self::Listed(names) => {
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                let listed = rules::join_quoted(&names);
                match rules::closest(name, &names) {
                    Some(meant) => format!("no variant `{name}`: did you mean `{meant}`? ({listed})"),
                    None => format!("no variant `{name}`: the variants are {listed}"),
                }
            }
        };
        Err(syn::Error::new_spanned(place, message))
    }
}

/// The variants of an experiment, as builder calls.
pub struct Variants {
    pub known: KnownVariants,
    /// Whether the experiment certainly has variants.
    pub are_declared: bool,
    /// Builder calls, each with its span.
    pub calls: Vec<TokenStream>,
}

impl Variants {
    pub fn parse(settings: &Settings, library: &Library, errors: &mut Errors) -> Self {
        let mut variants = match settings.named_list("variants") {
            Some(list) => Self::of_list(list, library, errors),
            None => match settings.get("variants") {
                Some((_, value)) => Self::of_expression(value, errors),
                // After a syntax error, they may be in what could not be read.
                None if settings.missing(&["variants"]).is_empty() => {
                    let are_declared = settings.is_mentioned("variants");
                    Self { known: KnownVariants::Computed, are_declared, calls: Vec::new() }
                }
                None => Self { known: KnownVariants::None, are_declared: false, calls: Vec::new() },
            },
        };
        if let Some((key, value)) = settings.get("default_variant") {
            variants.parse_default(key, value, errors);
        }
        variants
    }

    fn of_list(list: &NamedList, library: &Library, errors: &mut Errors) -> Self {
        list.check(errors);
        if list.entries.is_empty() {
            errors.at(&list.tokens, format!("`variants` is empty: {EXAMPLE}, or remove it"));
            return Self { known: KnownVariants::Computed, are_declared: true, calls: Vec::new() };
        }
        if list.is_axes {
            let span = generated_span(list.tokens.span());
            let library = library.at(span);
            let axes = list.entries.iter().map(|Entry { name, value, .. }| {
                let span = generated_span(value.span());
                quote_spanned!(span=> .axis(#name, #value))
            });
            let calls = vec![quote_spanned!(span=> .variants(#library::Variants::axes()#(#axes)*))];
            return Self { known: KnownVariants::Computed, are_declared: true, calls };
        }
        let call = |Entry { name, value, .. }: &Entry| {
            let span = generated_span(value.span());
            quote_spanned!(span=> .variant(#name, #value))
        };
        let mut names: Vec<String> = Vec::new();
        for Entry { name, .. } in &list.entries {
            // A name that is listed twice is an error of its own.
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let calls = list.entries.iter().map(call).collect();
        Self { known: KnownVariants::Listed(names), are_declared: true, calls }
    }

    fn of_expression(value: &Expr, errors: &mut Errors) -> Self {
        let is_bare = |element: &Expr| matches!(ungroup(element), Expr::Path(_) | Expr::Lit(_));
        match value {
            Expr::Array(list) if list.elems.iter().any(is_bare) => {
                let place = list.elems.iter().find(|element| is_bare(element));
                errors.at(place, format!("a variant has a name and settings: {EXAMPLE}"));
            }
            Expr::Lit(_) => errors.at(value, format!("`variants` is a list: {EXAMPLE}")),
            _ => {}
        }
        let span = generated_span(value.span());
        let calls = vec![quote_spanned!(span=> .variants(#value))];
        Self { known: KnownVariants::Computed, are_declared: true, calls }
    }

    fn parse_default(&mut self, key: &Ident, value: &Expr, errors: &mut Errors) {
        if matches!(self.known, KnownVariants::None) {
            errors.at(key, format!("`default_variant` needs variants: {EXAMPLE}"));
            return;
        }
        let name = match value {
            Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => Some(name.value()),
            Expr::Path(path) => path.path.get_ident().map(|name| name.unraw().to_string()),
            Expr::Lit(_) => {
                errors
                    .at(value, "`default_variant` is the name of a variant: write `default_variant = mini`");
                return;
            }
            _ => None,
        };
        let span = generated_span(value.span());
        let argument = match &name {
            Some(name) => {
                if let Err(error) = self.known.check(name, &value.to_token_stream()) {
                    errors.push(error);
                }
                quote!(#name)
            }
            None => value.to_token_stream(),
        };
        self.calls.push(quote_spanned!(span=> .default_variant(#argument)));
    }
}
