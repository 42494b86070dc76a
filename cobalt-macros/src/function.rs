//! The annotated function: the checks that the attributes share.

use std::fmt;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{FnArg, GenericParam, ItemFn, Pat, PatType, Path, ReturnType, Safety, Type, TypeParamBound};

use crate::errors::Errors;
use crate::library::Library;

/// A span for generated code: its names do not clash with local names, and lints ignore it.
pub fn generated_span(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// The hidden type with the function's name, by which lists of experiments refer to the function: its name and its definition.
pub fn listed_type(function: &ItemFn) -> (Ident, TokenStream) {
    let (vis, own) = (&function.vis, &function.sig.ident);
    // Points at the function's name, but lints treat it as generated code.
    let mut name = own.clone();
    name.set_span(Span::call_site().located_at(own.span()));
    let definition = quote! {
        #[doc(hidden)]
        #[allow(
            dead_code,
            missing_debug_implementations,
            non_camel_case_types,
            unreachable_pub,
            clippy::empty_structs_with_brackets,
        )]
        #vis struct #name {}
    };
    (name, definition)
}

/// What an attribute makes of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Experiment,
    Evaluator,
    Summary,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Experiment => "an experiment",
            Self::Evaluator => "an evaluator",
            Self::Summary => "a summary function",
        })
    }
}

/// Parses the function.
pub fn parse(tokens: TokenStream, role: Role, errors: &mut Errors) -> Option<ItemFn> {
    match syn::parse2::<ItemFn>(tokens.clone()) {
        Ok(function) => {
            check(&function, role, errors);
            Some(function)
        }
        Err(error) if is_function(tokens) => {
            errors.push(error);
            None
        }
        Err(error) => {
            errors.push(syn::Error::new(error.span(), format!("{role} must be a function")));
            None
        }
    }
}

/// Whether this was meant to be a function; syn's syntax error is then more helpful than ours.
fn is_function(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| matches!(&token, proc_macro2::TokenTree::Ident(ident) if ident == "fn"))
}

fn check(function: &ItemFn, role: Role, errors: &mut Errors) {
    let signature = &function.sig;
    if let Some(token) = &signature.constness {
        errors.at(token, format!("{role} cannot be a `const fn`"));
    }
    if let Safety::Unsafe(token) = &signature.safety {
        errors.at(token, format!("{role} cannot be an `unsafe fn`"));
    }
    if let Some(abi) = &signature.abi {
        errors.at(abi, format!("{role} cannot be an `extern` function"));
    }
    if let Some(variadic) = &signature.variadic {
        errors.at(variadic, format!("{role} cannot be variadic"));
    }
    let types =
        signature.generics.params.iter().find(|generic| !matches!(generic, GenericParam::Lifetime(_)));
    if let Some(generic) = types {
        errors.at(generic, format!("{role} cannot be generic: write out the types"));
    }
    for (place, input) in signature.inputs.iter().enumerate() {
        match input {
            FnArg::Receiver(receiver) => {
                errors.at(
                    receiver,
                    format!("{role} must be a free function, not a method: take the item instead"),
                );
            }
            FnArg::Typed(PatType { ty, .. }) => {
                let is_chat = role == Role::Experiment && place == 0 && chat_type(ty).is_some();
                if !is_chat {
                    check_parameter(ty, role, errors);
                }
            }
        }
    }
}

fn check_parameter(ty: &Type, role: Role, errors: &mut Errors) {
    match ty {
        Type::ImplTrait(_) => errors.at(ty, format!("{role} cannot be generic: write out the type")),
        Type::Reference(_) if role == Role::Experiment && chat_type(ty).is_some() => {
            errors
                .at(ty, "`&mut Chat` must be the first parameter: write `(chat: &mut Chat, message: &str)`");
        }
        Type::Reference(reference) if reference.mutability.is_some() => {
            errors.at(ty, format!("{role} cannot take `&mut` parameters: remove the `mut`"));
        }
        _ => {}
    }
}

/// The type behind `&mut Chat<S>`, the first parameter of a function that takes turns of a conversation.
pub fn chat_type(ty: &Type) -> Option<&Type> {
    let Type::Reference(reference) = ty else { return None };
    let is_chat = reference.mutability.is_some() && ends_with(&reference.elem, "Chat");
    is_chat.then_some(&*reference.elem)
}

/// The function's name, `type` for `r#type`.
pub fn name(function: &ItemFn) -> String {
    function.sig.ident.unraw().to_string()
}

/// The parameters without receivers, which are rejected elsewhere.
pub fn parameters(function: &ItemFn) -> impl Iterator<Item = &PatType> {
    function.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(parameter) => Some(parameter),
        FnArg::Receiver(_) => None,
    })
}

/// The name of a parameter with a plain name, without leading underscores.
pub fn parameter_name(parameter: &PatType) -> Option<String> {
    match &*parameter.pat {
        Pat::Ident(pattern) => Some(pattern.ident.unraw().to_string().trim_start_matches('_').to_owned()),
        _ => None,
    }
}

/// Whether a call returns a future: an `async fn`, or one that returns `impl Future`.
pub fn is_async(function: &ItemFn) -> bool {
    function.sig.asyncness.is_some() || returned_future(&function.sig.output).is_some()
}

fn returned_future(output: &ReturnType) -> Option<()> {
    let ReturnType::Type(_, ty) = output else { return None };
    let Type::ImplTrait(ty) = &**ty else { return None };
    ty.bounds.iter().find_map(|bound| match bound {
        TypeParamBound::Trait(bound) if bound.path.segments.last()?.ident == "Future" => Some(()),
        _ => None,
    })
}

/// The span of the return type; an error if there is none.
pub fn return_span(function: &ItemFn, advice: &str, errors: &mut Errors) -> Span {
    match &function.sig.output {
        ReturnType::Type(_, ty) => syn::spanned::Spanned::span(ty),
        ReturnType::Default => {
            errors.at(&function.sig.ident, format!("`{}` returns nothing: {advice}", function.sig.ident));
            function.sig.ident.span()
        }
    }
}

/// The function's result, with its error converted to a text that includes all causes. Method resolution selects the conversion
/// by the error's type, which needs the traits in scope.
pub fn with_causes(result: &Ident, library: &Library) -> TokenStream {
    let library = library.at(result.span());
    quote_spanned! {result.span()=> {
        use #library::private::returned::*;
        (&&&&#library::private::returned::Returned::new(#result)).with_causes()
    }}
}

/// Whether a type is one of cobalt's, written as `Context` or with its path: `cobalt::Context`.
pub fn is_named(ty: &Type, name: &str, library: &Library) -> bool {
    let Type::Path(ty) = ty else { return false };
    let segments: Vec<_> = ty.path.segments.iter().map(|segment| &segment.ident).collect();
    match segments.as_slice() {
        [only] => *only == name,
        [.., first, last] => library.is_called(first) && *last == name,
        _ => false,
    }
}

/// Whether a type is a path that ends with `name`.
pub fn ends_with(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(ty) if ty.path.segments.last().is_some_and(|last| last.ident == name))
}

/// The last segment of a path that looks like a function: `concise`, `evals::concise`.
pub fn function_name_of(path: &Path) -> Option<&Ident> {
    let last = path.segments.last()?;
    let bare = path.segments.iter().all(|segment| segment.arguments.is_none());
    let lower =
        last.ident.unraw().to_string().starts_with(|letter: char| letter.is_lowercase() || letter == '_');
    (bare && lower).then_some(&last.ident)
}
