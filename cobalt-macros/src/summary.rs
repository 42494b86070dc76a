//! `#[cobalt::summary]`: makes a function listable in `summaries` without changing the function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::{ItemFn, Type};

use crate::errors::Errors;
use crate::function::{self, Role, generated_span};
use crate::library::Library;
use crate::settings::Settings;

const KEYS: [&str; 2] = ["name", "crate"];

/// The attribute and its function, after the checks that their syntax allows.
struct Summary {
    library: Library,
    function: ItemFn,
    name: TokenStream,
    /// The span of the return type.
    output: Span,
}

/// Expands to the function and a type of the same name, or to the errors.
pub fn expand(attribute: TokenStream, function: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let summary = Summary::parse(attribute, function.clone(), &mut errors);
    if let Some(expansion) = errors.into_expansion(&function) {
        return expansion;
    }
    let listed = summary.map(|summary| summary.listed());
    quote!(#function #listed)
}

impl Summary {
    /// `None` only if there are errors.
    fn parse(attribute: TokenStream, function: TokenStream, errors: &mut Errors) -> Option<Self> {
        let function = function::parse(function, Role::Summary, errors);
        let settings = Settings::parse(attribute, &KEYS, errors);
        let library = Library::parse(&settings, errors);
        let name = settings.name("a summary function", errors);
        let function = function?;
        let name = name.unwrap_or_else(|| function::name(&function).to_token_stream());
        let output = function::return_span(&function, "return a number, a `Metric` or a `Table`", errors);
        check_parameters(&function, errors);
        if let Some(keyword) = &function.sig.asyncness {
            errors.at(keyword, "a summary function is not async: it only calculates");
        }
        Some(Self { library, function, name, output })
    }

    fn listed(&self) -> TokenStream {
        let own = &self.function.sig.ident;
        let (ty, definition) = function::listed_type(&self.function);
        let name = &self.name;
        let span = generated_span(own.span());
        let items = Ident::new("__cobalt_items", span);
        let output = generated_span(self.output);
        let result = Ident::new("__cobalt_result", output);
        let body = quote_spanned!(span=> let #result = #own(#items););
        let result = function::with_causes(&result, &self.library);
        let library = self.library.at(output);
        let converted = quote_spanned!(output=> #library::IntoSummary::into_summary(#result));
        let library = self.library.at(Span::call_site());
        quote! {
            #definition

            #[automatically_derived]
            impl #library::private::ListedSummary for #ty {
                fn summary() -> #library::FnSummary {
                    #library::FnSummary::new(#name, |#items: &[#library::SummaryItem<'_>]| {
                        #body
                        #converted
                    })
                }
            }
        }
    }
}

/// Rejects anything but one slice.
fn check_parameters(function: &ItemFn, errors: &mut Errors) {
    const ADVICE: &str = "a summary function takes all items: write `items: &[SummaryItem<'_>]`";
    let is_slice = |ty: &Type| matches!(ty, Type::Reference(reference) if reference.mutability.is_none() && matches!(*reference.elem, Type::Slice(_)));
    let parameters: Vec<_> = function::parameters(function).collect();
    match parameters[..] {
        [only] if is_slice(&only.ty) => {}
        [only] => errors.at(&only.ty, ADVICE),
        [] if function.sig.inputs.is_empty() => errors.at(&function.sig.ident, ADVICE),
        // A method is an error already.
        [] => {}
        [_, second, ..] => errors.at(second, ADVICE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{assert_expansion, assert_messages};

    fn messages(attribute: TokenStream, function: TokenStream) -> Vec<String> {
        let mut errors = Errors::default();
        Summary::parse(attribute, function, &mut errors);
        errors.messages()
    }

    #[test]
    fn a_type_of_the_same_name_lists_the_function() {
        let function = quote! {
            pub fn macro_f1(items: &[SummaryItem<'_>]) -> Result<f64, String> {
                Ok(1.0)
            }
        };
        assert_expansion!(expand(quote!(), function));
    }

    #[test]
    fn a_function_of_another_form_is_refused() {
        let functions = [
            quote!(
                fn f1() -> f64 {
                    1.0
                }
            ),
            quote!(
                fn f1(item: &SummaryItem<'_>) -> f64 {
                    1.0
                }
            ),
            quote!(
                fn f1(items: &[SummaryItem<'_>], other: u8) -> f64 {
                    1.0
                }
            ),
            quote!(
                fn f1(items: &[SummaryItem<'_>]) {}
            ),
            quote!(
                async fn f1(items: &[SummaryItem<'_>]) -> f64 {
                    1.0
                }
            ),
        ];
        assert_messages!(functions.map(|function| (function.clone(), messages(quote!(), function))));
        assert_messages!([quote!(name = ""), quote!(nam = "f1"), quote!(pass_mark = 0.5)].map(|attribute| (
            attribute.clone(),
            messages(
                attribute,
                quote!(
                    fn f1(items: &[SummaryItem<'_>]) -> f64 {
                        1.0
                    }
                )
            )
        )));
    }
}
