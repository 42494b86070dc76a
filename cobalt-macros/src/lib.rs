//! The attributes of cobalt: syntactic sugar over its public builder.
//!
//! Use them as `#[cobalt::experiment]`, `#[cobalt::evaluator]` and `#[cobalt::summary]`; do not depend on this crate directly.

mod errors;
mod evaluator;
mod evaluators;
mod experiment;
mod function;
mod library;
mod literal;
mod settings;
#[cfg(test)]
mod snapshot;
mod source_hash;
mod summaries;
mod summary;
mod thresholds;
mod variants;

use proc_macro::TokenStream;

/// Documented at its re-export, `cobalt::experiment`.
#[proc_macro_attribute]
pub fn experiment(attribute: TokenStream, function: TokenStream) -> TokenStream {
    // Cargo sets it only for test and bench targets.
    let in_test_target = std::env::var_os("CARGO_TARGET_TMPDIR").is_some();
    experiment::expand(attribute.into(), function.into(), in_test_target).into()
}

/// Documented at its re-export, `cobalt::evaluator`.
#[proc_macro_attribute]
pub fn evaluator(attribute: TokenStream, function: TokenStream) -> TokenStream {
    evaluator::expand(attribute.into(), function.into()).into()
}

/// Documented at its re-export, `cobalt::summary`.
#[proc_macro_attribute]
pub fn summary(attribute: TokenStream, function: TokenStream) -> TokenStream {
    summary::expand(attribute.into(), function.into()).into()
}
