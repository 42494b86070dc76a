//! What a threshold may ask: categories, metrics, the direction of each bound, and what to say when one is wrong.
//!
//! The attribute macros compile this folder too, so that a threshold is refused in the same words at compile time and
//! at run time. It therefore knows nothing of the rest of the library.

mod category;
mod comparison;
pub(super) mod duration;
mod metric;
pub(super) mod words;

pub use category::Category;
pub(crate) use category::EVALUATORS;
pub use comparison::Comparison;
pub(crate) use comparison::not_a_comparison;
pub(crate) use duration::duration_nanos;
pub use metric::Metric;
pub(crate) use metric::{VS_BASELINE, VS_BASELINE_EXAMPLE};
