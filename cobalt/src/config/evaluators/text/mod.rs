//! Evaluators of text.

mod bleu;
mod chrf;
mod contains;
mod json_schema;
mod one_of;
mod regex;
mod rouge;
mod squad_exact_match;
mod table;
mod token_f1;
mod wer;

pub(super) use bleu::BleuTable;
#[cfg(feature = "schema")]
pub(in crate::config) use bleu::TokenizerName;
pub(super) use chrf::ChrfTable;
pub(super) use contains::ContainsTable;
pub(super) use json_schema::JsonSchemaTable;
pub(super) use regex::RegexTable;
pub(super) use rouge::RougeTable;
pub(super) use squad_exact_match::SquadExactMatchTable;
pub(super) use token_f1::TokenF1Table;
pub(super) use wer::WerTable;
