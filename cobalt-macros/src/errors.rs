//! Collects errors: one compilation reports all of them.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// The errors so far.
#[derive(Default)]
pub struct Errors(Vec<syn::Error>);

impl Errors {
    /// Adds an error at these tokens.
    pub fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new_spanned(tokens, message));
    }

    pub fn push(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    /// The function with one `compile_error!` per error; `None` without errors.
    ///
    /// The function is kept so that its callers do not fail as well.
    pub fn into_expansion(self, function: &TokenStream) -> Option<TokenStream> {
        if self.0.is_empty() {
            return None;
        }
        let errors = self.0.iter().map(syn::Error::to_compile_error);
        Some(quote! {
            #[allow(dead_code)]
            #function
            #(#errors)*
        })
    }
}

#[cfg(test)]
impl Errors {
    /// The messages, in order.
    pub fn messages(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }
}
