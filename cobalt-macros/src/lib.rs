//! The attributes of cobalt: sugar over its public builder, nothing more.
//!
//! Use them as `#[cobalt::experiment]` and `#[cobalt::evaluator]`; this crate is no use by itself.

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
mod thresholds;

use proc_macro::TokenStream;

/// Documented where it is used: `cobalt::experiment`.
#[proc_macro_attribute]
pub fn experiment(attribute: TokenStream, function: TokenStream) -> TokenStream {
    // Cargo sets it for targets of tests and benches, and for no other.
    let in_test_target = std::env::var_os("CARGO_TARGET_TMPDIR").is_some();
    experiment::expand(attribute.into(), function.into(), in_test_target).into()
}

/// Documented where it is used: `cobalt::evaluator`.
#[proc_macro_attribute]
pub fn evaluator(attribute: TokenStream, function: TokenStream) -> TokenStream {
    evaluator::expand(attribute.into(), function.into()).into()
}
