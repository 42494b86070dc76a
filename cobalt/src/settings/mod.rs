//! What tables of settings are made of: single values, each with what it may be, and tables that are told apart by their `type`.

mod by_type;
mod names;
#[cfg(feature = "schema")]
mod schema;
mod table;
mod values;
#[cfg(feature = "remote")]
mod with_written;

pub(crate) use by_type::{ReadTable, read_by_type, take_type};
pub(crate) use names::names;
#[cfg(feature = "schema")]
pub(crate) use schema::schema_of;
pub(crate) use table::{NoKeys, Table};
pub(crate) use values::{
    Address, Age, AgeOrOff, Argument, Bound, Count, DEFAULT_TIMEOUT, Dollars, EmbeddingVendor,
    EnvironmentName, JudgeVendor, KeyVariable, Length, Limit, Number, Retries, Score, Target, Temperature,
    Text, VariableName, VariableValue, Weight, Word, at_least_one, bounds, written,
};
#[cfg(feature = "remote")]
pub(crate) use with_written::with_written;
