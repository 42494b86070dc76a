//! Evaluators of text.

mod contains;
mod json_schema;
mod one_of;
mod regex;
mod table;

pub(super) use contains::ContainsTable;
pub(super) use json_schema::JsonSchemaTable;
pub(super) use regex::RegexTable;
