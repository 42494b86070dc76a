//! Evaluators from the file: registered functions by their names, and tables with a `type`.

mod autoevals;
mod command;
mod entry;
mod exact_match;
mod function;
mod g_eval;
mod judge_table;
mod llm_judge;
mod names;
mod pairwise;
mod placed;
mod similarity;
mod text;
mod tool_calls;
mod typed;

pub(super) use entry::Entry;
#[cfg(feature = "schema")]
pub(super) use names::KindName;
#[cfg(feature = "schema")]
pub(super) use text::TokenizerName;
