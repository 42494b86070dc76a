//! Support for the expansions of the attributes. Not public API; nothing here is stable.

mod arguments;
pub mod returned;
pub mod threshold;

use std::future::Future;

pub use arguments::{Argument, item_owned, item_ref, output_owned, output_ref};
pub use inventory;
pub use serde_json;

use cobalt_core::item::Output;
use serde::de::DeserializeOwned;

pub use crate::dataset::IntoDataset;
use crate::dataset::{Dataset, decode_value};
pub use crate::evaluators::EvaluatorDefinition;
use crate::evaluators::{EvalContext, FnEvaluator, IntoScore};
use crate::experiment::{AgentError, Context, Experiment, FnSummary};
pub use crate::experiment::{IntoOutput, Prepared, item, variant};
pub use cobalt_core::error_chain::BoxError;

/// The registration made by `#[cobalt::experiment]`.
#[derive(Debug)]
pub struct ExperimentDefinition {
    /// The experiment's name.
    pub name: fn() -> String,
    /// The file of the attribute, as rustc names it.
    pub file: &'static str,
    /// The line of the attribute.
    pub line: u32,
    /// The package's folder when it was compiled.
    pub manifest_dir: &'static str,
    /// A hash of the tokens of the attribute and the function.
    pub source_hash: u64,
    /// Whether it is declared in a test or bench target, which has to run it.
    pub in_test_target: bool,
    /// The folder of its recordings, if it declares any; empty if the folder is not a literal.
    pub records: Option<&'static str>,
    /// Loads the dataset.
    pub dataset: fn() -> Result<Dataset, BoxError>,
    /// Adds the settings of the attribute, and the agent.
    pub define: fn(Experiment) -> Result<Prepared, BoxError>,
}

inventory::collect!(ExperimentDefinition);

/// The error for an experiment whose target is run by libtest, with what to do.
#[must_use]
pub fn run_by_libtest(experiment: &str, file: &str) -> String {
    let path = std::path::Path::new(file);
    let folder = path.parent().and_then(|folder| folder.file_name()).and_then(|name| name.to_str());
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    // Cargo names `tests/evals/main.rs` after its folder.
    let name = folder.filter(|_| stem == "main").unwrap_or(stem);
    let table = if path.iter().any(|part| part == "benches") { "bench" } else { "test" };
    format!(
        "experiment `{experiment}` was not run, because libtest runs this target. Add to Cargo.toml:\n\n\
         [[{table}]]\nname = \"{name}\"\nharness = false\n\nand to the target's file: `fn main() {{ cobalt::main(); }}`. \
         Move functions with `#[test]` to another file, and experiments that several targets share to the library (`src/`)."
    )
}

/// Implemented by the hidden type next to a function with `#[cobalt::evaluator]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an evaluator function",
    label = "not marked with `#[cobalt::evaluator]`",
    note = "mark the function with `#[cobalt::evaluator]`, or list an expression that makes an evaluator"
)]
pub trait ListedEvaluator {
    /// The evaluator's name.
    const NAME: &'static str;

    /// Creates the evaluator.
    fn evaluator() -> FnEvaluator;
}

/// The evaluator of a function listed by its name.
#[must_use]
pub fn listed<T: ListedEvaluator>() -> FnEvaluator {
    T::evaluator()
}

/// Implemented by the hidden type next to a function with `#[cobalt::summary]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a summary function",
    label = "not marked with `#[cobalt::summary]`",
    note = "mark the function with `#[cobalt::summary]`, or list an expression that makes a `cobalt::FnSummary`"
)]
pub trait ListedSummary {
    /// Creates the summary.
    fn summary() -> FnSummary;
}

/// The summary of a function listed by its name.
#[must_use]
pub fn listed_summary<T: ListedSummary>() -> FnSummary {
    T::summary()
}

/// Creates an evaluator from a plain function; the attribute generates its arguments.
pub fn plain_evaluator<F, R>(name: &str, source_hash: u64, function: F) -> FnEvaluator
where
    F: Fn(&EvalContext) -> Result<R, BoxError> + Send + Sync + 'static,
    R: IntoScore + 'static,
{
    FnEvaluator::new(name, function).source(source_hash)
}

/// Creates an evaluator from an async function; the attribute generates its arguments.
pub fn async_evaluator<F, Fut, R>(name: &str, source_hash: u64, function: F) -> FnEvaluator
where
    F: Fn(EvalContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, BoxError>> + Send + 'static,
    R: IntoScore + 'static,
{
    FnEvaluator::new_async(name, function).source(source_hash)
}

/// The types of the agent's parameter after the item: only [`Context`].
#[diagnostic::on_unimplemented(
    message = "an agent takes `(item, Context)`, not `(item, {Self})`",
    label = "not `cobalt::Context`",
    note = "to take the settings of a variant, declare `variants = [name: settings]` in the attribute"
)]
pub trait FromContext {
    /// Converts the context.
    fn from_context(context: Context) -> Self;
}

impl FromContext for Context {
    fn from_context(context: Context) -> Self {
        context
    }
}

/// The context, as the type of the agent's parameter.
#[must_use]
pub fn context<T: FromContext>(context: Context) -> T {
    T::from_context(context)
}

/// Sets the type of the agent's parameter for the variant, against which the settings of all variants are checked before anything runs.
pub fn with_variant_type<T: DeserializeOwned>(mut experiment: Experiment) -> Experiment {
    experiment.declaration.variant_check = Some(|settings| decode_value::<T>(settings).map(drop));
    experiment
}

/// Binds an async agent to an experiment; the attribute generates the conversions.
pub fn bind_async<F, Fut>(experiment: Experiment, agent: F) -> Prepared
where
    F: Fn(Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Output, AgentError>> + Send + 'static,
{
    experiment.bind(agent)
}

/// Binds a plain agent to an experiment; the attribute generates the conversions.
pub fn bind_plain<F>(experiment: Experiment, agent: F) -> Prepared
where
    F: Fn(Context) -> Result<Output, AgentError> + Send + Sync + 'static,
{
    experiment.bind(agent)
}

#[cfg(test)]
mod tests {
    use super::run_by_libtest;

    #[test]
    fn the_remedy_names_the_target_as_cargo_does() {
        for (file, table) in [
            ("tests/help-desk.rs", "[[test]]\nname = \"help-desk\"\n"),
            ("agents/tests/evals/main.rs", "[[test]]\nname = \"evals\"\n"),
            ("benches/speed.rs", "[[bench]]\nname = \"speed\"\n"),
        ] {
            let text = run_by_libtest("desk", file);
            assert!(text.contains(table) && text.contains("harness = false"), "{text}");
        }
    }
}
